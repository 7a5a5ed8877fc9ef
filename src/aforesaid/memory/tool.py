"""The back end of Anthropic's memory tool (`memory_20250818`): handles what a model asks of `/memories`.

    tool = MemoryTool(aforesaid.Memory())
    client.messages.create(tools=[tool.definition, …], …)
    result = tool.handle(block.input)         # of a tool_use block whose name is "memory"

`/memories/<name>.md` are the project's memories and `/memories/user/<name>.md` the user's: the same files as
everywhere else, with front matter, index and history. All other paths are plain files, which have a history
but are never injected. No path leads to another file of the machine.
"""

import os
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from aforesaid.errors import AforesaidError, Edited
from aforesaid.memory.changes import Change, Memories
from aforesaid.memory.files import UnreadableFile, read_file
from aforesaid.memory.folders import USER_FOLDER, Folder, Places, list_plain_files
from aforesaid.memory.format import (
    INDEX_FILE,
    MAX_FILE_BYTES,
    SUFFIX,
    fold_name,
    parse_front_matter,
    parse_memory,
    render_memory,
    slugify,
    split_front_matter,
)
from aforesaid.model.memories import (
    AGENT,
    BY,
    OF_PROJECT,
    OF_USER,
    PROJECT,
    USER,
    Broken,
    Memory,
    StoredMemory,
)
from aforesaid.text import clean, cut, one_line

if TYPE_CHECKING:
    from aforesaid.memory import api

ROOT = "/memories"
MAX_DEPTH, MAX_NAME_BYTES = 6, 120
ENCODED = ("%2e", "%2f", "%5c", "%00")
MAX_FILES, MAX_BYTES = 500, 8 * 1024 * 1024  # plain files of a project
FULL = f"There is room for {MAX_FILES} files and {MAX_BYTES // 1024 // 1024} MB"
MAX_DESCRIPTION = 150
MARKDOWN_MARKS = "#-*> \t"  # at the start of a line
LEVELS, SKIPPED = 2, "node_modules"  # of a directory
MAX_SHOWN = 60_000  # characters of one view; `view_range` shows the rest
SNIPPET_LINES = 2  # before and after an edit
NOT_FOUND = "The path {} does not exist. Please provide a valid path."


class ToolError(Exception):
    """Its message is the tool's result."""


@dataclass(frozen=True, slots=True)
class Target:
    """A resolved path. `display`: as the tool writes it. `base`: the folder on disk, `names`: the path below
    it. `memory`: the name, for the file of a memory."""

    display: str
    base: Path
    names: tuple[str, ...]
    memory: str | None = None
    scope: str = OF_PROJECT

    @property
    def path(self) -> Path:
        return self.base.joinpath(*self.names)

    @property
    def is_fixed(self) -> bool:
        """A root, or a generated index."""
        return not self.names or (self.memory is None and self.names == (INDEX_FILE,))


