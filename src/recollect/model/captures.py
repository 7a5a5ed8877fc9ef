"""What a hook left in the spool, before anybody has looked into it."""

from dataclasses import dataclass

FORMAT = "recollect/1"
HEADER_END = b"\0\n"
HOOKS = ("context", "new", "file", "compact", "save", "summary", "end")
# Instead of any other: the user wants nothing recorded there. It names the session and has no content.
PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Capture:
    """One spool file: the header that the writer put in front, and the agent's own bytes."""

    id: str
    agent: str
    hook: str
    project_dir: str
    body: bytes
    at: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A capture that cannot become an event, with the reason a person can act on."""

    why: str


def parse_capture(name: str, data: bytes, at: int) -> Capture | Unreadable:
    """`recollect/1 <agent> <hook> <project dir> NUL newline <payload>`.

    The directory comes last and ends with NUL, because a path may hold anything else.
    """
    header, mark, body = data.partition(HEADER_END)
    words = header.split(b" ", 3)
    if not data:
        return Unreadable("the file is empty: the agent sent nothing")
    if not mark or len(words) != 4:
        return Unreadable("the header is cut off: the hook was stopped while it wrote")
    version, agent, hook, project_dir = (w.decode("utf-8", "surrogateescape") for w in words)
    if version != FORMAT:
        return Unreadable(f"the format {version!r} is not known: a newer recollect wrote this")
    return Capture(name, agent, hook, project_dir, body, at)
