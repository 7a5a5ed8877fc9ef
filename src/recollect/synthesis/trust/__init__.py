"""Whose words a draft stems from."""
