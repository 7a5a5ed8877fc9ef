"""A reader of shell command lines: which simple commands are run, how they are piped, and what they read
and write.

Nothing is expanded or run. A line that no shell would accept still gives commands, as far as it can be read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

LONGEST_LINE = 20_000  # characters that are read
DEEPEST = 8  # levels of groups and substitutions
OPERATOR = re.compile(r"&&|\|\||;;&?|;&|\|&|[;|&()\n]")
REDIRECTION = re.compile(r"(?:\d+|&)?(?:<<<|<<-?|>>|>\||>&|<>|<&|<(?!\()|>(?!\())")
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
CLOSERS = {"{": "}", "if": "fi", "case": "esac"} | dict.fromkeys(
    ("for", "while", "until", "select"), "done"
)
KEYWORDS = frozenset(("then", "do", "else", "elif", "!", "coproc"))
ENDS = frozenset(("}", "fi", "esac", "done"))


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command, or a group of them (`body`). `words` are without quotes. `inputs`: here-documents and
    here-strings. `substitutions`: the text of `$(…)`, backticks and `<(…)` in its words and inputs.
    `assigned`: variables that are set before it."""

    words: tuple[str, ...] = ()
    body: tuple["Pipeline", ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    substitutions: tuple[str, ...] = ()
    assigned: tuple[tuple[str, str], ...] = ()


Pipeline = tuple[Command, ...]


@dataclass(slots=True)
class _Token:
    kind: str  # word, operator, redirection
    text: str
    substitutions: list[str] = field(default_factory=list)


def parse(line: str) -> tuple[Pipeline, ...]:
    return _Parser(list(_Lexer(line[:LONGEST_LINE]).tokens())).pipelines(frozenset(), 0)


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.pending: list[tuple[_Token, str]] = []  # here-documents whose text is still to come

    def tokens(self) -> Iterator[_Token]:
        text = self.text
        while self.at < len(text):
            if text[self.at] in " \t\r" or text.startswith("\\\n", self.at):
                self.at += 1 + (text[self.at] == "\\")
            elif text[self.at] == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif found := REDIRECTION.match(text, self.at):
                self.at = found.end()
                yield self._redirection(found[0])
            elif found := OPERATOR.match(text, self.at):
                self.at = found.end()
                if found[0] == "\n":
                    self._read_here_documents()
                yield _Token("operator", found[0])
            else:
                yield self._word()

    def _redirection(self, operator: str) -> _Token:
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1
        target = self._word()
        kind = operator.lstrip("0123456789")
        if re.match(r"[02-9]\d*[^<]*>", operator):
            kind = "2>"
        token = _Token("redirection", kind, [target.text, *target.substitutions])
        if token.text in ("<<", "<<-"):
            self.pending.append((token, target.text))
        return token

    def _read_here_documents(self) -> None:
        for token, end in self.pending:
            lines = []
            while self.at < len(self.text):
                line, mark, _ = self.text[self.at :].partition("\n")
                self.at += len(line) + len(mark)
                if line.strip("\t ") == end:
                    break
                lines.append(line)
            token.substitutions = ["\n".join(lines)]
        self.pending.clear()

    def _word(self) -> _Token:
        token, parts = _Token("word", ""), []
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in " \t\r\n;|&()<>" and not (c in "<>" and self.text.startswith("(", self.at + 1)):
                break
            parts.append(self._piece(c, token))
        token.text = "".join(parts)
        if not parts:
            self.at += self.at < len(self.text) and self.text[self.at] in "<>"
        return token

    def _piece(self, c: str, token: _Token) -> str:
        text, at = self.text, self.at
        if c == "\\":
            self.at += 2
            return text[at + 1 : at + 2].strip("\n")
        if c == "'":
            end = text.find("'", at + 1)
            self.at = len(text) if end < 0 else end + 1
            return text[at + 1 : self.at if end < 0 else end]
        if c == '"':
            return self._double_quoted(token)
        if c == "`" or (c in "$<>" and text.startswith("(", at + 1)):
            return self._substitution(token)
        self.at += 1
        return "" if c == "$" and text[at + 1 : at + 2] in ("'", '"') else c

    def _double_quoted(self, token: _Token) -> str:
        parts: list[str] = []
        self.at += 1
        while self.at < len(self.text) and self.text[self.at] != '"':
            c = self.text[self.at]
            if c == "\\":
                escaped = self.text[self.at + 1 : self.at + 2]
                parts.append(escaped if escaped in '$`"\\\n' else c + escaped)
                self.at += 2
            elif c == "`" or self.text.startswith("$(", self.at):
                parts.append(self._substitution(token))
            else:
                parts.append(c)
                self.at += 1
        self.at += 1
        return "".join(parts)

    def _substitution(self, token: _Token) -> str:
        start = self.at
        if self.text[start] == "`":
            end = self.text.find("`", start + 1)
            inner = self.text[start + 1 : None if end < 0 else end]
            self.at = len(self.text) if end < 0 else end + 1
        else:
            self.at = _closing(self.text, start + 2)
            inner = self.text[start + 2 : self.at - 1]
        if not inner.startswith("("):  # `$((…))` is arithmetic
            token.substitutions.append(inner)
        return self.text[start : self.at]


def _closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one before `at`; quotes hide brackets."""
    depth = 1
    while at < len(text):
        c = text[at]
        if c == "\\":
            at += 1
        elif c in "'\"":
            end = at + 1
            while end < len(text) and text[end] != c:
                end += 1 + (c == '"' and text[end] == "\\")
            at = end
        elif c in "()":
            depth += 1 if c == "(" else -1
            if depth == 0:
                return at + 1
        at += 1
    return len(text)


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0

    def pipelines(self, until: frozenset[str], depth: int) -> tuple[Pipeline, ...]:
        """Up to one of the words in `until`, which is read, too."""
        found: list[Pipeline] = []
        current: list[Command] = []
        piped = False
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind != "redirection" and token.text in until:
                self.at += 1
                break
            if token.kind == "operator" and token.text != "(":
                self.at += 1
                piped = token.text in ("|", "|&")
                continue
            if token.kind == "word" and token.text in KEYWORDS | ENDS:
                self.at += 1
                continue
            if current and not piped:
                found.append(tuple(current))
                current = []
            current.append(self._command(depth))
            piped = False
        return (*found, tuple(current)) if current else tuple(found)

    def _command(self, depth: int) -> Command:
        token = self.tokens[self.at]
        body: tuple[Pipeline, ...] = ()
        if token.kind != "redirection" and (token.text == "(" or token.text in CLOSERS):
            self.at += 1
            closer = frozenset((CLOSERS.get(token.text, ")"),))
            body = self.pipelines(closer, depth + 1) if depth < DEEPEST else ()
        words: list[str] = []
        parts: dict[str, list[str]] = {"reads": [], "writes": [], "inputs": [], "substitutions": []}
        assigned: list[tuple[str, str]] = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "operator":
                if token.text == "(" and (words or assigned):  # of an array, or a function's name
                    while self.at < len(self.tokens) and self.tokens[self.at].text != ")":
                        self.at += 1
                    self.at += 1
                break
            self.at += 1
            if token.kind == "redirection":
                _add_redirection(token, parts)
                continue
            parts["substitutions"] += token.substitutions
            variable = ASSIGNMENT.fullmatch(token.text) if not words else None
            if variable:
                assigned.append((variable[1], variable[2]))
            else:
                words.append(token.text)
        rest = {name: tuple(values) for name, values in parts.items()}
        return Command(tuple(words), body, **rest, assigned=tuple(assigned))


def _add_redirection(token: _Token, parts: dict[str, list[str]]) -> None:
    target, *substitutions = token.substitutions
    parts["substitutions"] += substitutions
    if token.text in ("<<", "<<-", "<<<"):
        parts["inputs"].append(target)
    elif token.text.startswith("<"):
        parts["reads"].append(target)
    elif token.text != "2>" and not (token.text == ">&" and (target.isdigit() or target == "-")):
        parts["writes"].append(target)


def skip_options(words: list[str], valued: str) -> list[str]:
    """Without the options in front. `valued`: those that take a value."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued.split() else 1
        if words[at - 1] == "--":
            break
    return words[at:]


def operands_of(words: Sequence[str], valued: str | frozenset[str] | set[str] = "") -> list[str]:
    """Words that are no options and no values of those in `valued`."""
    takes = set(valued.split()) if isinstance(valued, str) else valued
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            skip = word in takes
        else:
            found.append(word)
    return found


def split_operand(words: list[str], valued: str | frozenset[str]) -> tuple[str, list[str]]:
    takes = valued.split() if isinstance(valued, str) else valued
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in takes else 1
    return "".join(words[at : at + 1]), words[at + 1 :]
