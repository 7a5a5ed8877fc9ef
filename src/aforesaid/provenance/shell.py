"""A reader of shell command lines: which simple commands are run, how they are piped, and what they read
and write.

Nothing is expanded or run. A line that no shell would accept still gives commands, as far as it can be read.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

LONGEST_LINE = 20_000  # characters that are read
DEEPEST = 8  # levels of groups
BLANK = re.compile(r"(?:[ \t\r]|\\\n|#[^\n]*)+")
OPERATOR = re.compile(r"&&|\|\||;;&?|;&|\|&|[;|&()\n]")
REDIRECTION = re.compile(r"(\d+|&)?(<<<|<<-?|>>|>\||>&|<>|<&|<(?!\()|>(?!\())[ \t]*")
BRACKET = re.compile(r"\\.|'[^']*'?|\"(?:\\.|[^\"\\])*\"?|[()]", re.DOTALL)
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
WORD_ENDS = " \t\r\n;|&()<>"
CLOSERS = {"(": ")", "{": "}", "if": "fi", "case": "esac"} | dict.fromkeys(
    ("for", "while", "until", "select"), "done"
)
KEYWORDS = frozenset(("then", "do", "else", "elif", "!", "coproc", "}", "fi", "esac", "done"))


@dataclass(slots=True)
class Command:
    """A simple command, or a group of them (`body`). `words` are without quotes. `inputs`: here-documents and
    here-strings. `substitutions`: the text of `$(…)`, backticks and `<(…)` in its words and inputs.
    `assigned`: variables that are set before it. `joiner`: the operator that stands before it."""

    joiner: str = ""
    words: list[str] = field(default_factory=list)
    body: list["Pipeline"] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    substitutions: list[str] = field(default_factory=list)
    assigned: list[tuple[str, str]] = field(default_factory=list)


Pipeline = list[Command]


@dataclass(slots=True)
class _Token:
    """`text`: a word, an operator, or the target of a redirection, whose operator is in `redirects`."""

    text: str = ""
    redirects: str = ""
    is_operator: bool = False
    substitutions: list[str] = field(default_factory=list)


def parse(line: str) -> list[Pipeline]:
    return _Parser(list(_Lexer(line[:LONGEST_LINE]).tokens())).pipelines("", 0)


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.pending: list[_Token] = []  # here-documents whose text is still to come

    def tokens(self) -> Iterator[_Token]:
        while self.at < len(self.text):
            if found := BLANK.match(self.text, self.at):
                self.at = found.end()
            elif found := REDIRECTION.match(self.text, self.at):
                self.at = found.end()
                token = self._word()
                # Of the outputs, only the standard one has the text.
                is_other = "<" not in found[2] and (found[1] or "1") not in ("1", "&")
                token.redirects = "2>" if is_other else found[2]
                if token.redirects in ("<<", "<<-"):
                    self.pending.append(token)
                yield token
            elif found := OPERATOR.match(self.text, self.at):
                self.at = found.end()
                if found[0] == "\n":
                    self._read_here_documents()
                yield _Token(found[0], is_operator=True)
            else:
                yield self._word()

    def _read_here_documents(self) -> None:
        for token in self.pending:
            lines = []
            while self.at < len(self.text):
                line, mark, _ = self.text[self.at :].partition("\n")
                self.at += len(line) + len(mark)
                if line.strip("\t ") == token.text:
                    break
                lines.append(line)
            token.text = "\n".join(lines)
        self.pending.clear()

    def _word(self) -> _Token:
        token = _Token()
        token.text = self._read_text(token, WORD_ENDS)
        return token

    def _read_text(self, token: _Token, ends: str) -> str:
        """A word, or what double quotes enclose, without quotes and escapes."""
        parts: list[str] = []
        is_quoted = ends == '"'
        while self.at < len(self.text):
            two = self.text[self.at : self.at + 2]
            c, following = two[0], two[1:]
            if c == "`" or two == "$(" or (two in ("<(", ">(") and not is_quoted):
                parts.append(self._substitution(token))
                continue
            if c in ends:
                break
            self.at += 1
            if c == "\\":
                self.at += 1
                is_literal = is_quoted and following not in '$`"\\\n'
                parts.append(two if is_literal else following.strip("\n"))
            elif c == '"':
                parts.append(self._read_text(token, '"'))
                self.at += 1
            elif c == "'" and not is_quoted:
                begin, end = self.at, self.text.find("'", self.at)
                self.at = len(self.text) if end < 0 else end + 1
                parts.append(self.text[begin : None if end < 0 else end])
            elif is_quoted or two not in ("$'", '$"'):
                parts.append(c)
        return "".join(parts)

    def _substitution(self, token: _Token) -> str:
        begin = self.at
        if self.text[begin] == "`":
            end = self.text.find("`", begin + 1)
            self.at = len(self.text) if end < 0 else end + 1
            inner = self.text[begin + 1 : None if end < 0 else end]
        else:
            self.at = _find_closing(self.text, begin + 2)
            inner = self.text[begin + 2 : self.at - 1]
        if not inner.startswith("("):  # `$((…))` is arithmetic
            token.substitutions.append(inner)
        return self.text[begin : self.at]


def _find_closing(text: str, at: int) -> int:
    """Behind the bracket that closes the one before `at`; quotes hide brackets."""
    depth = 1
    for found in BRACKET.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if depth == 0:
            return found.end()
    return len(text)


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.at = tokens, 0

    def pipelines(self, until: str, depth: int) -> list[Pipeline]:
        """Up to the word or operator `until`, which is read, too."""
        found: list[Pipeline] = []
        joiner = ""
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if not token.redirects and token.text == until:
                self.at += 1
                break
            if token.is_operator and token.text != "(":
                joiner = token.text
            elif token.redirects or token.text not in KEYWORDS:
                command = self._command(depth)
                command.joiner = joiner
                if joiner in ("|", "|&") and found:
                    found[-1].append(command)
                else:
                    found.append([command])
                joiner = ""
                continue
            self.at += 1
        return found

    def _command(self, depth: int) -> Command:
        command, token = Command(), self.tokens[self.at]
        if not token.redirects and token.text in CLOSERS:
            self.at += 1
            if depth < DEEPEST:
                command.body = self.pipelines(CLOSERS[token.text], depth + 1)
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.is_operator:
                if token.text == "(" and (command.words or command.assigned):
                    self._skip_brackets()  # of an array, or behind a function's name
                break
            self.at += 1
            command.substitutions += token.substitutions
            if token.redirects:
                _add_redirection(command, token)
            elif not command.words and (variable := ASSIGNMENT.fullmatch(token.text)):
                command.assigned.append((variable[1], variable[2]))
            else:
                command.words.append(token.text)
        return command

    def _skip_brackets(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].text != ")":
            self.at += 1
        self.at += 1


def _add_redirection(command: Command, token: _Token) -> None:
    if token.redirects in ("<<", "<<-", "<<<"):
        command.inputs.append(token.text)
    elif token.redirects.startswith("<"):
        command.reads.append(token.text)
    elif token.redirects == ">&" and (token.text.isdigit() or token.text == "-"):
        pass  # another descriptor
    elif token.redirects != "2>":
        command.writes.append(token.text)


def skip_options(words: list[str], valued: Collection[str]) -> list[str]:
    """Without the options in front. `valued`: those that take a value."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
        if words[at - 1] == "--":
            break
    return words[at:]


def operands_of(words: Sequence[str], valued: str | Collection[str] = ()) -> list[str]:
    """Words that are no options and no values of those in `valued`."""
    takes = valued.split() if isinstance(valued, str) else valued
    found, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.startswith("-") and word != "-":
            skip = word in takes
        else:
            found.append(word)
    return found