class MemoryTool:
    """`memory`: an `aforesaid.Memory`, or a folder that everything is kept in, with a history of its own."""

    definition: ClassVar[dict[str, str]] = {"type": "memory_20250818", "name": "memory"}

    def __init__(self, memory: "api.Memory | str | os.PathLike[str]") -> None:
        if isinstance(memory, str | os.PathLike):
            folder = Path(memory).expanduser().absolute()
            user = Folder(folder / USER_FOLDER, OF_USER)
            self._memories = Memories(Places(folder, user, Folder(folder / "project", OF_PROJECT)))
        else:
            self._memories = memory._memories

    def handle(self, command: Mapping[str, Any]) -> str:
        """The tool's result. Errors are returned as text for the model; nothing is raised."""
        try:
            if not isinstance(command, Mapping):
                raise ToolError("Error: The command must be an object.")
            return self._run(command)
        except ToolError as refused:
            return str(refused)
        except Edited:
            return "Error: The file was changed meanwhile. View it, then try again."
        except AforesaidError as error:
            return f"Error: {error}"
        except OSError as error:
            return f"Error: The memory cannot be used: {error.strerror or type(error).__name__}."

    def _run(self, command: Mapping[str, Any]) -> str:
        def text(name: str, default: object = None) -> str:
            value = command.get(name, default)
            if not isinstance(value, str):
                raise ToolError(f"Error: The parameter `{name}` must be a string.")
            return value.encode("utf-8", "replace").decode()

        path = command.get("path")
        shown = _printable(path)
        match command.get("command"):
            case "view":
                return self._view(path, command.get("view_range"))
            case "create":
                return self._create(path, text("file_text"))
            case "str_replace":
                old, new = text("old_str"), text("new_str", "")
                edited = self._edit(
                    path, lambda before, file: _replace_text(before, old, new, file)
                )
                return _show_edit(edited, new)
            case "insert":
                line, new = command.get("insert_line"), text("insert_text")
                self._edit(path, lambda before, _: _insert_text(before, line, new))
                return f"The file {shown} has been edited."
            case "delete":
                with self._change(f"deleted {shown}") as files:
                    files.remove(files.resolve(path))
                return f"Successfully deleted {shown}"
            case "rename":
                return self._rename(command.get("old_path"), command.get("new_path"))
            case other:
                raise ToolError(
                    f"Error: Unknown command {_printable(str(other))}. Use view, create, str_replace, "
                    "insert, delete or rename."
                )

    def _view(self, path: object, view_range: object) -> str:
        with self._memories.trial() as change:  # while nobody writes
            places = self._memories.places
            target = _Files(change, places).resolve(path)
            if not target.names or target.path.is_dir():
                return _view_directory(target, places)
            try:
                data = read_file(target.path)
            except UnreadableFile as error:
                raise ToolError(f"Error: {target.display} cannot be shown: {error}.") from None
        if data is None:
            raise ToolError(NOT_FOUND.format(target.display))
        return _view_file(target.display, _decode(data, target.display), view_range)

    def _create(self, path: object, text: str) -> str:
        with self._change(f"created {_printable(path)}") as files:
            target = files.resolve(path)
            if files.exists(target):
                raise ToolError(f"Error: File {target.display} already exists")
            written, display = files.write(target, text)
        result = f"File created successfully at: {_printable(path)}"
        if written == text and display == target.display == path:
            return result
        head = written.partition("\n---\n")[0].count("\n") + 2
        return (
            f"{result}\nIt is kept as {display} and begins with {head} lines of front matter: view it before "
            "you edit it by lines."
        )

    def _edit(self, path: object, edit: Callable[[str, str], str]) -> str:
        """Returns the new text."""
        with self._change(f"edited {_printable(path)}") as files:
            target = files.resolve(path)
            written, _ = files.write(target, edit(files.text(target), target.display))
        return written

    def _rename(self, old_path: object, new_path: object) -> str:
        what = f"{_printable(old_path)} to {_printable(new_path)}"
        with self._change(f"renamed {what}") as files:
            old, new = files.resolve(old_path), files.resolve(new_path)
            if new.path == old.path:  # names are unique: the same name, of another owner
                new = files.resolve(new_path, new=True)
            if files.exists(new) or new.path.is_relative_to(old.path):
                raise ToolError(f"Error: The destination {_printable(new_path)} already exists")
            files.move(old, new)
        return f"Successfully renamed {what}"

    @contextmanager
    def _change(self, what: str) -> Iterator["_Files"]:
        with self._memories.change(f"memory tool: {what}") as change:
            yield _Files(change, self._memories.places)
        for path, _, _ in os.walk(self._memories.places.files, topdown=False):
            with suppress(OSError):  # only empty folders go
                Path(path).rmdir()


