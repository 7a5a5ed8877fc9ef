"""Benchmarks: `recollect bench`, or `make bench`. They print figures and judge nothing."""
