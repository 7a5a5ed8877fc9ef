"""The back end of Anthropic's memory tool (`memory_20250818`): what a model wants from `/memories`, done.

    tool = MemoryTool(recollect.Memory())
    client.messages.create(tools=[tool.definition, …], …)
    result = tool.handle(block.input)         # of a tool_use block whose name is "memory"

`/memories/<name>.md` are the project's memories and `/memories/user/<name>.md` the user's: the same files
that everything else here reads, with front matter, in the index, in the history. All other files and folders
that a model may want are plain: they are kept, shown and in the history, and never told unasked. Whatever the
path, no other file of the machine can be read or changed.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from recollect.errors import Edited, RecollectError
from recollect.memory.storage import files
from recollect.memory.storage.changes import Memories
from recollect.memory.storage.folders import Folder, Places
from recollect.memory.tool import tool_views
from recollect.memory.tool.tool_paths import ROOT, USERS, Refused, guard, resolve, shown
from recollect.memory.tool.tool_shelf import Shelf, tidy
from recollect.memory.tool.tool_texts import checked, decoded, inserted, replaced
from recollect.model.memories import OF_PROJECT, OF_USER

if TYPE_CHECKING:
    from recollect.memory.own_agent.api import Memory


class MemoryTool:
    """`memory`: a `recollect.Memory`, or a folder that everything is kept in, with a history of its own."""

    definition: ClassVar[dict[str, str]] = {"type": "memory_20250818", "name": "memory"}

    def __init__(self, memory: "Memory | str | os.PathLike[str]") -> None:
        if isinstance(memory, str | os.PathLike):
            self._memories = Memories(_within(Path(memory).expanduser().absolute()))
        else:
            self._memories = memory._memories

    def handle(self, command: Mapping[str, Any]) -> str:
        """The tool's result. What cannot be done is told to the model in words, and raises nothing."""
        try:
            if not isinstance(command, Mapping):
                raise Refused("Error: The command must be an object.")
            return self._run(command)
        except Refused as refused:
            return str(refused)
        except Edited:
            return "Error: The file was changed meanwhile. View it, then try again."
        except RecollectError as error:
            return f"Error: {error}"
        except OSError as error:
            return f"Error: The memory cannot be used: {error.strerror or type(error).__name__}."

    def _run(self, command: Mapping[str, Any]) -> str:
        given = command.get
        match given("command"):
            case "view":
                return self._view(given("path"), given("view_range"))
            case "create":
                return self._create(given("path"), checked(given("file_text"), "file_text"))
            case "str_replace":
                old, new = (
                    checked(given("old_str"), "old_str"),
                    checked(given("new_str", ""), "new_str"),
                )
                return self._str_replace(given("path"), old, new)
            case "insert":
                text = checked(given("insert_text"), "insert_text")
                return self._insert(given("path"), given("insert_line"), text)
            case "delete":
                return self._delete(given("path"))
            case "rename":
                return self._rename(given("old_path"), given("new_path"))
            case other:
                raise Refused(
                    f"Error: Unknown command {shown(str(other))}. Use view, create, str_replace, "
                    "insert, delete or rename."
                )

    def _view(self, path: object, view_range: object) -> str:
        self._memories.get("-")  # looking for anything finishes a change that somebody left
        places = self._memories.places
        target = resolve(path, places)
        guard(target)
        if not target.names or target.path.is_dir():
            parts = [("", target.path)]
            if target.told == ROOT:
                parts = [("", places.files), ("", places.project.path), (USERS, places.user.path)]
            return tool_views.folder(target.told, parts)
        try:
            data = files.read(target.path)
        except files.Strange as error:
            raise Refused(f"Error: {target.told} cannot be shown: {error}.") from None
        if data is None:
            raise Refused(f"The path {target.told} does not exist. Please provide a valid path.")
        return tool_views.file(target.told, decoded(data, target.told), view_range)

    def _create(self, path: object, text: str) -> str:
        with self._change(f"created {_named(path)}") as shelf:
            target = shelf.at(path)
            if shelf.exists(target):
                raise Refused(f"Error: File {target.told} already exists")
            kept, told = shelf.write(target, text)
        said = f"File created successfully at: {_named(path)}"
        if kept == text and told == target.told == path:
            return said
        head = kept.partition("\n---\n")[0].count("\n") + 2
        return (
            f"{said}\nIt is kept as {told} and begins with {head} lines of front matter: view it before "
            "you edit it by lines."
        )

    def _str_replace(self, path: object, old: str, new: str) -> str:
        text = self._edit(path, lambda before, told: replaced(before, old, new, told))
        first = text.count("\n", 0, max(0, text.find(new))) + 1
        snippet = tool_views.around(text, first, first + new.count("\n"))
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line "
            f"numbers):\n{snippet}"
        )

    def _insert(self, path: object, line: object, new: str) -> str:
        self._edit(path, lambda before, _: inserted(before, line, new))
        return f"The file {_named(path)} has been edited."

    def _edit(self, path: object, how: Callable[[str, str], str]) -> str:
        """The file's text afterwards."""
        with self._change(f"edited {_named(path)}") as shelf:
            target = shelf.at(path)
            kept, _ = shelf.write(target, how(shelf.text(target), target.told))
        return kept

    def _delete(self, path: object) -> str:
        with self._change(f"deleted {_named(path)}") as shelf:
            shelf.remove(shelf.at(path), "deleted with the memory tool")
        return f"Successfully deleted {_named(path)}"

    def _rename(self, old_path: object, new_path: object) -> str:
        with self._change(f"renamed {_named(old_path)} to {_named(new_path)}") as shelf:
            old, new = shelf.at(old_path), shelf.at(new_path)
            if new.path == old.path:  # names are unique: the same one, of another owner
                new = shelf.at(new_path, new=True)
            if shelf.exists(new) or new.path.is_relative_to(old.path):
                raise Refused(f"Error: The destination {_named(new_path)} already exists")
            shelf.move(old, new)
        return f"Successfully renamed {_named(old_path)} to {_named(new_path)}"

    @contextmanager
    def _change(self, what: str) -> Iterator[Shelf]:
        with self._memories.change(f"memory tool: {what}") as change:
            yield Shelf(change, self._memories.places)
        tidy(self._memories.places.files)


def _named(path: object) -> str:
    return shown(path) if isinstance(path, str) else "?"


def _within(folder: Path) -> Places:
    """All in one folder: the memories of a project that is nobody's else, and of its user."""
    return Places(folder, Folder(folder / "user", OF_USER), Folder(folder / "project", OF_PROJECT))
