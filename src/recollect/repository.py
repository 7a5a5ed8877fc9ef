"""Which repository a directory belongs to: by what git says, not by its folder's name.

Worktrees and sub-folders belong to their repository; two folders of the same name do not mix. Git is asked
with a deadline and never trusted to be there: without it the path stands in.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.text import sqlite_safe

GIT_SECONDS = 10.0
LAST_COMMITS, MOST_FILES = 5, 20
EVERYBODYS = ("main", "master", "trunk", "develop", "development", "dev")
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
SCP = re.compile(r"^(?:[^/@]+@)?([^/:]+):(?!//)(.+)$")


def project_directory(env: Mapping[str, str]) -> str:
    """The one that the agent was started in, if its client says so; else the present one. Raises OSError,
    where that was removed under us."""
    return env.get("CLAUDE_PROJECT_DIR") or str(Path.cwd())


@dataclass(frozen=True, slots=True)
class Identity:
    kind: str  # remote, commit or path
    value: str


@dataclass(frozen=True, slots=True)
class Repository:
    """`identities`: strongest first."""

    name: str
    root: str
    identities: tuple[Identity, ...]


def identify(directory: str) -> Repository:
    root = _main_root(directory)
    if root is None:
        path = str(Path(directory).absolute())
        return _repository(path, [Identity("path", f"path:{path}")])
    identities = [Identity("path", f"path:{root}")]
    if commit := _first_commit(directory):
        identities.insert(0, Identity("commit", f"commit:{commit}"))
    if remote := _remote(directory):
        identities.insert(0, Identity("remote", f"remote:{remote}"))
    return _repository(root, identities)


def revision(directory: str) -> str | None:
    """The commit that is checked out there; a worktree has its own."""
    return _git(directory, "rev-parse", "--verify", "--quiet", "HEAD^{commit}") or None


@dataclass(frozen=True, slots=True)
class Work:
    """What is being worked on: the branch, unless everybody is on it, and files that changed lately."""

    branch: str | None = None
    files: tuple[str, ...] = ()


def current_work(directory: str, seconds: float) -> Work:
    """As far as git can tell in that time: uncommitted changes first, then the last commits'."""
    said = ("--porcelain=v2", "--branch", "--untracked-files=no", "--no-renames", "-z")
    status = _git(directory, "status", *said, seconds=seconds)
    if status is None:
        return Work()
    branch = None
    files = []
    for entry in status.split("\0"):
        if entry.startswith("# branch.head "):
            branch = entry.removeprefix("# branch.head ")
        elif entry.startswith(("1 ", "u ")):
            files.append(entry.split(" ", 8 if entry[0] == "1" else 10)[-1])
    commits = ("-n", str(LAST_COMMITS), "--format=", "--name-only", "--no-renames", "-z")
    files += (_git(directory, "log", *commits, seconds=seconds) or "").split("\0")
    named = branch and not branch.startswith("(") and branch.lower() not in EVERYBODYS
    paths = (path.strip("\n") for path in files)
    return Work(branch if named else None, tuple(dict.fromkeys(filter(None, paths)))[:MOST_FILES])


def normal_remote(url: str) -> str:
    """`git@host:org/repo.git` and `https://user:secret@host/org/repo/` are the same repository."""
    url = url.strip()
    if not SCHEME.match(url) and (scp := SCP.match(url)):
        host, path = scp[1], scp[2]
    else:
        rest = SCHEME.sub("", url)
        host, _, path = rest.partition("/")
        host = host.rpartition("@")[2].partition(":")[0]
    path = path.strip("/").removesuffix(".git")
    return f"{host.lower()}/{path}" if host else f"/{path}"


def _repository(root: str, identities: list[Identity]) -> Repository:
    """A path may hold bytes that are not text; what is stored must be."""
    return Repository(
        name=sqlite_safe(Path(root).name or root),
        root=sqlite_safe(root),
        identities=tuple(Identity(i.kind, sqlite_safe(i.value)) for i in identities),
    )


def _main_root(directory: str) -> str | None:
    """The main worktree, for a linked worktree as for any sub-folder."""
    common = _git(directory, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if not common:
        return None
    path = Path(common)
    return str(path.parent if path.name == ".git" else path)


def _remote(directory: str) -> str | None:
    url = _git(directory, "config", "--get", "remote.origin.url")
    return normal_remote(url) if url else None


def _first_commit(directory: str) -> str | None:
    """The oldest root; a shallow clone does not know it."""
    if _git(directory, "rev-parse", "--is-shallow-repository") == "true":
        return None
    roots = _git(directory, "rev-list", "--max-parents=0", "HEAD")
    return roots.split()[-1] if roots else None


def _git(directory: str, *arguments: str, seconds: float = GIT_SECONDS) -> str | None:
    """GIT_DIR and its kin would answer for another repository than the one we ask about."""
    try:
        done = subprocess.run(
            ["git", "-C", directory, *arguments],
            capture_output=True,
            timeout=seconds,
            check=False,
            stdin=subprocess.DEVNULL,
            env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else None
