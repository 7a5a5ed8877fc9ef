"""`python -m bench [name ...] [--quick] [--normal] [--json]`: the tables of docs/benchmarks.md."""

import argparse
import os
import platform
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import hook, idle, ingest, priority, session_start, table

Bench = Callable[..., list[table.Table]]
ROWS: dict[str, tuple[Bench, str]] = {
    "hook": (hook.run, "a capture, in every state of the worker"),
    "session-start": (session_start.run, "the opening brief and a prompt's recall"),
    "ingest": (ingest.run, "from the spool into the store"),
    "idle": (idle.run, "starting, and doing nothing"),
}


def main() -> int:
    if sys.platform != "linux":
        print("The benchmarks read /proc and need Linux.", file=sys.stderr)
        return 1
    options = _options()
    tables = []
    first = not options.normal and priority.go_first()
    if not options.json:
        print(f"{_machine()}, {'real-time' if first else 'normal'} priority\n")
    for name in options.names or ROWS:
        found = ROWS[name][0](quick=options.quick)
        tables += found
        if not options.json:
            print("\n".join(each.text() for each in found), flush=True)
    if options.json:
        print(table.as_json(tables))
    return 0


def _options() -> argparse.Namespace:
    lines = "\n".join(f"  {name:14} {about}" for name, (_, about) in ROWS.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"Measure this checkout on this machine.\n\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="name", help="one of the above; default: all")
    parser.add_argument("--quick", action="store_true", help="few samples: does it run at all?")
    parser.add_argument(
        "--normal", action="store_true", help="no real-time priority, even for root"
    )
    parser.add_argument("--json", action="store_true", help="the tables as JSON")
    options = parser.parse_args()
    if unknown := set(options.names) - set(ROWS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(ROWS)}")
    return options


def _machine() -> str:
    """What the figures depend on."""
    shell = Path("/bin/sh").resolve().name
    return (
        f"{os.cpu_count()} cores, Linux {platform.release()}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, sh is {shell}, files in {tempfile.gettempdir()}, "
        f"load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
