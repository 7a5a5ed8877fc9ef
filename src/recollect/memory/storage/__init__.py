"""Memories on disk: files, folders, the index, and changes that are whole or not at all."""
