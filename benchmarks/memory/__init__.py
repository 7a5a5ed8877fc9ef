"""How well memories are written, on dialogues with known answers."""
