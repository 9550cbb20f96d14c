"""The terminal dashboard: a client of the daemon that holds no state and no rules of its own."""
