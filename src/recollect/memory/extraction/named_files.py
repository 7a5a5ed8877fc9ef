"""The files of the project that a memory speaks of, each with the content that it has now."""

import re
from dataclasses import replace

from recollect import freshness, repository
from recollect.model.memories import USER, Memory

MOST = 8
ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]+://\S+")
NAME = re.compile(r"[\w@.+/-]{2,200}")


def located(memory: Memory, root: str, now: int) -> Memory:
    """With its files, those it was given and those it names, and the commit. The user's memories are told in
    all projects and speak of none's files."""
    if memory.type == USER:
        return memory
    text = ADDRESS.sub(" ", f"{memory.description}\n{memory.body}")
    named = (name.rstrip(".") for name in NAME.findall(text))
    names = dict.fromkeys(
        [
            *(path for path, _ in memory.files),
            *(name for name in named if "/" in name or "." in name),
        ]
    )
    blobs = {
        name: freshness.seen(root, name, until=now)
        for name in names
        if not name.startswith(("/", ".."))
    }
    files = tuple((name, blob) for name, blob in blobs.items() if blob)[:MOST]
    return replace(memory, files=files, commit=repository.revision(root)) if files else memory
