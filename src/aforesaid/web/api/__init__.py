"""The endpoints of the API, a module per noun: see `endpoint.py`."""
