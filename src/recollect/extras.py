"""Packages that are left out unless somebody wants them, and how to get them."""

import shlex
import sys


def install(extra: str) -> str:
    """With the Python that runs, so that it is right in a checkout's `.venv` as anywhere else."""
    return f"{shlex.quote(sys.executable)} -m pip install 'recollect[{extra}]'"
