"""Shell command lines: split into commands, and each command's kind (test, build, commit, routine …).

It is not a shell: nothing is expanded, and a line that makes no sense still yields words. A script in the
line itself (a here-document, `-c`, `-e`) has no name, so it is identified by a digest of its text.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256

from aforesaid import text

HEREDOC = re.compile(
    r"<<-?\s*(['\"]?)(\w+)\1(?P<rest>[^\n]*)\n(?P<body>.*?)(?:(?P<end>\n\s*\2\b)|\Z)", re.DOTALL
)
# Stands in a redirection before the mark of a here-document; no cleaned command has the character.
HERE = "<<\x01"
UNKNOWN = "?"
INTERPRETER = re.compile(r"(python|node|ruby|perl|php|lua|deno|bun|bash|zsh|sh)[\d.]*(?=\s|$)")
LANGUAGES = {"python": "Python", "ruby": "Ruby", "perl": "Perl", "php": "PHP", "lua": "Lua"}
SHELLS = ("bash", "zsh", "sh")
FLAGS = ("-c", "-e", "--eval")


def replace_heredocs(line: str) -> str:
    """The line with a mark in place of each here-document."""
    return HEREDOC.sub(_marked, line)


def _marked(found: re.Match[str]) -> str:
    mark = _mark(found["body"]) if found["end"] else UNKNOWN
    return f"{HERE}{mark} {found['rest']}"


def script_digest(bare: str, raw: Sequence[str], here: str) -> str:
    """The mark of the script that a command runs; nothing for a command that runs no such script.

    `bare` is the command without its wrappers, `raw` its words as written. It is `UNKNOWN` when the
    script was not seen to its end, or not at all.
    """
    found = INTERPRETER.match(bare)
    if found is None:
        return ""
    words = bare[found.end() :].split()
    if words and words[0] in FLAGS:
        return _mark("\0".join(raw))
    if here and all(word.startswith("-") for word in words):
        return here
    return UNKNOWN if words == ["-"] else ""


def describe_script(bare: str) -> str:
    """`a Python script`: what to call a script from a here-document."""
    found = INTERPRETER.match(bare)
    name = found[1] if found else "sh"
    return f"a {'shell' if name in SHELLS else LANGUAGES.get(name, 'JavaScript')} script"


def _mark(script: str) -> str:
    return sha256(script.encode("utf-8", "replace")).hexdigest()[:16]


LINE_LIMIT = 3000
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


def split_commands(command: str) -> tuple[Simple, ...]:
    """The commands of a line in order, without assignments, redirections and here-documents."""
    whole = replace_heredocs(text.clean(command[: LINE_LIMIT * 4]))
    line = whole[:LINE_LIMIT]
    found: list[Simple] = []
    words: list[str] = []
    joiner = writes = here = ""
    for token in TOKEN.finditer(line.replace("\\\n", " ") + "\n"):
        if token.lastgroup == "word":
            if words or not ASSIGNMENT.match(token[0]):
                words.append(token[0])
        elif token.lastgroup == "redirect":
            if token[0].startswith(HERE):
                here = token[0].removeprefix(HERE)
            writes = _written(token[0]) or writes
        elif token.lastgroup == "joiner":
            if words:
                found.append(_simple(words, joiner, writes, here))
                words, writes, here = [], "", ""
            joiner = ";" if token[0] in "\n&" else token[0]
    if whole != line:
        found = [replace(s, script=s.script and UNKNOWN) for s in found]
    return tuple(_hide(found))


def _simple(raw: list[str], joiner: str, writes: str, here: str) -> Simple:
    plain = Simple(tuple(" ".join(word.split()) for word in raw), joiner, writes)
    script = script_digest(plain.bare, raw, here)
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


def is_filtered(found: tuple[Simple, ...]) -> bool:
    """The output went through something like `grep`, so that what it does not show means nothing."""
    return any(simple.joiner.startswith("|") and simple.words[0] in CHOOSY for simple in found)


def label_line(found: tuple[Simple, ...]) -> str:
    """The line as a person would name it, short enough for a sentence."""
    parts: list[str] = []
    for simple in main_commands(found):
        joiner = {"": "", ";": "; ", "|&": " | "}.get(simple.joiner, f" {simple.joiner} ")
        parts.append(joiner + simple.label if parts else simple.label)
    return text.cut("".join(parts), LABEL_LIMIT)


# The first row that fits a command names its kind. Rows are in order of how telling they are: of a
# line with several commands, the kind that stands first here is the kind of the line.
ROWS = (
    ("commit", r"git (?:-\S+ \S+ )?commit\b(?!.*--dry-run)"),
    (
        "test",
        r"pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|ava|karma|behave|bats|ctest|rspec"
        r"|phpunit|prove|busted|ginkgo|gotestsum|ward|trial|minitest|(?:go|cargo|mix|swift|dotnet"
        r"|flutter|dart|deno|bun|stack|cabal|sbt|lein|zig build|bazel|rails|rake|rebar3|composer"
        r"|crystal|julia|forge|anchor) (?:nextest(?: run)?|test|tests|spec|eunit|ct)|(?:npm|pnpm"
        r"|yarn|bun|just|task|make|nx|turbo|lerna|rush|ant|poe|invoke"
        r"|inv) (?:-\S+ )*(?:run )?(?:test[:_.-]\S+|tests?|check|t|e2e|integration|spec|unit\S*)"
        r"|playwright test|cypress run|node (?:\S+ )*--test|(?:\./)?(?:mvnw?"
        r"|gradlew?)\b.*\b(?:test\w*|verify|check)|(?:python[\d.]* )?(?:\./)?manage\.py test"
        r"|python[\d.]* \S*test_?\w*\.py|\./(?:run[-_])?tests?(?:\.sh)?",
    ),
    (
        "migration",
        r"alembic (?:upgrade|downgrade|revision)"
        r"|(?:python[\d.]* )?(?:\./)?manage\.py (?:make)?migrat\w+|(?:bin/)?(?:rails|rake) db:\S+"
        r"|mix (?:ecto|ash\S*)\.(?:migrate|rollback|gen\S*|setup|reset)|prisma (?:migrate|db) \S+"
        r"|knex migrate\S*|(?:flyway|sqlx|diesel|dbmate|goose|atlas) migrat\w+",
    ),
    (
        "deploy",
        r"kubectl (?:apply|delete|rollout|set|scale)|terraform (?:apply|destroy|import)|pulumi up"
        r"|helm (?:install|upgrade|uninstall)|(?:fly|flyctl|vercel|netlify|wrangler|serverless|cdk"
        r"|eb) deploy|ansible-playbook|docker push|(?:npm|pnpm|yarn|cargo|poetry|uv|hatch) publish"
        r"|twine upload|gh release create",
    ),
    (
        "type check",
        r"mypy|dmypy|pyright|basedpyright|pyre|pytype|flow check|tsc\b.*--noEmit|vue-tsc"
        r"|mix dialyzer|sorbet|srb tc|(?:npm|pnpm|yarn|bun|just|make) (?:run )?(?:type-?check|types"
        r"|tsc|mypy)",
    ),
    (
        "lint",
        r"ruff check|ruff (?!format|clean|rule)|flake8|pylint|bandit|eslint|stylelint"
        r"|biome (?:check|lint|ci)|golangci-lint|staticcheck|go vet|cargo clippy|rubocop|standardrb"
        r"|shellcheck|hadolint|actionlint|yamllint|markdownlint\S*|mix credo|swiftlint|ktlint"
        r"|detekt|checkstyle|phpstan|psalm|pre-commit run|lint-imports|(?:black|isort"
        r"|prettier)\b.*(?:--check|-c\b)|ruff format\b.*--check|mix format --check\S*|(?:npm|pnpm"
        r"|yarn|bun|just|make|task) (?:-\S+ )*(?:run )?lint\S*",
    ),
    (
        "build",
        r"make|cmake|ninja|meson|bazel build|tsc|vite build|webpack|rollup|esbuild|next build"
        r"|ng build|astro build|(?:cargo|go|zig|swift|dotnet|stack|cabal) (?:build|check|install"
        r"|compile)|mix (?:compile|release)|(?:\./)?(?:mvnw?|gradlew?)\b|gcc|g\+\+|clang\+*|cc"
        r"|javac|rustc|docker(?: buildx| compose|-compose)? build|(?:npm|pnpm|yarn"
        r"|bun) (?:run )?(?:build|compile|bundle)\S*|python[\d.]* setup\.py|(?:hatch|uv"
        r"|poetry) build|just build|mkdocs build|sphinx-build|hugo|jekyll build|latexmk|pdflatex",
    ),
    (
        "install",
        r"(?:pip[\d.]*|uv pip|gem|brew|conda|mamba|pipx|apt|apt-get|apk|dnf|yum|pacman|go|choco"
        r"|winget|asdf|rustup|volta|nvm|mise|uv tool|uv python) (?:-\S+ )*(?:install|add|get"
        r"|uninstall|remove|upgrade|use|update|component)\b|(?:uv|poetry|pdm|npm|pnpm|yarn|bun"
        r"|cargo|composer|pixi|rye|deno) (?:install|i|ci|add|remove|rm|uninstall|upgrade|update"
        r"|require|sync|lock)\b|yarn$|bundle (?:install|add|update)|mix (?:deps\.\S+"
        r"|archive\.install|igniter\.install)|go mod \S+|git submodule|pip-compile|pip-sync",
    ),
    ("push", r"git (?:-\S+ \S+ )?push\b|gh pr (?:create|merge)|glab mr create"),
    (
        "undo",
        r"git (?:checkout (?:\S+ )?--|checkout \.|restore(?! --staged)|reset --hard|revert|clean)"
        r"|git stash(?! (?:list|show|pop|apply))",
    ),
    (
        "history",
        r"git (?:merge|rebase|cherry-pick|tag \S|checkout -[bB]|switch -[cC]|worktree (?:add"
        r"|remove)|init|clone|stash|am|apply|reset|branch -[dDmM])",
    ),
    (
        "format",
        r"ruff format|black|isort|autopep8|yapf|prettier|gofmt|goimports|cargo fmt|rustfmt"
        r"|mix format|clang-format|shfmt|terraform fmt|stylua|(?:npm|pnpm|yarn|bun|make"
        r"|just) (?:run )?(?:format|fmt)\S*",
    ),
    (
        "server",
        r"uvicorn|gunicorn|hypercorn|flask run|http\.server|mix phx\.server|iex -S mix"
        r"|(?:bin/)?rails s(?:erver)?\b|(?:npm|pnpm|yarn|bun) (?:run )?(?:start|dev|serve|preview"
        r"|watch)\S*|(?:vite|next dev|ng serve|nodemon)\b|docker(?:-compose| compose) up"
        r"|(?:python[\d.]* )?(?:\./)?manage\.py runserver|docker(?:-compose| compose) (?:down"
        r"|restart|start|stop)|systemctl \S+|redis-server|celery",
    ),
    (
        "files",
        r"(?:git )?(?:mv|rm)|cp|ln|rsync|patch|unzip|tar|truncate|dd|sed -i\S*|perl -\w*i\S*",
    ),
    (
        "routine",
        r"ls|ll|cat|bat|head|tail|less|more|grep|egrep|fgrep|rg|ag|ack|find|fd|pwd|which|whereis"
        r"|type|whoami|id|hostname|uname|env|printenv|wc|sort|uniq|cut|tr|awk|sed -n|sed --quiet"
        r"|tree|stat|file|du|df|free|top|htop|ps|pgrep|pkill|kill|killall|lsof|netstat|ss|jq|yq"
        r"|diff|cmp|comm|md5sum|sha\d+sum|test|\[+|basename|dirname|realpath|readlink|mkdir|touch"
        r"|chmod|chown|man|help|history|jobs|fg|bg|xxd|od|hexdump|strings|nproc|nl|seq|column|tee"
        r"|xargs|curl|wget|ping|dig|nslookup|host|open|xdg-open|code|tmux|screen|sqlite3|psql|if"
        r"|for|while|until|do|done|then|else|fi|case|break|continue|return|local|function|\{|\}|\("
        r"|!|BASH_\w+|alias|bc|expr|yes|git (?:--no-pager |-\S+ \S+ )*(?:status|log|diff|show"
        r"|branch|remote|ls-files|ls-tree|blame|rev-parse|config|fetch|pull|add|stash (?:list|show)"
        r"|describe|reflog|shortlog|grep|cat-file|worktree list|check-ignore|rev-list|tag|checkout"
        r"|switch|restore --staged)|gh (?:pr|issue|run|repo|api|auth|workflow) ?(?:view|list|diff"
        r"|checks|status|watch|comment)?|docker (?:ps|logs|images|inspect)|kubectl (?:get|describe"
        r"|logs)|(?:npm|pnpm|yarn|pip[\d.]*|uv pip) (?:ls|list|show|view|outdated|info|freeze|why)"
        r"|\S+ --?(?:version|help)|sed|\S+ (?:show|list|ls|view|status|info|describe|logs?|search"
        r"|help|version|stats|ready|diff|inspect|whoami|history"
        r"|find|query|tree|which)|" + "|".join(map(re.escape, sorted(SETTING_UP))),
    ),
)
KINDS = tuple((kind, re.compile(rf"(?:{pattern})(?=\s|$)")) for kind, pattern in ROWS)
RANK = {kind: at for at, (kind, _) in enumerate(KINDS)} | {"run": len(KINDS) - 1.5}
CHECKS = frozenset(("test", "build", "lint", "type check"))
STANDING = CHECKS | {"migration", "deploy", "install", "push", "commit"}
LOOKED_AT = 12_000
FLAG_WITH_VALUE = frozenset(
    ("-k", "-m", "-run", "-t", "--grep", "-g", "--testNamePattern", "--tests")
)


@dataclass(frozen=True, slots=True)
class Command:
    """`text` names it in a sentence; `program` is what ran, `scope` what it was limited to.

    `programs`: all that the line ran. `hidden`: a pipe or a list swallowed the exit status, so only
    the output tells how it went; `filtered`: and of the output only a part was seen. `script`: the
    mark of a script that stands in the line; `described`: it is all there is, and `text` is no code.
    """

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


def read_command(line: str) -> Command:
    return _read_command(line[:LOOKED_AT])


@lru_cache(maxsize=256)
def _read_command(line: str) -> Command:
    found = split_commands(line)
    if not found:
        return Command("", "routine", frozenset(), "", frozenset(), frozenset(), False)
    named = [(simple, *_kind_of(simple)) for simple in main_commands(found)]
    main, kind, program = min(named, key=lambda row: RANK[row[1]])
    rest = [] if main.script else main.bare[len(program) :].split()
    alone = main.here and len(named) == 1
    return Command(
        text=describe_script(main.bare) if alone else label_line(found),
        kind=kind,
        kinds=frozenset(row[1] for row in named),
        program=program,
        programs=frozenset(row[2] for row in named if row[1] != "routine") or frozenset((program,)),
        scope=_scope(rest),
        hidden=main.hidden,
        filtered=is_filtered(found),
        script=main.script,
        described=alone,
    )


def _kind(bare: str) -> tuple[str, str]:
    for kind, pattern in KINDS:
        if mark := pattern.match(bare):
            return kind, " ".join(mark[0].split())
    return "run", " ".join(bare.split()[:2])


def _kind_of(simple: Simple) -> tuple[str, str]:
    """Looking around becomes writing when the output goes into a file.

    A script in the line is a program of its own: another script is another program.
    """
    kind, program = _kind(simple.bare)
    program = f"{program} #{simple.script}" if simple.script else program
    return ("files", program) if kind == "routine" and simple.writes else (kind, program)


def _scope(arguments: list[str]) -> frozenset[str]:
    """What a run was limited to: paths and name patterns, not how much it prints."""
    chosen: set[str] = set()
    for at, argument in enumerate(arguments):
        if not argument.startswith("-") and "=" not in argument and not argument.isdigit():
            chosen.add(argument.removeprefix("./").strip("\"'"))
        elif argument in FLAG_WITH_VALUE and at + 1 < len(arguments):
            chosen.add(argument)
    return frozenset(chosen - {".", "--", "..."})
