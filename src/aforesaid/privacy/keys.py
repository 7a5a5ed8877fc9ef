"""Private keys in PEM, PuTTY and SSH2 form, in whatever they are quoted: indented in YAML, as strings of a program,
behind a log prefix, in a diff, with escaped line ends.

From BEGIN to END all is one block. If one of them is cut off, lines are taken as long as each ends in base64. A text
that only mentions the header, as programs do, has no body and is left alone.
"""

import re
from collections.abc import Iterator

NEEDLES = ("private", "static key", "openvpn")
_EDGE = re.compile(
    r"-----?(?: |%20|\+)?(?P<edge>BEGIN|END)(?: |%20|\+)(?:[A-Z0-9]{1,20}(?: |%20|\+)){0,4}(?:PRIVATE(?: |%20|\+)KEY"
    r"(?:(?: |%20|\+)BLOCK)?|OpenVPN Static key V\d)(?: |%20|\+)?-{4,5}"
)
_PUTTY = re.compile(r"Private-Lines: ?\d{1,4}")
_BREAK = re.compile(r"\r?\n|(?:\\+r)?\\+n|%0[Aa]|&#(?:10|x[aA]);|<br ?/?>")
_RUN = re.compile(r"[A-Za-z0-9+/]{16,}")
_BODY = re.compile(
    r"(?:.{0,159}[^A-Za-z0-9+/=])?(?:[A-Za-z0-9+/]|%2[BbFf]){16,4000}(?:=|%3[Dd]){0,3}[\s\"'`,;)+.&|<>\\-]{0,40}"
)
_LAST = re.compile(r".{0,160}?=?[A-Za-z0-9+/]{1,100}={0,3}[\s\"'`,;)+.&|\\-]{0,40}")
_FIELD = re.compile(r".{0,160}?(?:[A-Z][A-Za-z-]{2,30}: ?\S.{0,200})?")
_LONGEST = 64 * 1024
_LINE = 4096


def spans(text: str) -> Iterator[tuple[int, int]]:
    armoured = "PRIVATE" in text or "Static key" in text
    edges = list(_EDGE.finditer(text)) if armoured and "----" in text else []
    done = 0
    for number, edge in enumerate(edges):
        if edge.start() < done:
            continue
        if edge["edge"] == "END":
            begin = _read_back(text, edge.start(), done)
            if begin < edge.start():
                done = edge.end()
                yield begin, done
            continue
        after = edges[number + 1] if number + 1 < len(edges) else None
        closed = after and after["edge"] == "END" and after.start() - edge.end() < _LONGEST
        if after and closed and _has_body(text[edge.end() : after.start()]):
            done = after.end()
        elif not closed:
            done = _read_on(text, edge.end())
        if done > edge.end():
            yield edge.start(), done
    for found in _PUTTY.finditer(text) if "Private-Lines" in text else ():
        end = _read_on(text, found.end())
        if end > found.end():
            yield found.end(), end


def _has_body(text: str) -> bool:
    runs = [run for run in _RUN.findall(text) if any(c.isdigit() for c in run)]
    return sum(map(len, runs)) >= 40


def _read_on(text: str, begin: int) -> int:
    """The end of the body that begins behind a header; `begin` if there is none."""
    end, seen, at, headers = begin, False, begin, 0
    while at < len(text) and headers < 8:
        found = _BREAK.search(text, at, at + _LINE)
        stop = found.start() if found else min(len(text), at + _LINE)
        line = text[at:stop]
        if not any(map(str.isalnum, line)):
            pass  # quotes, signs of a diff
        elif _BODY.fullmatch(line) and (at > begin or _has_body(line)):
            seen, end = True, stop
        elif seen and _LAST.fullmatch(line) and line.strip():
            return stop if " " not in line.strip() else end
        elif seen or "-----" in line or not _FIELD.fullmatch(line):
            break
        headers += not seen
        at = found.end() if found else stop
    return end if seen else begin


def _read_back(text: str, end: int, least: int) -> int:
    """The beginning of the body that ends before a footer; `end` if there is none."""
    floor = max(least, end - _LONGEST, text.rfind("-----", least, end))
    breaks = [floor, *(found.end() for found in _BREAK.finditer(text, floor, end))]
    first, stop, last = end, end, True
    for start in reversed(breaks):
        line = _BREAK.sub("", text[start:stop]).strip()
        line = line if any(map(str.isalnum, line)) else ""
        if _BODY.fullmatch(line):
            first, last = start, False
        elif stop == end:
            pass  # a prefix of the footer's own line
        elif line and not (last and _LAST.fullmatch(line)):
            break
        elif line:
            last = False  # the last line may be short
        stop = start
    return first
