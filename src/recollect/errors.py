"""Every error a user can meet. A class's docstring is its message; the message names the fix.

RecollectError
├── ConfigError        a setting or the config file is wrong
├── InstallError       an agent's settings cannot be changed safely
├── StoreError         the database cannot be used
│   ├── StoreDamaged
│   ├── StoreTooNew
│   └── StoreMissing
├── WorkerError        the worker cannot be reached or started
│   ├── WorkerDown
│   └── WorkerHung
├── TransferError      an export or another program's memory cannot be taken
├── BackupError        a backup cannot be made, found or used
│   └── NoRoom         there is too little space for one
├── MemoryRefused      a memory cannot be changed in that way
│   └── Edited         its file was edited since it was read
├── BadMessages        what should be a conversation is none
└── NotFound           an id or name that does not exist
"""

from typing import ClassVar


class RecollectError(Exception):
    """recollect could not do this. Run `recollect doctor` to find out why."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or type(self).__doc__ or "")


class ConfigError(RecollectError):
    """The configuration is not valid. See `recollect config list`."""

    exit_code = 2


class InstallError(RecollectError):
    """The agent's settings were left alone. Mend the file, then run `recollect install` again."""


class StoreError(RecollectError):
    """The database cannot be used. Run `recollect doctor`."""


class StoreDamaged(StoreError):
    """The database is damaged. Run `recollect doctor`; nothing was deleted."""


class StoreTooNew(StoreError):
    """The database was written by a newer recollect. Upgrade with `pip install -U recollect`."""


class StoreMissing(StoreError):
    """Nothing is recorded yet. Run `recollect install`; `recollect import claude-code` brings in the past."""


class WorkerError(RecollectError):
    """The worker failed. See `recollect worker logs`."""


class WorkerDown(WorkerError):
    """The worker is not running. Start it with `recollect worker start`."""


class WorkerHung(WorkerError):
    """The worker does not answer. Restart it with `recollect worker restart`."""


class TransferError(RecollectError):
    """This cannot be taken. Nothing that was here has changed."""


class BackupError(RecollectError):
    """The backup could not be made or used; nothing was changed. See `recollect backup list`."""


class NoRoom(BackupError):
    """There is no room for a backup. Free some space and run `recollect backup`."""


class MemoryRefused(RecollectError):
    """The memory was left as it is. See what there is with `recollect memory list`."""


class Edited(MemoryRefused):
    """The memory's file was edited meanwhile. Read it with `recollect memory show`, then try again."""


class BadMessages(RecollectError):
    """The messages are not a conversation. Give a list of dicts with `role` and `content`, as for the API."""


class NotFound(RecollectError):
    """There is nothing with that id. List what there is with `recollect sessions`."""
