"""The coach's rules: its documents, its judgments, its briefings, its weekly review. All of it is pure."""
