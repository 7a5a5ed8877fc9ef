"""What aforesaid needs to know about a coding agent, and how fields of its JSON are read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aforesaid.model.events import (
    Capture,
    Event,
    FileWanted,
    StoredEvent,
    TranscriptEvent,
    TranscriptFile,
    Unreadable,
)
from aforesaid.privacy.files import Fields

if TYPE_CHECKING:
    from aforesaid.agents.connection import Connection


@dataclass(frozen=True, slots=True)
class Variables:
    """Environment variables by which an agent tells its children about itself. Empty: it has none.

    `project`: the directory it was started in; `session`: the id of the session; `inside`: one of them is set
    in every process that the agent starts.
    """

    project: str = ""
    session: str = ""
    inside: tuple[str, ...] = ()


class Agent:
    """An agent without hooks and transcripts; others override what they have.

    `connection`: how it is configured to run our hooks and our MCP server; None if it cannot be. `fields`:
    names in its payloads that redaction has to know. `own_tools`: what names of tools of our MCP server begin
    with. `context_limit`: characters that a hook may add to the conversation.
    """

    name = ""
    connection: "Connection | None" = None
    variables = Variables()
    fields = Fields()
    own_tools: tuple[str, ...] = ()
    context_limit = 10_000

    def parse(self, capture: Capture) -> Event | Unreadable | None:
        """An event, None for a capture we deliberately do not keep, or why it cannot be read."""
        raise NotImplementedError

    def parse_stored(self, row: StoredEvent, project_dir: str) -> Event | None:
        """It could be read once; a newer parser that cannot is no reason to fail."""
        event = self.parse(replace(row.capture, project_dir=project_dir))
        return event if isinstance(event, Event) else None

    def file_wanted(self, capture: Capture) -> FileWanted | None:  # noqa: ARG002
        """What a capture of the hook `file` asks about; None where it names no file."""
        return None

    def reply(self, hook: str, context: str, *, note: str | None = None) -> bytes:  # noqa: ARG002
        """What the hook prints: `context` for the model, `note` for the user; empty for nothing."""
        return context.encode("utf-8", "replace")

    def transcripts(self, env: Mapping[str, str]) -> Iterator[TranscriptFile]:  # noqa: ARG002
        """Every session file on this machine, newest first; also those that cannot be read."""
        return iter(())

    def transcript_folder(self, env: Mapping[str, str]) -> Path:
        return Path(env.get("HOME", "/"))

    def read_transcript(
        self,
        file: TranscriptFile,  # noqa: ARG002
        mark: str | None,  # noqa: ARG002
        on_passed_over: Callable[[int], None] = lambda _: None,  # noqa: ARG002
    ) -> Iterator[TranscriptEvent]:
        """What happened since `mark`, in order and as the hooks would have reported it. A mark that does not
        fit the file (it was replaced or cut) counts as none. Lines that cannot be read are passed over, and
        counted at the end."""
        return iter(())


# Fields may be missing or of another type than expected.
Json = dict[str, Any]


def text_of(values: Mapping[str, Any], field: str) -> str:
    value = values.get(field)
    return value if isinstance(value, str) else ""


def number_of(values: Mapping[str, Any], field: str) -> int:
    value = values.get(field)
    return value if isinstance(value, int) else 0


def as_object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
