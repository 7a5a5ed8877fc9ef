"""Names of secrets and their values: `smtp_pass=…`, `"apiKey": "…"`, `--token …`, `getenv("X") or "…"`.

A name is taken apart into words, and the last words say what the value is: `db_password` is a password,
`password_file` is not. The lists of words are in words.txt. Behind such a name the syntax of many languages and formats
is read, then the value up to its end.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from aforesaid.privacy import values
from aforesaid.privacy.rules import JOIN, Places
from aforesaid.privacy.values import load_words

STEMS = tuple(sorted(load_words("stems")))
PASSWORD, SECRET, KEY, WEAK, PIN = "password", "secret", "key", "weak", "pin"
_PASSWORDS, _SECRETS, _PINS = map(load_words, ("passwords", "secrets", "pins"))
_KEY_OF, _NOT_KEY_OF = map(load_words, ("keys", "harmless-keys"))
_NEUTRAL, _HARMLESS_FIRST, _NO_VALUES = map(load_words, ("neutral", "harmless-first", "no-values"))
_TELLING = frozenset(("secret", "private", "api", "access"))
_WEAK = frozenset(("pfx", "keystore", "kubeconfig"))
_WEAK_ALONE = frozenset(("auth", "seed", "salt", "cookie", "webhook"))
_NOT_PASS = re.compile(
    r"(?:mini|com|by|tres|sur|over|under|encom|multi|one|two|three|single|sub|render|first|second|last|all|tests?|low|high|band|hall"
    r"|fast|pre|post|optimi[sz]er|compiler|boarding|season|did|will|should|must|can)[-_]?pass\Z",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zñ]+|[A-Z]+|\d+|[^\W\d_]+")


class Name(NamedTuple):
    """`kind`: what a value of that name must look like; WEAK ones must look random. `loud`: in capitals, as
    variables of a shell are."""

    kind: str
    loud: bool


@lru_cache(4096)
def read_name(name: str) -> Name | None:
    bare = name.strip("-._$")
    loud = bare.isupper()
    kind = WEAK if bare.lower().endswith("p12") else _read_kind(bare, loud)
    return Name(kind, loud) if kind else None


def _read_kind(bare: str, loud: bool) -> str:
    words = [word.lower() for word in _WORD.findall(bare)]
    while len(words) > 1 and words[-1] in _NEUTRAL - _PASSWORDS - _SECRETS:
        words.pop()
    if not words or len(words) > 9:
        return ""
    last, two = words[-1], "".join(words[-2:])
    if len(words) > 1 and words[0] in _HARMLESS_FIRST and last != "password":
        return ""
    is_password = last.endswith(("password", "passwd", "passphrase", "pwd"))
    is_password = is_password or (last.endswith("pass") and len(last) > 4)
    if is_password or not _PASSWORDS.isdisjoint((last, two)):
        return "" if _NOT_PASS.search(bare) or bare in ("PWD", "OLDPWD") else PASSWORD
    if not _PINS.isdisjoint((last, two)):
        return PIN
    if not _SECRETS.isdisjoint((last, two)) or last.endswith(("secret", "token", "apikey")):
        weak = (len(words) == 1 and last in _WEAK_ALONE) or last in ("pat", "cookie")
        return WEAK if weak and not loud else SECRET
    if last.endswith(("key", "keys")):
        return _read_key(last, words[:-1])
    hidden = loud and {"secret", "password", "passwd"} & set(words) and last not in _NO_VALUES
    return WEAK if last in _WEAK or hidden else ""


def _read_key(last: str, before: list[str]) -> str:
    """Most keys are those of a table."""
    if last not in ("key", "keys"):
        return KEY if last.removesuffix("key") in _KEY_OF else ""
    if before and before[-1] in _NOT_KEY_OF:
        return ""
    telling = before and (before[-1] in _KEY_OF or _TELLING.intersection(before))
    return KEY if telling else WEAK


def is_named_secret(name: str, value: str) -> bool:
    """For a field of a JSON object: whether its name makes this text a secret."""
    read = read_name(name)
    return read is not None and is_value(read, value, quoted=True, config=True)


def is_value(name: Name, value: str, *, quoted: bool, config: bool) -> bool:
    """Whether it is a secret, given the name. `config`: a file or a shell assigns it, and not a program, where a bare
    word is a variable."""
    value = value.strip()
    match name.kind:
        case "password" if quoted or config:
            return values.is_password(value, config=config, quoted=quoted)
        case "password" if value.isidentifier():
            mixed = values.is_mixed(value) and not value[:1].islower()
            return mixed or values.is_random(value, 6)
        case "password":
            return values.is_secret(value, 6)
        case "pin":
            return (value.isdigit() and 4 <= len(value) <= 10) or values.is_random(value, 12)
        case "weak":
            return values.is_random(value, 20) and values.is_dense(value)
    if is_mnemonic(value):
        return name.kind == SECRET
    if values.is_phrase(value):
        numbered = values.has_sign(value) or any(c.isdigit() for c in value)
        return config and (name.loud or (numbered and " " not in value))
    if values.is_gibberish(value):
        return quoted or config
    if " " in value:
        return False
    if not quoted and not config and value.isidentifier():
        return values.is_random(value, 16)
    least = 8 if name.kind == SECRET else 12
    return values.is_secret(value, least, quoted=quoted) and not values.is_type(value)


def is_mnemonic(value: str) -> bool:
    """Twelve to 24 words of a wallet."""
    words = value.split()
    if len(words) not in (12, 15, 18, 21, 24):
        return False
    return all(word.isalpha() and word.islower() and 3 <= len(word) <= 8 for word in words)


Span = tuple[int, int]
_REST = re.compile(r"[\w.-]{0,60}+")
# One of them follows a name that is given a value.
_SIGNS = frozenset("\"'`\\ \t\r\n=:>(,|?[])}<-;&*+")
_Q = r"\\{0,7}[\"'`]"
_SKIP = r"[\s+>|\-*#\d:→]{0,60}"  # between two lines: indentation, marks of a diff, line numbers
# What may stand between a name and its value. The group's name says how the value is read.
_SYNTAX = re.compile(
    rf"""
    (?P<xml> (?:\s[^<>\n]{{0,120}})? > (?=[^<\s]) )
  | (?P<plist> </(?:key|name|string)> \s{{0,80}} (?:(?<=\n)[^\n<]{{0,120}})? <(?:string|value)> )
  | (?P<default> :?- (?=[^\s}}]{{3}}) )
  | (?P<attribute> {_Q}? [,;]? (?: {_SKIP} | [ \t]{{0,8}}(?:\r?\n|\\+n)[^\n]{{0,120}}?(?<![\w-]) ) (?:[\w:-]{{1,30}}={_Q}[^"'\n]{{0,80}}{_Q}\s{{1,4}}){{0,2}}
        {_Q}? (?:value|defaultvalue|default_value|default|stringvalue|content) {_Q}? \s{{0,3}} [:=] \s{{0,3}} )
  | (?P<variable> {_Q} \s? \{{ [^{{}}]{{0,300}}? \b default \s{{0,20}} = \s{{0,3}} )
  | (?P<form> {_Q} [^\n"]{{0,60}} (?: \r?\n (?P<empty>[^\n]{{0,120}}) \n | (?:\\+r)?\\+n(?:\\+r)?\\+n ) )
  | (?P<wrapped> [ \t]{{0,40}} (?: :\s? [\w<>&'.:]{{1,40}} )? [ \t]{{0,40}} :?= [ \t]{{0,40}} (?:new\s)? [A-Za-z_][\w.:<>]{{0,60}}\( \s{{0,3}} (?={_Q}) )
  | (?P<assign> (?:{_Q})? [\])]{{0,2}} (?:\[\d{{0,5}}\])? [ \t]{{0,40}}
        (?: :\s{{0,3}} (?:mut\s|&'?\w{{0,10}}\s?)? [A-Za-z_&<>\[\]*?|.:]{{1,40}} [ \t]{{0,3}} (?==\s{{0,3}}[fbru]?{_Q}) )?
        (?: => | -> | <<?- | := | \|\|= | \?\?= | \?= | \+= | ={{1,3}} | :(?!:) ) \*{{0,2}} (?P<gap> [ \t]{{0,40}} ) \*{{0,2}}
        (?: [|>][-+]?\d? [ \t]{{0,4}} \r?\n [ \t+>|-]{{1,40}} | (?:new\s|await\s)?[A-Za-z_.]{{0,30}}[Ss]ecret[A-Za-z]{{0,10}}\( | \(\s{{0,40}}(?=[fbru]?{_Q}) | ![\w-]{{1,20}}\s(?=[^\n|]) )? )
  | (?P<fallback> (?:{_Q})? [\])]{{0,2}} \s{{0,3}} (?: , | \?: | \|\| | \?\? | \bor\b | \{{
        | \.(?:unwrap_or|unwrap_or_else|or_else|orElse|getOrElse|get_or_insert|or|ok_or)\( (?:\|_?\|)? ) \s{{0,3}} (?=(?:<<)?[fbru]?{_Q}) )
  | (?P<call> \s? \( \s{{0,3}} (?={_Q}) )
  | (?P<table> (?:{_Q}|\*\*)? [ \t]{{0,40}} \| [ \t]{{0,40}} )
  | (?P<blank> [ \t]{{1,10}} (?=\S) )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OPEN = re.compile(r"(?:<<)?[fbruLN]{0,2}@?(\\{0,7}(?:\"\"\"|'''|[\"'`]))")
_BARE = re.compile(r"[^\s\"'`,;<>()\[\]{}\\|&]{1,512}")
_WHOLE = re.compile(r"[^\s\"'`<>\\]{1,512}")
_MNEMONIC = re.compile(r"[a-z]{3,8}(?: [a-z]{3,8}){11,23}\b")
_TAIL = re.compile(r"[A-Za-z0-9_.~+/=%-]*")
_NEXT_PAIR = re.compile(r"[;&,][\w.-]{1,40}=|[;,&]+\Z|[)}\]]+[;,]*\Z|\\?\"?[,;]\Z")
_LINE = re.compile(
    r"(?:\A|[\n\x00]|\\n)[^\n\"'(){}]{0,100}?(?:(?:export|set|setx|env|ENV|ARG|local|readonly|declare\s-x|-\s?e|--env|-)\s+)?[\"'$]?\Z"
)
# `user, password = …`
_TARGETS = re.compile(r"(?:\A|[\n\x00(])[ \t]{0,40}[A-Za-z_][\w.]{0,40}, ?\Z")
_LINE_END = re.compile(r"[\"'`,;]{0,2}\s{0,20}(?:\Z|[\r\n\x00]|\\[nr]|\s#|//|&&|\|\|)")
_SETS = re.compile(
    r"(?:\b(?:set|setenv|ENV|ARG|env|config\sset|set-env|setx|putenv|define|property)\s(?:\s{0,3}-[\w-]{1,12}\s)?\s{0,3}|\s--?|\s/)[\"']?\Z",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(
    r"\{\w{1,2}\Z|[(\[{]\s{0,4}\\{0,3}[\"'`][#.:]?\w?|\\{0,3}[\"'`]--?\w?|\w\s[\"'`]--?\w?"
)


_BETWEEN = ("", *" \t\r\n\"'")


class _Site(NamedTuple):
    """Where a value is: its name, which begins at `begin`, and the syntax `how` before it, which ends at `at`."""

    text: str
    name: Name
    begin: int
    how: str
    at: int

    @property
    def is_option(self) -> bool:
        """`--password`"""
        before = self.text[max(0, self.begin - 1) : self.begin]
        return self.text.startswith("-", self.begin) and before in ("", *" \n\"'`([=")

    @property
    def is_tight(self) -> bool:
        """`NAME=value`, as a shell wants it."""
        return self.how == "assign" and self.text[self.at - 1] == "="


def spans(text: str, places: Places) -> Iterator[tuple[str, int, int]]:
    """The values of all names: the kind, and where the value stands."""
    done = 0
    for at in sorted({at for stem in STEMS for at in places.get(stem, ())}):
        if at < done:
            continue
        rest = _REST.match(text, at)
        done = end = rest.end() if rest else at
        if text[end : end + 1] not in _SIGNS:
            continue
        begin = at
        while begin > at - 60 and begin and ((c := text[begin - 1]).isalnum() or c in "_.-$"):
            begin -= 1
        name = read_name(text[begin:end])
        syntax = _SYNTAX.match(text, end) if name else None
        found = _read_value(text, name, begin, syntax) if name and syntax else None
        if name and found:
            done = found[1]
            yield (PASSWORD if name.kind == PASSWORD else "assignment"), *found


def _read_value(text: str, name: Name, begin: int, syntax: re.Match[str]) -> Span | None:
    how, at = syntax.lastgroup or "", syntax.end()
    how = "assign" if how == "gap" else "form" if how == "empty" else how
    if how == "xml":
        return _read_element(text, name, begin, at)
    opened = _OPEN.match(text, at)
    if _is_no_value(text, begin, how, syntax, bool(opened)) or _is_verdict(text, begin, syntax):
        return None
    if how == "form":
        prefix = _prefix_length(text, syntax)
        if prefix is None:
            return None
        at += prefix
    site = _Site(text, name, begin, how, at)
    if how == "blank" and not (site.is_option or _SETS.search(text, max(0, begin - 40), begin)):
        site = site._replace(how="beside")  # a word behind the name, as in prose or in SQL
    return _read_quoted(site, opened) if opened else _read_bare(site)


def _is_no_value(text: str, begin: int, how: str, syntax: re.Match[str], quoted: bool) -> bool:
    before = text[max(0, begin - 3) : begin]
    match how:
        case "assign" if syntax[0].rstrip().endswith("->") and not quoted:
            return True  # the type that a function returns
        case "assign" | "attribute":
            return before.endswith("::")  # `AWS::IAM::AccessKey` is a type
        case "fallback" if "," in syntax[0]:
            # Else the next item of a list.
            return not (quoted and _ARGUMENT.search(text, max(0, begin - 12), begin + 2))
        case "fallback" | "call" | "wrapped":
            return not quoted
        case "default":
            return "${" not in before
    return False


def _is_verdict(text: str, begin: int, syntax: re.Match[str]) -> bool:
    """`PASS: test-1`, as test runs say it, or "pass `x=1`" in prose: the word alone is a password's name only if its
    value is all that follows on the line."""
    sign, at = syntax[0].strip(), syntax.end()
    if text[begin : syntax.start()].lower() != "pass" or sign not in (":", ""):
        return False
    end = text.find("\n", at, at + 2_000)
    rest = text[at : end if end >= 0 else at + 2_000]
    first = begin == 0 or text[begin - 1] == "\n"
    return len(rest.split()) > 1 or (first and sign == ":" and text.startswith("PASS", begin))


def _read_element(text: str, name: Name, begin: int, at: int) -> Span | None:
    """`<password>…</password>`"""
    head = text[max(0, begin - 30) : begin]
    opening = head.rfind("<")
    if opening < 0 or not re.fullmatch(r"<(?:[\w.-]+:)?", head[opening:]):
        return None
    start = at + len("<![CDATA[") if text.startswith("<![CDATA[", at) else at
    end = text.find("]]>" if start > at else "<", start, start + 20_000)
    value = text[start:end].strip() if end > 0 else ""
    if not value or "\n" in value or not is_value(name, value, quoted=True, config=True):
        return None
    start = text.index(value, start)
    return start, start + len(value)


def _read_quoted(site: _Site, opened: re.Match[str]) -> Span | None:
    """Up to the closing quote, which is escaped as often as the opening one; with the strings joined to it."""
    text, name = site.text, site.name
    quote, start = opened[1], opened.end()
    end = _find_quote(text, quote, start)
    if quote == "`" and text[end : end + 1] != quote:
        return None
    pieces = [text[start:end]]
    while len(pieces) < 200 and (joint := JOIN.match(text, end)) and joint["quote"] == quote:
        end = _find_quote(text, quote, joint.end())
        pieces.append(text[joint.end() : end])
    value = "".join(pieces)
    by_shell = name.loud and site.how == "assign" and text[start - 2] == "="
    if " " in value and name.kind == PASSWORD and by_shell:  # several plain words
        plain = values.is_placeholder(value) or values.is_reference(value)
        return (start, end) if len(value) >= 8 and not plain else None
    return (start, end) if _is_quoted_value(site, value, formatted=opened[0][0] in "fF") else None


def _is_quoted_value(site: _Site, value: str, *, formatted: bool) -> bool:
    name, how = site.name, site.how
    if how == "wrapped":  # `String::from("…")`, but also `getenv("…")`
        return values.is_striking(value) and is_value(name, value, quoted=True, config=False)
    code = how in ("call", "fallback") or (formatted and "{" in value)
    if how == "beside" and not (
        values.is_striking(value) or (name.kind == PASSWORD and values.is_phrase(value))
    ):
        return False
    if name.kind != PASSWORD:
        if value != value.strip():
            return False
        named = code and (how == "call" or value.isidentifier())
        if named and not (values.is_random(value, 8) or values.is_dense(value)):
            return False
    return is_value(name, value, quoted=True, config=not code)


def _prefix_length(text: str, syntax: re.Match[str]) -> int | None:
    """Of a form's field: how much of the value's line is a log prefix, as on the empty line before it. None if that
    line is not empty."""
    empty = syntax["empty"] or ""
    line = text[syntax.end() : syntax.end() + len(empty)]
    if re.sub(r"\d", "0", line) == re.sub(r"\d", "0", empty):
        return len(empty)
    return None if empty.strip() else 0


def _find_quote(text: str, quote: str, start: int) -> int:
    """The end of the line if there is none."""
    line = text.find("\n", start, start + 20_000) if len(quote) < 3 else -1
    limit = line if line >= 0 else min(len(text), start + 20_000)
    at = text.find(quote, start, limit)
    while at > 0 and text[at - 1] == "\\" and not quote.startswith("\\") and text[at - 2] != "\\":
        at = text.find(quote, at + 1, limit)
    if at > 0 and quote.startswith("\\"):
        while at > start and text[at - 1] == "\\":
            at -= 1
    return at if at >= 0 else limit


def _read_bare(site: _Site) -> Span | None:
    text, name, how, at = site.text, site.name, site.how, site.at
    if name.kind == SECRET and (words := _MNEMONIC.match(text, at)) and is_mnemonic(words[0]):
        return words.span()
    if how == "beside" and name.kind != PASSWORD:
        return None
    whole = _WHOLE.match(text, at)
    line = bool(
        whole
        and not _TARGETS.search(text, max(0, site.begin - 60), site.begin)
        and _LINE_END.match(text, whole.end())
        and _LINE.search(text, max(0, site.begin - 130), site.begin)
    )
    takes_all = how not in ("fallback", "call") and (line or site.is_option)
    found = whole if takes_all else _BARE.match(text, at)
    if found is None:
        return None
    value = _cut(site, found[0])
    if not value or _is_no_bare_value(site, value):
        return None
    # A bare word is no variable in a shell, and `X-Api-Key` is none.
    shell = site.is_option or how == "blank" or (site.is_tight and name.loud)
    dashed = "-" in text[site.begin : site.begin + 40].partition(" ")[0].partition(":")[0]
    config = shell or line or dashed or how in ("default", "form", "plist", "table", "attribute")
    config = config or (name.kind == PASSWORD and _stands_in_prose(site, value))
    if not is_value(name, value, quoted=shell and name.kind == PASSWORD, config=config):
        return None
    tail = _TAIL.match(text, at + len(value)) if len(found[0]) == 512 else None
    return at, tail.end() if tail else at + len(value)


def _stands_in_prose(site: _Site, value: str) -> bool:
    """`… with password=hunter2go and`, `psql "user=bob password=…"`: letters and digits between blanks or quotes,
    where an argument of a program would be followed by a comma or a bracket."""
    around = site.text[max(0, site.begin - 1) : site.begin], site.text[site.at + len(value) :][:1]
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and "_" not in value
    return site.is_tight and mixed and len(value) >= 8 and all(each in _BETWEEN for each in around)


def _cut(site: _Site, value: str) -> str:
    if cut := _NEXT_PAIR.search(value):
        value = value[: cut.start()]
    if site.how == "default":
        value = value.partition("}")[0]
    if site.how == "beside":
        value = value.rstrip(".:!?")
    if site.text[site.at - 1] == "*":  # Markdown
        value = value.rstrip("*")
    return value


def _is_no_bare_value(site: _Site, value: str) -> bool:
    match site.how:
        case "assign" if site.text[site.at - 1] == ":" and values.is_plain(value):
            return not values.has_sign(value)  # `"passwd:gecos"`; YAML has a blank there
        case "beside" if not values.is_striking(value):
            return True
        case "blank" if site.is_option and values.is_plain(value) and not values.has_sign(value):
            return not values.is_phrase(value)
        case "blank" if value.isdigit() and not site.is_option:
            return True
        case "blank" | "table" if value[0] == "-":
            return True
        case "table" if not values.is_random(value, 8):
            return True
    following = site.text[site.at + len(value) : site.at + len(value) + 1]
    if following in ("(", "[") or value[0] in "[({":
        return True
    return value[-1] == "=" and value[:-1].isalpha()
