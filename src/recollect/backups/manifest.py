"""What a backup says of itself: `manifest.json`, the last file that is written into its folder."""

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from recollect import __version__
from recollect.clock import SECOND
from recollect.errors import BackupError
from recollect.paths import write_private

NAME, DATABASE, MEMORIES = "manifest.json", "recollect.db", "memories.tar.gz"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Kept:
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`rows` by table; `memories`: files, their history included. `schema` is 0 where there was no
    database."""

    made_at: int
    reason: str
    seconds: float
    schema: int
    rows: dict[str, int]
    memories: int
    files: dict[str, Kept]
    version: str = __version__
    format: int = FORMAT

    @property
    def size(self) -> int:
        return sum(each.size for each in self.files.values())


def write(folder: Path, manifest: Manifest) -> None:
    write_private(folder / NAME, json.dumps(asdict(manifest), indent=2).encode() + b"\n")


def read(folder: Path) -> Manifest:
    try:
        found: dict[str, Any] = json.loads((folder / NAME).read_bytes())
        if found["format"] > FORMAT:
            raise BackupError(f"{folder.name} was made by a newer recollect ({found['version']}).")
        files = {str(name): Kept(**each) for name, each in found.pop("files").items()}
        return Manifest(**found, files=files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupError(f"{folder.name} has no manifest that can be read.") from error


def described(path: Path) -> Kept:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return Kept(path.stat().st_size, digest)


def seconds_between(began: int, ended: int) -> float:
    return round(max(0, ended - began) / SECOND, 3)
