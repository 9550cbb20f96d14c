"""The durable queue: timers, lanes, outcomes, the outbox, the inbox, and the agents they belong to."""
