"""A door for agents that speak a provider's own protocol: every model call is held, clamped, relayed and settled."""
