"""Is it getting anywhere? Run budgets, loops, phases, extensions, pools, checkpoints."""
