"""What an agent sent, made to fit: whole up to a size, then cut and marked; never refused for its size."""
