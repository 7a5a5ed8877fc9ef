"""Where functions, classes, sections and keys begin, line by line, in the languages people use.

Each language is one pattern. The group that matched names the kind (a digit at its end only keeps group
names apart), and its text is the name.
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath


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
