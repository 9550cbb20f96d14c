"""Thousands of agents on many machines: one Temporal workflow per agent, the truth in PostgreSQL.

Temporal decides who is looked after when. What is due, and what comes of it, is in the store alone: a workflow's only
activity is a visit (`nudge.daemon.visits`), and the rules of leases and outcomes are the daemon's own.
"""
