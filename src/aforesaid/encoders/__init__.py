"""Text → vectors: a table that ships with the package, and a small model for those who install it."""

import os

# Before anybody imports numpy: a second thread loses more by waiting than it wins.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
