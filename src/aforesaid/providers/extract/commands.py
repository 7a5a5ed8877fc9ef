"""Shell command lines: each command's kind (test, build, commit, routine …), its name and its scope.

A script in the line itself (a here-document, `-c`, `-e`) has no name, so it is identified by a digest of its
text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from aforesaid import text
from aforesaid.provenance import shell

UNKNOWN = "?"
INTERPRETER = re.compile(r"(python|node|ruby|perl|php|lua|deno|bun|bash|zsh|sh)[\d.]*(?=\s|$)")
LANGUAGES = {"python": "Python", "ruby": "Ruby", "perl": "Perl", "php": "PHP", "lua": "Lua"}
LANGUAGES |= dict.fromkeys(("node", "deno", "bun"), "JavaScript")
FLAGS = ("-c", "-e", "--eval")


def _script_digest(bare: str, command: shell.Command) -> str:
    """Of the script in the line that a command runs; empty if there is none, `UNKNOWN` when it was not seen.
    `bare` is the command without its wrappers."""
    found = INTERPRETER.match(bare)
    if found is None:
        return ""
    words = bare[found.end() :].split()
    if words and words[0] in FLAGS:
        return _digest("\0".join(command.words))
    if command.inputs and all(word.startswith("-") for word in words):
        return _digest(command.inputs[0])
    return UNKNOWN if words == ["-"] else ""


def _digest(script: str) -> str:
    return sha256(script.encode("utf-8", "replace")).hexdigest()[:16]


ROWS = text.load_sections(Path(__file__).with_name("commands.txt"))
FILTERS, CHOOSY, SETTING_UP = (
    frozenset(" ".join(ROWS.pop(name)).split()) for name in ("filters", "choosy", "setting up")
)
WRAPPERS = re.compile(f"(?:{''.join(ROWS.pop('wrappers'))}) ")
KINDS = {kind: re.compile(rf"(?:{''.join(rows)})(?=\s|$)") for kind, rows in ROWS.items()}
LINE_LIMIT = shell.LONGEST_LINE
LABEL_LIMIT = 72
SPECIAL = re.compile(r"[\s|&;<>()\"'`]")
INSTALLED = re.compile(r"^\S*/\.?bin/(?=\S)")
TIME_LIMIT = re.compile(r"^(?:timeout(?: -\S+)* \S+|time|nohup) ")
NOT_KEPT = re.compile(r"/dev/|/tmp/|\$")


@dataclass(frozen=True, slots=True)
class Simple:
    """One command of a line. `joiner` stands before it, `writes` is the file that it leaves. `hidden`: its
    exit status is not that of the line. `script`: digest of a script in the line; `here`: in a here-document.
    """

    words: tuple[str, ...]
    joiner: str
    writes: str
    hidden: bool = False
    script: str = ""
    here: bool = False

    @property
    def label(self) -> str:
        """As a person would name it: `git commit` without the message, no `timeout 60`."""
        if self.words[:2] == ("git", "commit"):
            return "git commit --amend" if "--amend" in self.words else "git commit"
        if self.here:
            return " ".join(self.words).removesuffix(" -") + " (a script)"
        written = f" > {self.writes}" if self.writes else ""
        return TIME_LIMIT.sub("", " ".join(self.words)) + written

    @property
    def bare(self) -> str:
        """Without the wrappers in front: `uv run pytest -q` is `pytest -q`."""
        line = INSTALLED.sub("", " ".join(self.words))
        while mark := WRAPPERS.match(line):
            line = INSTALLED.sub("", line[mark.end() :])
        return line


def split_commands(line: str) -> tuple[Simple, ...]:
    """The commands of a line in order, without assignments, redirections and here-documents."""
    found = list(_flatten(shell.parse(text.clean(line[:LINE_LIMIT]))))
    if len(line) > LINE_LIMIT:
        found = [replace(simple, script=simple.script and UNKNOWN) for simple in found]
    # A pipe, a `;` or a `||` after a command swallows its exit status.
    swallows = [simple.joiner in ("|", "|&", ";", "||") for simple in found[1:]]
    return tuple(replace(s, hidden=any(swallows[at:])) for at, s in enumerate(found))


def _flatten(pipelines: Iterable[shell.Pipeline]) -> Iterator[Simple]:
    for command in (command for pipeline in pipelines for command in pipeline):
        yield from _flatten(command.body)
        if not command.words:
            continue
        joiner = ";" if command.joiner in ("\n", "&") else command.joiner
        kept = [path for path in command.writes if not NOT_KEPT.match(path)]
        plain = Simple(tuple(map(_as_typed, command.words)), joiner, kept[0] if kept else "")
        script = _script_digest(plain.bare, command)
        here = bool(script and command.inputs) and script == _digest(command.inputs[0])
        yield replace(plain, script=script, here=here)


def _as_typed(word: str) -> str:
    bare = " ".join(word.split())
    return f'"{bare}"' if SPECIAL.search(bare) or not bare else bare


def main_commands(found: tuple[Simple, ...]) -> tuple[Simple, ...]:
    """The commands that the line was written for: no `cd`, no `echo`, no `| tail`."""
    kept = tuple(
        simple
        for simple in found
        if simple.words[0] not in SETTING_UP
        and simple.words[:2] != ("git", "add")
        and not (simple.joiner.startswith("|") and simple.words[0] in FILTERS)
    )
    return kept or found


def label_line(found: tuple[Simple, ...]) -> str:
    """The line as a person would name it, short enough for a sentence."""
    label = ""
    for simple in main_commands(found):
        joiner = {"": "", ";": "; ", "|&": " | "}.get(simple.joiner, f" {simple.joiner} ")
        label += joiner + simple.label if label else simple.label
    return text.cut(label, LABEL_LIMIT)


RANK = {kind: at for at, kind in enumerate(KINDS)} | {"run": len(KINDS) - 1.5}
CHECKS = frozenset(("test", "build", "lint", "type check"))
STANDING = CHECKS | {"migration", "deploy", "install", "push", "commit"}
FLAG_WITH_VALUE = ("-k", "-m", "-run", "-t", "--grep", "-g", "--testNamePattern", "--tests")


@dataclass(frozen=True, slots=True)
class Command:
    """`text` names it in a sentence; `program` is what ran, `scope` what it was limited to; `programs`: all
    that the line ran. `hidden`: a pipe or a list swallowed the exit status, so only the output tells how it
    went; `filtered`: and of the output only a part was seen. `script`: digest of a script in the line;
    `described`: it is all there is, and `text` is no code."""

    text: str
    kind: str
    kinds: frozenset[str]
    program: str
    programs: frozenset[str]
    scope: frozenset[str]
    hidden: bool
    filtered: bool = False
    script: str = ""
    described: bool = False


@lru_cache(maxsize=256)
def read_command(line: str) -> Command:
    found = split_commands(line)
    if not found:
        return Command("", "routine", frozenset(), "", frozenset(), frozenset(), False)
    named = [(simple, *_kind_and_program(simple)) for simple in main_commands(found)]
    main, kind, program = min(named, key=lambda row: RANK[row[1]])
    rest = [] if main.script else main.bare[len(program) :].split()
    script = INTERPRETER.match(main.bare) if main.here and len(named) == 1 else None
    return Command(
        text=f"a {LANGUAGES.get(script[1], 'shell')} script" if script else label_line(found),
        kind=kind,
        kinds=frozenset(row[1] for row in named),
        program=program,
        programs=frozenset(row[2] for row in named if row[1] != "routine") or frozenset((program,)),
        scope=_scope(rest),
        hidden=main.hidden,
        filtered=any(s.joiner.startswith("|") and s.words[0] in CHOOSY for s in found),
        script=main.script,
        described=script is not None,
    )


def _kind_and_program(simple: Simple) -> tuple[str, str]:
    """Each script in a line is a program of its own."""
    bare = simple.bare
    marks = ((kind, pattern.match(bare)) for kind, pattern in KINDS.items())
    kind, mark = next((row for row in marks if row[1]), ("run", None))
    program = " ".join(mark[0].split() if mark else bare.split()[:2])
    if kind == "routine" and simple.writes:  # its output goes into a file
        kind = "files"
    return kind, f"{program} #{simple.script}" if simple.script else program


def _scope(arguments: list[str]) -> frozenset[str]:
    """What a run was limited to: paths and name patterns, not how much it prints."""
    chosen: set[str] = set()
    for at, argument in enumerate(arguments):
        if not argument.startswith("-") and "=" not in argument and not argument.isdigit():
            chosen.add(argument.removeprefix("./").strip("\"'"))
        elif argument in FLAG_WITH_VALUE and at + 1 < len(arguments):
            chosen.add(argument)
    return frozenset(chosen - {".", "--", "..."})
