"""Decides whether a value that stands where a secret would stand is one.

Not a secret: placeholders (`<your-token>`, `changeme`, `${VAR}`, `********`), references and calls
(`os.environ["X"]`, `self.password`), types (`str`), and plain words where a program may assign them.
The lists of words are in words.txt.
"""

import re
from itertools import pairwise
from pathlib import Path

from aforesaid.text import load_sections

_LISTS = load_sections(Path(__file__).with_name("words.txt"))


def load_words(section: str) -> frozenset[str]:
    return frozenset(" ".join(_LISTS[section]).split())


_PLACEHOLDER = re.compile(
    r"""
    \$\{ | \$\( | \{\{ | %\( | \#\{ | <% | \$\[\[ | \[(?:secret|private|not\ kept) | \.\.\. | …   # anywhere
    | \A \$? \{ [\w.:!-]{0,60} \} \Z | (?-i: (?<![A-Za-z0-9]) \{ [a-z_][a-z_.\d]{2,40} (?:![rsa])? \} ) | \A %[-\d.]*[sdrvqx@] | \A %\w+% \Z
    | \A \$ (?: [A-Za-z_]\w* | env:\w+ | \d ) \Z | \A \$[A-Za-z_]\w* (?:::|/|->|\.\w|\[) | \A @\w+@ \Z | \A < .* > \Z | \A &(?:lt|amp|quot)
    | (?<![a-z\d]) example (?![a-z\d]) | (?-i: EXAMPLE (?:KEY)? \Z )
    | \A (?: your | my | the | some | enter | insert | put | replace | add | set | use | a | an )
         (?: [-_ ] [a-z]+ )+ [-_ ]? (?: here )? \d? \Z
    | \A your | [-_] here \Z
    | \A (?: change[-_ ]?(?:me|this|it) | place[-_]?holder | dummy | redacted | undefined | null | none | nil | todo | fixme
           | foo | bar | baz | foobar | tbd | n/a | not[-_ ]?set | unset | unknown | masked | hidden | removed | omitted
           | fake | mock | sample | test(?:ing)? | default | empty | true | false | yes | no | on | off ) [-_]?
         (?: key | token | secret | pass(?:word)? | value | api[-_]?key )? [-_]? \d{0,3} !? \Z
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CALL = re.compile(r"[A-Za-z_$][\w$]{2,}(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*\s*(?P<open>[(\[])")
_DOTTED = re.compile(r"&?\*?[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+[:;,+{}]{0,3}")
_KEYWORD = re.compile(
    r"(?:self|this|cls|os|sys|process|env|config|settings|args|options|opts|secrets|vault|var|local|data|module|each"
    r"|github|inputs|steps|vars|ctx|context|request|req|params|props|state|cfg|conf|app|user|event|values?)(?:\.|->|::)\w"
    r"|[A-Za-z_$][\w$]*\.[A-Za-z_$][\w$]*[=,;]|\(|/\^|lambda\b|new\s|await\s|not\s|!\w+\Z|function\b"
)
_PATH = re.compile(
    r"(?:~|\.{1,2})/|/(?:etc|usr|var|home|opt|tmp|run|srv|root|mnt|dev|bin|app|data|Users|private|proc|sys|secrets?|config)"
    r"(?:/|\Z)|[A-Za-z]:\\|(?:/[a-z][a-z_.-]*){2,}/?\Z|file:|https?://"
)
_TYPE = re.compile(
    r"(?:str|string|bytes?|int(?:eger)?|bool(?:ean)?|float|number|object|any|void|char|text|varchar|none|null|dict|list"
    r"|optional|required|secretstr|secretbytes|password|uuid|array|map|set|tuple|union|type|callable|buffer|date(?:time)?"
    r")(?:[\[(<|?*&,;].*)?",
    re.IGNORECASE,
)
# Words that stand behind such a name in messages, documents and schemas.
_WORDS = load_words("no-passwords")
_STEM = re.compile(r"pass|pwd|secret|token|key|auth|cred|user|prompt|input|value|param|field", re.I)
SENTENCE_WORDS = load_words("sentence")
_PAIRS = frozenset(row[0] + second for row in load_words("pairs") for second in row[1:])
_RUN = re.compile(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}")
_SEPARATORS = re.compile(r"[\s_.-]")
_SIGNS = re.compile(r"[@#!$%^&*+~?=]")
_CALL_WHOLE = re.compile(r"[A-Za-z_]{3,}[\w.]*\(.*\)")
# A word with a number that is part of its name.
_NAMED = re.compile(
    r"(?:oauth|utf|sha|md|base|latin|rsa|ed|hmac|aes|hs|rs|es|ps|ipv|http|pbkdf|bcrypt|argon|python|py|k8s|s|v|x|p|w"
    r"|ec|cp|iso|int|uint|float|str|arg|arm|amd|win|x86_|level|step|part|test|user|key|token|line|id|password|pass|pwd|pw"
    r"|secret|value|val|var|param|node|item|data|obj|tmp|foo|bar|col|row|field|name|new|old|my|a|b|c|n|i|e|f|r|t|u)\d{1,5}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"[A-Za-z]{3,}\d{1,2}")
_PART = re.compile(r"[A-Za-z]?[a-z]*|[A-Z]+s?|\d{1,2}")
_BREAKS = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z]{2})|(?<=[A-Z])(?=[A-Z][a-z])|[\s_./:,;|@#()\[\]{}\\-]+"
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_HASH = re.compile(r"(?:sha\d*|md5|blake\w*)[-:_]\S+", re.IGNORECASE)
# What a program makes or matches texts with: `[0-9a-f]{1,4}`, `(?:a|b)`, and `%s` at the end of a word.
_PATTERN = re.compile(
    r"\[\^?[^\]]{0,40}(?:0-9|[aA]-[zZfF])[^\]]{0,40}\]|\(\?[:=!<P]|\\[dwsbDWS][+*{]"
)
_FORMAT = re.compile(r"%[-\d.]*[sdrx](?![A-Za-z0-9])")
_LABEL = re.compile(r"[A-Z]{3,}(?:_[A-Z]+)*_\d{1,6}")  # PART_NUMBER_0001
_ALPHABET = 24  # characters, most of which follow each other in the alphabet
_VERSION = re.compile(
    r"[v^~<>=]*\d+(?:\.\d+)+\S{0,20}|\d{4}-\d\d-\d\d\S*|#[0-9a-fA-F]{3,8}|[\d.,]+[a-z%]{0,2}|0x[0-9a-fA-F]{1,16}"
)


def is_placeholder(value: str) -> bool:
    if _PLACEHOLDER.search(value) or is_template(value) or is_alphabet(value):
        return True
    different = set(value)
    if len(different) < 3 or len(value) < 8:
        return len(different) < 3
    return len(different) < 4 or max(map(value.count, different)) * 2 >= len(value)


def is_template(value: str) -> bool:
    """A regular expression, or words with a place for a value: what secrets are matched or made with."""
    if _PATTERN.search(value):
        return True
    words, places = _FORMAT.subn("", value)
    return places > 0 and is_plain(words) and not _SIGNS.search(words)


def is_alphabet(value: str) -> bool:
    """The characters that tokens are made of, in order."""
    following = sum(ord(b) - ord(a) == 1 for a, b in pairwise(value))
    return len(value) >= _ALPHABET and following * 5 >= len(value) * 4


def is_path(value: str) -> bool:
    return bool(_PATH.match(value))


def is_reference(value: str) -> bool:
    """A call, an attribute or a path: it says where a value is, not which."""
    if _PATH.match(value) or _KEYWORD.match(value):
        return True
    call = _CALL.match(value)
    named = value[: call.start("open")] if call else value if _DOTTED.fullmatch(value) else ""
    return bool(named) and (is_plain(named) or _change_rate(named) < 0.4)


def is_type(value: str) -> bool:
    return bool(_TYPE.fullmatch(value))


def is_plain(value: str) -> bool:
    """Made of words, or of names that words and small numbers make."""
    parts = [part for part in _BREAKS.split(value) if part]
    odd = [part for part in parts if not (_PART.fullmatch(part) or _NAMED.fullmatch(part))]
    return not odd or (len(parts) > 2 * len(odd) and all(_NUMBERED.fullmatch(part) for part in odd))


def has_both(value: str) -> bool:
    """Letters, and something that is no part of a word."""
    return any(c.isalpha() for c in value) and any(
        c.isdigit() or c in "!@#$%^&*+~?=" for c in value
    )


def is_secret(value: str, least: int = 8, *, quoted: bool = False) -> bool:
    """Letters with digits or signs, and neither words, a reference, a version nor a placeholder."""
    return (
        len(value) >= least
        and value[0] not in ",;:)]}"
        and has_both(value)
        and not (is_placeholder(value) or is_plain(value) or _VERSION.fullmatch(value))
        and not (is_path(value) if quoted else is_reference(value))
    )


def is_random(value: str, least: int = 16) -> bool:
    """As a machine makes it: long, with several digits between letters; no UUID and no checksum."""
    if not is_secret(value, least) or sum(map(str.isdigit, value)) < 2:
        return False
    return not (_UUID.fullmatch(value) or _HASH.fullmatch(value) or _LABEL.fullmatch(value))


def is_dense(value: str) -> bool:
    """Upper case, lower case and digits so mixed that words cannot make it."""
    fewest = min(map(_kinds(value).count, "aA0"))
    enough = fewest >= min(3, len(value) // 10 + 1) or (fewest and is_gibberish(value, 20))
    return _change_rate(value) >= 0.4 and bool(enough)


def _kinds(value: str) -> str:
    return "".join("a" if c.islower() else "A" if c.isupper() else "0" for c in value)


def _change_rate(value: str) -> float:
    """How often the kind of character changes from one to the next."""
    kinds = _kinds(value)
    return sum(one != other for one, other in pairwise(kinds)) / max(1, len(value))


def is_wordy(value: str) -> bool:
    """Whether words make a sixth of it: runs of letters in which every pair is common."""
    words = [run.lower() for run in _RUN.findall(value)]
    length = sum(len(w) for w in words if all(w[i : i + 2] in _PAIRS for i in range(len(w) - 1)))
    return length * 6 > len(value)


def is_gibberish(value: str, least: int = 12) -> bool:
    """Letters, and few digits, of which too many pairs are rare in words."""
    if len(value) < least or not (value.isalnum() and value.isascii()):
        return False
    lowered = value.lower()
    if sum(c.isdigit() for c in lowered) * 6 > len(lowered):
        return False
    rare = sum(lowered[i : i + 2] not in _PAIRS for i in range(len(lowered) - 1))
    return rare * 3 > len(lowered)


def is_mixed(value: str) -> bool:
    """Letters and digits in an order of cases that no words and no CamelCase name have."""
    if len(value) < 6 or not (value.isalnum() and value.isascii()):
        return False
    if value.islower() or value.isupper() or value[1:].islower():
        return False
    parts = [part for part in _BREAKS.split(value) if part]
    return (len(parts) >= 3 and len(value) <= 3 * len(parts)) or is_gibberish(value, 8)


def is_phrase(value: str) -> bool:
    """Four or more words with one kind of separator that make no sentence."""
    if len(set(_SEPARATORS.findall(value.rstrip("!?.")))) > 1:  # `package_name.module.Class`
        return False
    words = re.split(r"[\s_.-]+", value.lower().rstrip("!?."))
    words = [word for word in words if not word.isdigit()]
    if len(words) < 4 or SENTENCE_WORDS.intersection(words):
        return False
    telling = sum(word in _WORDS or bool(_STEM.search(word)) for word in words)
    plain = all(word.isalpha() and 3 <= len(word) <= 10 for word in words)
    return plain and telling <= (" " not in value)


def is_password(value: str, *, config: bool, quoted: bool = False) -> bool:
    """What follows the name of a password. `config`: a file or a shell assigns it, and not a program, where
    a bare word is a variable."""
    if len(value) < 4 or is_placeholder(value) or is_type(value) or is_path(value):
        return False
    if _CALL_WHOLE.fullmatch(value) if quoted else is_reference(value):
        return False
    if is_phrase(value) or is_gibberish(value) or is_mixed(value):
        return config or quoted
    if " " in value.strip() or (_VERSION.fullmatch(value) and not value.isdigit()):
        return False
    if value.isdigit():
        return config
    if not any(c.isalpha() for c in value):
        return config and len(set(value)) > 3
    if is_plain(value) and not _SIGNS.search(value):
        word = value.lower()
        if word in _WORDS or _STEM.search(word) or ("_" in value and value.isidentifier()):
            return False
        return config and len(value) >= 5 and (value.islower() or not value.isalpha())
    return config or len(value) >= 6


def is_striking(value: str) -> bool:
    """Odd enough to be a password although nothing assigns it: digits, lower case, and upper case or signs."""
    signs = bool(_SIGNS.search(value))
    mixed = any(c.islower() for c in value) and (signs or any(c.isupper() for c in value))
    odd = any(map(str.isdigit, value)) and (signs or not is_plain(value)) and "@" not in value[1:-1]
    return is_random(value) or (len(value) >= 6 and mixed and odd and not is_reference(value))


def has_sign(value: str) -> bool:
    return bool(_SIGNS.search(value))
