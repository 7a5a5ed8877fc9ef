"""Where things live. `RECOLLECT_HOME` puts all of it in one folder; otherwise the XDG folders do.

`hook/capture.sh` and `hook/capture.py` find `state` by the same rule, on their own; a contract test
keeps the three equal. Directories are made 0700.
"""

import os
import pwd
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.errors import ConfigError

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600


@dataclass(frozen=True, slots=True)
class Paths:
    config: Path  # what the user writes
    data: Path  # what must not be lost
    state: Path  # spool, logs, sockets, prepared copies

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "Paths":
        if home := env.get("RECOLLECT_HOME"):
            if not home.startswith("/"):
                raise ConfigError(f"RECOLLECT_HOME must be an absolute path, not {home!r}.")
            root = Path(home)
            return cls(config=root, data=root, state=root)
        user = Path(env.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir)

        def xdg(name: str, default: str) -> Path:
            value = env.get(name, "")
            # The XDG rules: a relative path is invalid and ignored.
            return (Path(value) if value.startswith("/") else user / default) / "recollect"

        return cls(
            config=xdg("XDG_CONFIG_HOME", ".config"),
            data=xdg("XDG_DATA_HOME", ".local/share"),
            state=xdg("XDG_STATE_HOME", ".local/state"),
        )

    @property
    def config_file(self) -> Path:
        return self.config / "config.toml"

    @property
    def database(self) -> Path:
        return self.data / "recollect.db"

    @property
    def redaction_key(self) -> Path:
        """What makes the marks of replaced secrets ours alone."""
        return self.data / "redaction.key"

    @property
    def memory(self) -> Path:
        """Curated memories, as Markdown files that people may edit."""
        return self.data / "memory"

    @property
    def erasing_file(self) -> Path:
        """What is being erased, until it is: after a kill the next worker goes on."""
        return self.data / "erasing.json"

    @property
    def backups(self) -> Path:
        """A folder each."""
        return self.data / "backups"

    @property
    def damaged(self) -> Path:
        """Databases that could not be used, a folder each, with what became of them."""
        return self.data / "damaged"

    @property
    def spool(self) -> Path:
        return self.state / "spool"

    @property
    def spool_tmp(self) -> Path:
        return self.spool / "tmp"

    @property
    def spool_new(self) -> Path:
        return self.spool / "new"

    @property
    def spool_bad(self) -> Path:
        return self.spool / "bad"

    @property
    def briefs(self) -> Path:
        """Prepared session-start replies, for the moment when the worker cannot answer."""
        return self.state / "briefs"

    @property
    def health_note(self) -> Path:
        """One JSON string: what is wrong, for a hook that finds no worker."""
        return self.state / "health.json"

    @property
    def capture_failures(self) -> Path:
        """A line per event that a hook could not write; `+12` stands for twelve of them."""
        return self.state / "capture-failures"

    @property
    def python_file(self) -> Path:
        """The interpreter that has recollect, for hooks that were not told."""
        return self.state / "python"

    @property
    def run(self) -> Path:
        return self.state / "run"

    @property
    def file_lists(self) -> Path:
        """A list per session: the files that something is known about."""
        return self.run / "files"

    @property
    def socket(self) -> Path:
        return self.run / "worker.sock"

    @property
    def pid_file(self) -> Path:
        return self.run / "worker.pid"

    @property
    def lock_file(self) -> Path:
        return self.run / "worker.lock"

    @property
    def starting_file(self) -> Path:
        """Held by the one hook that is starting the worker, so that thirty do not."""
        return self.run / "starting"

    @property
    def condition_file(self) -> Path:
        """How the database was left: closed well or not, and how far its log reached."""
        return self.run / "database.json"

    @property
    def withheld_file(self) -> Path:
        """When something was last paused or erased; never what."""
        return self.run / "withheld.json"

    @property
    def web_file(self) -> Path:
        """Where the API and the viewer listen, as long as they do."""
        return self.run / "web.json"

    @property
    def web_token(self) -> Path:
        """What a program must show them."""
        return self.run / "web-token"

    @property
    def log_file(self) -> Path:
        return self.state / "logs" / "worker.log"

    @property
    def installs(self) -> Path:
        """What agents' settings were before we touched them."""
        return self.state / "installs"

    def make(self) -> None:
        """All directories, owner only. An existing one that others can enter is closed; one that is
        another's is refused, because whoever owns it can put anything there."""
        for path in (
            *(self.config, self.data, self.state, self.run, self.briefs, self.installs),
            *(self.spool, self.spool_tmp, self.spool_new, self.spool_bad, self.log_file.parent),
        ):
            private_dir(path)


def private_dir(path: Path) -> Path:
    path.mkdir(mode=PRIVATE_DIR, parents=True, exist_ok=True)
    _refuse_foreign(path)
    if path.stat().st_mode & 0o077:
        path.chmod(PRIVATE_DIR)
    return path


def _refuse_foreign(path: Path) -> None:
    """Also a link that somebody else has put there; one of the user's own may lead elsewhere."""
    for status in (path.lstat(), path.stat()):
        if status.st_uid != os.geteuid():
            raise ConfigError(
                f"{path} belongs to user {status.st_uid}. Make it yours (`chown`), or set RECOLLECT_HOME "
                "to a folder of your own."
            )


def write_private(path: Path, data: bytes) -> None:
    """Atomically and owner-only: a reader sees the old file or the new one."""
    temporary = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """A file's bytes, or a folder's names, are on the disk when this returns."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
