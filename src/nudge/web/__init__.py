"""The web page: a thin client of the daemon that renders what the control application says."""
