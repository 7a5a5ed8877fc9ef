"""The hot path: the only writers of the spool. Nothing here imports the package."""
