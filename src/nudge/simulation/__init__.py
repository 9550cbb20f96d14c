"""The simulator: the real daemon on a virtual clock, with a simulated person, and what it shows of it."""
