"""A shell command line taken apart, as far as telling the command from its decoration needs it.

It is not a shell: nothing is expanded, and a line that makes no sense still gives words back.
"""

import re
from dataclasses import dataclass, replace

from recollect import text
from recollect.providers.reading import scripts

LOOKED_AT = 3000
LABEL_LIMIT = 72

TOKEN = re.compile(
    r"""(?P<redirect>\d*(?:&>>?|>>|>\||>&|<&|<<<|<<|<|>)\s*(?:&?-|&\d|[^\s;|&<>()]*))
      | (?P<joiner>&&|\|\||\|&|[;|\n&])
      | (?P<space>[^\S\n]+)
      | (?P<word>(?:"(?:\\.|[^"\\])*"|'[^']*'|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|\\.
                   |[^\s;|&<>"'\\`])+)
      | (?P<junk>.)""",
    re.VERBOSE | re.DOTALL,
)
INSTALLED = re.compile(r"^\S*/\.?bin/(?=\S)")
TIME_LIMIT = re.compile(r"^(?:timeout(?: -\S+)* \S+|time|nohup) ")
WRITTEN = re.compile(r"1?>>?\|?\s*['\"]?([^\s'\"]+)")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
FILTERS = frozenset(
    text.words(
        "awk cat column cut egrep grep head jq less more perl rg sed sort tail tee tr uniq wc xargs"
    )
)
CHOOSY = FILTERS - {"cat", "head", "less", "more", "tail", "tee"}
SETTING_UP = {".", ":"} | frozenset(
    text.words(
        "cd clear date echo exit export popd printf pushd pwd set sleep source true trap ulimit umask "
        "unset wait"
    )
)
WRAPPERS = re.compile(
    r"(?:sudo|time|nohup|command|exec|env|nice|stdbuf|xvfb-run|caffeinate|npx|bunx|pnpx"
    r"|timeout(?: -\S+)* \S+|(?:uv|poetry|pipenv|pdm|hatch|rye|pixi) run|bundle exec|mise (?:exec"
    r"|x) --|(?:pnpm|yarn|npm) (?:exec|dlx)|docker(?:-compose| compose)? (?:exec|run)(?: -\S+)* \S+"
    r"|python[\d.]* -m|-\S+|[A-Za-z_]\w*=\S*) "
)


@dataclass(frozen=True, slots=True)
class Simple:
    """One command of a line. `joiner` stands before it, `writes` is the file it is redirected to.

    `hidden`: its exit status is not that of the whole line. `script`: the mark of the script that
    stands in the line itself; `here`: it stands in a here-document.
    """

    words: tuple[str, ...]
    joiner: str
    writes: str = ""
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
        return TIME_LIMIT.sub("", " ".join(self.words)) + (
            f" > {self.writes}" if self.writes else ""
        )

    @property
    def bare(self) -> str:
        """Without the wrappers in front: `uv run pytest -q` is `pytest -q`."""
        line = INSTALLED.sub("", " ".join(self.words))
        while mark := WRAPPERS.match(line):
            line = INSTALLED.sub("", line[mark.end() :])
        return line


def simples(command: str) -> tuple[Simple, ...]:
    """The commands of a line in order, without assignments, redirections and here-documents."""
    whole = scripts.pull_out(text.clean(command[: LOOKED_AT * 4]))
    line = whole[:LOOKED_AT]
    found: list[Simple] = []
    words: list[str] = []
    joiner = writes = here = ""
    for token in TOKEN.finditer(line.replace("\\\n", " ") + "\n"):
        if token.lastgroup == "word":
            if words or not ASSIGNMENT.match(token[0]):
                words.append(token[0])
        elif token.lastgroup == "redirect":
            if token[0].startswith(scripts.HERE):
                here = token[0].removeprefix(scripts.HERE)
            writes = _written(token[0]) or writes
        elif token.lastgroup == "joiner":
            if words:
                found.append(_simple(words, joiner, writes, here))
                words, writes, here = [], "", ""
            joiner = ";" if token[0] in "\n&" else token[0]
    if whole != line:
        found = [replace(s, script=s.script and scripts.UNKNOWN) for s in found]
    return tuple(_hide(found))


def _simple(raw: list[str], joiner: str, writes: str, here: str) -> Simple:
    plain = Simple(tuple(" ".join(word.split()) for word in raw), joiner, writes)
    script = scripts.script_of(plain.bare, raw, here)
    return replace(plain, script=script, here=bool(script) and script == here)


def _written(redirect: str) -> str:
    """The file a redirection writes, when it is one that somebody keeps."""
    mark = WRITTEN.match(redirect)
    return mark[1] if mark and not mark[1].startswith(("/dev/", "/tmp/", "&", "$")) else ""


def _hide(found: list[Simple]) -> list[Simple]:
    """Mark the commands whose exit status a pipe, a `;` or a `||` after them swallows."""
    followers = [simple.joiner for simple in found[1:]]
    return [
        replace(simple, hidden=any(j in ("|", "|&", ";", "||") for j in followers[at:]))
        for at, simple in enumerate(found)
    ]


def telling(found: tuple[Simple, ...]) -> tuple[Simple, ...]:
    """The commands that the line was written for: no `cd`, no `echo`, no `| tail`."""
    kept = tuple(
        simple
        for simple in found
        if simple.words[0] not in SETTING_UP
        and simple.words[:2] != ("git", "add")
        and not (simple.joiner.startswith("|") and simple.words[0] in FILTERS)
    )
    return kept or found


def is_filtered(found: tuple[Simple, ...]) -> bool:
    """The output went through something like `grep`, so that what it does not show means nothing."""
    return any(simple.joiner.startswith("|") and simple.words[0] in CHOOSY for simple in found)


def label(found: tuple[Simple, ...]) -> str:
    """The line as a person would name it, short enough for a sentence."""
    parts: list[str] = []
    for simple in telling(found):
        joiner = {"": "", ";": "; ", "|&": " | "}.get(simple.joiner, f" {simple.joiner} ")
        parts.append(joiner + simple.label if parts else simple.label)
    return text.cut("".join(parts), LABEL_LIMIT)
