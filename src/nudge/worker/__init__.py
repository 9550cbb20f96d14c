"""The agent that works: tools, a workspace they cannot leave, a sandbox for commands, snapshots of the work."""
