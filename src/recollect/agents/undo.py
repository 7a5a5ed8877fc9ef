"""Remembers what a settings file was before we changed it, so that uninstalling is exact.

One owner-only JSON file per settings file. A record that cannot be read counts as none: the caller
then removes our part by itself instead of restoring the whole.
"""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

from recollect import ids
from recollect.agents import settings_file


@dataclass(frozen=True)
class UndoRecord:
    """`original` is None when there was no file; `made` are the directories we had to make."""

    original: bytes | None
    written: str
    made: tuple[Path, ...] = ()

    def wrote(self, data: bytes | None) -> bool:
        """Whether `data` is exactly what we left behind."""
        return data is not None and self.written == fingerprint(data)


def fingerprint(data: bytes) -> str:
    return ids.digest(data, 64)


def load(record_dir: Path, settings: Path) -> UndoRecord | None:
    try:
        data = json.loads(_record_file(record_dir, settings).read_bytes())
        original = data["original"]
        return UndoRecord(
            original=None if original is None else base64.b64decode(original, validate=True),
            written=str(data["written"]),
            made=tuple(Path(folder) for folder in data["made"]),
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def save(record_dir: Path, settings: Path, record: UndoRecord) -> None:
    original = record.original
    data = {
        "settings": str(settings),
        "original": None if original is None else base64.b64encode(original).decode("ascii"),
        "written": record.written,
        "made": [str(folder) for folder in record.made],
    }
    text = json.dumps(data, indent=2) + "\n"
    settings_file.write_owner_only(_record_file(record_dir, settings), text.encode("ascii"))


def forget(record_dir: Path, settings: Path) -> None:
    _record_file(record_dir, settings).unlink(missing_ok=True)


def _record_file(record_dir: Path, settings: Path) -> Path:
    # Not the target of a linked file: the link may be pointed elsewhere later.
    name = str(settings.parent.resolve() / settings.name)
    return record_dir / f"{ids.digest(name)}.json"
