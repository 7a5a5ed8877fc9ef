"""Tokens of services that nobody listed.

`spans`: a short prefix, a separator, and characters so mixed that they are no name. A copy of the text with one letter
per class of character is searched for a separator and a long run, which takes about as long as copying it.

`spans_near_words`: a random token on a line that names a password, a token or a key, whatever syntax is between them.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import pairwise

from aforesaid.privacy import values
from aforesaid.privacy.rules import Places
from aforesaid.privacy.values import load_words

_TABLE = bytes(
    ord("a") if chr(c).isascii() and chr(c).isalnum() else ord("-") if chr(c) in "_-" else ord(" ")
    for c in range(256)
)
_LEAST = 16  # characters of a run that is looked at
_RUN = b"-" + b"a" * _LEAST
_HEX_PAIRS = b"a" * 32 + b"-aaaaaaaa-aaaaaaaa"  # a signing key of Mailgun
_TOKEN = re.compile(
    r"((?:[a-z]{2,10}\d{0,2}|[A-Z]{2,10}\d{0,2}|[A-Z][a-z]{2,10})[_-]{1,2}(?:[A-Za-z][A-Za-z0-9]{0,11}[_-]{1,2}){0,2}?)([A-Za-z0-9_-]{20,})"
)
_RANDOM = re.compile(
    r"(?<![\w+/.-])[A-Za-z0-9][A-Za-z0-9+/_.~-]{18,200}[A-Za-z0-9]={0,2}(?![\w+/-])", re.ASCII
)
# Words that announce a secret somewhere on their line.
NEEDLES = (
    *"pass pwd secret token key auth cred otp mnemonic seed webhook psk jwt hmac bearer cookie".split(),
    *"login pin wallet private".split(),
)
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{32,128}|[0-9A-F]{32,128})")
_HEX_WORDS = re.compile(
    r"secret|(?<!un)token|passw|api[ _-]?key|access[ _-]?key|private|wallet|auth[ _-]?key|signing[ _-]?key|master[ _-]?key|bearer|credential",
    re.I,
)
_HASH_WORDS = re.compile(
    r"sha\d*|md5|hash|digest|checksum|commit|rev|etag|integrity|fingerprint|uuid|guid|public|trace|request|address|tx|blob|object",
    re.I,
)
_REACH = 120  # characters between the word and the token
_LONGEST = 400  # characters of a line on each side of a word
_TAIL = re.compile(r"[A-Za-z0-9_-]*")
_FILE = re.compile(r"\.[A-Za-z][a-z0-9]{1,5}\b")
_CHECKSUM = re.compile(r"(?:sha\d{1,3}|md5|blake\w{1,3})[=:]\s?[\"']?\Z", re.I)
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.I)
# Words in a prefix that say that a secret follows.
_TELLING = load_words("telling")
# Prefixes of identifiers and checksums, which are no secrets.
_IDENTIFIERS = load_words("identifiers")


def spans(text: str) -> Iterator[tuple[int, int]]:
    classes = text.encode("ascii", "replace").translate(_TABLE)
    at = classes.find(_RUN)
    while at >= 0:
        tail = _TAIL.match(text, at)
        end = tail.end() if tail else at + _LEAST
        start = classes.rfind(b" ", max(0, at - 60), at) + 1
        if at - start in range(1, 60) and _is_token(text, start, end):
            yield start, end
        at = classes.find(_RUN, end)
    at = classes.find(_HEX_PAIRS)
    while at >= 0:
        end = at + len(_HEX_PAIRS)
        apart = not text[max(0, at - 1) : at].isalnum() and not text[end : end + 1].isalnum()
        is_hex = re.fullmatch(r"[0-9a-f-]+", text[at:end])
        if apart and is_hex and not values.is_placeholder(text[at:end]):
            yield at, end
        at = classes.find(_HEX_PAIRS, end)


def spans_near_words(
    text: str, places: Places, found: Iterable[int] = ()
) -> Iterator[tuple[int, int]]:
    """Needs no known syntax, so the token must be long, and as mixed as only a generator makes it. `found`: where
    other secrets are; what stands beside an account's id is its key."""
    secrets = sorted(found)
    words = sorted({at for stem in NEEDLES for at in places.get(stem, ())}.union(secrets))
    for match in _random_near(text, words):
        start, end = match.span()
        begin = max(start - _REACH, text.rfind("\n", max(0, start - _REACH), start) + 1)
        stop = text.find("\n", end, end + _REACH)
        stop = end + _REACH if stop < 0 else stop
        if not (_is_between(words, begin, start) or _is_between(words, end, stop)):
            continue
        if _is_random_token(text, start, end):
            yield start, end
        elif _HEX.fullmatch(match[0]):
            around = text[begin:start] + text[end:stop]
            announced = _HEX_WORDS.search(around) or _is_between(secrets, begin, start)
            if announced and _is_hex_secret(match[0], around):
                yield start, end


