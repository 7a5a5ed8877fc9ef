"""What recollect needs to know about a coding agent."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from recollect.model.captures import Capture, Unreadable
from recollect.model.events import Event, FileWanted
from recollect.model.transcripts import Told, TranscriptFile


class Agent(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def has_hooks(self) -> bool:
        """Whether it runs hooks of ours, which print what is prepared for them."""

    def parse(self, capture: Capture) -> Event | Unreadable | None:
        """An event, None for a capture we deliberately do not keep, or why it cannot be read."""

    def file_wanted(self, capture: Capture) -> FileWanted | None:
        """What a capture of the hook `file` asks about; None where it names no file."""

    def reply(self, hook: str, context: str, *, note: str | None = None) -> bytes:
        """What the hook prints: `context` for the model, `note` for the user; empty for nothing."""

    def transcripts(self, env: Mapping[str, str]) -> Iterator[TranscriptFile]:
        """Every session file on this machine, newest first; also those that cannot be read."""

    def transcript_folder(self, env: Mapping[str, str]) -> Path:
        """Where they are looked for."""

    def read_transcript(
        self,
        file: TranscriptFile,
        mark: str | None,
        on_passed_over: Callable[[int], None] = lambda _: None,
    ) -> Iterator[Told]:
        """What happened since `mark`, in order and as the hooks would have told it. A mark that does not
        fit the file (it was replaced or cut) counts as none. Lines that cannot be read are passed over, and
        counted at the end."""
