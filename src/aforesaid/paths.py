"""Where things live. `AFORESAID_HOME` puts all of it in one folder; otherwise the XDG folders do.

`hook/capture.sh` and `hook/capture.py` find `state` by the same rule, on their own; a contract test
keeps the three equal. Directories are made 0700.
"""

import errno
import os
import pwd
import resource
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from aforesaid.errors import ConfigError

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600
PR_SET_DUMPABLE = 4  # <linux/prctl.h>


class _Below:
    def __init__(self, folder: str, name: str) -> None:
        self._folder, self._name = folder, name

    def __get__(self, paths: "Paths", _: type) -> Path:
        folder: Path = getattr(paths, self._folder)
        return folder / self._name


@dataclass(frozen=True, slots=True)
class Paths:
    config: Path  # what the user writes
    data: Path  # what must not be lost
    state: Path  # spool, logs, sockets, prepared copies

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "Paths":
        if home := env.get("AFORESAID_HOME"):
            if not home.startswith("/"):
                raise ConfigError(f"AFORESAID_HOME must be an absolute path, not {home!r}.")
            root = Path(home)
            return cls(config=root, data=root, state=root)
        user = Path(env.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)

        def xdg(name: str, default: str) -> Path:
            value = env.get(name, "")
            # The XDG rules: a relative path is invalid and ignored.
            return (Path(value) if value.startswith("/") else user / default) / "aforesaid"

        return cls(
            config=xdg("XDG_CONFIG_HOME", ".config"),
            data=xdg("XDG_DATA_HOME", ".local/share"),
            state=xdg("XDG_STATE_HOME", ".local/state"),
        )

    config_file = _Below("config", "config.toml")
    database = _Below("data", "aforesaid.db")
    # Makes the marks of replaced secrets ours alone.
    redaction_key = _Below("data", "redaction.key")
    memory = _Below("data", "memory")  # curated memories, as Markdown files that people may edit
    # What is being erased, until it is: after a kill the next worker goes on.
    erasing_file = _Below("data", "erasing.json")
    backups = _Below("data", "backups")  # a folder each
    # Databases that could not be used, a folder each, with what became of them.
    damaged = _Below("data", "damaged")
    spool = _Below("state", "spool")
    spool_tmp = _Below("state", "spool/tmp")
    spool_new = _Below("state", "spool/new")
    spool_bad = _Below("state", "spool/bad")
    # Prepared session-start replies, for the moment when the worker cannot answer.
    briefs = _Below("state", "briefs")
    # One JSON string: what is wrong, for a hook that finds no worker.
    health_note = _Below("state", "health.json")
    # A line per event that a hook could not write; `+12` stands for twelve of them.
    capture_failures = _Below("state", "capture-failures")
    python_file = _Below("state", "python")  # the interpreter, for hooks that do not know it
    installs = _Below("state", "installs")  # what agents' settings were before we touched them
    log_file = _Below("state", "logs/worker.log")
    run = _Below("state", "run")
    file_lists = _Below("state", "run/files")  # per session: files that something is known about
    socket = _Below("state", "run/worker.sock")
    pid_file = _Below("state", "run/worker.pid")
    lock_file = _Below("state", "run/worker.lock")
    # Held by the one hook that is starting the worker, so that thirty do not.
    starting_file = _Below("state", "run/starting")
    # Whether the database was closed cleanly, and how far its log reached.
    database_state_file = _Below("state", "run/database.json")
    exclusions_file = _Below("state", "run/exclusions")  # when something was paused or purged
    web_file = _Below("state", "run/web.json")  # where the API listens, as long as it does
    web_token = _Below("state", "run/web-token")  # what a program must show it

    def make(self) -> None:
        """All directories, owner only. An existing one that others can enter is closed; one that is
        another's is refused, because whoever owns it can put anything there."""
        for path in (
            *(self.config, self.data, self.state, self.run, self.briefs, self.installs),
            *(self.spool, self.spool_tmp, self.spool_new, self.spool_bad, self.log_file.parent),
        ):
            private_dir(path)


def private_dir(path: Path) -> Path:
    """Refused is one of somebody else, or a link that somebody else has put there; the user's own links may
    lead elsewhere."""
    path.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
    for status in (path.lstat(), path.stat()):
        if status.st_uid != os.geteuid():
            fix = "Make it yours (`chown`), or set AFORESAID_HOME to a folder of your own."
            raise ConfigError(f"{path} belongs to user {status.st_uid}. {fix}")
    if path.stat().st_mode & 0o077:
        path.chmod(PRIVATE_DIR)
    return path


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """Atomically and owner-only: a reader sees the old file, or the new one when it is complete."""
    temporary = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_private(path: Path, data: bytes) -> None:
    with replaced(path) as file:
        file.write(data)


def walk(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    """Everything below a folder, one entry at a time: the spool may have a million files. Links are not
    followed; a folder that cannot be read is passed over."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from walk(entry.path)


def sync(path: Path) -> None:
    """A file's bytes, or a folder's names, are on the disk when this returns."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_regular(path: Path, *, follow: bool = False) -> BinaryIO:
    """For reading, without ever blocking. Raises OSError for anything but a regular file: a directory, a
    FIFO, a device and, unless `follow`, a link."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, most: int, *, follow: bool = False) -> bytes | None:
    """The content of a regular file; None if it is something else, missing, unreadable or too large."""
    try:
        with open_regular(path, follow=follow) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(size + 1) if size <= most else b""
    except (OSError, ValueError):
        return None
    return data if len(data) == size else None


def search_path(env: Mapping[str, str]) -> str:
    """`PATH` without relative and empty entries: they refer to the current directory, and a repository must
    not bring programs of its own."""
    entries = env.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(each for each in entries if each.startswith("/")) or os.defpath


def find_program(name: str) -> str | None:
    import shutil  # not at every start of a command: it brings the modules of all archive formats

    return shutil.which(name, path=search_path(os.environ))


def disable_core_dumps() -> None:
    """Of a process that has captured content, keys or secrets in its memory. A limit of 0 is not enough: a
    kernel that pipes dumps to a program (systemd, apport) ignores it."""
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