def _random_near(text: str, words: list[int]) -> Iterator[re.Match[str]]:
    """Long tokens on the lines of the words; of a very long line, those within reach."""
    done = 0
    for at in words:
        if at < done:
            continue
        begin = text.rfind("\n", max(done, at - _LONGEST), at) + 1 or max(done, at - _LONGEST)
        end = text.find("\n", at, at + _LONGEST)
        done = end if end >= 0 else min(len(text), at + _LONGEST)
        yield from _RANDOM.finditer(text, begin, done)


def _is_hex_secret(value: str, around: str) -> bool:
    """Most hexadecimal numbers are identifiers and checksums, which the words around them say."""
    named = _HASH_WORDS.search(around) or values.is_placeholder(value)
    return not named and sum(map(str.isdigit, value)) >= 6


def _is_between(places: list[int], begin: int, end: int) -> bool:
    at = bisect_left(places, begin)
    return at < len(places) and places[at] < end


def _is_random_token(text: str, start: int, end: int) -> bool:
    value = text[start:end].strip("=")
    if _is_part_of_name(text, start, end, ("/", "\\", "#")):
        return False
    return values.is_dense(value) and values.is_random(value, 20) and not values.is_wordy(value)


def _is_part_of_name(text: str, start: int, end: int, before: tuple[str, ...]) -> bool:
    """Of a path, a call or a checksum."""
    if text[max(0, start - 1) : start] in before or text[end : end + 1] in ("(", "[", "/"):
        return True
    return bool(_CHECKSUM.search(text, max(0, start - 10), start) or _FILE.match(text, end))


def _is_token(text: str, start: int, end: int) -> bool:
    found = _TOKEN.fullmatch(text, start, end)
    if found is None or len(found[2]) > 4000:
        return False
    if _is_part_of_name(text, start, end, ("/", ".", "#", "@", "\\")):
        return False
    words = [word.lower() for word in re.split("[_-]+", found[1]) if word]
    parts = found[2].split("_" if "_" in found[2] else "-")
    words += [part.lower() for part in parts[:-1] if len(part) < 8]
    body = re.sub("[_-]", "", found[2])
    telling = bool(_TELLING.intersection(words[1:] or words))
    if re.search(r"(?:\A|_)01[A-Za-z0-9]{22}\Z", found[2]):
        return False  # an identifier at Anthropic
    if (words[0] in _IDENTIFIERS and not telling) or _UUID.search(found[2]):
        return False
    if values.is_placeholder(body) or values.is_wordy(found[2]):
        return False
    if values.is_dense(body) or (found[1].islower() and _is_base32(body)):
        return True
    digits = sum(c.isdigit() for c in body)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(body))
    mixed = len(body) >= 24 and digits >= 5 and changes * 5 >= len(body)
    return telling and mixed and not values.is_plain(found[2])


def _is_base32(body: str) -> bool:
    letters = "".join(c for c in body if c.isalpha())
    return body.isupper() and len(body) - len(letters) >= 2 and values.is_gibberish(letters)
