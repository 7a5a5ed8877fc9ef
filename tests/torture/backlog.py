"""`python -m tests.torture.backlog`: how a worker copes with a backlog. Prints one line of JSON per run.

    files --count 1000000     tiny captures that wait when the worker starts
    large                     1,000 tiny captures among one of 16 MB of nested JSON and a sparse file of 3 GB

It measures a real worker in a home of its own: its peak memory, the time until the small captures and until
all are stored, how long `ping` takes meanwhile, and how many events there are in the end. `--source` measures
another checkout's `src` with the same interpreter.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from tests.support import payloads

HEADER = b"aforesaid/1 claude-code save /home/dev/shop\0\n"
LARGE = ("large-json", "large-sparse")
PER_SESSION = 100
LOOK_SECONDS = 0.2


def main() -> int:
    arguments = argparse.ArgumentParser("tests.torture.backlog")
    arguments.add_argument("what", choices=("files", "large"))
    arguments.add_argument("--count", type=int, default=0)
    arguments.add_argument("--where", type=Path, default=Path("/dev/shm"))
    arguments.add_argument("--source", type=Path)
    arguments.add_argument("--seconds", type=float, default=3600, help="then it is given up")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.where, prefix="backlog-") as folder:
        home = Path(folder)
        spool = home / "spool" / "new"
        spool.mkdir(parents=True, mode=0o700)
        if chosen.what == "large":
            make_large(spool)
        make_small(spool, chosen.count or 1000)
        found = measure(home, chosen.source, chosen.seconds)
    sys.stdout.write(json.dumps({"what": chosen.what} | found) + "\n")
    return 0


def make_small(spool: Path, count: int) -> None:
    for number in range(count):
        body = payloads.tool(f"s{number // PER_SESSION}", f"t{number}")
        (spool / f"small-{number:07}").write_bytes(HEADER + body)


def make_large(spool: Path) -> None:
    """Older than all others, so that they are in the way. The JSON has a secret, so that all is redacted."""
    leaf: object = "a value and its words"
    for level in range(6):
        leaf = {f"name{level}{number}": leaf for number in range(4)}
    size = len(json.dumps(leaf))
    body = json.loads(payloads.tool("large", "large"))
    body["tool_response"] = {"password": "hunter2Secret9x", "found": [leaf] * ((16 << 20) // size)}
    (spool / LARGE[0]).write_bytes(HEADER + json.dumps(body).encode())
    with (spool / LARGE[1]).open("wb") as file:
        file.write(HEADER + payloads.tool("sparse", "sparse", output="x" * 1000)[:-80])
        file.truncate(3 << 30)
    for name in LARGE:
        os.utime(spool / name, (1_700_000_000, 1_700_000_000))


def measure(home: Path, source: Path | None, seconds: float) -> dict[str, object]:
    environment = os.environ | {"AFORESAID_HOME": str(home), "HOME": str(home)}
    if source:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, "-m", "aforesaid.worker.main"]
    began = time.monotonic()
    worker = subprocess.Popen(command, env=environment)
    peak, small_at, all_at, pings = 0, 0.0, 0.0, list[float]()
    left, large = counted(home)
    total = left
    try:
        while time.monotonic() - began < seconds and worker.poll() is None:
            peak = max(peak, peak_kb(worker.pid))
            pings.extend(ping(home))
            left, large = counted(home)
            elapsed = time.monotonic() - began
            small_at = small_at or (elapsed if left == 0 else 0.0)
            if left == large == 0:
                all_at = elapsed
                break
            time.sleep(LOOK_SECONDS + left / 100_000)  # to count them is work too
        peak = max(peak, peak_kb(worker.pid))
    finally:
        worker.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            worker.wait(60)
        worker.kill()
    with closing(sqlite3.connect(home / "aforesaid.db")) as database:
        events = database.execute("SELECT count(*), count(DISTINCT key) FROM events").fetchone()
    return {
        "small": total,
        "small_left": left,
        "large_left": large,
        "small_seconds": round(small_at, 1),
        "all_seconds": round(all_at, 1),
        "events": events[0],
        "keys": events[1],
        "peak_mb": peak // 1024,
        "longest_ping_ms": round(max(pings, default=0) * 1000),
        "disk": str(shutil.disk_usage(home).free // (1 << 30)) + " GB free",
    }


def counted(home: Path) -> tuple[int, int]:
    """Small captures that wait, and large ones."""
    with os.scandir(home / "spool" / "new") as entries:
        found = [entry.name in LARGE for entry in entries]
    return found.count(False), found.count(True)


def peak_kb(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1])
    return 0


def ping(home: Path) -> Iterator[float]:
    """How long the worker takes to answer, once it listens."""
    with suppress(OSError), closing(socket.socket(socket.AF_UNIX)) as link:
        link.settimeout(30)
        link.connect(str(home / "run" / "worker.sock"))
        began = time.monotonic()
        link.sendall(b"ping\n")
        link.shutdown(socket.SHUT_WR)
        link.recv(100)
        yield time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
