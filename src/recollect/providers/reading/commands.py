"""What a shell command is: a test run, a build, a commit, an install, or routine looking around."""

import re
from dataclasses import dataclass
from functools import lru_cache

from recollect.providers.reading import scripts, shell

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
        r"|find|query|tree|which)|" + "|".join(map(re.escape, sorted(shell.SETTING_UP))),
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
    found = shell.simples(line)
    if not found:
        return Command("", "routine", frozenset(), "", frozenset(), frozenset(), False)
    named = [(simple, *_kind_of(simple)) for simple in shell.telling(found)]
    main, kind, program = min(named, key=lambda row: RANK[row[1]])
    rest = [] if main.script else main.bare[len(program) :].split()
    alone = main.here and len(named) == 1
    return Command(
        text=scripts.described(main.bare) if alone else shell.label(found),
        kind=kind,
        kinds=frozenset(row[1] for row in named),
        program=program,
        programs=frozenset(row[2] for row in named if row[1] != "routine") or frozenset((program,)),
        scope=_scope(rest),
        hidden=main.hidden,
        filtered=shell.is_filtered(found),
        script=main.script,
        described=alone,
    )


def _kind(bare: str) -> tuple[str, str]:
    for kind, pattern in KINDS:
        if mark := pattern.match(bare):
            return kind, " ".join(mark[0].split())
    return "run", " ".join(bare.split()[:2])


def _kind_of(simple: shell.Simple) -> tuple[str, str]:
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
