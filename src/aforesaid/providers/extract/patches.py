"""What changed in a file: which functions, sections or keys its hunks add, change and remove.

Each language is one pattern. The group that matched names the kind of the symbol (a digit at its end only
keeps group names apart), and its text is the name.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from aforesaid.model.events import FileChanged, Hunk


@dataclass(frozen=True, slots=True)
class Symbol:
    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Language:
    """`flat`: a symbol lasts until the next one of its level, whatever the indentation."""

    name: str
    pattern: re.Pattern[str]
    flat: bool = False


def _language(name: str, pattern: str, *, flat: bool = False) -> Language:
    return Language(name, re.compile(pattern, re.VERBOSE), flat)


PYTHON = _language(
    "python",
    r"""\s*(?:async\s+)?def\s+(?P<function>\w+) | \s*class\s+(?P<class>\w+)
      | (?P<value>[A-Za-z_]\w*)\s*(?::[^=]+)?=(?!=)""",
)
JAVASCRIPT = _language(
    "javascript",
    r"""\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s+(?P<function>[\w$]+)
      | \s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+(?P<class>[\w$]+)
      | \s*(?:export\s+)?(?:declare\s+)?(?:interface|type|enum|namespace)\s+(?P<type>[\w$]+)\s*[={<]?(?!\()
      | \s*(?:export\s+)?(?:const|let|var)\s+(?P<function2>[\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?
        (?:\([^)]*\)?[^=]*=>|[\w$]+\s*=>|function\b|\($)
      | (?:(?:export\s+)?(?:const|let|var)\s+|(?=[A-Z][\w$]*\.))(?P<class2>[\w$.]+)\s*(?::[^=]+)?=\s*\{\s*$
      | (?:export\s+)?(?:const|let|var)\s+(?P<value>[\w$]+)\s*(?::[^=]+)?=
      | \s*(?:describe|context|suite|it|test)(?:\.\w+)*\(\s*(?P<quote>['"`])(?P<test>.+?)(?P=quote)\s*,
      | \s+(?:(?:public|private|protected|static|async|get|set|override|readonly|\*)\s+)*
        (?!(?:if|for|while|switch|catch|return|function|with|super|await|throw|else|do|new|typeof)\b)
        (?P<function3>\#?[\w$]+)\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?::\s*[^{;]+)?\{\s*$
      | (?P<value2>(?:module\.)?exports(?:\.[\w$]+)?)\s*=""",
)
GO = _language(
    "go",
    r"""func\s+(?:\(\s*\w*\s*\*?(?P<owner>\w+)[^)]*\)\s*)?(?P<function>\w+)\s*[\[(]
      | type\s+(?P<type>\w+)\s | (?:var|const)\s+(?P<value>\w+)\b""",
)
RUST = _language(
    "rust",
    r"""\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+"[^"]*"\s+)?
        fn\s+(?P<function>\w+)
      | \s*(?:pub(?:\([^)]*\))?\s+)?(?:struct|enum|trait|union|type)\s+(?P<type>\w+)
      | \s*(?:unsafe\s+)?impl(?:<[^>]*>)?\s+(?:[\w:<>,\s']+\s+for\s+)?(?P<class>\w+)
      | \s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(?P<module>\w+) | \s*macro_rules!\s+(?P<function2>\w+)
      | \s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?P<value>\w+)\s*:""",
)
JAVA = _language(
    "java",
    r"""\s*(?:@\w+\s+)*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open
        |data|partial|inner|value|annotation|export)\s+)*(?:class|interface|enum|record|object|trait|struct)\s+(?P<class>\w+)
      | \s*(?:(?:public|private|protected|internal|override|suspend|inline|open|abstract|operator|final)\s+)*
        fun\s+(?:<[^>]*>\s*)?(?:\w+\.)?(?P<function>\w+)
      | \s*(?:(?:override|private|protected|implicit|final)\s+)*def\s+(?P<function2>\w+)
      | \s*(?:@\w+\s+)*(?:(?:public|private|protected|internal|static|final|abstract
        |synchronized|native|virtual|override|async|default)\s+)+(?:<[^>]*>\s*)?[\w<>\[\],.?\s]+?\s+(?P<function3>\w+)\s*\([^;=]*$""",
)
C = _language(
    "c",
    r"""(?:typedef\s+)?(?:struct|union|enum(?:\s+class)?|class|namespace)\s+(?P<class>\w+)\s*(?::[^;]*)?\{?\s*$
      | (?!(?:return|else|if|for|while|switch|case|do|typedef|using|goto)\b)
        (?:[\w:<>,*&~]+\s+)+[*&]*(?P<function>[\w:~]+)\s*\([^;]*$
      | \#\s*define\s+(?P<value>\w+)""",
)
RUBY = _language(
    "ruby",
    r"""\s*def\s+(?:self\.)?(?P<function>[\w?!=]+)
      | \s*class\s+(?P<class>[\w:]+) | \s*module\s+(?P<class2>[\w:]+)
      | \s*(?:describe|context|it|test|scenario|feature)\s+(?P<quote>['"])(?P<test>.+?)(?P=quote)
      | \s*(?P<value>[A-Z][A-Z0-9_]+)\s*=""",
)
ELIXIR = _language(
    "elixir",
    r"""\s*(?:def|defp|defmacrop?|defguardp?|defdelegate)\s+(?P<function>[a-z_]\w*[?!]?)
      | \s*(?:defmodule|defprotocol|defimpl)\s+(?P<module>[\w.]+)
      | \s*(?:test|describe)\s+"(?P<test>[^"]+)"
      | \s*@(?!(?:doc|moduledoc|spec|impl|type|typep|opaque|dialyzer)\b)(?P<value>[a-z]\w*)\s+(?!""\")\S""",
)
PHP = _language(
    "php",
    r"""\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?(?P<function>\w+)
      | \s*(?:(?:final|abstract|readonly)\s+)*(?:class|interface|trait|enum)\s+(?P<class>\w+)""",
)
SWIFT = _language(
    "swift",
    r"""\s*(?:@\w+\s+)*(?:(?:public|private|fileprivate|internal|open|static|final|override
        |mutating|class|async)\s+)*func\s+(?P<function>\w+)
      | \s*(?:(?:public|private|internal|open|final)\s+)*
        (?:class|struct|enum|protocol|extension|actor)\s+(?P<class>\w+)""",
)
LUA = _language(
    "lua", r"\s*(?:local\s+)?function\s+(?P<function>[\w.:]+)|(?:local\s+)?(?P<value>\w+)\s*="
)
SHELL = _language(
    "shell",
    r"\s*(?:function\s+)?(?P<function>[\w:.-]+)\s*\(\)|\s*function\s+(?P<function2>[\w-]+)"
    r"|(?P<value>[A-Z_]\w*)=",
)
MARKDOWN = _language("markdown", r"(?P<level>\#{1,6})\s+(?P<section>.+?)\s*\#*$", flat=True)
TOML = _language("toml", r"\[+\s*(?P<table>[^\]\n]+?)\s*\]+|(?P<key>[\w.\"'-]+)\s*=", flat=True)
YAML = _language("yaml", r"\s*(?:-\s+)?(?P<key>[\w./-]+)\s*:(?=\s|$)")
JSON = _language("json", r"\s*\"(?P<key>[^\"]{1,60})\"\s*:")
SQL = _language(
    "sql",
    r"""(?i:\s*(?P<statement>create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+|virtual\s+)*
        (?:table|view|index|function|procedure|trigger|type|schema)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?
        [\w."`\[\]]+)
      | \s*(?P<statement2>alter\s+table\s+(?:if\s+exists\s+|only\s+)*[\w."`]+)
      | \s*(?P<statement3>(?:insert\s+into|update|delete\s+from)\s+[\w."`]+)
      | --\s*(?:name|query):\s*(?P<query>[\w-]+))""",
    flat=True,
)
CSS = _language("css", r"\s*(?P<rule>(?:[.#@&:*\[]|[a-z][\w-]*[\s.:,{\[>])[^{};]*?)\s*\{")
MAKE = _language("make", r"(?P<target>[\w./%-]+)\s*:(?!=)|(?P<value>\w+)\s*[:?+]?=")
DOCKER = _language("docker", r"(?i:FROM\s+\S+\s+AS\s+(?P<stage>\S+))", flat=True)

SUFFIXES: dict[str, Language] = {
    **dict.fromkeys((".py", ".pyi", ".pyx"), PYTHON),
    **dict.fromkeys(
        (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".vue", ".svelte"), JAVASCRIPT
    ),
    **dict.fromkeys((".java", ".kt", ".kts", ".scala", ".cs", ".groovy"), JAVA),
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".hpp", ".cxx", ".hh", ".m"), C),
    **dict.fromkeys((".rb", ".rake"), RUBY),
    **dict.fromkeys((".ex", ".exs"), ELIXIR),
    **dict.fromkeys((".sh", ".bash", ".zsh"), SHELL),
    **dict.fromkeys((".md", ".mdx", ".markdown"), MARKDOWN),
    **dict.fromkeys((".toml", ".ini", ".cfg"), TOML),
    **dict.fromkeys((".yml", ".yaml"), YAML),
    **dict.fromkeys((".css", ".scss", ".less"), CSS),
    ".go": GO,
    ".rs": RUST,
    ".php": PHP,
    ".swift": SWIFT,
    ".lua": LUA,
    ".json": JSON,
    ".sql": SQL,
    ".mk": MAKE,
}
NAMES = {
    "makefile": MAKE,
    "gnumakefile": MAKE,
    "dockerfile": DOCKER,
    "gemfile": RUBY,
    "rakefile": RUBY,
}
OUTER = frozenset(("class", "key", "table", "type"))


def language_of(path: str) -> Language | None:
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    return NAMES.get(name) or SUFFIXES.get(PurePosixPath(name).suffix)


def definition(line: str, language: Language) -> tuple[Symbol, int] | None:
    """The symbol that begins on this line and its level: how deep it stands."""
    mark = language.pattern.match(line[:400])
    if mark is None:
        return None
    groups = {kind: name for kind, name in mark.groupdict().items() if name}
    level = len(groups.pop("level", "")) or len(line) - len(line.lstrip())
    owner = groups.pop("owner", None)
    groups.pop("quote", None)
    kind, name = next(iter(groups.items()))
    if language.flat and kind == "key":
        level = 1
    name = " ".join(name.split()).strip("\"'`")
    return Symbol(kind.rstrip("23"), f"{owner}.{name}" if owner else name), level


LINES_ABOVE = 400
LINES_READ = 4000
BRACKETS = ("}", ")", "]", "{", "end", "fi", "done", "esac")
ONLY_BRACKETS = re.compile(r"(?:[\[\](){};,\s]|end\b|fi\b|done\b|esac\b)*")
FURTHEST_IN = 10_000

Place = tuple[int, Symbol]


class Walk:
    """One way through a hunk, with the stack of definitions that enclose the current line.

    `came` and `went`: symbols that begin on an added or on a removed line. `touched`: symbols with
    any changed line, in order. `known`: symbols that stand on lines which did not change.
    """

    def __init__(self, language: Language, lines: Sequence[str], hunk: Hunk) -> None:
        self.language = language
        self.came: set[Symbol] = set()
        self.known: set[Symbol] = set()
        self.went: list[Symbol] = []
        self.touched: list[Symbol] = []
        self._stack: list[Place] = []
        at = max(0, hunk.new_start - 1)
        self._look_up(lines[max(0, at - LINES_ABOVE) : at][::-1])
        self._go(hunk)

    def _look_up(self, above: Sequence[str]) -> None:
        """Find what encloses the hunk. Going up, only lines that stand further out can."""
        level, outer = FURTHEST_IN, list[Place]()
        for line in above:
            body = line.strip()
            outwards = self.language.flat or (
                _indent(line) < level and not body.startswith(BRACKETS)
            )
            if not body or not outwards:
                continue
            found = definition(line, self.language)
            if found and found[1] < level:
                outer.append((found[1], found[0]))
            if found or not self.language.flat:
                level = min(level, found[1] if found else _indent(line))
            if level <= 0 or (self.language.flat and found and found[0].kind != "key"):
                break
        for at, symbol in reversed(outer):
            self._stack.append((at, self._qualified(symbol, at)))
        self.known.update(symbol for _, symbol in self._stack)

    def _go(self, hunk: Hunk) -> None:
        gone: Place | None = None
        decorated = False
        for line in hunk.lines[:LINES_READ]:
            mark, body = line[:1], line[1:]
            if ONLY_BRACKETS.fullmatch(body):
                continue
            if mark == "-":
                gone = self._leave(body, gone)
                continue
            gone = None
            symbol = self._enter(body)
            if symbol and mark != "+":
                self.known.add(symbol)
            if symbol and decorated:
                self._touch(symbol)
            if mark == "+":
                if symbol:
                    self.came.add(symbol)
                self._touch(symbol or self._around())
            # A decorator that came belongs to the definition below it.
            decorated = (decorated or mark == "+") and body.lstrip().startswith("@")

    def _leave(self, line: str, gone: Place | None) -> Place | None:
        """A removed line: it ends a symbol, or belongs to one that ended above it, or to the place."""
        if found := definition(line, self.language):
            if gone and found[1] > gone[0] and gone[1].kind in OUTER:
                self.went.append(Symbol(found[0].kind, f"{gone[1].name}.{found[0].name}"))
                return gone
            symbol = self._qualified(*found)
            self.went.append(symbol)
            return found[1], symbol
        if gone is None or _indent(line) <= gone[0]:
            self._touch(self._around())
            return None
        return gone

    def _enter(self, line: str) -> Symbol | None:
        """Follow a line that is in the new file; the symbol that begins on it, if any."""
        found = definition(line, self.language)
        if found is None:
            if not self.language.flat and not line.strip().startswith(BRACKETS):
                self._close(_indent(line))
            return None
        self._close(found[1])
        symbol = self._qualified(*found)
        self._stack.append((found[1], symbol))
        return symbol

    def _close(self, level: int) -> None:
        while self._stack and self._stack[-1][0] >= level:
            self._stack.pop()

    def _qualified(self, symbol: Symbol, level: int) -> Symbol:
        outer = [s for at, s in self._stack if at < level and s.kind in OUTER]
        if not outer or symbol.kind in ("class", "value", "section"):
            return symbol
        return Symbol(symbol.kind, f"{outer[-1].name}.{symbol.name}")

    def _around(self) -> Symbol | None:
        return self._stack[-1][1] if self._stack else None

    def _touch(self, symbol: Symbol | None) -> None:
        if symbol is not None:
            self.touched.append(symbol)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


CHARACTERS_READ = 300_000


@dataclass(frozen=True, slots=True)
class Patch:
    """All changes of one file: which symbols came, changed and went, and how many lines.

    `undone`: at the end the file was as before.
    """

    path: str
    created: bool
    added: tuple[Symbol, ...]
    changed: tuple[Symbol, ...]
    removed: tuple[Symbol, ...]
    plus: int
    minus: int
    undone: bool = False


def read_patch(change: FileChanged, path: str) -> Patch:
    """`path` is how the file is called in the observation."""
    language = language_of(change.path)
    whole = (
        change.after is not None and not change.hunks and (change.created or change.before is None)
    )
    if whole and change.after is not None:
        return _new(change.after, path, change.created, language)
    plus = sum(len(hunk.added) for hunk in change.hunks)
    minus = sum(len(hunk.removed) for hunk in change.hunks)
    empty = Patch(path, change.created, (), (), (), plus, minus)
    return _with_symbols(empty, change, language) if language else empty


def _new(content: str, path: str, created: bool, language: Language | None) -> Patch:
    """A file that was written as a whole: all it defines came with it."""
    lines = content.count("\n") + (bool(content) and not content.endswith("\n"))
    if language is None:
        return Patch(path, created, (), (), (), lines, 0)
    marked = tuple("+" + line for line in content[:CHARACTERS_READ].splitlines()[:LINES_READ])
    walk = Walk(language, (), Hunk(1, 1, marked))
    return Patch(path, created, _once(s for s in walk.touched if s in walk.came), (), (), lines, 0)


def _with_symbols(patch: Patch, change: FileChanged, language: Language) -> Patch:
    known = change.after is not None and len(change.after) <= CHARACTERS_READ
    lines = change.after.splitlines() if known and change.after else []
    walks = [Walk(language, lines, hunk) for hunk in change.hunks]
    came = {symbol for walk in walks for symbol in walk.came - walk.known}
    went = dict.fromkeys(symbol for walk in walks for symbol in walk.went)
    touched = dict.fromkeys(symbol for walk in walks for symbol in walk.touched)
    return replace(
        patch,
        added=_once(s for s in touched if s in came and s not in went),
        changed=_once(s for s in touched if s not in came or s in went),
        removed=_once(s for s in went if s not in came and s not in touched),
    )


def merge(changes: Iterable[tuple[FileChanged, Patch]]) -> tuple[Patch, ...]:
    """One patch for each file, however often it was edited, in the order of the first edits."""
    by_path: dict[str, list[tuple[FileChanged, Patch]]] = {}
    for change, patch in changes:
        by_path.setdefault(patch.path, []).append((change, patch))
    return tuple(_together(pairs) for pairs in by_path.values())


def _together(pairs: list[tuple[FileChanged, Patch]]) -> Patch:
    total = pairs[0][1]
    for _, patch in pairs[1:]:
        added = _without(total.added + patch.added, patch.removed)
        total = replace(
            total,
            created=total.created or patch.created,
            added=added,
            changed=_without(total.changed + patch.changed, added, patch.removed),
            removed=_without(total.removed + patch.removed, patch.added, total.added),
            plus=total.plus + patch.plus,
            minus=total.minus + patch.minus,
        )
    return replace(total, undone=_undone([change for change, _ in pairs]))


def _once(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    return tuple(dict.fromkeys(symbols))


def _without(symbols: Iterable[Symbol], *others: Iterable[Symbol]) -> tuple[Symbol, ...]:
    left_out = {symbol for other in others for symbol in other}
    return _once(symbol for symbol in symbols if symbol not in left_out)


def _undone(changes: list[FileChanged]) -> bool:
    """After several edits the file was again what it had been."""
    if len(changes) < 2 or changes[0].created:
        return False
    first, last = changes[0].before, changes[-1].after
    if first is not None and last is not None:
        return first == last
    added = Counter(line for change in changes for hunk in change.hunks for line in hunk.added)
    removed = Counter(line for change in changes for hunk in change.hunks for line in hunk.removed)
    return bool(added) and added == removed
