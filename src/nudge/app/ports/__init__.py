"""What the use cases need from the world. Each port has real adapters and one public fake in `nudge.testing`."""
