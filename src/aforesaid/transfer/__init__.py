"""Memory on the move: out to a file, in from one, and in from other programs."""
