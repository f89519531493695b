"""Side-by-side benchmarks: `python -m benchmarks` (or `make bench`) prints each bar, its figure, and ok or missed."""
