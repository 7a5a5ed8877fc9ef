"""What people and agents want remembered: a note is an observation of its own, pinned."""

import os
import sqlite3
from typing import Any

from recollect.model.notes import NOTES_AGENT, USER, Note
from recollect.model.observations import FALLBACK_TYPE, TYPES, Observation
from recollect.store.sqlite.database import Row, write, write_one
from recollect.store.sqlite.observations import Observations
from recollect.store.sqlite.values import file_name, safe
from recollect.text import sqlite_safe

Json = dict[str, Any]


class Notes(Observations):
    def remembered(self, project_id: int, limit: int) -> list[Observation]:
        """What is pinned, and what was remembered on somebody's word, newest first."""
        rows = self.rows("notes", "remembered", project_id=project_id, limit=limit)
        return [self._observation(row) for row in rows]

    def remember(self, note: Note, at: int) -> int:
        """The id of the observation, which may have said the same before."""
        draft = note.draft
        with self.transaction() as connection:
            values: Json = {
                "project_id": note.project_id,
                "type": draft.type if draft.type in TYPES else FALLBACK_TYPE,
                "narrative": safe(draft.narrative),
            }
            same = write_one(connection, "notes", "same_note", values)
            if same is not None:
                write(connection, "observations", "pin", {"id": same["id"], "pinned": True})
                if note.by == USER:
                    write(connection, "notes", "said_by_user", {"id": same["id"]})
                return int(same["id"])
            session = _session_of(connection, note, at)
            values |= {"session_id": session["id"], "prompt_number": session["prompts"], "at": at}
            values |= {"job_id": None, "ordinal": 0, "repeats": None, "follows": None}
            values |= {"provider": note.by, "model": None, "subagent_type": None}
            values |= {"title": safe(draft.title), "subtitle": safe(draft.subtitle)}
            values |= {"revision": safe(draft.revision)}
            row = write_one(connection, "observations", "add", values)
            assert row is not None
            key = int(row["id"])
            blobs = {sqlite_safe(path): blob for path, blob in draft.blobs}
            for path in map(sqlite_safe, draft.files_read):
                file: Json = {"path": path, "name": file_name(path), "blob": blobs.get(path)}
                file |= {"observation_id": key, "role": "read"}
                write(connection, "observations", "add_file", file)
            write(connection, "observations", "pin", {"id": key, "pinned": True})
            return key


def _session_of(connection: sqlite3.Connection, note: Note, at: int) -> Row:
    """The one it was said in, if that is known and of the same project; else the project's own for notes."""
    if note.session is not None:
        agent, ref = note.session
        values: Json = {"agent": agent, "ref": sqlite_safe(ref)}
        row = write_one(connection, "sessions", "by_ref", values)
        if row is not None and row["project_id"] == note.project_id:
            return row
    values = {"agent": NOTES_AGENT, "project_id": note.project_id, "at": at}
    row = write_one(connection, "notes", "notes_session", values)
    if row is None:
        # Not by the project's number: that is another project's elsewhere, and an import would mix them.
        place = {
            "ref": f"notes-{os.urandom(8).hex()}",
            "project_dir": sqlite_safe(note.project_dir),
        }
        row = write_one(connection, "notes", "add_notes_session", values | place)
    assert row is not None
    write(connection, "notes", "touch_notes_session", values | {"session_id": row["id"]})
    return row
