"""An agent's own record of a session: where it lies, and what it tells."""

from dataclasses import dataclass

from recollect.model.captures import Capture
from recollect.model.events import Event


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """`cwd` is the directory in which the session began, empty if the file does not say; `modified` is
    when it was last written to. `fault` says why nothing of it can be read, if that is so."""

    path: str
    session: str
    cwd: str
    size: int
    modified: int
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """One happening as a transcript tells it.

    `capture` is what the hook would have left in the spool, at the time of the happening and with an id
    that is the same at every reading. `mark` is opaque: given back, reading goes on after this happening.
    """

    capture: Capture
    event: Event
    mark: str
