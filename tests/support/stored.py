"""What a store holds, read past its protocol: the product asks for events by turn or job, tests for all."""

from aforesaid.model.events import StoredEvent
from aforesaid.store.events import stored
from aforesaid.store.store import Store


def events_of(store: Store, session_id: int) -> list[StoredEvent]:
    """Of a session, in order."""
    assert isinstance(store, Store)
    query = "SELECT * FROM events WHERE session_id = ? ORDER BY at, id"
    return stored(store.database.reader().execute(query, (session_id,)))
