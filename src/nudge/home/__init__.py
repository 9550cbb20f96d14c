"""The home: one folder with the files and the configuration of one nudge."""
