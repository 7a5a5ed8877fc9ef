"""Putting memories in order while nobody waits."""
