"""A model's reply, read whatever its shape."""
