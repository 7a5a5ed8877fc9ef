"""Edits an agent's settings file, which is JSON, and undoes that exactly.

It is written with the indentation it had; what is not one JSON object, or has a key twice, is left alone.
Where removing our entries would not give the original bytes back, the undo record keeps a copy, which is
restored as long as the file is as we left it. A write is atomic, keeps mode and owner, goes to the target of
a symbolic link (dotfiles managers link settings), and refuses a file that somebody else changed meanwhile.
"""

import base64
import contextlib
import copy
import difflib
import io
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from aforesaid import ids
from aforesaid.errors import InstallError, SettingsError
from aforesaid.paths import open_regular

Json = dict[str, Any]
BOM = "\ufeff"
FIRST_INDENT = re.compile(r"\s*\{\s*?\n([ \t]+)")
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
FIRST_COLON = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:( ?)')


@dataclass(frozen=True)
class Change:
    """What was, or would be, done to `path`; None stands for a file that is not there."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        old, new = _lines(self.before), _lines(self.after)
        old_name = "/dev/null" if self.before is None else str(self.path)
        new_name = "/dev/null" if self.after is None else str(self.path)
        lines = difflib.unified_diff(old, new, old_name, new_name)
        missing = "\n\\ No newline at end of file\n"
        return "".join(line if line.endswith("\n") else line + missing for line in lines)


@dataclass(frozen=True)
class UndoRecord:
    """`original`: the bytes before us in base64, if they cannot be computed. `layout`: instead, the white
    space between the tokens of a private file. `written`: the digest of what we left. `keys`: top-level keys
    that were there before us. `made`: directories we had to make."""

    existed: bool
    original: str | None
    layout: list[str]
    written: str
    keys: list[str]
    made: list[str]


@dataclass(frozen=True)
class SettingsFile:
    """`add` puts our entries into the settings, once and up to date. `remove` takes them out; it gets the
    keys at the top that have to stay even if they are empty then. `mode`: of a file that was not there.
    `private`: it holds credentials of the client, so no copy of it is kept, only the layout of its JSON."""

    path: Path
    records: Path
    add: Callable[[Json], None]
    remove: Callable[[Json, Collection[str]], None]
    mode: int = 0o666
    private: bool = False

    def install(self, *, dry_run: bool) -> Change:
        with explained(self.path, "install"):
            before = read(self.path)
            change = Change(self.path, before, edited(before, self.add))
            if change.changed and not dry_run:
                self._apply_with_undo(change)
            return change

    def uninstall(self, *, dry_run: bool) -> Change:
        with explained(self.path, "uninstall"):
            before, record = read(self.path), self._load()
            change = Change(self.path, before, self._before_us(before, record))
            if dry_run:
                return change
            if change.changed:
                apply(change)
            if record and change.after is None:
                remove_empty([Path(folder) for folder in record.made])
            self._record_file.unlink(missing_ok=True)
            return change

    def _apply_with_undo(self, change: Change) -> None:
        """The record comes first: a crash in between must not leave a change that nobody can undo."""
        earlier = self._load()
        self._save(self._undo_of(change, earlier))
        try:
            apply(change, self.mode)
        except BaseException:
            self._record_file.unlink(missing_ok=True)
            if earlier:
                self._save(earlier)
            raise

    def _undo_of(self, change: Change, earlier: UndoRecord | None) -> UndoRecord:
        """Back to before the first of our changes, not just this one."""
        original = self._before_us(change.before, earlier)
        made = list(map(str, missing_parents(target_of(change.path))))
        if earlier and not earlier.existed:
            made = [*earlier.made, *made]
        keys = list(load_object((original or b"").decode("utf-8")))
        computed = edited(change.after, lambda settings: self.remove(settings, keys))
        copied, layout = None, list[str]()
        if original is not None and computed != original:
            if self.private and not _is_blank(original):
                layout = TOKEN.split(original.decode("utf-8").removeprefix(BOM))
            else:
                copied = base64.b64encode(original).decode("ascii")
        written = ids.digest(change.after or b"", 64)
        return UndoRecord(original is not None, copied, layout, written, keys, made)

    def _before_us(self, data: bytes | None, record: UndoRecord | None) -> bytes | None:
        """The file as it would be had we never been here."""
        if data is None:
            return None
        as_we_left_it = record is not None and record.written == ids.digest(data, 64)
        if record and as_we_left_it and record.original is not None:
            return base64.b64decode(record.original, validate=True)
        keys = record.keys if record else ()
        after = edited(data, lambda settings: self.remove(settings, keys))
        if record and as_we_left_it and record.layout:
            after = _with_layout(after, record.layout)
        made_by_us = record is not None and not record.existed
        return None if made_by_us and after.strip() in (b"", b"{}") else after

    @property
    def _record_file(self) -> Path:
        # Not the target of a linked file: the link may be pointed elsewhere later.
        return self.records / f"{ids.digest(str(self.path.parent.resolve() / self.path.name))}.json"

    def _load(self) -> UndoRecord | None:
        """A record that cannot be read counts as none."""
        try:
            data = json.loads(self._record_file.read_bytes())
            record = UndoRecord(**{each.name: data[each.name] for each in fields(UndoRecord)})
            base64.b64decode(record.original or "", validate=True)
            return record
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def _save(self, record: UndoRecord) -> None:
        data = {"settings": str(self.path)} | asdict(record)
        self.records.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = (json.dumps(data, indent=2) + "\n").encode("ascii")
        _write_beside(self._record_file, text, mode=0o600).replace(self._record_file)


def load_object(text: str) -> Json:
    """The settings; an empty file has none. `NaN` and `Infinity` are refused: no agent could read them."""
    if _is_blank(text.encode("utf-8", "replace")):
        return {}
    try:
        value = json.loads(
            text.removeprefix(BOM),
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_duplicates,
        )
    except json.JSONDecodeError as error:
        raise SettingsError(f"line {error.lineno}: this is not valid JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"this is not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise SettingsError("the file must hold a JSON object")
    return value


def child(
    value: Json, name: str, kind: type[dict[Any, Any]] | type[list[Any]], within: str = ""
) -> Any:
    """The object or array `name`, made if it is not there."""
    found = value.setdefault(name, kind())
    if not isinstance(found, kind):
        what = "an object" if kind is dict else "an array"
        raise SettingsError(f"`{within}{name}` must be {what}")
    return found


def edited(data: bytes | None, edit: Callable[[Json], None]) -> bytes:
    """The same bytes if the edit changes nothing."""
    text = (data or b"").decode("utf-8")
    settings = load_object(text)
    before = copy.deepcopy(settings)
    edit(settings)
    return (text if settings == before else _dump(settings, text)).encode()


def _dump(settings: Json, like: str) -> str:
    body = like.removeprefix(BOM)
    if not body.strip():
        body = "{}\n"
    colon = FIRST_COLON.match(body)
    spaced = colon is None or colon[1] == " "
    indent = FIRST_INDENT.match(body)
    single_line = colon is not None and "\n" not in body.strip()
    style: Any = {
        "indent": None if single_line else indent[1] if indent else "  ",
        "separators": (", " if single_line and spaced else ",", ": " if spaced else ":"),
    }
    text = json.dumps(settings, ensure_ascii=body.isascii() and "\\u" in body, **style)
    text += "\n" if body.endswith("\n") else ""
    mark = BOM if like.startswith(BOM) else ""
    return mark + (text.replace("\n", "\r\n") if "\r\n" in body else text)


def _with_layout(data: bytes, layout: list[str]) -> bytes:
    """With the white space between its tokens that the file had."""
    text = data.decode("utf-8")
    tokens = TOKEN.findall(text.removeprefix(BOM))
    if len(tokens) + 1 != len(layout):
        return data
    mark = BOM if text.startswith(BOM) else ""
    laid_out = "".join(space + token for space, token in zip(layout, [*tokens, ""], strict=True))
    return (mark + laid_out).encode()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingsError(f"the key `{twice}` stands twice in one object")
    return found


def _is_blank(data: bytes) -> bool:
    return not data.removeprefix(BOM.encode()).strip()


def target_of(path: Path) -> Path:
    """The file itself, behind any symbolic links; it need not exist."""
    try:
        return path.resolve()
    except RuntimeError as error:  # how Python 3.11 and 3.12 report a loop of links
        raise OSError(f"{path}: {error}") from None


def read(path: Path) -> bytes | None:
    try:
        with open_regular(path, follow=True) as file:
            return file.read()
    except FileNotFoundError:
        return None


def missing_parents(path: Path) -> list[Path]:
    """Directories that a write to `path` has to make, the outermost one first."""
    return [folder for folder in reversed(path.parents) if not folder.exists()]


def apply(change: Change, mode: int = 0o666) -> None:
    target = target_of(change.path)
    if change.before is not None:
        target.open("r+b").close()  # refuses a read-only file, which os.replace would not
    if change.after is None:
        _refuse_if_changed(target, change.before)
        target.unlink(missing_ok=True)
        return
    made = missing_parents(target)
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = _write_beside(target, change.after, mode)
        if change.before is not None:
            old = target.stat()
            with contextlib.suppress(PermissionError):  # only root may give a file away
                os.chown(temporary, old.st_uid, old.st_gid)
            temporary.chmod(stat.S_IMODE(old.st_mode))
        _refuse_if_changed(target, change.before)
        temporary.replace(target)
    except BaseException:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        remove_empty(made)
        raise


def remove_empty(folders: Sequence[Path]) -> None:
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _refuse_if_changed(target: Path, before: bytes | None) -> None:
    if read(target) != before:
        raise InstallError(f"Another program changed {target} just now. Try again.")


def _write_beside(path: Path, data: bytes, mode: int) -> Path:
    temporary = path.with_name(f".{path.name}.{ids.lease_name()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _lines(data: bytes | None) -> list[str]:
    # Not splitlines(): it also splits at characters that JSON allows inside a string.
    return io.StringIO((data or b"").decode("utf-8", "replace"), newline="\n").readlines()


@contextlib.contextmanager
def explained(path: Path, command: str) -> Iterator[None]:
    """Every failure as an InstallError that names the file and the fix."""
    again = f"then run `aforesaid {command}` again"
    try:
        yield
    except SettingsError as error:
        message = f"{path}: {error.reason}. The file was left alone. {error.fix}, {again}."
        raise InstallError(message) from error
    except UnicodeError as error:
        message = f"{path} cannot be read or written as UTF-8 ({error}). The file was left alone."
        raise InstallError(f"{message} Save it as UTF-8, {again}.") from error
    except OSError as error:
        where, why = error.filename or path, error.strerror or error
        message = f"{where} cannot be read or written: {why}. {path} was left alone."
        raise InstallError(f"{message} Give yourself access to it, {again}.") from error
