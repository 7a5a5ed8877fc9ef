"""Memories for an agent loop of one's own."""
