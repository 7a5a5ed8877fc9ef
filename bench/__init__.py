"""Benchmarks: `python -m bench`, or `make bench`. They print figures and judge nothing."""
