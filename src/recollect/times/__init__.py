"""Times as people write them, read word by word. `recollect.periods` is its front."""
