"""A sentence that nothing else says, planted through every way in, and looked for in every byte."""

import json
import os
import sqlite3
import uuid
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from aforesaid.paths import Paths
from aforesaid.worker import rpc
from tests.support.product import aforesaid, fire, settled, until

# No stem and no split makes these into other words, and no two begin alike.
WORDS = ("zorblaxi", "quenfidu", "mistrop", "vurdlagu")
SAID = 'The zorblaxi "quenfidu" answers to mistropö vurdlagu'
BROKEN_OFF = SAID.upper().replace(" ", "\n    ", 3)  # the same, as far as people are concerned
FTS = ("document_words", "event_words", "fact_words")


def plant(paths: Paths, project: Path, session: str, sentence: str = SAID) -> None:
    """One turn in which a prompt, a command, a file and the agent's own words say it, then a compaction."""
    common = {"session_id": session, "prompt_id": str(uuid.uuid4())}
    file = str(project / "notes.py")
    fire("SessionStart", {"session_id": session, "source": "startup"}, project=project)
    fire("UserPromptSubmit", common | {"prompt": f"Fix this: {sentence}."}, project=project)
    tools = (
        ("Bash", {"command": "cat notes"}, {"stdout": f"error: {sentence}", "stderr": ""}),
        ("Write", {"file_path": file, "content": sentence}, {"type": "create", "filePath": file}),
        ("WebFetch", {"url": "https://example.org"}, {"result": sentence}),
    )
    for name, given, came in tools:
        about = {"tool_name": name, "tool_use_id": f"toolu_{uuid.uuid4().hex}"}
        made = {"tool_input": given, "tool_response": came}
        fire("PostToolUse", common | about | made, project=project)
    message = f"I decided that {sentence}. Next: tell {WORDS[0]} about it."
    fire("Stop", common | {"last_assistant_message": message}, project=project)
    fire("PreCompact", {"session_id": session, "trigger": "auto"}, project=project)
    settled(paths)


def plant_everywhere(paths: Paths, project: Path) -> None:
    """Also as a memory with a history, a forgotten observation, an edit, something told, a quarantined
    capture, a backup, and in the log."""
    plant(paths, project, "first")
    other = "Use tabs in this repository"
    for text in (other, f"Always remember that {SAID.lower()}"):
        assert aforesaid("remember", text, cwd=project).returncode == 0
    listed = json.loads(aforesaid("memory", "list", "--json", cwd=project).stdout)
    assert len(listed) >= 2
    store = settled(paths)
    ids = [each.id for each in store.observations.for_session(1)]
    assert ids
    rpc.order(paths, "edit", id=ids[0], title="A note", narrative=f"By hand: {SAID}.")
    rpc.order(paths, "edit", id=ids[0], title="A note", narrative="By hand, again.")
    plant(paths, project, "second", BROKEN_OFF)
    forgotten = [each.id for each in settled(paths).observations.for_session(2)]
    rpc.order(paths, "forget-observation", id=forgotten[-1])
    fire("UserPromptSubmit", {"session_id": "third", "prompt": f"What of {SAID}?"}, project=project)
    bad = b"aforesaid/1 claude-code save %s\0\n{broken %s" % (os.fsencode(project), SAID.encode())
    (paths.spool_new / "bad-one").write_bytes(bad)
    until((paths.spool_bad / "bad-one").exists)
    settled(paths)
    backup = paths.data / "backups" / "20261101T000000Z-daily"
    backup.mkdir(parents=True)
    with (
        closing(sqlite3.connect(paths.database)) as live,
        closing(sqlite3.connect(backup / "aforesaid.db")) as copy,
    ):
        live.backup(copy)
    with paths.log_file.open("a") as log:
        log.write(f"2026-11-01 ERROR something quoted {SAID}\n")


def traces(root: Path, words: tuple[str, ...] = WORDS) -> list[str]:
    """Where any of the words stands, in any form that a byte can have here."""
    return sorted(
        {
            f"{name}: {word}"
            for name, data in _everything(root)
            for word in words
            if _holds(data, word)
        }
    )


def _holds(data: bytes, word: str) -> bool:
    low = data.lower()
    return any(word.encode(form) in low for form in ("utf-8", "utf-16-le", "utf-16-be"))


def _everything(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        yield f"name of {name}", name.encode()
        if not path.is_file():
            continue
        data = path.read_bytes()
        yield name, data
        yield from ((f"{name} unpacked", found) for found in _unpacked(data))
        if path.suffix == ".db":
            yield from _rows(path)


def _unpacked(data: bytes) -> Iterator[bytes]:
    """Whatever begins as zlib does, also in a page that nobody uses."""
    for mark in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"):
        at = data.find(mark)
        while at >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(data[at : at + 100_000], 1_000_000)
            at = data.find(mark, at + 1)


def _rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Everything that SQL can see, and every word of the full-text indexes."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        for (table,) in db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall():
            with suppress(sqlite3.OperationalError):
                for row in db.execute(f'SELECT * FROM "{table}"'):
                    for value in row:
                        raw = (
                            value
                            if isinstance(value, bytes)
                            else str(value).encode("utf-8", "replace")
                        )
                        yield f"{path.name} {table}", raw
        for index in FTS:
            db.execute(
                f"CREATE VIRTUAL TABLE temp.v_{index} USING fts5vocab('main', '{index}', 'row')"
            )
            for (term,) in db.execute(f"SELECT term FROM temp.v_{index}"):
                yield f"{path.name} words of {index}", str(term).encode()
