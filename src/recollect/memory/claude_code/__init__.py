"""Beside the client's own memories."""
