"""May it interrupt the person now? The gate, the rules of restraint, the ping bucket and the forward schedule."""
