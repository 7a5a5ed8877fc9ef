"""Databases as claude-mem leaves them: of a current release, and of its first ones."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from aforesaid.clock import MINUTE

START = 1_760_000_000_000
TYPES = ("bugfix", "feature", "refactor", "change", "discovery", "decision")

CURRENT = """
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT);
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL, memory_session_id TEXT UNIQUE,
  project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT,
  started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT,
  completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active', worker_port INTEGER,
  prompt_counter INTEGER DEFAULT 0, custom_title TEXT
);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, text TEXT,
  type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
  files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL, content_hash TEXT, agent_type TEXT, agent_id TEXT,
  generated_by_model TEXT,
  FOREIGN KEY (memory_session_id) REFERENCES sdk_sessions (memory_session_id)
);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL, request TEXT,
  investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT,
  notes TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
);
CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
);
"""
OLD = """
CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, claude_session_id TEXT UNIQUE NOT NULL, sdk_session_id TEXT UNIQUE,
  project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL,
  completed_at TEXT, completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active'
);
CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL, project TEXT NOT NULL,
  text TEXT NOT NULL, type TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
);
CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT UNIQUE NOT NULL, project TEXT NOT NULL,
  request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT,
  files_edited TEXT, notes TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
);
"""
SESSIONS, EACH = 50, 20


def current(path: Path, *, journal: str = "DELETE") -> Path:
    """50 sessions of two projects, each with 20 observations, two prompts and two summaries."""
    with _made(path, CURRENT, journal) as database:
        for number, at in _sessions():
            project = "shop" if number % 2 else "mill"
            database.execute(
                "INSERT INTO sdk_sessions VALUES (?, ?, ?, ?, 'claude', ?, '', ?, '', ?, ?, 1, 2, ?)",
                (
                    *(number, f"content-{number}", f"memory-{number}", project, "Mill, please"),
                    *(at, at + 50 * MINUTE, "completed" if number % 5 else "active"),
                    "A title" if number == 1 else None,
                ),
            )
            for turn in (1, 2):
                when = at + turn * 20 * MINUTE
                database.execute(
                    "INSERT INTO user_prompts VALUES (NULL, ?, ?, ?, ?, '', ?)",
                    (number, f"content-{number}", turn, f"Prompt {turn} of {number}", when),
                )
                database.execute(
                    "INSERT INTO session_summaries VALUES "
                    "(NULL, ?, ?, ?, NULL, 'It turns', 'The wheel', NULL, '[]', ?, 'A note', ?, '', ?)",
                    (
                        f"memory-{number}",
                        project,
                        f"Request {turn}",
                        '["wheel.py"]',
                        turn,
                        when + 9,
                    ),
                )
            for item in range(EACH):
                facts = json.dumps([f"Fact {item} of {number}", "It turns."])
                database.execute(
                    "INSERT INTO observations VALUES (NULL, ?, ?, NULL, ?, ?, 'Sub', ?, 'Story', "
                    "'[\"how-it-works\"]', '[\"a.py\"]', '[\"wheel.py\"]', ?, 7, '', ?, 'hash', ?, NULL, ?)",
                    (
                        *(
                            f"memory-{number}",
                            project,
                            TYPES[item % 6],
                            f"Title {item} of {number}",
                        ),
                        *(facts, 1 + item % 2, at + item * MINUTE),
                        *("Explore" if item == 3 else None, "claude-haiku"),
                    ),
                )
    return path


def old(path: Path, *, journal: str = "DELETE") -> Path:
    """The same number of them, with flat texts and times in seconds."""
    with _made(path, OLD, journal) as database:
        for number, at in _sessions():
            seconds = at // 1000
            database.execute(
                "INSERT INTO sdk_sessions VALUES (?, ?, ?, 'shop', ?, '', ?, NULL, NULL, 'completed')",
                (number, f"content-{number}", f"memory-{number}", f"First words {number}", seconds),
            )
            database.execute(
                "INSERT INTO session_summaries VALUES "
                "(NULL, ?, 'shop', 'Request', NULL, 'Learnt', NULL, NULL, 'a.py', NULL, NULL, '', ?)",
                (f"memory-{number}", seconds + 3000),
            )
            for item in range(EACH):
                text = f"The wheel {item} of mill {number} turned backwards. Its axle was mounted twice."
                database.execute(
                    "INSERT INTO observations VALUES (NULL, ?, 'shop', ?, 'fix', '', ?)",
                    (f"memory-{number}", text, seconds + item * 60),
                )
    return path


class _made:  # noqa: N801 - reads as a verb
    def __init__(self, path: Path, schema: str, journal: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path)
        self._connection.execute(f"PRAGMA journal_mode = {journal}")
        self._connection.executescript(schema)

    def __enter__(self) -> sqlite3.Connection:
        return self._connection

    def __exit__(self, *_: object) -> None:
        with closing(self._connection):
            self._connection.commit()


def _sessions() -> Iterator[tuple[int, int]]:
    return ((number, START + number * 60 * MINUTE) for number in range(1, SESSIONS + 1))
