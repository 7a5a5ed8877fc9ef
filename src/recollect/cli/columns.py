"""How wide the columns of a table are, so that it fits a terminal and each can be read.

A table shrinks where it hurts least: times are broken between day and hour and headings between words, then
texts are folded, but never to less than a word or two. What cannot be broken, such as an id, never is. If not
even that fits there is no table.
"""

from collections.abc import Collection, Mapping, Sequence

from rich.cells import cell_len

WHOLE = ("id", "session", "type")  # what is copied from, or one word anyway
TIME = "when"
LEAST, EASY = 16, 28  # characters of a text: can be read, reads well


def fitted(
    columns: Sequence[str], rows: Sequence[Sequence[str]], room: int, numbers: Collection[str]
) -> list[int] | None:
    """The width of each column, in all at most `room`; None: there is no room for a table."""
    cells = [[row[n] for row in rows] for n in range(len(columns))]
    natural = [max(map(cell_len, (name, *cells[n]))) for n, name in enumerate(columns)]
    texts = [name != TIME and name not in (*WHOLE, *numbers) for name in columns]
    widths = [
        min(width, LEAST) if text else _least(name, cells[n])
        for n, (name, width, text) in enumerate(zip(columns, natural, texts, strict=True))
    ]
    if sum(widths) > room:
        return None
    easy = [min(width, EASY) for width in natural]
    first = texts.index(True) if True in texts else 0  # what the row is about
    _grow(widths, {first: easy[first]}, room)
    _grow(widths, {n: easy[n] for n, text in enumerate(texts) if text}, room)
    _grow(widths, {n: natural[n] for n, text in enumerate(texts) if not text}, room)
    _grow(widths, dict(enumerate(natural)), room)
    return widths


def _least(name: str, cells: Sequence[str]) -> int:
    """A time and a heading may be broken between words."""
    parts = [part for cell in cells for part in (cell.split() if name == TIME else [cell])]
    return max(map(cell_len, (*name.split(), *parts)), default=0)


def _grow(widths: list[int], wanted: Mapping[int, int], room: int) -> None:
    """As far as there is room; what lacks most comes first."""
    for _ in range(room - sum(widths)):
        lack, n = max(((width - widths[n], n) for n, width in wanted.items()), default=(0, 0))
        if lack <= 0:
            return
        widths[n] += 1
