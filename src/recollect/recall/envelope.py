"""The envelope around everything that is handed to an agent: what it is, and that it is only data."""

from recollect.text import fenced, one_line

OPENING = '<recollect-memory project="{project}">'
CLOSING = "</recollect-memory>"
NAME_LENGTH = 60
PLAIN = str.maketrans({'"': "'", "<": "‹", ">": "›"})


def wrap(project: str, lead: str, lines: list[str]) -> str:
    """`lines` must be fenced already: titles and facts stem from tool output and may carry orders."""
    name = fenced(one_line(project, NAME_LENGTH)).translate(PLAIN)
    return "\n".join([OPENING.format(project=name), lead, *lines, CLOSING])