class _Files:
    """The tool's files within one change."""

    def __init__(self, change: Change, places: Places) -> None:
        self._change, self._places = change, places

    def resolve(self, path: object, *, new: bool = False) -> Target:
        """No part of the path may be a link, and the last one must be a regular file or a folder."""
        target = resolve_path(path, self._places, new=new)
        for depth in range(len(target.names) + 1):
            part = target.base.joinpath(*target.names[:depth])
            is_last = depth == len(target.names) > 0
            if part.is_symlink() or not (
                part.is_dir() or (is_last and part.is_file()) or not os.path.lexists(part)
            ):
                why = "is not a file or a directory of the memory"
                raise ToolError(f"Error: The path {target.display} {why}.")
        return target

    def exists(self, target: Target) -> bool:
        return target.path.is_dir() or self._change.content(target.path) is not None

    def text(self, target: Target) -> str:
        self._check_editable(target)
        if target.path.is_dir():
            raise ToolError(f"Error: The path {target.display} is a directory. Name a file in it.")
        data = self._change.content(target.path)
        if data is None:
            raise ToolError(f"Error: {NOT_FOUND.format(target.display)}")
        return _decode(data, target.display)

    def write(self, target: Target, text: str) -> tuple[str, str]:
        """Returns the text as it is kept, and its path: the type of a memory decides whose it is."""
        self._check_editable(target)
        if "\0" in text:
            raise ToolError("Error: The text has a NUL in it; leave that out.")
        text = self._change.redactor.text(text)
        size = len(text.encode())
        if size > MAX_FILE_BYTES:
            limit = f"{MAX_FILE_BYTES // 1024} KB"
            raise ToolError(f"Error: The text is larger than {limit}. Split it into several files.")
        if target.memory is None:
            others = [path for path in list_plain_files(self._places.files) if path != target.path]
            with suppress(FileNotFoundError):
                size += sum(path.lstat().st_size for path in others)
            if len(others) >= MAX_FILES or size > MAX_BYTES:
                raise ToolError(f"Error: {FULL}. Delete what is no longer needed.")
            self._change.put(target.path, text.encode())
            return text, target.display
        old = self._change.get(target.memory, target.scope)
        memory = _parse_memory(text, target, old.memory if old else None)
        if old is None and self._change.content(target.path) is not None:
            mended = render_memory(memory)  # the file could not be read before
            self._change.put(target.path, mended.encode())
            return mended, target.display
        stored = self._change.write(memory, expected=old.checksum if old else None)
        folder = self._places.user if stored.scope == OF_USER else self._places.project
        return render_memory(stored.memory), _memory_target(memory.name, folder).display

    def remove(self, target: Target) -> None:
        self._check_editable(target)
        if target.memory is None:
            for path in self._plain_files(target):
                self._change.put(path, None)
        elif self._get_unpinned(target):
            self._change.retire(target.memory, "deleted with the memory tool")
        else:
            self.text(target)  # raises if there is none
            self._change.put(target.path, None)

    def move(self, old: Target, new: Target) -> None:
        """A memory may be renamed, move between project and user, or become a plain file; and back."""
        self._check_editable(old)
        if old.memory is None and new.memory is None:
            for path in self._plain_files(old):
                target = new.path / path.relative_to(old.path)
                self._change.put(target, self._change.content(path))
                self._change.put(path, None)
            return
        text = self.text(old)
        stored = self._change.get(old.memory, old.scope) if old.memory else None
        if stored and new.memory:
            kind = stored.memory.type
            if (kind == USER) != (new.scope == OF_USER):
                kind = USER if new.scope == OF_USER else PROJECT
            self._change.put(stored.path, None)
            replaces = (*stored.memory.replaces, stored.memory.name)
            self._change.write(
                replace(stored.memory, name=new.memory, type=kind, replaces=replaces)
            )
            return
        if stored:
            self._get_unpinned(old)
        self._change.put(old.path, None)
        self.write(new, text)

    def _check_editable(self, target: Target) -> None:
        if target.is_fixed:
            raise ToolError(f"Error: {target.display} cannot be changed. Change what is in it.")

    def _get_unpinned(self, target: Target) -> StoredMemory | None:
        """None for a file that cannot be read as a memory."""
        assert target.memory is not None
        stored = self._change.get(target.memory, target.scope)
        if stored and stored.memory.pinned:
            raise ToolError(
                f"Error: The user has pinned {target.display}. Ask the user, who can run "
                f"`aforesaid pin {target.memory} --off`."
            )
        return stored

    def _plain_files(self, target: Target) -> list[Path]:
        if target.path.is_dir():
            return list_plain_files(target.path)
        self.text(target)  # raises if there is none
        return [target.path]


