"""Every query finds its way in by an index: none goes through a table because the planner guessed wrong."""

import re
import sqlite3
from collections.abc import Iterator

import pytest

from aforesaid.store.database import load_queries
from aforesaid.store.store import Store
from tests.support import history
from tests.support.memory import Memory
from tests.support.tables import loop_over

NOUNS = (
    "lookups",
    "hidden",
    "index",
    "search",
    "injections",
    "opened_files",
    "events",
    "listings",
    "merges",
)
QUERIES = [(noun, name) for noun in NOUNS for name, text in load_queries(noun).items()]
# What counts, lists or forgets everything there is.
WHOLE = {
    "count_healed": {"events"},  # its partial index, and only after events were lost
    "how_many": {"documents"},
    "health": {"documents", "document_vectors", "unindexed"},
    "newest": {"sqlite_sequence"},
    "waiting": {"unindexed"},
    "waiting_count": {"unindexed"},
    "trigger": {"sqlite_master"},
    "forget_documents": {"documents"},
    "forget_event_texts": {"event_texts"},
    "mark_observations": {"observations"},
    "mark_summaries": {"summaries"},
    "mark_prompts": {"prompts"},
    "mark_sessions": {"sessions"},
    "projects": {"p"},
    "events": {"w"},  # as many as are asked for
    "said": {"w"},
    "worth_asking": {"o"},  # the newest, which were chosen by an index
    "trim_quarantine": {"quarantine"},  # asked once an hour, and what keeps it small
}
# What was chosen before.
SMALL = {"mine", "above", "about", "later", "named", "found", "folded", "merged", "CONSTANT"}
# How SQLite says of a virtual table that it is asked by words, or is a list that was handed over.
ASKED = re.compile(r"VIRTUAL TABLE INDEX \d+:\S*M|json_each|wanted")


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    path = tmp_path_factory.mktemp("plans") / "aforesaid.db"
    store = Store(path, writer=True)
    history.remember(store, Memory.of(store, "shop").project_id)
    store.close()
    opened = sqlite3.connect(path)
    yield opened
    opened.close()


def plan(connection: sqlite3.Connection, noun: str, name: str) -> list[str]:
    text = load_queries(noun)[name]
    values = dict.fromkeys(re.findall(r":(\w+)", text), 1)
    return [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]


@loop_over(("noun", "name"), QUERIES)
def test_no_table_is_gone_through(connection: sqlite3.Connection, noun: str, name: str) -> None:
    steps = plan(connection, noun, name)
    scans = [step for step in steps if step.startswith("SCAN ") and not ASKED.search(step)]
    scanned = {step.split()[1] for step in scans}
    tables = {each for each in scanned if not each.startswith("(subquery")}
    assert tables <= WHOLE.get(name, set()) | SMALL, steps


@pytest.mark.parametrize(
    ("noun", "name", "index"),
    [
        ("events", "last_compaction", "COVERING INDEX events_framing (session_id=? AND kind=?)"),
        ("index", "without_vector", "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
        ("opened_files", "speaking_of", "COVERING INDEX observation_files_by_name (name=?)"),
        ("injections", "in_session", "INDEX sqlite_autoindex_injections_1 (session_id=?)"),
        ("search", "vectors", "INTEGER PRIMARY KEY (rowid>?)"),
        ("search", "of_period", "INDEX documents_by_project (project_id=? AND at>? AND at<?)"),
        (
            "listings",
            "sessions_anywhere",
            "INDEX sessions_by_time (last_event_at>? AND last_event_at<?)",
        ),
        ("listings", "observations_anywhere", "INDEX observations_by_time (at>? AND at<?)"),
        (
            "listings",
            "observations_of_type",
            "INDEX observations_by_type (type=? AND at>? AND at<?)",
        ),
        (
            "observations",
            "drop_of_job",
            "COVERING INDEX sqlite_autoindex_observations_1 (job_id=?)",
        ),
    ],
)
def test_the_narrowest_index_is_the_way_in(
    connection: sqlite3.Connection, noun: str, name: str, index: str
) -> None:
    searches = [step for step in plan(connection, noun, name) if step.startswith("SEARCH")]
    assert searches[0].endswith(f"USING {index}"), searches


def test_pinned_observations_are_found_without_the_others(connection: sqlite3.Connection) -> None:
    assert any("observations_pinned" in step for step in plan(connection, "observations", "pinned"))


def test_what_shares_a_concept_is_looked_up_by_the_concept(
    connection: sqlite3.Connection,
) -> None:
    steps = [s for s in plan(connection, "lookups", "sharing_concept") if s.startswith("SEARCH")]
    assert [step.split()[1] for step in steps] == ["c", "observations"]


def test_the_files_of_a_project_are_looked_up_by_the_project(
    connection: sqlite3.Connection,
) -> None:
    steps = [s for s in plan(connection, "lookups", "files_known") if s.startswith("SEARCH")]
    assert [step.split()[1] for step in steps] == ["observations", "f"]


PAGES = [
    *("sessions_of_project", "sessions_of_status", "sessions_anywhere", "events"),
    *("events_backwards", "observations_of_project", "observations_of_type"),
    "observations_anywhere",
]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_in_its_order_and_nothing_is_sorted(
    connection: sqlite3.Connection, name: str
) -> None:
    steps = plan(connection, "listings", name)
    assert not [step for step in steps if "TEMP B-TREE" in step], steps


def test_jobs_that_were_given_up_are_found_without_the_others(
    connection: sqlite3.Connection,
) -> None:
    assert plan(connection, "jobs", "skipped") == ["SCAN jobs USING INDEX jobs_skipped"]
