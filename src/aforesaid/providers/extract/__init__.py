"""Reads what a turn contains: commands, results, patches, prompts, messages."""
