"""Finding and handing back."""
