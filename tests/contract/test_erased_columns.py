"""Every column that can hold words is known to whoever erases a text; a new one fails here until it is."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from aforesaid.store.database import load_queries
from aforesaid.store.store import Store

# Names and numbers of ours, hashes and times: no text from outside gets there. What the index makes of others
# is made again, and event bodies and replies are unpacked one by one.
OURS = {
    *(
        "document_vectors.encoder",
        "document_vectors.vector",
        "edits.id",
        "events.kind",
        "events.hook",
    ),
    *("events.content_hash", "events.body", "index_state.name", "index_state.value", "jobs.kind"),
    *(
        "jobs.state",
        "jobs.holder",
        "jobs.written_by",
        "observation_files.role",
        "observation_files.blob",
    ),
    *("observations.provider", "observations.type", "observations.model", "observations.revision"),
    *("pauses.origin", "pauses.agent", "pauses.ref", "project_identities.kind"),
    *(
        "requests.provider",
        "requests.model",
        "requests.prompts",
        "requests.purpose",
        "requests.digest",
    ),
    *("requests.outcome", "requests.reply", "sessions.agent", "sessions.ref", "sessions.status"),
    *(
        "summaries.provider",
        "summaries.model",
        "summary_files.role",
        "injections.kind",
        "injections.hook",
    ),
    *(
        "memory_injections.scope",
        "memory_injections.hook",
        "transcript_marks.agent",
        "transcript_marks.mark",
    ),
    *(
        "unindexed.kind",
        "events.origin",
        "observations.origins",
        "summaries.origins",
        "erased_sessions.session",
        "pauses.scope",
        "pauses.place",
        "quarantine.name",
    ),
}
MADE_ANEW = ("documents.", "event_texts.", "observation_facts.words")


def test_every_column_with_words_is_looked_at(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.db", writer=True)
    store.close()
    missing = []
    with closing(sqlite3.connect(tmp_path / "store.db")) as db:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%fts5%'"
        tables = [
            row[0] for row in db.execute(listed) if not re.search(r"_words_|^sqlite_", row[0])
        ]
        for table in tables:
            for column in db.execute(f"SELECT name, type FROM pragma_table_info('{table}')"):
                name = f"{table}.{column[0]}"
                if column[1] in ("TEXT", "BLOB") and not _is_known(table, column[0], name):
                    missing.append(name)
    assert not missing, f"a text may stand in {missing}: add it to sql/traces.sql"


def _is_known(table: str, column: str, name: str) -> bool:
    if name in OURS or name.startswith(MADE_ANEW):
        return True
    said = [text for text in load_queries("traces").values() if re.search(rf"\b{table}\b", text)]
    return any(re.search(rf"(?:found|changed)\({column}\)|\b{column}\b", text) for text in said)
