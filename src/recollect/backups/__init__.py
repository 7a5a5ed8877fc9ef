"""Backups, and what is done when a database turns out to be damaged."""
