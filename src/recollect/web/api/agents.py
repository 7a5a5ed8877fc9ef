"""For agents that have no hooks of ours: what happened in a session is posted here."""

from recollect.web.rows import Row

ROWS: tuple[Row, ...] = ()
