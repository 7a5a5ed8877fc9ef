"""What the figures depend on: the machine, and whether the measured work goes first on it."""

import os
import platform
import sqlite3
import tempfile
from pathlib import Path


def described(*, first: bool) -> str:
    """`first`: measured work goes before all other programs."""
    return ", ".join(
        (
            f"{os.cpu_count()} cores",
            f"{platform.system()} {platform.release()}",
            f"Python {platform.python_version()}",
            f"SQLite {sqlite3.sqlite_version}",
            f"sh is {Path('/bin/sh').resolve().name}",
            f"files in {tempfile.gettempdir()}",
            f"load {os.getloadavg()[0]:.1f}",
            f"{'real-time' if first else 'normal'} priority",
        )
    )


def status(process: int | str, field: str) -> str:
    """Of a process, or of one thread: `123/task/124`."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return value.strip()
    raise KeyError(field)


def megabytes(pid: int) -> float:
    """That a process holds in memory."""
    return int(status(pid, "VmRSS").split()[0]) / 1024
