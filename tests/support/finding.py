"""Searching a store as the product does, and looking at its index: is it sound, and what is in it?"""

import sqlite3
from collections import Counter
from typing import Any

from aforesaid.encoders.base import Encoder
from aforesaid.model.search import Filters, Hit, Query
from aforesaid.recall.search import Searcher
from aforesaid.store.store import Store
from tests.support.arrivals import START
from tests.support.canonical import DERIVED_WORDS

Index = dict[str, list[tuple[Any, ...]]]
CONTENT = {
    "documents": "SELECT kind, source, session_id, project_id, at, asks, says_when, says_number,"
    " pinned, doubted, superseded, labels, dates, scope, title, body FROM documents ORDER BY kind, source",
    "vectors": "SELECT d.kind, d.source, v.encoder, v.vector FROM document_vectors AS v"
    " JOIN documents AS d ON d.id = v.document_id ORDER BY d.kind, d.source",
    "facts": "SELECT observation_id, ordinal, words FROM observation_facts ORDER BY observation_id, ordinal",
    "labels": "SELECT label, project_id, documents FROM document_labels ORDER BY label, project_id",
    "waiting": "SELECT kind, source FROM unindexed",
}


def search(
    store: Store,
    text: str,
    *,
    encoder: Encoder | None = None,
    level: str = "titles",
    limit: int = 20,
    **filters: Any,
) -> list[Hit]:
    """Best first."""
    searcher = Searcher(store, encoder, lambda: START)
    return list(searcher.search(Query(text, Filters(**filters), level, limit)).hits)


def check_words(connection: sqlite3.Connection) -> None:
    """The full-text indexes hold exactly what their tables hold, and labels are counted right; an error if
    not."""
    for table in DERIVED_WORDS:
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
    bearing = connection.execute("SELECT labels, project_id FROM documents").fetchall()
    counted = Counter((label, project) for labels, project in bearing for label in labels.split())
    stored = connection.execute("SELECT label, project_id, documents FROM document_labels")
    assert {(label, project): number for label, project, number in stored} == dict(counted)


def assert_index_is_sound(store: Store) -> None:
    assert isinstance(store, Store)
    with store.database.transaction() as connection:
        check_words(connection)


def index_of(store: Store) -> Index:
    """Everything in it but the numbers of its rows."""
    assert isinstance(store, Store)
    with store.database.transaction() as connection:
        return {
            name: [tuple(row) for row in connection.execute(query)]
            for name, query in CONTENT.items()
        }


def index_all(store: Store) -> None:
    """What did not fit into the transactions."""
    while store.index.update(64):
        pass
    below: int | None = None
    while (below := store.index.encode(64, below=below)) is not None:
        pass
