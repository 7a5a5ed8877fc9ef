"""Writes store/schema.sql, the sum of the migrations. Run: python -m tests.support.write_schema"""

import sqlite3
from pathlib import Path

from aforesaid.store import database

SCHEMA = Path(database.__file__).with_name("schema.sql")
HEAD = "-- Generated: python -m tests.support.write_schema\n-- To read, not to run: the migrations make it.\n"
# Tables that FTS5 keeps its data in.
SHADOWS = tuple(
    f"{table}_" for table in ("search_index", "document_words", "fact_words", "event_words")
)
ORDER = ("table", "view", "index", "trigger")


def schema_of(connection: sqlite3.Connection) -> str:
    """Every statement that made something, without what SQLite and its index add by themselves."""
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        " AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    rows = [row for row in rows if not (row[0] == "table" and row[1].startswith(SHADOWS))]
    rows.sort(key=lambda row: (ORDER.index(row[0]), row[1]))
    return HEAD + "".join(f"\n{row[2]};\n" for row in rows)


def sum_of_migrations() -> str:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        database.migrate(connection)
        return schema_of(connection)
    finally:
        connection.close()


if __name__ == "__main__":
    SCHEMA.write_text(sum_of_migrations())
