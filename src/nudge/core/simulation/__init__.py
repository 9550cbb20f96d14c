"""A simulated person and what a simulated stretch of life comes to. Pure: the same seed gives the same days."""
