"""What looking for secrets costs, and how often it is wrong, on texts that have none.

The texts are of this machine: sources of Python and of installed packages, without their tests, which have
made-up credentials; a lock file and a log made here.
The unit is to parse the same text as JSON, which is the least that is done with a capture.
"""

import json
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from aforesaid.privacy.redactor import Redactor
from aforesaid.privacy.rules import CONTEXT, TOKENS
from benchmarks import table

MEGABYTE = 1_000_000
ROUNDS = 3
TESTS = frozenset(("test", "tests", "testing", "idle_test", "site-packages", "dist-packages"))
AIM = 1.0  # false hits per MB


def run(*, quick: bool) -> list[table.Table]:
    size = MEGABYTE // 2 if quick else 8 * MEGABYTE
    columns = ("texts without secrets", "MB", "ms per MB", "x parsing", "hits per MB", "aim")
    made = table.Table(
        f"Looking for secrets, {sum(len(r.needles) for r in TOKENS) + len(CONTEXT)} kinds", columns
    )
    redactor = Redactor()
    for name, texts in corpora(size).items():
        megabytes = sum(map(len, texts)) / MEGABYTE
        hits = sum(len(redactor.find(text)) for text in texts)
        took = min(_seconds(redactor, texts) for _ in range(ROUNDS))
        parsing = min(_parsing(texts) for _ in range(ROUNDS))
        figures = (f"{megabytes:.1f}", f"{took * 1000 / megabytes:.0f}", f"{took / parsing:.1f}")
        made.add(name, *figures, f"{hits / megabytes:.2f}", f"<= {AIM:.0f}")
    return [made]


def corpora(size: int) -> dict[str, list[str]]:
    """About that many characters each."""
    random = Random(8)
    return {
        "Python": _first(_sources("stdlib", random), size),
        "its packages": _first(_sources("purelib", random), size),
        "a lock file": _first(_lock_file(random), size),
        "a log": _first(_log(random), size),
    }


def _seconds(redactor: Redactor, texts: list[str]) -> float:
    began = time.perf_counter()
    for text in texts:
        redactor.text(text)
    return time.perf_counter() - began


def _parsing(texts: list[str]) -> float:
    packed = [json.dumps({"text": text}) for text in texts]
    began = time.perf_counter()
    for text in packed:
        json.loads(text)
    return time.perf_counter() - began


def _first(texts: Iterator[str], size: int) -> list[str]:
    found = []
    while size > 0 and (text := next(texts, None)) is not None:
        found.append(text)
        size -= len(text)
    return found


def _sources(place: str, random: Random) -> Iterator[str]:
    """In random order, so that a part of them is of every kind."""
    folder = Path(sysconfig.get_path(place))
    paths = [path for path in sorted(folder.rglob("*.py")) if _is_source(path.relative_to(folder))]
    random.shuffle(paths)
    for path in paths:
        try:
            yield path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            continue


def _is_source(path: Path) -> bool:
    return not (TESTS.intersection(path.parts) or path.name.startswith("test_"))


def _lock_file(random: Random) -> Iterator[str]:
    """As of npm and of Python: hashes in hexadecimal and base64, addresses, versions."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    while True:
        lines: list[str] = []
        for number in range(200):
            name = f"package-{random.randrange(10_000)}"
            version = f"{random.randrange(20)}.{random.randrange(40)}.{number}"
            integrity = "".join(random.choices(alphabet, k=86))
            digest = random.randbytes(32).hex()
            lines += (
                f'    "node_modules/{name}": {{',
                f'      "version": "{version}",',
                f'      "resolved": "https://registry.example.org/{name}/-/{name}-{version}.tgz",',
                f'      "integrity": "sha512-{integrity}=="',
                "    },",
                f"{name}=={version} --hash=sha256:{digest}",
                f'{{ url = "https://files.example.org/packages/{digest[:2]}/{digest}/{name}.whl" }}',
            )
        yield "\n".join(lines)


def _log(random: Random) -> Iterator[str]:
    """Requests, ids, commits, container names, times."""
    while True:
        lines: list[str] = []
        for number in range(400):
            raw = random.randbytes(20).hex()
            uuid = f"{raw[:8]}-{raw[8:12]}-{raw[12:16]}-{raw[16:20]}-{raw[20:32]}"
            lines += (
                f"2026-11-16T02:08:{number % 60:02d}Z INFO request_id={uuid} status=200 took=12ms",
                f"commit {raw}",
                f"{raw[:12]}  registry.example.org/app@sha256:{random.randbytes(32).hex()}  Up 3 hours",
                f"GET /items/{raw[:24]}?page={number}&session={number} 200, key cache miss: {uuid}",
                f"[worker-{number}] token bucket refilled, password reset mail queued for user {number}",
            )
        yield "\n".join(lines)
