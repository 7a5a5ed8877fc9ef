"""Which repository a directory belongs to, and which known project that repository is.

Worktrees and sub-folders belong to their repository; two folders of the same name do not mix. A remote URL
and a path are claims: anybody can write a URL into `.git/config`. A commit id of the project's history is the
proof, because it is not known without the history. Every lookup of a project goes through `find_owner`;
docs/explanation/projects.md has the rules. See `git` for what is read, and what an untrusted repository
cannot make us do.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, TypeVar

from aforesaid import git
from aforesaid.git import Checkout, contains_commit
from aforesaid.text import sqlite_safe

LAST_COMMITS, MOST_FILES = 5, 20
IDENTITY_KINDS = REMOTE, COMMIT, PATH = "remote", "commit", "path"
SHARED_BRANCHES = ("main", "master", "trunk", "develop", "development", "dev")
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
SCP = re.compile(r"^(?:[^/@]+@)?([^/:]+):(?!//)(.+)$")
HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::(\d*))?")
PORTS = {"http": "80", "https": "443", "ssh": "22", "git+ssh": "22", "git": "9418"}


@dataclass(frozen=True, slots=True)
class Identity:
    kind: Literal["remote", "commit", "path"]
    identity: str


@dataclass(frozen=True, slots=True)
class Repository:
    """`identities`: strongest first."""

    name: str
    root: str
    identities: tuple[Identity, ...]


def identify(directory: str) -> Repository:
    checkout = git.find_checkout(directory)
    if not isinstance(checkout, Checkout):
        path = str(checkout or Path(directory).absolute())
        return _repository(path, [Identity("path", f"path:{path}")])
    identities = [Identity("path", f"path:{checkout.root}")]
    if commit := git.find_first_commit(checkout):
        identities.insert(0, Identity("commit", f"commit:{commit}"))
    if url := checkout.config.get("remote.origin.url"):
        identities.insert(0, Identity("remote", f"remote:{normal_remote(url)}"))
    return _repository(str(checkout.root), identities)


def revision(directory: str) -> str | None:
    """The commit that is checked out there; a worktree has its own."""
    checkout = git.find_checkout(directory)
    return checkout.head if isinstance(checkout, Checkout) else None


@dataclass(frozen=True, slots=True)
class Work:
    """What is being worked on: the branch, unless it is a shared one, and files that changed recently."""

    branch: str | None = None
    files: tuple[str, ...] = ()


def is_shared_branch(branch: str) -> bool:
    return branch.lower() in SHARED_BRANCHES


def current_branch(directory: str) -> str | None:
    """None where there is none, or a shared one: many things are done on it."""
    checkout = git.find_checkout(directory)
    return _own_branch(checkout) if isinstance(checkout, Checkout) else None


def _own_branch(checkout: Checkout) -> str | None:
    branch = checkout.branch
    return None if not branch or is_shared_branch(branch) else sqlite_safe(branch)


def current_work(directory: str, seconds: float) -> Work:
    """Uncommitted changes first, then those of the last commits. Git gets that many seconds for each."""
    checkout = git.find_checkout(directory)
    if not isinstance(checkout, Checkout):
        return Work()
    branch, files = _own_branch(checkout), git.list_files_in_work(checkout, LAST_COMMITS, seconds)
    return Work(branch, tuple(dict.fromkeys(files))[:MOST_FILES])


def normal_remote(url: str) -> str:
    """`git@host:org/repo.git` and `https://user:secret@host/org/repo/` are the same repository. Another port
    than the scheme's own is another server. Only ASCII host names are folded to lower case."""
    url = url.strip()
    scheme = SCHEME.match(url)
    if not scheme and (scp := SCP.match(url)):
        host, path = scp[1], scp[2]
    else:
        rest = url[scheme.end() :] if scheme else url
        place, _, path = rest.partition("/")
        host = place.rpartition("@")[2]
        if (named := HOST.fullmatch(host)) and scheme:
            default = named[2] in (None, "", PORTS.get(scheme[0][:-3].lower()))
            host = named[1] if default else host
    path = path.strip("/").removesuffix(".git")
    host = host.lower() if host.isascii() else host  # U+212A lowercases to k
    return f"{host}/{path}"


def _repository(root: str, identities: list[Identity]) -> Repository:
    """A path may hold bytes that are not text; what is stored must be."""
    return Repository(
        name=sqlite_safe(Path(root).name or root),
        root=sqlite_safe(root),
        identities=tuple(Identity(i.kind, sqlite_safe(i.identity)) for i in identities),
    )


Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Known(Generic[Key]):
    """Identities that were seen together, and whose they are. `linked`: the user said so."""

    key: Key
    identities: frozenset[Identity]
    linked: bool = False


def find_owner(
    repository: Repository, known: Iterable[Known[Key]], *, local: bool = True
) -> Known[Key] | None:
    """The known project that a repository belongs to; None if it is a project of its own. `local` False: the
    repository is described by a file from elsewhere, so nothing on this machine speaks for it."""
    history = _History(repository, local=local)
    belonging = (each for each in known if _belongs(repository, each, history))
    return max(belonging, key=lambda each: _rank(repository, each), default=None)


