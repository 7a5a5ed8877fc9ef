"""Somebody who edits memories while they are written."""

import pytest

from aforesaid.memory import files
from aforesaid.memory.files import FileChange

MINE = b"---\ndescription: mine\n---\nMine.\n"


def edit_while_swapping(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Saves these memories between the check of all files and the swap of their own."""
    swap = files._swap

    def edit_and_swap(change: FileChange, *given: object) -> bool:
        if change.path.stem in names:
            change.path.write_bytes(MINE)
        return swap(change, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "_swap", edit_and_swap)
