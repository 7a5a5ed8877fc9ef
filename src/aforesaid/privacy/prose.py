"""Passwords and tokens in sentences: "the password for staging is …", "use … as the password", "log in with bob / …".

A word of a sentence is a secret if it stands near a word that announces one, is joined to it by plain words alone, and
looks as no word, name, number or path does.
"""

import re
from collections.abc import Iterator

from aforesaid.privacy import values
from aforesaid.privacy.rules import Places

PASSWORDS = (
    *"password passwd passphrase passcode passwort kennwort pwd pw contraseña senha пароль 密码 パスワード".split(),
    *"wachtwoord parola hasło creds credential login".split(),
    *("mot de passe", "log in", "sign in"),
)
TOKENS = ("secret", "token", "key")
NEEDLES = (*PASSWORDS, *TOKENS)
_REACH, _MOST_WORDS = 160, 7
_BETWEEN = re.compile(
    r"[\s\"'`“”‘’«»*，。：（）()]+|(?<=[\u0080-\uffff])(?=[!-~])|(?<=[!-~])(?=[\u3040-\uffff])"
)
_PLAIN = re.compile(
    r"[^\W\d_][\w'’/.-]{0,30}[,:]?|[-=/,:.]{1,2}>?|は|[A-Za-z]+:", re.ASCII | re.IGNORECASE
)
_PLAIN_WIDE = re.compile(r"[\u0080-\uffff]+[:：]?")
# Right behind them stands the value itself.
_JOINS = frozenset(
    "is are was to as be with type enter use using from now equals = : -> => / is: are: ist lautet est es é è 是 は будет".split()
)
_EQUALS = frozenset(("is", "are", "was", "be", "is:", "are:"))
_OPENERS = frozenset(" \t\n\"'`(*，。：（　")
_AFTER = re.compile(
    r"s?(?:([:：=]|\s=|\s->)(?=\s|[^\x00-\x7f])|[\s,\"'`*)]|[.!?](?=\s)|[.!?]?\Z|(?=[^\x00-\x7f])|(?<=[^\x00-\x7f]))"
)
_CODE = frozenset("(){}[]=;<>|\\")


def spans(text: str, places: Places) -> Iterator[tuple[int, int]]:
    for needle in NEEDLES:
        for at in places.get(needle, ()):
            # A whole word of a sentence, and no part of a name, a path or a program.
            if (at == 0 or text[at - 1] in _OPENERS) and (
                end := _AFTER.match(text, at + len(needle))
            ):
                strong = needle in PASSWORDS
                yield from _read_after(text, end.end(), strong, ":" if end[1] else "")
                yield from _read_before(text, at, strong)


def _read_after(text: str, at: int, strong: bool, last: str) -> Iterator[tuple[int, int]]:
    stop = text.find("\n", at, at + _REACH)
    stop = stop if stop >= 0 else min(len(text), at + _REACH)
    for number, (start, word) in enumerate(_split(text, at, stop)):
        if text[start + len(word) : start + len(word) + 1] == "(":  # a call
            return
        value = word.rstrip(".,;:!?")
        if strong:
            direct = number == 0 or last in _JOINS or last.endswith((":", "："))
            named = False
        else:
            direct = last in _EQUALS or (number == 0 and last == ":")
            is_name = number == 0 and value.isalnum() and value.islower()
            named = is_name and values.is_random(value, 20)
        if named or _is_secret(value, strong=strong, direct=direct):
            yield start, start + len(value)
            return
        part = strong and re.search(r"[/:](.{4,})", value)  # user/password, user:password
        is_pair = part and not ("//" in value or values.is_path(value))
        if is_pair and part and _is_secret(part[1], strong=True, direct=False):
            yield start + part.start(1), start + len(value)
            return
        plain = _PLAIN.fullmatch(word) or _PLAIN_WIDE.fullmatch(word)
        if number >= _MOST_WORDS or not plain or word.endswith((".", ";")):
            return
        last = word.lower()


def _read_before(text: str, at: int, strong: bool) -> Iterator[tuple[int, int]]:
    """`… is the password`, `… as my new password`"""
    begin = max(0, at - _REACH, text.rfind("\n", max(0, at - _REACH), at) + 1)
    before = text[begin:at].rsplit(None, 5)
    words = list(_split(text, begin + (len(before[0]) if len(before) > 5 else 0), at))[-5:]
    for number in range(len(words) - 1, -1, -1):
        start, word = words[number]
        if _is_secret(word, strong=strong, direct=False):
            if number + 1 < len(words) and words[number + 1][1].lower() in ("is", "as", "was"):
                yield start, start + len(word)
            return
        if not re.fullmatch(r"[A-Za-z'’]{1,12}", word):
            return


def _split(text: str, begin: int, end: int) -> Iterator[tuple[int, str]]:
    done = begin
    for gap in _BETWEEN.finditer(text, begin, end):
        if gap.start() > done:
            yield done, text[done : gap.start()]
        done = gap.end()
    if done < end:
        yield done, text[done:end]


def _is_secret(value: str, *, strong: bool, direct: bool) -> bool:
    least = 5 if strong else 8 if direct else 16
    is_word = value.isalpha() and value[1:].islower()  # most are: no test below accepts one
    if len(value) < least or is_word or _CODE.intersection(value):
        return False
    if values.is_reference(value) or values.is_placeholder(value):
        return False
    if re.fullmatch(r"0x[0-9a-fA-F]{64}", value):
        return True
    if not strong:
        odd = values.is_dense(value) or (direct and not value.isidentifier())
        return odd and values.is_random(value, least)
    odd = any(c.isdigit() for c in value) or values.has_sign(value)
    if direct and odd and values.is_secret(value, 5):
        return True
    phrase = direct and (values.is_phrase(value) or values.is_mixed(value))
    return phrase or values.is_striking(value)
