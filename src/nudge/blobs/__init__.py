"""Where snapshots are stored: a folder, or an object store by its URL."""
