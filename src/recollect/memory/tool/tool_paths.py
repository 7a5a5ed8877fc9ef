"""Paths as a model writes them, below `/memories`, and where they lead on disk: never out of our folders.

A path is checked as text first: no way up, no hidden name, no NUL, no other root. Then every folder on the
way is looked at: a link is not followed, wherever it leads.
"""

import os
import stat
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from recollect.memory.storage.folders import Places
from recollect.memory.storage.format import ENDING, INDEX_FILE
from recollect.memory.storage.names import same_name, slug
from recollect.text import cut

ROOT, USERS = "/memories", "user"
DEEPEST, LONGEST_NAME = 6, 120
ENCODED = ("%2e", "%2f", "%5c", "%00")


class Refused(Exception):
    """What the model is told instead of a result."""


@dataclass(frozen=True, slots=True)
class Target:
    """`told`: the path, written as simply as it can be. `base`: the folder on disk that it leads into.
    `names`: the way from there; none for the folder itself. `memory`: its name, if such a file is one."""

    told: str
    base: Path
    names: tuple[str, ...]
    memory: str | None = None
    of_user: bool = False

    @property
    def path(self) -> Path:
        return self.base.joinpath(*self.names)

    @property
    def is_index(self) -> bool:
        return self.memory is None and self.names == (INDEX_FILE,)


def resolve(path: object, places: Places, *, new: bool = False) -> Target:
    """`/memories/x.md` and `/memories/user/x.md` are memories, of the project and of the user; every other
    file and folder stands in the project's folder of plain files. `new`: nothing that is there is meant."""
    names = names_in(path)
    told = "/".join((ROOT, *names))
    if names and same_name(names[0]) == USERS:
        below = names[1:]
        if not below:
            return Target(told, places.user.path, (), of_user=True)
        if len(below) > 1 or not below[0].endswith(ENDING):
            raise Refused(
                f"Error: {ROOT}/{USERS} holds memories alone: names that end in {ENDING}, without "
                f"folders. Put {shown(told)} elsewhere below {ROOT}."
            )
        return _memory(told, places, below[0], of_user=True, new=new)
    if len(names) == 1 and names[0].endswith(ENDING):
        return _memory(told, places, names[0], of_user=False, new=new)
    if names and names[0].endswith(ENDING):
        raise Refused(f"Error: {ROOT}/{shown(names[0])} is a file and cannot have others in it.")
    return Target(told, places.files, names)


def _memory(told: str, places: Places, file: str, *, of_user: bool, new: bool) -> Target:
    """Any way of writing a name leads to the one memory that it can mean: names are unique over both."""
    base = places.user.path if of_user else places.project.path
    if same_name(file) == same_name(INDEX_FILE):
        return Target(told, base, (INDEX_FILE,), of_user=of_user)
    name = file.removesuffix(ENDING)
    for folder in () if new else sorted(places.own, key=lambda each: each.path != base):
        for written in (name, slug(name)):
            if os.path.lexists(folder.path / f"{written}{ENDING}"):
                return at(written, places, of_user=folder is places.user)
    return at(slug(name), places, of_user=of_user)


def at(name: str, places: Places, *, of_user: bool) -> Target:
    """The file of a memory."""
    folder = places.user if of_user else places.project
    told = "/".join((ROOT, *([USERS] if of_user else []), f"{name}{ENDING}"))
    return Target(told, folder.path, (f"{name}{ENDING}",), name, of_user)


def names_in(path: object) -> tuple[str, ...]:
    """The names below `/memories`; none for itself."""
    if not isinstance(path, str):
        raise Refused("Error: The path must be a string that begins with /memories.")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise Refused(f"Error: The path {shown(path)} is not within {ROOT}. Begin it with {ROOT}/.")
    names = tuple(name for name in path.removeprefix(ROOT).split("/") if name)
    if any(_wrong(name) for name in names) or len(names) > DEEPEST:
        raise Refused(
            f"Error: The path {shown(path)} is not allowed. Use plain names below {ROOT}: no `..`, no hidden "
            f"files, no backslashes or control characters, at most {DEEPEST} levels."
        )
    return names


def guard(target: Target) -> None:
    """That no part of the way is a link, and the last part, if it is there, is a plain file or a folder."""
    for depth in range(len(target.names) + 1):
        path = target.base.joinpath(*target.names[:depth])
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            return
        except OSError as error:
            raise Refused(
                f"Error: The path {target.told} cannot be used: {error.strerror}."
            ) from None
        last = depth == len(target.names)
        if not stat.S_ISDIR(mode) and not (last and depth and stat.S_ISREG(mode)):
            raise Refused(
                f"Error: The path {target.told} is not a file or a directory of the memory."
            )


def shown(path: str) -> str:
    """Any string, fit to be put into an answer."""
    return cut(path.encode("utf-8", "replace").decode().replace("\0", "\\0"), 200)


def _wrong(name: str) -> bool:
    return (
        name.startswith(".")
        or "\\" in name
        or any(part in name.lower() for part in ENCODED)
        or any(unicodedata.category(c)[0] == "C" for c in name)
        or len(name.encode("utf-8", "replace")) > LONGEST_NAME
    )
