"""The tables of claude-mem under one set of names, whichever release made them."""

import sqlite3

from recollect.transfer.claude_mem_database import columns

Names = tuple[str, ...]
CREATED = {"created_epoch": ("created_at_epoch",), "created_text": ("created_at",)}
MEMORY: Names = ("memory_session_id", "sdk_session_id")
CONTENT: Names = ("content_session_id", "claude_session_id", "session_id", "sdk_session_id")
# A view, its table, and for each column the names it has had. One that is not there is NULL.
VIEWS: tuple[tuple[str, str, dict[str, Names]], ...] = (
    (
        "their_sessions",
        "sdk_sessions",
        {
            "id": ("id",),
            "content": CONTENT[:3],
            "memory": MEMORY,
            "project": ("project",),
            "platform": ("platform_source",),
            "user_prompt": ("user_prompt",),
            "custom_title": ("custom_title",),
            "started_epoch": ("started_at_epoch",),
            "started_text": ("started_at",),
            "completed_epoch": ("completed_at_epoch",),
            "completed_text": ("completed_at",),
            "status": ("status",),
        },
    ),
    (
        "their_prompts",
        "user_prompts",
        {
            "id": ("id",),
            "session": ("session_db_id",),
            "content": CONTENT,
            "number": ("prompt_number",),
            "text": ("prompt_text",),
        }
        | CREATED,
    ),
    (
        "their_observations",
        "observations",
        {name: (name,) for name in ("id", "project", "text", "type", "title", "subtitle", "facts")}
        | {name: (name,) for name in ("narrative", "concepts", "files_read", "files_modified")}
        | {"memory": MEMORY, "number": ("prompt_number",), "agent_type": ("agent_type",)}
        | {"model": ("generated_by_model",)}
        | CREATED,
    ),
    (
        "their_summaries",
        "session_summaries",
        {name: (name,) for name in ("id", "project", "request", "investigated", "learned")}
        | {name: (name,) for name in ("completed", "next_steps", "notes", "files_read")}
        | {"files_edited": ("files_edited",), "memory": MEMORY, "number": ("prompt_number",)}
        | {"model": ("generated_by_model",)}
        | CREATED,
    ),
)
# Also what is left of a session whose own row is gone.
SESSIONS = """
WITH told AS (
  SELECT memory, min(project) AS project FROM (
    SELECT memory, project FROM their_observations UNION ALL SELECT memory, project FROM their_summaries
  ) GROUP BY memory
)
SELECT id, content, memory, project, platform, user_prompt, custom_title, started_epoch, started_text,
       completed_epoch, completed_text, status, 0 AS rest
FROM their_sessions
UNION ALL
SELECT NULL, memory, memory, project, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1 FROM told
WHERE memory IS NULL OR memory NOT IN (SELECT memory FROM their_sessions WHERE memory IS NOT NULL)
UNION ALL
SELECT DISTINCT NULL, content, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2
FROM their_prompts AS p
WHERE content NOT IN (SELECT content FROM their_sessions WHERE content IS NOT NULL)
  AND (session IS NULL OR session NOT IN (SELECT id FROM their_sessions))
"""
QUERIES = {
    "count": f"SELECT count(*) FROM ({SESSIONS})",
    "sessions": f"{SESSIONS} ORDER BY rest, id, content",
    "prompts": """
        SELECT * FROM their_prompts
        WHERE session = :id OR (content = :content AND (session IS NULL OR :id IS NULL))
        ORDER BY number, id
    """,
    "observations": """
        SELECT * FROM their_observations WHERE memory IS :memory AND (:memory IS NOT NULL OR :id IS NULL)
        ORDER BY id
    """,
    "summaries": """
        SELECT * FROM their_summaries WHERE memory IS :memory AND (:memory IS NOT NULL OR :id IS NULL)
        ORDER BY id
    """,
}
LOOKED_UP = (
    ("observations", MEMORY),
    ("session_summaries", MEMORY),
    ("user_prompts", CONTENT),
    ("user_prompts", ("session_db_id",)),
)


def make_views(copy: sqlite3.Connection) -> None:
    """Names of our own choice only: nothing of what the file contains becomes SQL."""
    for view, table, parts in VIEWS:
        there = columns(copy, table)
        told = ", ".join(f"{_column(names, there)} AS {name}" for name, names in parts.items())
        source = f"FROM main.{table}" if there else "WHERE 0"
        copy.execute(f"CREATE TEMP VIEW {view} AS SELECT {told} {source}")
    for table, names in LOOKED_UP:
        found = _column(names, columns(copy, table))
        if found != "NULL":
            copy.execute(f"CREATE INDEX recollect_{table}_{found} ON {table} ({found})")


def _column(names: Names, there: frozenset[str]) -> str:
    return next((name for name in names if name in there), "NULL")