def resolve_path(path: object, places: Places, *, new: bool = False) -> Target:
    """`/memories/x.md` and `/memories/user/x.md` are memories, of the project and of the user; anything else
    is in the project's folder of plain files. `new`: ignore existing memories with a similar name."""
    names = split_path(path)
    display = "/".join((ROOT, *names))
    of_user = bool(names) and fold_name(names[0]) == USER_FOLDER
    folder = places.user if of_user else places.project
    below = names[of_user:]
    if of_user and not below:
        return Target(display, folder.path, (), scope=OF_USER)
    if len(below) != 1 or not below[0].endswith(SUFFIX):
        if of_user:
            raise ToolError(
                f"Error: {ROOT}/{USER_FOLDER} holds memories alone: names that end in {SUFFIX}, without "
                f"folders. Put {_printable(display)} elsewhere below {ROOT}."
            )
        if below and below[0].endswith(SUFFIX):
            raise ToolError(
                f"Error: {ROOT}/{_printable(below[0])} is a file and cannot have others in it."
            )
        return Target(display, places.files, names)
    if fold_name(below[0]) == fold_name(INDEX_FILE):
        return Target(display, folder.path, (INDEX_FILE,), scope=folder.scope)
    name = below[0].removesuffix(SUFFIX)
    # Every spelling of a name leads to one memory: names are unique over both folders.
    for other in () if new else sorted(places.own, key=lambda each: each is not folder):
        for spelling in (name, slugify(name)):
            if os.path.lexists(other.file(spelling)):
                return _memory_target(spelling, other)
    return _memory_target(slugify(name), folder)


def _memory_target(name: str, folder: Folder) -> Target:
    file = f"{name}{SUFFIX}"
    display = "/".join((ROOT, *[USER_FOLDER] * (folder.scope == OF_USER), file))
    return Target(display, folder.path, (file,), name, folder.scope)


def split_path(path: object) -> tuple[str, ...]:
    """The names below `/memories`."""
    if not isinstance(path, str):
        raise ToolError("Error: The path must be a string that begins with /memories.")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(
            f"Error: The path {_printable(path)} is not within {ROOT}. Begin it with {ROOT}/."
        )
    names = tuple(name for name in path.removeprefix(ROOT).split("/") if name)
    if len(names) > MAX_DEPTH or any(
        name.startswith(".")
        or any(part in name.lower() for part in ("\\", *ENCODED))
        or any(unicodedata.category(c)[0] == "C" for c in name)
        or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES
        for name in names
    ):
        raise ToolError(
            f"Error: The path {_printable(path)} is not allowed. Use plain names below {ROOT}: no `..`, no "
            f"hidden files, no backslashes or control characters, at most {MAX_DEPTH} levels."
        )
    return names


def _printable(path: object) -> str:
    if not isinstance(path, str):
        return "?"
    return cut(path.encode("utf-8", "replace").decode().replace("\0", "\\0"), 200)


