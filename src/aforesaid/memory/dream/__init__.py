"""Consolidation of memories in the background."""