def find_unproven_remote(
    repository: Repository, known: Iterable[Known[Key]], owner: Key
) -> tuple[str, list[Key]] | None:
    """A remote that the repository shares with other projects without having their history, and those
    projects."""
    history = _History(repository, local=True)
    shared = {
        each.key: sorted(remotes)[0]
        for each in known
        if each.key != owner
        and (remotes := _remotes(repository) & _values(each.identities, REMOTE))
        and not _belongs(repository, each, history)
    }
    return (min(shared.values()), list(shared)) if shared else None


def link_identities(repository: Repository) -> tuple[Identity, ...]:
    """What a link is bound to. A shallow clone does not know its first commit, so it is the present one. Of a
    repository whose history cannot be read (borrowed objects), it is the path and the remote."""
    found, commit = repository.identities, revision(repository.root)
    if not _values(found, COMMIT) and commit and contains_commit(repository.root, commit):
        found = (*found, Identity("commit", f"{COMMIT}:{commit}"))
    return found


def new_identities(repository: Repository, known: Iterable[Identity]) -> tuple[Identity, ...]:
    """What a project learns from a repository that belongs to it. A project that knows its first commit takes
    no other one: that could be the public history of a library which was merged into it."""
    known = frozenset(known)
    no_more = {COMMIT} if _values(known, COMMIT) else {}
    new = (each for each in repository.identities if each not in known)
    return tuple(each for each in new if each.kind not in no_more)


def is_at(path: str, identities: Iterable[Identity]) -> bool:
    """Whether a directory is there and has the project's history, as far as one is known and git answers."""
    commits = _values(identities, COMMIT)
    if not Path(path).is_dir():
        return False
    return not commits or any(contains_commit(path, each) is not False for each in commits)


class _History:
    """Whether a repository has a commit, asked once for each. None: git does not answer."""

    def __init__(self, repository: Repository, *, local: bool) -> None:
        self._root, self.local = repository.root, local
        own = _values(repository.identities, COMMIT)
        self._known: dict[str, bool | None] = dict.fromkeys(own, True)

    def has_any(self, commits: Iterable[str]) -> bool | None:
        for each in commits:
            if each not in self._known:
                self._known[each] = self.local and contains_commit(self._root, each)
        found = {self._known[each] for each in commits}
        return True if True in found else None if None in found else False

    def still_at(self, paths: Iterable[str], commits: Iterable[str]) -> bool:
        """Whether one of these directories, other than the repository's own, has the history."""
        others = (path for path in paths if path != self._root and Path(path).is_dir())
        commits = tuple(commits)
        return self.local and any(
            contains_commit(path, each) is not False for path in others for each in commits
        )


def _belongs(repository: Repository, known: Known[Key], history: _History) -> bool:
    commits, paths = _values(known.identities, COMMIT), _values(known.identities, PATH)
    remotes, theirs = _remotes(repository), _values(known.identities, REMOTE)
    same_path = bool(_values(repository.identities, PATH) & paths)
    same_remote = bool(remotes & theirs)
    if not commits and known.linked:
        # Of a plain folder: a repository that is put there does not inherit it.
        plain = history.local and not remotes and revision(repository.root) is None
        return same_path and (same_remote if theirs else plain)
    if not commits:
        # Nothing is known of its history: the path decides, unless another repository was put there.
        return same_path and (same_remote or not remotes or not theirs)
    if same_path or same_remote or _local_remotes(repository) & paths:
        found = history.has_any(commits)
        if found is None:  # as long as git does not answer, a place keeps its project
            return same_path and (same_remote or not (remotes or theirs))
        return found
    # A project without a remote that is gone from its folders was moved, perhaps by way of a new remote.
    moved = not theirs and commits & _values(repository.identities, COMMIT)
    return bool(moved) and not history.still_at(paths, commits)


def _rank(repository: Repository, known: Known[Key]) -> tuple[bool, ...]:
    """Of several that it belongs to: what the user said, then the same first commit, path and remote."""

    def same(kind: str) -> bool:
        return bool(_values(repository.identities, kind) & _values(known.identities, kind))

    return known.linked, same(COMMIT), same(PATH), same(REMOTE)


def _values(identities: Iterable[Identity], kind: str) -> frozenset[str]:
    return frozenset(
        each.identity.removeprefix(f"{kind}:") for each in identities if each.kind == kind
    )


def _remotes(repository: Repository) -> frozenset[str]:
    """A relative one means something else in every folder."""
    found = _values(repository.identities, REMOTE)
    return frozenset(each for each in found if not each.startswith("."))


def _local_remotes(repository: Repository) -> frozenset[str]:
    """Folders on this machine that the repository was cloned from."""
    found = (each for each in _values(repository.identities, REMOTE) if each[:1] in ("/", "."))
    return frozenset(os.path.normpath(Path(repository.root, each)) for each in found)
