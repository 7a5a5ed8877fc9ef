"""What a store holds, read past its protocol: the product asks for events by turn or job, tests for all."""

from recollect.model.stored import StoredEvent
from recollect.store.protocol import Reading
from recollect.store.sqlite.events import stored
from recollect.store.sqlite.store import SqliteStore


def events_of(store: Reading, session_id: int) -> list[StoredEvent]:
    """Of a session, in order."""
    assert isinstance(store, SqliteStore)
    query = "SELECT * FROM events WHERE session_id = ? ORDER BY at, id"
    return stored(store._reader().execute(query, (session_id,)))
