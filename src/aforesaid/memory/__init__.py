"""Curated memories: Markdown files that are written, chosen, consolidated and repaired."""
