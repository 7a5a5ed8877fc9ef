"""Backups, and recovery of a damaged database."""
