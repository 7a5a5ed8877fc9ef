"""Every error a user can meet. A class's docstring is its message; the message names the fix."""

import json
import shlex
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote


class AforesaidError(Exception):
    """aforesaid could not do this. Run `aforesaid doctor` to find out why."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__ or "")


class Misused(AforesaidError):
    """The request is not valid."""

    exit_code = 2

    def __init__(self, message: str | None = None, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class ConfigError(AforesaidError):
    """The configuration is not valid. See `aforesaid config list`."""

    exit_code = 2


class InstallError(AforesaidError):
    """The agent's settings were not changed. Fix the file, then run `aforesaid install` again."""


class SettingsError(InstallError):
    """The file was left alone: `reason` says why, `fix` what to do."""

    def __init__(self, reason: str, fix: str = "Fix it") -> None:
        super().__init__(reason)
        self.reason, self.fix = reason, fix


class StoreError(AforesaidError):
    """The database cannot be used. Run `aforesaid doctor`."""


class StoreDamaged(StoreError):
    """The database is damaged. Run `aforesaid doctor`; nothing was deleted."""


class StoreTooNew(StoreError):
    """The database was written by a newer aforesaid. Upgrade: `git pull` and `make setup` in its checkout."""


class StoreMissing(StoreError):
    """Nothing is recorded yet. Run `aforesaid install`; `aforesaid import claude-code` adds past sessions."""


class WorkerError(AforesaidError):
    """The worker failed. See `aforesaid worker logs`."""


class WorkerDown(WorkerError):
    """The worker is not running. Start it with `aforesaid worker start`."""


class WorkerHung(WorkerError):
    """The worker does not answer. Restart it with `aforesaid worker restart`."""


class NotServed(AforesaidError):
    """The viewer could not be started. `aforesaid worker logs` says why."""


class TransferError(AforesaidError):
    """This cannot be imported or exported. Existing data was not changed."""


class BackupError(AforesaidError):
    """The backup could not be created or restored. Nothing was changed. See `aforesaid backup list`."""


class NoRoom(BackupError):
    """There is no room for a backup. Free some space and run `aforesaid backup`."""


class MemoryRefused(AforesaidError):
    """The memory was not changed. List memories with `aforesaid memory list`."""


class Edited(MemoryRefused):
    """The memory's file was edited meanwhile. Read it with `aforesaid memory show`, then try again."""


class BadMessages(AforesaidError):
    """The messages are not a conversation. Give a list of dicts with `role` and `content`, as for the API."""


class NotFound(AforesaidError):
    """There is nothing with that id. List sessions with `aforesaid sessions`."""


# An error that one process reports to another, as JSON: with its attributes, such as `field`.

ERRORS = {
    name: each
    for name, each in globals().items()
    if isinstance(each, type) and issubclass(each, AforesaidError)
}


def describe_error(error: AforesaidError) -> dict[str, Any]:
    return {"raised": type(error).__name__, "message": str(error), "attributes": vars(error)}


def raise_reported(answer: Mapping[str, Any]) -> None:
    if "raised" in answer:
        error = ERRORS.get(answer["raised"], AforesaidError)(answer["message"])
        vars(error).update(answer.get("attributes", {}))
        raise error


def install_command(extra: str) -> str:
    """That installs an optional dependency, for the way in which aforesaid was installed."""
    package = _installed_from(extra)
    prefix, python = Path(sys.prefix), shlex.quote(sys.executable)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx runpip {shlex.quote(prefix.name)} install {package}"
    if find_spec("pip") is None:  # as uv makes environments
        return f"uv pip install --python {python} {package}"
    return f"{python} -m pip install {package}"


def _installed_from(extra: str) -> str:
    """Arguments of pip for the same source, which is often a checkout, with the extra."""
    from importlib import metadata

    found = json.loads(metadata.distribution("aforesaid").read_text("direct_url.json") or "{}")
    url, name = found.get("url", ""), f"aforesaid[{extra}]"
    if found.get("dir_info", {}).get("editable"):
        return f"-e {shlex.quote(unquote(url.removeprefix('file://')) + f'[{extra}]')}"
    if vcs := found.get("vcs_info"):
        url = f"{vcs['vcs']}+{url}"
    return shlex.quote(f"{name} @ {url}" if url else name)
