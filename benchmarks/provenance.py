"""How many notes are marked as foreign text, on real transcripts.

Transcripts of Claude Code are imported into a temporary home, processed without a model, and counted:
observations and summaries with a mark, and the parts that are marked.
"""

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

WEB = "only the web or an MCP server says so"
PARTS = (
    "SELECT d.part, o.* FROM {0}_doubts AS d JOIN {1} AS o ON o.id = d.{0}_id WHERE d.reason = ?"
)


def run(home: Path, *arguments: str) -> str:
    env = os.environ | {
        "HOME": str(home),
        "AFORESAID_HOME": str(home / "data"),
        "AFORESAID_SYNTHESIS_PROVIDER": "rules",
        "AFORESAID_RECALL_ENCODER": "none",
    }
    env.pop("CLAUDE_CONFIG_DIR", None)
    command = [sys.executable, "-c", "from aforesaid.cli.main import main; main()", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def place_transcripts(folder: Path, home: Path) -> None:
    """As the client lays them out: one folder per project, so one for each folder that holds transcripts."""
    for number, directory in enumerate(sorted({path.parent for path in folder.rglob("*.jsonl")})):
        if "subagents" not in directory.parts:
            target = home / ".claude/projects" / f"folder-{number}"
            shutil.copytree(directory, target)
            for path in (target, *target.rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)


def process_transcripts(home: Path) -> None:
    run(home, "import", "claude-code", "--json")
    while True:
        if not json.loads(run(home, "status", "--json"))["store"]["pending"]:
            break
        time.sleep(2)
    run(home, "worker", "stop")


def text_of(row: sqlite3.Row, database: sqlite3.Connection) -> str:
    name, _, number = row["part"].partition(" ")
    if name == "facts":
        query = "SELECT text FROM observation_facts WHERE observation_id = ? AND ordinal = ?"
        found = database.execute(query, (row["id"], int(number or 0))).fetchone()
        return str(found[0]) if found else ""
    return str(row[name])


def report(database: sqlite3.Connection, *, listed: bool) -> None:
    database.row_factory = sqlite3.Row
    for single, plural in (("observation", "observations"), ("summary", "summaries")):
        total = database.execute(f"SELECT count(*) FROM {plural}").fetchone()[0]
        rows = database.execute(PARTS.format(single, plural), (WEB,)).fetchall()
        marked = len({row["id"] for row in rows})
        parts = Counter(row["part"].split()[0] for row in rows)
        share = 100 * marked / total if total else 0
        sys.stdout.write(
            f"{plural}: {marked} of {total} with a mark ({share:.1f} %); parts: {dict(parts)}\n"
        )
        for row in rows if listed else ():
            sys.stdout.write(f"  {single} {row['id']} {row['part']}: {text_of(row, database)}\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        "provenance", description="Count the notes marked as foreign text."
    )
    parser.add_argument("folder", type=Path, help="transcripts")
    parser.add_argument("--list", action="store_true", help="list the marked notes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        place_transcripts(options.folder.resolve(), home)
        process_transcripts(home)
        with sqlite3.connect(home / "data/aforesaid.db") as database:
            report(database, listed=options.list)


if __name__ == "__main__":
    main()
