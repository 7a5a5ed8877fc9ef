"""Writes observations and summaries without a model."""
