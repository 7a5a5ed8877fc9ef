"""A store's whole content without its row numbers: two stores with the same content give the same dump.

Every table is in it that is not named here, so that a new one is not forgotten.
"""

import sqlite3
import zlib
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

# Of this machine alone; what is edited is told as it is now, and how to take that back is not.
LEFT_OUT = ("injections", "quarantine", "transcript_marks", "edits")
# The search index: `aforesaid rebuild` makes it again.
DERIVED = ("documents", "document_vectors", "event_texts", "unindexed", "index_state")
DERIVED_WORDS = ("document_words", "fact_words", "event_words")
LEASE = ("holder", "lease_until")
WORKED_OUT = ("words",)  # for the index
Dump = dict[str, list[str]]


def dump(database: Path, *, replies: bool = True) -> Dump:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        names = _names(connection)
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
        return {
            row["name"]: _rows(connection, row["name"], names, replies)
            for row in tables.fetchall()
            if row["name"] not in (*LEFT_OUT, *DERIVED)
            and not row["name"].startswith(DERIVED_WORDS)
        }


def _rows(
    connection: sqlite3.Connection, table: str, names: dict[str, dict[int, str]], replies: bool
) -> list[str]:
    found = []
    for row in connection.execute(f"SELECT * FROM {table}").fetchall():
        values: dict[str, Any] = {}
        for column in row.keys():  # noqa: SIM118 - a row is iterated by its values
            value = row[column]
            if column == "id":
                value = names.get(table, {}).get(value)
            elif column in (*LEASE, *WORKED_OUT) or (column == "reply" and not replies):
                continue
            elif column in names and value is not None:
                value = names[column][value]
            elif isinstance(value, bytes):
                value = zlib.decompress(value)
            values[column] = value
        found.append(repr(sorted(values.items())))
    return sorted(found)


def _names(connection: sqlite3.Connection) -> dict[str, dict[int, str]]:
    """By table, and by the column that points to it."""
    projects = {r["id"]: f"{r['name']} {r['root']}" for r in _all(connection, "projects")}
    sessions = {r["id"]: f"{r['agent']}/{r['ref']}" for r in _all(connection, "sessions")}
    events = {
        r["id"]: f"{sessions[r['session_id']]} {r['key']}" for r in _all(connection, "events")
    }
    summaries = {
        r["id"]: f"{sessions[r['session_id']]} {r['prompt_number']}"
        for r in _all(connection, "summaries")
    }
    jobs, observations = (
        _places(_all(connection, table), sessions) for table in ("jobs", "observations")
    )
    by_table = {"projects": projects, "sessions": sessions, "events": events, "jobs": jobs}
    by_table |= {"observations": observations, "summaries": summaries}
    columns = {f"{table.removesuffix('s')}_id": found for table, found in by_table.items()}
    links = {"repeats": observations, "follows": observations, "summary_id": summaries}
    links |= dict.fromkeys(("hidden_with", "into_id"), observations)
    return by_table | columns | links


def _all(connection: sqlite3.Connection, table: str) -> list[sqlite3.Row]:
    return connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()


def _places(rows: list[sqlite3.Row], sessions: dict[int, str]) -> dict[int, str]:
    seen: Counter[int] = Counter()
    found = {}
    for row in rows:
        seen[row["session_id"]] += 1
        found[row["id"]] = f"{sessions[row['session_id']]}#{seen[row['session_id']]}"
    return found
