"""What commands run in: bubblewrap, Landlock with seccomp, macOS's sandbox-exec, or nothing.

To add one: a class with `prepared(job)` in a module of this room, and a line in `choose.py`.
"""
