"""Every query finds its way in by an index: none goes through a table because the planner guessed wrong."""

import re
import sqlite3
from collections.abc import Iterator

import pytest

from recollect.store.sqlite import queries
from recollect.store.sqlite.store import SqliteStore
from tests.support import history
from tests.support.memory import Memory

NOUNS = ("lookups", "notes", "forgotten")
QUERIES = [
    (noun, name)
    for noun in NOUNS
    for name, text in queries.load(noun).items()
    if not text.startswith("INSERT INTO forgotten")
]
# What counts or lists everything there is.
WHOLE = {"files_known_anywhere": {"f"}, "how_many_vectors": {"document_vectors"}}
SMALL = {"mine", "about", "later", "CONSTANT"}  # what was chosen before


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("plans") / "recollect.db"
    store = SqliteStore(path, writer=True)
    history.remember(store, Memory.of(store, "shop").project_id)
    store.close()
    opened = sqlite3.connect(path)
    yield opened
    opened.close()


def plan(connection: sqlite3.Connection, noun: str, name: str) -> list[str]:
    text = queries.load(noun)[name]
    values = dict.fromkeys(re.findall(r":(\w+)", text), 1)
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]


@pytest.mark.parametrize(("noun", "name"), QUERIES)
def test_no_table_is_gone_through(connection: sqlite3.Connection, noun: str, name: str) -> None:
    steps = plan(connection, noun, name)
    scanned = {step.split()[1] for step in steps if step.startswith("SCAN ")}
    tables = {each for each in scanned if not each.startswith("(subquery")}
    assert tables <= WHOLE.get(name, set()) | SMALL, steps


def test_what_shares_a_concept_is_looked_up_by_the_concept(connection: sqlite3.Connection) -> None:
    steps = [s for s in plan(connection, "lookups", "sharing_concepts") if s.startswith("SEARCH")]
    assert [step.split()[1] for step in steps] == ["mine", "c", "o"]


def test_the_files_of_a_project_are_looked_up_by_the_project(
    connection: sqlite3.Connection,
) -> None:
    steps = [s for s in plan(connection, "lookups", "files_known") if s.startswith("SEARCH")]
    assert [step.split()[1] for step in steps] == ["o", "f"]
