"""Benchmarks: fiedler against everything a user could pick instead, as ratios in one run; ``make bench``."""
