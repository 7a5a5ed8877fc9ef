"""What a secret looks like. A rule has a name, a pattern, an example and texts that it must leave alone; the
examples are the tests.

`TOKENS` comes from tokens.txt, a row per format. `CONTEXT`, from contexts.txt, is for secrets that are known by
what stands before them: an address, a header, an option. Names such as `password` are in assignments.py.

Time is linear: a text is searched once for the literal `needles` of all rules, and a pattern is tried only where one
of its needles stands. A pattern without an upper bound takes characters that its own beginning excludes.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path

from aforesaid.privacy import values

# No token begins behind a character that may be part of one. An escaped line end or an encoded character ends in
# a letter or a digit and is none. Checksums are no tokens, whatever they begin with.
START = r"(?<!sha256=)(?<!sha(?:256|384|512)-)(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\x1b\[\dm))"
END = r"(?![A-Za-z0-9_-])"
CLASSES = {
    "A": "[A-Za-z0-9]",
    "W": "[A-Za-z0-9_-]",
    "U": "[A-Z0-9]",
    "h": "[0-9a-f]",
    "B": "[A-Za-z0-9+/]",
}
VALUE = "secret"  # the group that is replaced, if that is not the whole match
Places = Mapping[str, Sequence[int]]  # where each needle begins, in order
Accept = Callable[[re.Match[str]], bool]
# A token that is written as joined strings or with a line continuation: what stands between two pieces.
JOIN = re.compile(
    r"(?P<quote>\\{0,3}[\"'`])[ \t]{0,8}(?:[+.&]|\|\||\.\.|<<)?[ \t]{0,8}(?:\\?(?:\r?\n|\\n)[ \t+>|-]{0,80}(?:[+.&]|\|\|)?"
    r"[ \t]{0,8})?[fbrLu]?(?P=quote)|\\\r?\n[ \t]{0,80}"
)
_PIECE = re.compile(r"[A-Za-z0-9_.~+/=-]{1,4096}")
_REST = re.compile(r"[A-Za-z0-9_.~+/=%-]*")
_NO_URL_PASSWORDS = frozenset(
    "password passwd pass pw secret token pwd port pswd user username password1".split()
)
WINDOW = 2048  # characters behind a needle that a pattern with `accept` looks at


@dataclass(frozen=True)
class Rule:
    """The pattern begins at a needle, or with `before`, which must end there. Without needles it is searched for
    everywhere. `accept` has the last word on a match."""

    name: str
    needles: tuple[str, ...]
    pattern: str
    example: str = ""
    counters: tuple[str, ...] = ()
    accept: Accept | None = None
    before: str = ""
    flags: int = re.ASCII
    # Looks beyond WINDOW; the pattern must not match across its own beginning.
    is_long: bool = False

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    @cached_property
    def _before(self) -> re.Pattern[str]:
        return re.compile(rf"{self.before}\Z", self.flags)

    def spans(self, text: str, places: Places) -> Iterator[tuple[int, int]]:
        group = VALUE if VALUE in self.regex.groupindex else 0
        if not self.needles:
            yield from (match.span(group) for match in self.regex.finditer(text))
        for needle in self.needles:
            done = tried = 0
            for at in places.get(needle, ()):
                if at < done:
                    continue
                found = self._match(text, at, group)
                if found is None and at >= tried and not (self.accept or self.before):
                    found, tried = self._match_joined(text, at)
                if found:
                    done = found[1]
                    yield found

    def _match(self, text: str, at: int, group: str | int) -> tuple[int, int] | None:
        begin = at
        if self.before:
            head = self._before.search(text, max(0, at - 300), at)
            if head is None:
                return None
            begin = head.start()
        limit = at + WINDOW if self.accept and not self.is_long else len(text)
        match = self.regex.match(text, at, limit)
        if match is None or (self.accept and not self.accept(match)):
            return None
        start, end = match.span(group)
        if end == limit and (rest := _REST.match(text, end)):
            end = rest.end()
        return (start if group else begin), end + len(read_pieces(text, end)[0])

    def _match_joined(self, text: str, at: int) -> tuple[tuple[int, int] | None, int]:
        """A token that is cut into several strings; and how far was looked."""
        first = _PIECE.match(text, at)
        if first is None or not JOIN.match(text, first.end()):
            return None, at
        raw, rest = read_pieces(text, first.end())
        whole = text[max(0, at - 8) : first.end()] + rest
        end = first.end() + len(raw)
        return ((at, end) if self.regex.match(whole, min(8, at)) else None), end


def read_pieces(text: str, at: int) -> tuple[str, str]:
    """The strings that are joined to the one which ends here: as written, and without what joins them."""
    end, pieces = at, []
    while end - at < 20_000 and (joint := JOIN.match(text, end)):
        piece = _PIECE.match(text, joint.end())
        if piece is None:
            break
        pieces.append(piece[0])
        end = piece.end()
    return text[at:end], "".join(pieces)


def expand(template: str) -> str:
    """An example, made at run time: no line of this repository looks like a live key."""
    alphabets = {
        "A": "q7Zt2Lw9Xb4Kd8Rm3Vc6Jh5Yn1Ps4Gf",
        "B": "q7Zt2/w9Xb4Kd8+m3Vc6Jh5Yn1Ps4Gf",
        "U": "Q7ZT2LW9XB4KD8RM3VC6JH5YN",
        "h": "3fa91c07be52d846",
        "d": "4820571936",
        "n": "q7zt2lw9xn4kd8",
    }

    def fill(match: re.Match[str]) -> str:
        return "".join(islice(cycle(alphabets[match[1]]), int(match[2])))

    return re.sub(r"\{([ABUhdn])(\d+)\}", fill, template)


def _read_token(row: str) -> Rule:
    name, listed, rest, tail, *counters = row.split()
    prefixes = tuple(listed.split(","))
    for letter, meaning in CLASSES.items():
        rest = rest.replace(f"<{letter}>", meaning)
    heads = "|".join(map(re.escape, sorted(prefixes, key=len, reverse=True)))
    ends = r"[\w-]*+" if rest.endswith(",}") else END
    counters += [f"{prefixes[0]}name", f"{prefixes[0]}"]
    pattern = f"{START}(?:{heads}){rest}{ends}"
    return Rule(name, prefixes, pattern, expand(prefixes[0] + tail), tuple(counters))


def _argument(match: re.Match[str]) -> bool:
    value = match[VALUE].strip("\"'")
    return value[:1] not in "-$" and values.is_password(value, config=True, quoted=True)


def _odd_argument(match: re.Match[str]) -> bool:
    value = match[VALUE]
    plain = values.is_plain(value) and not values.has_sign(value)
    return _argument(match) and (not plain or values.is_phrase(value) or values.is_mixed(value))


def _in_url(match: re.Match[str]) -> bool:
    value = match[VALUE]
    plain = value.lower() in _NO_URL_PASSWORDS or re.fullmatch(
        r"\$\w+|%[sdv]|\{\w*\}|[A-Z_]+", value
    )
    return not (plain or values.is_placeholder(value))


def _parameter(match: re.Match[str]) -> bool:
    value = match[VALUE]
    if match[0][1:6].lower() == "code=" and not re.fullmatch(r"[\w.~+/=-]+", value):
        return False  # a piece of a program
    return values.is_random(value, 8) or (
        values.is_secret(value, 6) and "pass" in match[0].lower()[:10]
    )


def _header(match: re.Match[str]) -> bool:
    value = match[VALUE]
    if match["scheme"] or len(value) > 30:
        return values.is_secret(value, 8, quoted=True) or values.is_gibberish(value)
    return values.is_random(value, 12)


def _cookie(match: re.Match[str]) -> bool:
    pairs = (pair.strip().partition("=") for pair in match[VALUE].split(";"))
    return any(
        values.is_random(value.strip().replace(".", ""), 12)
        for name, _, value in pairs
        if name.lower() not in ("expires", "path", "domain")
    )


def _is_mnemonic(match: re.Match[str]) -> bool:
    """Twelve words or more, as a wallet shows them: no sentence."""
    words = match[VALUE].replace(",", " ").split()
    return len(words) in (12, 15, 18, 21, 24) and values.SENTENCE_WORDS.isdisjoint(words)


def _port(match: re.Match[str]) -> bool:
    return _odd_argument(match) and not re.fullmatch(r"[\d:./-]+(?:tcp|udp)?", match[VALUE])


def _has_digit(value: str) -> bool:
    return any(map(str.isdigit, value))


def _path(match: re.Match[str]) -> bool:
    parts = match[VALUE].split("/")
    return "://" in match.string[max(0, match.start() - 120) : match.start()] and any(
        len(part) >= 10 and values.has_both(part) and not values.is_plain(part) for part in parts
    )


_ACCEPT: dict[str, Accept] = {
    "any": lambda match: not values.is_placeholder(match[VALUE]),
    "argument": _argument,
    "cookie": _cookie,
    "dense": lambda match: values.is_dense(match[VALUE]),
    "digit": lambda match: _has_digit(match[VALUE]) and not values.is_placeholder(match[VALUE]),
    "hash": lambda match: _has_digit(match[0][4:]),
    "header": _header,
    "long-random": lambda match: values.is_random(match[VALUE], 20),
    "mnemonic": _is_mnemonic,
    "netrc": lambda match: (_odd_argument if "\n" in match[0] else _argument)(match),
    "odd": _odd_argument,
    "parameter": _parameter,
    "path": _path,
    "port": _port,
    "random": lambda match: values.is_random(match[VALUE], 12),
    "totp": lambda match: _has_digit(match[VALUE]) and match[VALUE].isupper(),
    "typed": lambda match: values.is_secret(match[VALUE], 6) and _has_digit(match[VALUE]),
    "url": _in_url,
}
_MACROS = {
    "<ARG>": r"[\"']?(?P<secret>[^\s\"'`\\]{4,})",
    "<TO>": r"\b[^\n;|]{0,300}?\s",
    "<ITEM>": r"\s{0,5}(?:\\{0,3}[\"'][^\"'\n]{0,150}[\"']|[\w.$\[\]]{1,40})\s{0,3},",
    "<END>": END,
}


def _read_lines(name: str) -> list[str]:
    """Without comments. An indented line continues the one before it."""
    text = Path(__file__).with_name(name).read_text("utf-8")
    lines = re.sub(r"\n  +", "", text).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _read_contexts() -> list[Rule]:
    rules: list[list[tuple[str, str]]] = []
    for line in _read_lines("contexts.txt"):
        if line.startswith("["):
            rules.append([("name", line[1:-1])])
        else:
            key, _, value = line.partition(" = ")
            rules[-1].append((key, value))
    return list(map(_read_context, rules))


def _read_context(rows: list[tuple[str, str]]) -> Rule:
    fields = dict(rows)
    pattern = fields["pattern"]
    for macro, meaning in _MACROS.items():
        pattern = pattern.replace(macro, meaning)
    before = fields.get("before", "")
    return Rule(
        fields["name"],
        tuple(fields["needles"].split(",")),
        pattern,
        expand(fields["example"]),
        tuple(value for key, value in rows if key == "counter"),
        None if before else _ACCEPT[fields["accept"]],
        before and START + before,
        flags=re.ASCII if before else re.ASCII | re.I,
        is_long="long" in fields,
    )


_RULES = _read_contexts()
CONTEXT = tuple(rule for rule in _RULES if not rule.before)
TOKENS = (*map(_read_token, _read_lines("tokens.txt")), *(rule for rule in _RULES if rule.before))
