"""Payloads of any size and shape through the real worker: each is an event or lies in `bad` with a reason,
and the worker lives on within its memory."""

import json
import sqlite3
import zlib
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from aforesaid.paths import Paths
from aforesaid.payload.limits import KEPT_BYTES
from aforesaid.payload.shorten import MARK, MOST_READ
from aforesaid.worker import rpc
from tests.support import payloads
from tests.support.product import settled, until
from tests.support.writers import environment, run, shell_writer

pytestmark = pytest.mark.slow

MOST_KB = 600 * 1024  # what the worker may take at its worst
HEADER = b"aforesaid/1 claude-code save /home/dev/shop\0\n"


def peak_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def put(home: Paths, name: str, data: bytes) -> None:
    """As a writer does: whole, or not at all."""
    (home.spool_tmp / name).write_bytes(HEADER + data)
    (home.spool_tmp / name).rename(home.spool_new / name)


def bodies(home: Paths) -> dict[str, bytes]:
    """By the events' keys."""
    with closing(sqlite3.connect(home.database)) as connection:
        rows = connection.execute("SELECT key, body FROM events").fetchall()
    return {key: zlib.decompress(body) for key, body in rows}


def reasons(home: Paths) -> dict[str, str]:
    with closing(sqlite3.connect(home.database)) as connection:
        return dict(connection.execute("SELECT name, why FROM quarantine"))


@pytest.fixture
def worker(home: Paths) -> int:
    return int(rpc.start(home)["pid"])


def text_of(megabytes: int) -> str:
    """Wide: Python keeps it in four bytes a character."""
    return "😀" + "the quick brown fox " * (megabytes * 1024 * 1024 // 20)


@pytest.mark.parametrize(
    "size", [0, 10 << 10, 2 << 20, 16 << 20, 200 << 20], ids=lambda n: f"{n} bytes"
)
def test_a_payload_of_any_size_becomes_an_event(home: Paths, worker: int, size: int) -> None:
    """T7: up to 2 MB it is kept byte for byte; of 16 MB the event, with the ends of its texts and its hash;
    of 200 MB what the first 64 MB and the last members tell."""
    bare = len(payloads.tool("s1", "t1", output=""))
    body = payloads.tool("s1", "t1", output="x" * (size - bare)) if size else b""
    done = run(shell_writer("sh", "/bin/sh"), body, environment(AFORESAID_HOME=str(home.state)))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    settled(home)
    if not size:
        assert list(reasons(home).values()) == ["the agent sent nothing"]
    elif size <= KEPT_BYTES:
        assert bodies(home) == {"tool:t1": body}
    else:
        kept: dict[str, Any] = json.loads(bodies(home)["tool:t1"])
        assert kept[MARK]["bytes"] == len(body)
        if size < MOST_READ:
            assert "left out" in kept["tool_response"]["stdout"]
            assert kept[MARK]["sha256"] == sha256(body).hexdigest()
        assert kept["tool_input"] == {"command": "echo t1"}
    assert list(home.spool_new.iterdir()) == []
    assert peak_kb(worker) < MOST_KB


def tool_with(response: str, number: int) -> bytes:
    start = payloads.tool("s1", f"t{number}", prompt_id="p1")
    found = json.loads(start)
    del found["tool_response"], found["tool_use_id"]
    return (
        json.dumps(found)[:-1] + f', "tool_response": {response}, "tool_use_id": "t{number}"' + "}"
    ).encode()


BOMBS = (
    "[" * 100_000 + "]" * 100_000,
    "{" + ",".join(f'"k{n}":{n}' for n in range(1_000_000)) + "}",
    "[" + "[]," * 2_700_000 + "[]]",
    "1" * 5_000,
    "NaN",
    '{"a":1,"a":2}',
)


def test_json_bombs_are_stored_within_the_memory_that_is_allowed(home: Paths, worker: int) -> None:
    """T9: depth, keys, lists, digits, NaN and double keys: each an event, the worker alive, memory bounded.
    Then the turn is worked up, for which they are all read again."""
    put(home, "prompt", payloads.prompt("s1", "p1", "Look at all this"))
    for number, bomb in enumerate(BOMBS):
        put(home, f"bomb-{number}", tool_with(bomb, number))
    put(home, "cut-off", tool_with(BOMBS[2], 99)[:-40])
    until(lambda: not list(home.spool_new.iterdir()), seconds=120)
    put(home, "stop", payloads.stop("s1", "p1"))
    store = settled(home)
    kept = bodies(home)
    assert {f"tool:t{number}" for number in range(len(BOMBS))} <= set(kept)
    assert [MARK.encode() in kept[f"tool:t{n}"] for n in range(len(BOMBS))] == [True] * 4 + [
        False
    ] * 2
    assert set(reasons(home)) == {"cut-off"}
    assert store.health().pending == 0
    assert rpc.running_pid(home) == worker
    assert peak_kb(worker) < MOST_KB


def test_a_turn_of_many_large_events_is_processed_within_the_memory_that_is_allowed(
    home: Paths, worker: int
) -> None:
    """T9: each is below the limit, together they are not."""
    put(home, "prompt", payloads.prompt("s1", "p1", "Print everything"))
    for number in range(8):
        put(home, f"large-{number}", payloads.tool("s1", f"t{number}", output=text_of(15)))
    until(lambda: not list(home.spool_new.iterdir()), seconds=200)
    put(home, "stop", payloads.stop("s1", "p1"))
    until(lambda: rpc.status(home)["idle"], seconds=200)
    store = settled(home)
    assert (store.health().events, store.health().pending, reasons(home)) == (10, 0, {})
    assert peak_kb(worker) < MOST_KB


ODD = {
    "invalid UTF-8": b"caf\xe9 \xff\xfe needle0",
    "NUL": b"a\\u0000b needle1",
    "lone surrogate": b"\\ud800 needle2",
    "escapes": b"\\u001b[31mred\\u001b[0m needle3",
    "right to left and zero width": "\u202eabc\u200b\u2066 needle4".encode(),
    "CRLF": b"one\\r\\ntwo needle5",
}


@pytest.mark.quick
def test_odd_texts_are_kept_exactly_and_can_be_found(home: Paths, worker: int) -> None:
    """T8: the bytes stay as they came, and the text can be found."""
    put(home, "prompt", payloads.prompt("s1", "p1", "Odd texts"))
    sent = {}
    for number, text in enumerate(ODD.values()):
        body = payloads.tool("s1", f"t{number}", output="HERE").replace(b"HERE", text)
        sent[f"tool:t{number}"] = body
    sent["tool:bom"] = b"\xef\xbb\xbf" + payloads.tool("s1", "bom", output="needle6")
    sent["tool:wide"] = payloads.tool("s1", "wide", output="needle7").decode().encode("utf-16")
    for key, body in sent.items():
        put(home, key.replace(":", "-"), body)
    put(home, "stop", payloads.stop("s1", "p1"))
    store = settled(home)
    found = bodies(home)
    assert {key: found.get(key) for key in sent} == sent
    with closing(sqlite3.connect(home.database)) as connection:
        texts = [text for (text,) in connection.execute("SELECT text FROM event_texts")]
    for number in range(8):
        assert any(f"needle{number}" in text for text in texts), number
    assert all(text.isprintable() or "\x1b" not in text for text in texts)
    assert store.health().quarantined == 0
