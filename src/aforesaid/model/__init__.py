"""Frozen values that the rest of the package passes around. No behaviour beyond what a value knows."""
