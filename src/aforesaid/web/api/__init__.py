"""What the API tells and does, a file per noun. Each has its rows: see `rows.py`."""
