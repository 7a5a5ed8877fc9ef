"""A project's folder of memories: found again by any of its repository's identities.

The folder's name is for people; `.project` in it says whose it is, in the way in which the store knows them.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recollect.ids import digest
from recollect.memory.storage import files
from recollect.memory.storage.names import slug
from recollect.repository import Identity, Repository

NOTE = ".project"
LONGEST = 40


@dataclass(frozen=True, slots=True)
class Note:
    """What `.project` says."""

    name: str
    root: str
    identities: tuple[Identity, ...]


def find(root: Path, repository: Repository) -> Path | None:
    """The strongest identity that is known decides. But a weaker one may only find a folder that has none of
    the stronger kinds this repository has too: a fork shares its first commit with the original, and another
    repository may lie in the same place."""
    notes = _notes(root)
    stronger: set[str] = set()
    for identity in repository.identities:
        for folder, note in notes:
            if identity in note.identities and not stronger & {i.kind for i in note.identities}:
                return folder
        stronger.add(identity.kind)
    return None


def new(root: Path, repository: Repository) -> Path:
    """Where a project that is not known yet will be."""
    name = slug(repository.name)[:LONGEST].strip("-")
    return root / "projects" / f"{name}-{digest(repository.identities[0].value, 8)}"


def note(folder: Path, repository: Repository) -> None:
    """Whose folder it is: what was known, and what is new. Written only if something is."""
    known = noted(folder)
    identities = known.identities if known else ()
    now = (
        *repository.identities,
        *(each for each in identities if each not in repository.identities),
    )
    if known and set(now) == set(identities) and known.root == repository.root:
        return
    said = {
        "name": repository.name,
        "root": repository.root,
        "identities": [[each.kind, each.value] for each in now],
    }
    files.write(folder / NOTE, json.dumps(said, ensure_ascii=False, indent=1).encode() + b"\n")


def _notes(root: Path) -> list[tuple[Path, Note]]:
    """The one that was written last comes first: where two claim a place, it is the newer one's."""
    found = []
    with suppress(OSError):
        for folder in (root / "projects").iterdir():
            if said := noted(folder):
                with suppress(OSError):
                    found.append((-(folder / NOTE).stat().st_mtime_ns, folder, said))
    return [(folder, said) for _, folder, said in sorted(found, key=lambda each: each[:2])]


def noted(folder: Path) -> Note | None:
    """None where nothing can be read."""
    try:
        said = json.loads(files.read(folder / NOTE) or b"null")
        identities = tuple(Identity(str(kind), str(value)) for kind, value in said["identities"])
        return Note(str(said["name"]), str(said["root"]), identities)
    except (OSError, ValueError, TypeError, KeyError, files.Strange):
        return None
