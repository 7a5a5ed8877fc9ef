"""Which memories a prompt needs."""
