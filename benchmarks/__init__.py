"""Speed and size, measured: `python -m benchmarks` prints one table. See docs/benchmarks.md."""
