"""Private keys in their armour, read line by line: a pattern over such a text would look at it again from
every line that begins one.

A key whose end or beginning is cut off is one too. What only speaks of a key, as programs do, has no body.
"""

import re
from collections.abc import Iterator

BEGIN, FINISH = "-----BEGIN ", "-----END "
_HEAD = re.compile(r"-----(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----", re.ASCII)
_BREAK = re.compile(r"\r?\n|(?:\\+r)?\\+n")
# Quotes, marks of a diff or an e-mail, line numbers, a comment's sign.
_BEFORE = r"[\s>+|\"'#*/,-]{0,40}(?:\d{1,7}[:\t→|-]{1,2}\s{0,8})?[\s\"'+-]{0,20}"
_BODY = re.compile(rf"{_BEFORE}[A-Za-z0-9+/]{{12,2000}}={{0,3}}[\s\"',;)+\\-]{{0,40}}", re.ASCII)
_LAST = re.compile(rf"{_BEFORE}=?[A-Za-z0-9+/]{{1,100}}={{0,3}}[\s\"',;)+\\-]{{0,40}}", re.ASCII)
_FIELD = re.compile(rf"{_BEFORE}(?:[A-Z][A-Za-z-]{{2,30}}: ?\S[^\n]{{0,200}})?\s{{0,40}}", re.ASCII)
_PUTTY = "Private-Lines:"


def spans(text: str) -> Iterator[tuple[int, int]]:
    if "PRIVATE KEY" in text and "-----" in text:
        yield from _armoured(text)
    if _PUTTY in text:
        yield from _putty(text)


def _armoured(text: str) -> Iterator[tuple[int, int]]:
    done = 0
    for head in _HEAD.finditer(text):
        if head.start() < done:
            continue
        if head[0].startswith(FINISH):
            begin = _back(text, head.start(), done)
            if begin < head.start():
                done = head.end()
                yield begin, done
        elif (end := _forth(text, head.end())) > head.end():
            done = end
            yield head.start(), done


def _forth(text: str, begin: int) -> int:
    """Where the body ends that begins behind a head; `begin` if there is none."""
    end, seen, at = begin, False, begin
    while at < len(text):
        found = _BREAK.search(text, at, at + 4096)
        stop = found.start() if found else min(len(text), at + 4096)
        line = text[at:stop]
        if (closing := line.find(FINISH)) >= 0:
            head = _HEAD.match(text, at + closing)
            return head.end() if head and (seen or _long(line[:closing])) else end
        if _BODY.fullmatch(line) or (at == begin and _long(line)):
            seen, end = True, stop
        elif seen and _LAST.fullmatch(line):
            end = stop
        elif not _FIELD.fullmatch(line) or (seen and line.strip()):
            break
        at = found.end() if found else stop
    return end if seen else begin


def _back(text: str, end: int, least: int) -> int:
    """Where the body begins that ends before an end; `end` if there is none."""
    first = at = end
    while at > least:
        floor = max(least, at - 4096)
        breaks = list(_BREAK.finditer(text, floor, at))
        start = floor
        stop = at
        if breaks and breaks[-1].end() == at:
            stop = breaks.pop().start()
        if breaks:
            start = breaks[-1].end()
        line = text[start:stop]
        if line.strip() and not (_BODY.fullmatch(line) or (first == end and _LAST.fullmatch(line))):
            break
        if line.strip():
            first = start
        at = start
    return first


def _long(line: str) -> bool:
    """A whole key on one line, without breaks."""
    return bool(re.fullmatch(r"[\sA-Za-z0-9+/=]{64,}", line, re.ASCII))


def _putty(text: str) -> Iterator[tuple[int, int]]:
    for found in re.finditer(rf"{_PUTTY} ?\d{{1,4}}", text):
        first = _BREAK.match(text, found.end())
        end = _forth(text, first.end()) if first else 0
        if first and end > first.end():
            yield first.end(), end
