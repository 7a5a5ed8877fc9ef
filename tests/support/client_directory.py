"""Where the client keeps its memories of a directory."""

from collections.abc import Mapping
from pathlib import Path

from aforesaid.memory.claude_memory import find_client_directory


def client_directory_path(directory: str, env: Mapping[str, str]) -> Path | None:
    found = find_client_directory(directory, env)
    return found.path if found else None
