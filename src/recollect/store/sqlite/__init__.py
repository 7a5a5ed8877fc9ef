"""The embedded store. One process writes, everybody may read."""
