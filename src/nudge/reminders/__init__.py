"""Reminders: what they are, when they are due, what they say, and the use cases that add, change and fire them."""
