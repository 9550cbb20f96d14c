"""The whole daemon in a world that breaks: faults drawn from a seed, and what must hold whatever happens.

`python -m tests.faults --seed N` replays one life; `make soak` lives ten thousand.
"""
