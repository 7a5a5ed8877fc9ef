"""`python -m bench [name ...] [--quick] [--normal] [--json]`: the tables of docs/benchmarks.md."""

import argparse
import os
import platform
import signal
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench import hook, idle, ingest, model, priority, session_start, table, tokens

Bench = Callable[..., list[table.Table]]
ROWS: dict[str, tuple[Bench, str]] = {
    "hook": (hook.run, "a capture, in every state of the worker"),
    "session-start": (session_start.run, "the opening brief and a prompt's recall"),
    "ingest": (ingest.run, "from the spool into the store"),
    "idle": (idle.run, "starting, and doing nothing"),
    "tokens": (tokens.run, "what remembering a recorded session costs (needs --transcript)"),
}
BY_NAME_ONLY: dict[str, tuple[Bench, str]] = {
    "model": (model.run, "how good a real model is at this (needs --transcript and --endpoint)"),
}
EXTRA = {"tokens": ("file",), "model": ("file", "endpoint", "report", "turns")}


def main() -> int:
    if sys.platform != "linux":
        print("The benchmarks read /proc and need Linux.", file=sys.stderr)
        return 1
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers and files are removed
    machine = _machine(first=not options.normal and priority.go_first())
    tables = []
    if not options.json:
        print(f"{machine}\n", flush=True)
    for name in options.names or ROWS:
        extra = {option: getattr(options, option) for option in EXTRA.get(name, ())}
        found = (ROWS | BY_NAME_ONLY)[name][0](quick=options.quick, **extra)
        tables += found
        if not options.json:
            print("\n".join(each.text() for each in found), flush=True)
    if options.json:
        print(table.as_json(machine, tables))
    return 0


def _options() -> argparse.Namespace:
    lines = "\n".join(f"  {name:14} {about}" for name, (_, about) in (ROWS | BY_NAME_ONLY).items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"Measure this checkout on this machine.\n\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help="one of the above; default: all but model"
    )
    parser.add_argument("--quick", action="store_true", help="few samples: does it run at all?")
    parser.add_argument(
        "--normal", action="store_true", help="no real-time priority, even for root"
    )
    parser.add_argument(
        "--transcript",
        dest="file",
        type=Path,
        metavar="FILE",
        help="a session recorded by Claude Code (.jsonl)",
    )
    parser.add_argument(
        "--turns", type=int, default=1_000, help="how many turns `model` replays at most"
    )
    parser.add_argument("--endpoint", metavar="URL", help="an OpenAI-compatible server")
    parser.add_argument(
        "--report",
        type=Path,
        default=Path("model-report.md"),
        help="where `model` writes its facts",
    )
    parser.add_argument("--json", action="store_true", help="the tables as JSON")
    options = parser.parse_args()
    known = ROWS | BY_NAME_ONLY
    if unknown := set(options.names) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return options


def _machine(*, first: bool) -> str:
    """What the figures depend on."""
    return ", ".join(
        (
            f"{os.cpu_count()} cores",
            f"Linux {platform.release()}",
            f"Python {platform.python_version()}",
            f"SQLite {sqlite3.sqlite_version}",
            f"sh is {Path('/bin/sh').resolve().name}",
            f"files in {tempfile.gettempdir()}",
            f"load {os.getloadavg()[0]:.1f}",
            f"{'real-time' if first else 'normal'} priority",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