def _decode(data: bytes, display: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ToolError(f"Error: {display} is not a text file.") from None


def _replace_text(text: str, old: str, new: str, display: str) -> str:
    found = [at for at in range(len(text)) if text.startswith(old, at)] if old else []
    if not found:
        raise ToolError(
            f"No replacement was performed, old_str `{_printable(old)}` did not appear verbatim in {display}."
        )
    if len(found) > 1:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in found[:20])
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{_printable(old)}` in lines: "
            f"{lines}. Please ensure it is unique"
        )
    return text[: found[0]] + new + text[found[0] + len(old) :]


def _insert_text(text: str, line: object, new: str) -> str:
    lines = _split_lines(text)
    if not isinstance(line, int) or isinstance(line, bool) or not 0 <= line <= len(lines):
        raise ToolError(
            f"Error: Invalid `insert_line` parameter: {_printable(repr(line))}. It should be within the "
            f"range of lines of the file: [0, {len(lines)}]"
        )
    return "\n".join([*lines[:line], *_split_lines(new or "\n"), *lines[line:]]) + "\n"


def _parse_memory(text: str, target: Target, old: Memory | None) -> Memory:
    """Front matter is added where there is none, and kept where an edit dropped it. Only the user pins a
    memory, and it is marked as the agent's words."""
    assert target.memory is not None
    default_type = old.type if old else USER if target.scope == OF_USER else PROJECT
    parts = split_front_matter(clean(text))
    if parts is None:
        # Its description is the first line, or a heading and the line after it.
        lines = [line.strip() for line in text.splitlines() if line.strip(MARKDOWN_MARKS)]
        lines = lines or [target.memory.replace("-", " ")]
        first = [line.strip(MARKDOWN_MARKS) for line in lines[: 1 + lines[0].startswith("#")]]
        description = one_line(": ".join(first), MAX_DESCRIPTION)
        memory = old or Memory(target.memory, description, default_type, "")
        return replace(memory, body=text.strip("\n"), extra={**memory.extra, BY: AGENT})
    parsed = parse_memory(text, Path(f"{target.memory}{SUFFIX}"))
    if isinstance(parsed, Broken):
        raise ToolError(
            f"Error: {target.display} was not changed: it would not be a valid memory: {parsed.why}."
        )
    values = parse_front_matter(parts[0])
    metadata = values.get("metadata")
    typed = values.get("type") or (isinstance(metadata, dict) and metadata.get("type"))
    return replace(
        parsed,
        type=parsed.type if typed else default_type,
        pinned=old.pinned if old else False,
        evidence=old.evidence if old else parsed.evidence,
        extra={**parsed.extra, BY: AGENT},
    )


def _show_edit(text: str, new: str) -> str:
    at = text.count("\n", 0, max(0, text.find(new)))
    first, last = max(0, at - SNIPPET_LINES), at + new.count("\n") + SNIPPET_LINES + 1
    lines = [f"{n:6}\t{line}" for n, line in enumerate(_split_lines(text), 1)]
    return (
        "The memory file has been edited. Here is the snippet showing the change (with line "
        "numbers):\n" + "\n".join(lines[first:last])[:MAX_SHOWN]
    )


def _view_directory(target: Target, places: Places) -> str:
    sizes = {target.display: 0}
    if target.display == ROOT:
        user = f"{ROOT}/{USER_FOLDER}"
        sizes[user] = 0
        for folder in (places.files, places.project.path):
            _add_sizes(sizes, folder, (ROOT,), LEVELS)
        _add_sizes(sizes, places.user.path, (ROOT, USER_FOLDER), LEVELS - 1)
        sizes[ROOT] += sizes[user]
    else:
        _add_sizes(sizes, target.path, (target.display,), LEVELS)
    lines = [f"{format_size(size)}\t{path}" for path, size in sorted(sizes.items())]
    head = (
        f"Here're the files and directories up to {LEVELS} levels deep in {target.display}, excluding "
        f"hidden items and {SKIPPED}:"
    )
    return "\n".join([head, *lines])[:MAX_SHOWN]


def _add_sizes(sizes: dict[str, int], folder: Path, prefix: tuple[str, ...], levels: int) -> None:
    """Adds the sizes of the files in a folder, and of its directories, by their displayed paths."""
    for file in list_plain_files(folder):
        parts = file.relative_to(folder).parts
        if any(part.startswith(".") or part == SKIPPED for part in parts) or not file.is_file():
            continue
        size = file.lstat().st_size
        for depth in range(min(len(parts), levels) + 1):
            path = "/".join((*prefix, *parts[:depth]))
            sizes[path] = sizes.get(path, 0) + size


def _view_file(display: str, text: str, view_range: object) -> str:
    lines = _split_lines(text)
    match view_range:
        case None:
            first, last = 1, len(lines)
        case [int(first), int(last)] if bool not in map(type, (first, last)):
            last = len(lines) if last == -1 else min(last, len(lines))
        case _:
            raise ToolError(
                "Error: `view_range` must be two whole numbers, such as [1, 10]; -1 is the end."
            )
    if not 1 <= first <= max(1, len(lines)) or (last < first and lines):
        raise ToolError(
            f"Error: Invalid `view_range` parameter: {[first, last]}. It should be within the range of lines "
            f"of the file: [1, {len(lines)}]."
        )
    shown, size = [f"Here's the content of {display} with line numbers:"], 0
    for number in range(first, last + 1):
        line = f"{number:6}\t{lines[number - 1]}"
        size += len(line) + 1
        if size > MAX_SHOWN and number > first:
            shown.append(f"… cut before line {number} of {len(lines)}. Go on with `view_range`.")
            break
        shown.append(line[:MAX_SHOWN])
    return "\n".join(shown)


def _split_lines(text: str) -> list[str]:
    """At line feeds alone; the one at the end of a file starts no line."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def format_size(size: int) -> str:
    power = min(3, max(0, size.bit_length() - 1) // 10)
    return f"{size / 1024**power:.1f}{'BKMG'[power]}" if power else f"{size}B"
