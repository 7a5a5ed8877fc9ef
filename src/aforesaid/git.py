"""Git: reading a repository's files, and running the git program. No other module starts git.

A repository is untrusted input: whoever made it wrote its configuration, hooks, attributes, refs and
objects. So everything that can be read is read here, without git, from regular files of bounded size. What
only git can answer (history, changed files) is asked in a private, empty git directory, which shares
nothing with the repository but its objects and a copy of its index: no configuration, hook, ref or remote
of the repository, the user or the system takes part. Alternates, commit graphs and multi-pack indexes are
not used, because they could present another repository's history as this one's. See docs/adr/0023-git-
without-trust.md.
"""

import hashlib
import os
import re
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from aforesaid.paths import find_program, read_regular, search_path

SECONDS = 10.0
# Most bytes that are read of a file, or of what git prints.
REF_BYTES, CONFIG_BYTES, TABLE_BYTES = 8 << 10, 1 << 20, 64 << 20
OUTPUT_BYTES = 16 << 20
# Of git's heap, in kilobytes: an object of a few bytes may claim to be gigabytes long. And of its processor
# time, in seconds: to find one commit takes milliseconds in an ordinary repository.
LIMIT_MEMORY, LIMIT_COMMIT_CPU = f"ulimit -d {1 << 20}; ", "ulimit -t 2; "
RETRY_SECONDS = 300.0  # after a timeout
SYMREFS = 5  # a ref that names a ref; more is a loop

OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
REF = re.compile(r"refs(?:/(?!\.)[^/\x00-\x20\x7f~^:?*\[\\]+)+")
_ESCAPED = rb'\\(?:[ntb"\\]|\r?\n)'
CONFIG_ENTRY = re.compile(
    rb'\s+|[#;][^\n]*|\[\s*(?P<section>[A-Za-z0-9.-]+)(?:[ \t]+"(?P<name>(?:[^"\\\n]|\\.)*)")?\s*\]'
    rb"|(?P<key>[A-Za-z][A-Za-z0-9-]*)[ \t]*"
    rb'(?:=(?P<value>(?:[^"\\#;\n]|%(escaped)b|"(?:[^"\\\n]|%(escaped)b)*+")*+))?\s*?(?=[#;\n]|\Z)'
    % {b"escaped": _ESCAPED}
)
CONFIG_ESCAPE = re.compile(rb'\\(\r?\n|.)|"', re.DOTALL)
ESCAPES = {b"n": b"\n", b"t": b"\t", b"b": b"\b", b'"': b'"', b"\\": b"\\"}

