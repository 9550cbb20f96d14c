"""The daemon: wiring, process, control socket, lock."""