OPTIONS = (
    "core.attributesFile=/dev/null",
    "core.commitGraph=false",
    "core.excludesFile=/dev/null",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.multiPackIndex=false",
    "core.pager=cat",
    "core.quotePath=false",
    "core.untrackedCache=false",
    "gc.auto=0",
    "log.mailmap=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "user.name=aforesaid",
    "user.email=aforesaid@localhost",
)
SHA256_CONFIG = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = sha256\n"
DIFF_OPTIONS = ("--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "-z")


class GitFailed(Exception):
    """Without git's own message, which may quote content."""


class GitUnavailable(Exception):
    """Git did not answer: it is not installed, could not be started, or took too long."""


class GitTimeout(GitUnavailable):
    """It took too long."""


@dataclass(frozen=True)
class Checkout:
    """A working tree and its repository. `git_dir` holds HEAD and the index, `common_dir` the rest; in a
    linked worktree they differ."""

    top: Path
    git_dir: Path
    common_dir: Path

    @property
    def root(self) -> Path:
        """The main working tree; of a linked worktree of a bare repository, that repository."""
        if self.git_dir == self.common_dir:
            return self.top
        return self.common_dir.parent if self.common_dir.name == ".git" else self.common_dir

    @cached_property
    def config(self) -> Mapping[str, str]:
        return parse_config(read_regular(self.common_dir / "config", CONFIG_BYTES) or b"")

    @property
    def branch(self) -> str | None:
        """None if HEAD is detached."""
        target = _symref(self._read("HEAD"))
        return target.removeprefix("refs/heads/") if target else None

    @cached_property
    def head(self) -> str | None:
        """The commit that is checked out; None before the first one."""
        name = "HEAD"
        for _ in range(SYMREFS):
            text = self._read(name)
            if text is None and name != "HEAD":
                return self._packed_ref(name)
            if (target := _symref(text)) is None:
                return text if text and OBJECT_ID.fullmatch(text) else None
            name = target
        return None

    @property
    def is_shallow(self) -> bool:
        return os.path.lexists(self.common_dir / "shallow")

    @property
    def own_objects(self) -> Path | None:
        """The object directory; None if it borrows from another one, by alternates or links, or holds
        anything but files and directories."""
        objects = self.common_dir / "objects"
        if os.path.lexists(objects / "info" / "alternates") or objects.is_symlink():
            return None
        plain = all(map(_has_plain_entries, (objects, objects / "pack", objects / "info")))
        return objects if plain else None

    def _read(self, name: str) -> str | None:
        for folder in dict.fromkeys((self.git_dir, self.common_dir)):
            if (data := read_regular(folder / name, REF_BYTES)) is not None:
                return os.fsdecode(data).strip()
            if name == "HEAD":
                break
        return None

    def _packed_ref(self, name: str) -> str | None:
        data = read_regular(self.common_dir / "packed-refs", TABLE_BYTES) or b""
        end = data.find(b" %s\n" % os.fsencode(name))
        found = data[data.rfind(b"\n", 0, max(end, 0)) + 1 : max(end, 0)].decode("ascii", "replace")
        return found if OBJECT_ID.fullmatch(found) else None


# Questions that git did not answer in time, by repository and command: when they may be asked again.
_timeouts: dict[tuple[Path, str], float] = {}


def find_checkout(directory: str) -> Checkout | Path | None:
    """The checkout that a directory is in; None if it is in none. A path: the top of a directory tree whose
    `.git` leads to a repository that does not know this directory, so that it is not a checkout of it. A
    bare repository is never recognized: its files may have been committed to another one."""
    try:
        start = Path(os.path.realpath(directory))
        status = start.stat()
    except (OSError, ValueError):
        return None
    owners = {0, os.geteuid(), status.st_uid}
    for top in (start, *start.parents):
        entry = top / ".git"
        try:
            if top.stat().st_dev != status.st_dev:
                return None  # git does not look beyond a mount point either
            found = entry.lstat()
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if found.st_uid not in owners:
            return None  # another user's, in a directory above such as /tmp
        if not stat.S_ISDIR(found.st_mode):
            checkout = _linked_checkout(top, entry)
            return checkout if checkout and _is_git_dir(checkout.common_dir) else top
        if _is_git_dir(entry):
            return Checkout(top, entry, entry)
    return None


def parse_config(data: bytes) -> dict[str, str]:
    """Values by `section.subsection.key`, the last one of each. Includes are not followed. Reading ends at
    the first syntax error."""
    values: dict[str, str] = {}
    prefix, at = "", 3 if data.startswith(b"\xef\xbb\xbf") else 0
    while entry := CONFIG_ENTRY.match(data, at):
        at = entry.end()
        if entry["section"]:
            prefix = entry["section"].decode().lower() + "."
            if entry["name"] is not None:
                name = re.sub(rb"\\(.)", rb"\1", entry["name"])
                prefix += name.decode("utf-8", "replace") + "."
        elif entry["key"]:
            value = b"true" if entry["value"] is None else entry["value"].strip()
            value = CONFIG_ESCAPE.sub(lambda found: ESCAPES.get(found[1], b""), value)
            key = entry["key"].decode().lower()
            values[prefix + key] = value.decode("utf-8", "replace")
    return values


def find_first_commit(checkout: Checkout) -> str | None:
    """The oldest commit without parents that HEAD descends from; None if the repository does not have it,
    like a shallow clone, or git does not answer."""
    if checkout.head is None or checkout.is_shallow:
        return None
    try:
        roots = _ask(checkout, "rev-list", "--max-parents=0", checkout.head, "--").split()
        first = roots[-1].decode() if roots else ""
        return first if _has_commit(checkout, first) else None
    except GitUnavailable:
        return None


def contains_commit(directory: str, sha: str) -> bool | None:
    """Whether the object database of the directory's repository has that commit, byte for byte. None: git
    does not answer, and nothing in the repository itself hides its history."""
    checkout = find_checkout(directory)
    if not isinstance(checkout, Checkout):
        return False
    try:
        return _has_commit(checkout, sha)
    except GitUnavailable:
        return None if checkout.head and not checkout.is_shallow else False


def list_files_in_work(checkout: Checkout, commits: int, seconds: float) -> list[str]:
    """Tracked files whose content differs from HEAD, then those that the last commits changed: as far as git
    finds them in that time. It looks for both at once."""
    if checkout.head is None:
        return []
    options = ("--name-only", *DIFF_OPTIONS)
    diff = ("diff", *options, checkout.head, "--")
    last = ("log", *options, "--format=", "-n", str(commits), checkout.head, "--")
    running, listed = [], b""
    with ExitStack() as stack:
        for arguments in (diff, last):
            with suppress(OSError, GitFailed, GitUnavailable):
                git = _running(checkout, arguments, with_files=arguments is diff)
                running.append(stack.enter_context(git))
        for process in running:
            with suppress(OSError, GitFailed, GitUnavailable):
                listed += _read_output(process, seconds)
    names = listed.decode("utf-8", "replace").split("\0")
    return [name for each in names if (name := each.strip("\n"))]


def create_repository(git_dir: Path, config: str = "") -> None:
    """An empty one, without git: no template, no hook."""
    for folder in ("objects", "refs"):
        (git_dir / folder).mkdir(parents=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n")
    if config:
        (git_dir / "config").write_text(config)


def _ask(checkout: Checkout, *arguments: str, limits: str = LIMIT_MEMORY) -> bytes:
    """What git prints about an untrusted repository; nothing if it fails. Raises GitUnavailable."""
    key = checkout.common_dir, arguments[0]
    if time.monotonic() < _timeouts.get(key, 0.0):
        raise GitTimeout
    try:
        with _running(checkout, arguments, limits) as process:
            return _read_output(process, SECONDS)
    except GitTimeout:
        _timeouts[key] = time.monotonic() + RETRY_SECONDS
        raise
    except (GitFailed, OSError):
        return b""


@contextmanager
def _running(
    checkout: Checkout,
    arguments: Sequence[str],
    limits: str = LIMIT_MEMORY,
    *,
    with_files: bool = False,
) -> Iterator[subprocess.Popen[bytes]]:
    """Git in an empty git directory of its own, with the repository's objects; `with_files`: with a copy of
    its index and the working tree, too. Raises GitFailed if the repository has none, and GitUnavailable."""
    objects, program = checkout.own_objects, find_program("git")
    if objects is None:
        raise GitFailed
    if program is None:
        raise GitUnavailable
    sha256 = checkout.config.get("extensions.objectformat", "").lower() == "sha256"
    options = [word for option in OPTIONS for word in ("-c", option)]
    command = [program, "--literal-pathspecs", "--no-replace-objects", "--no-pager", *options]
    with tempfile.TemporaryDirectory(prefix="aforesaid-git-", ignore_cleanup_errors=True) as folder:
        try:
            create_repository(Path(folder), config=SHA256_CONFIG if sha256 else "")
            env = _environment(folder) | {"GIT_OBJECT_DIRECTORY": str(objects)}
            if with_files:
                _copy_index(checkout.git_dir / "index", Path(folder, "index"))
                env["GIT_WORK_TREE"] = str(checkout.top)
            if read_regular(checkout.common_dir / "shallow", TABLE_BYTES):
                env["GIT_SHALLOW_FILE"] = str(checkout.common_dir / "shallow")
            process = subprocess.Popen(
                ["/bin/sh", "-c", f'{limits}exec "$@"', "sh", *command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=folder,
                env=env,
                umask=0o077,
                start_new_session=True,
            )
        except (OSError, ValueError):
            raise GitUnavailable from None
        with process:
            try:
                yield process
            finally:
                _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With whatever it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _copy_index(source: Path, target: Path) -> None:
    """With its time: git compares that of a file with it to know whether to look into the file."""
    if (data := read_regular(source, TABLE_BYTES)) is None:
        raise GitFailed
    target.write_bytes(data)
    modified = source.lstat().st_mtime_ns
    os.utime(target, ns=(modified, modified))


def _has_commit(checkout: Checkout, sha: str) -> bool:
    """Git trusts the names in a pack's index, and follows links: the content decides. Raises
    GitUnavailable."""
    if not OBJECT_ID.fullmatch(sha) or (objects := checkout.own_objects) is None:
        return False
    with suppress(FileNotFoundError):
        if not stat.S_ISREG((objects / sha[:2] / sha[2:]).lstat().st_mode):
            return False
    content = _ask(checkout, "cat-file", "commit", sha, limits=LIMIT_MEMORY + LIMIT_COMMIT_CPU)
    digest = hashlib.sha1 if len(sha) == 40 else hashlib.sha256
    return digest(b"commit %d\0%s" % (len(content), content)).hexdigest() == sha


def _read_output(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    """To its end. It is killed when the time is over, or when it prints too much."""
    assert process.stdout is not None
    end = time.monotonic() + seconds
    timer = threading.Timer(seconds, _kill, (process,))
    timer.start()
    try:
        output = process.stdout.read(OUTPUT_BYTES + 1)
        if len(output) > OUTPUT_BYTES:
            raise GitFailed("git printed too much")
        status = process.wait()
    finally:
        timer.cancel()
    if time.monotonic() >= end:
        raise GitTimeout
    if status != 0:
        raise GitFailed(f"git ended with {status}")
    return output


def _environment(git_dir: str) -> dict[str, str]:
    """All of it: nothing is inherited."""
    return {
        "PATH": search_path(os.environ),
        "LC_ALL": "C",
        "HOME": "/nonexistent",
        "XDG_CONFIG_HOME": "/nonexistent",
        "GIT_DIR": git_dir,
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _linked_checkout(top: Path, entry: Path) -> Checkout | None:
    """For a `.git` that is a file or a link. It counts only if the git directory that it leads to names this
    directory: a linked worktree by its `gitdir` file, a submodule by `core.worktree`."""
    if entry.is_symlink():
        git_dir = Path(os.path.realpath(entry))
    elif (named := _read_path(entry)) and named.startswith("gitdir: "):
        git_dir = Path(os.path.realpath(top / named.removeprefix("gitdir: ")))
    else:
        return None
    if common := _read_path(git_dir / "commondir"):
        common_dir = Path(os.path.realpath(git_dir / common))
        back = git_dir / (_read_path(git_dir / "gitdir") or "")
        confirmed = Path(os.path.realpath(back.parent), back.name) == entry
        linked = confirmed and git_dir.parent == common_dir / "worktrees"
        return Checkout(top, git_dir, common_dir) if linked else None
    for name in ("config.worktree", "config"):
        config = parse_config(read_regular(git_dir / name, CONFIG_BYTES) or b"")
        if worktree := config.get("core.worktree"):
            confirmed = os.path.realpath(git_dir / worktree) == str(top)
            return Checkout(top, git_dir, git_dir) if confirmed else None
    return None


def _read_path(file: Path) -> str | None:
    data = read_regular(file, REF_BYTES)
    return None if data is None or b"\0" in data else os.fsdecode(data.rstrip(b"\r\n"))


def _is_git_dir(path: Path) -> bool:
    head = (_read_path(path / "HEAD") or "").strip()
    valid = head.startswith("ref:") or OBJECT_ID.fullmatch(head) is not None
    return valid and (path / "objects").is_dir() and (path / "refs").is_dir()


def _has_plain_entries(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return all(
                each.is_file(follow_symlinks=False) or each.is_dir(follow_symlinks=False)
                for each in entries
            )
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _symref(text: str | None) -> str | None:
    """The ref that a ref names, if it does and the name is valid."""
    name = text.removeprefix("ref:").strip() if text and text.startswith("ref:") else ""
    unsafe = ".." in name or "@{" in name or name.endswith((".lock", "."))
    return name if REF.fullmatch(name) and not unsafe else None
