"""What a shell command is: a test run, a build, a commit, an install, or routine looking around."""

import re
from dataclasses import dataclass

from recollect.providers.reading import shell

# The first row that fits a command names its kind. Rows are in order of how telling they are: of a
# line with several commands, the kind that stands first here is the kind of the line.
ROWS = (
    ("commit", r"git (?:-\S+ \S+ )?commit\b(?!.*--dry-run)"),
    (
        "test",
        r"pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|ava|karma|behave|bats|ctest|rspec|phpunit"
        r"|prove|busted|ginkgo|gotestsum|ward|trial|minitest"
        r"|(?:go|cargo|mix|swift|dotnet|flutter|dart|deno|bun|stack|cabal|sbt|lein|zig build|bazel"
        r"|rails|rake|rebar3|composer|crystal|julia|forge|anchor) (?:nextest(?: run)?|test|tests|spec|eunit|ct)"
        r"|(?:npm|pnpm|yarn|bun|just|task|make|nx|turbo|lerna|rush|ant|poe|invoke|inv) "
        r"(?:-\S+ )*(?:run )?(?:test[:_.-]\S+|tests?|check|t|e2e|integration|spec|unit\S*)"
        r"|playwright test|cypress run|node (?:\S+ )*--test|(?:\./)?(?:mvnw?|gradlew?)\b.*\b(?:test\w*|verify|check)"
        r"|(?:python[\d.]* )?(?:\./)?manage\.py test|python[\d.]* \S*test_?\w*\.py|\./(?:run[-_])?tests?(?:\.sh)?",
    ),
    (
        "migration",
        r"alembic (?:upgrade|downgrade|revision)|(?:python[\d.]* )?(?:\./)?manage\.py (?:make)?migrat\w+"
        r"|(?:bin/)?(?:rails|rake) db:\S+|mix (?:ecto|ash\S*)\.(?:migrate|rollback|gen\S*|setup|reset)"
        r"|prisma (?:migrate|db) \S+|knex migrate\S*|(?:flyway|sqlx|diesel|dbmate|goose|atlas) migrat\w+",
    ),
    (
        "deploy",
        r"kubectl (?:apply|delete|rollout|set|scale)|terraform (?:apply|destroy|import)|pulumi up"
        r"|helm (?:install|upgrade|uninstall)|(?:fly|flyctl|vercel|netlify|wrangler|serverless|cdk|eb) deploy"
        r"|ansible-playbook|docker push|(?:npm|pnpm|yarn|cargo|poetry|uv|hatch) publish|twine upload"
        r"|gh release create",
    ),
    (
        "type check",
        r"mypy|dmypy|pyright|basedpyright|pyre|pytype|flow check|tsc\b.*--noEmit|vue-tsc|mix dialyzer|sorbet|srb tc"
        r"|(?:npm|pnpm|yarn|bun|just|make) (?:run )?(?:type-?check|types|tsc|mypy)",
    ),
    (
        "lint",
        r"ruff check|ruff (?!format|clean|rule)|flake8|pylint|bandit|eslint|stylelint|biome (?:check|lint|ci)"
        r"|golangci-lint|staticcheck|go vet|cargo clippy|rubocop|standardrb|shellcheck|hadolint|actionlint|yamllint"
        r"|markdownlint\S*|mix credo|swiftlint|ktlint|detekt|checkstyle|phpstan|psalm|pre-commit run|lint-imports"
        r"|(?:black|isort|prettier)\b.*(?:--check|-c\b)|ruff format\b.*--check|mix format --check\S*"
        r"|(?:npm|pnpm|yarn|bun|just|make|task) (?:-\S+ )*(?:run )?lint\S*",
    ),
    (
        "build",
        r"make|cmake|ninja|meson|bazel build|tsc|vite build|webpack|rollup|esbuild|next build|ng build|astro build"
        r"|(?:cargo|go|zig|swift|dotnet|stack|cabal) (?:build|check|install|compile)|mix (?:compile|release)"
        r"|(?:\./)?(?:mvnw?|gradlew?)\b|gcc|g\+\+|clang\+*|cc|javac|rustc|docker(?: buildx| compose|-compose)? build"
        r"|(?:npm|pnpm|yarn|bun) (?:run )?(?:build|compile|bundle)\S*|python[\d.]* setup\.py|(?:hatch|uv|poetry) build"
        r"|just build|mkdocs build|sphinx-build|hugo|jekyll build|latexmk|pdflatex",
    ),
    (
        "install",
        r"(?:pip[\d.]*|uv pip|gem|brew|conda|mamba|pipx|apt|apt-get|apk|dnf|yum|pacman|go|choco|winget|asdf|rustup"
        r"|volta|nvm|mise|uv tool|uv python) (?:-\S+ )*(?:install|add|get|uninstall|remove|upgrade|use|update|component)\b"
        r"|(?:uv|poetry|pdm|npm|pnpm|yarn|bun|cargo|composer|pixi|rye|deno) "
        r"(?:install|i|ci|add|remove|rm|uninstall|upgrade|update|require|sync|lock)\b"
        r"|yarn$|bundle (?:install|add|update)|mix (?:deps\.\S+|archive\.install|igniter\.install)|go mod \S+"
        r"|git submodule|pip-compile|pip-sync",
    ),
    ("push", r"git (?:-\S+ \S+ )?push\b|gh pr (?:create|merge)|glab mr create"),
    (
        "undo",
        r"git (?:checkout (?:\S+ )?--|checkout \.|restore(?! --staged)|reset --hard|revert|clean)|git stash"
        r"(?! (?:list|show|pop|apply))",
    ),
    (
        "history",
        r"git (?:merge|rebase|cherry-pick|tag \S|checkout -[bB]|switch -[cC]|worktree (?:add|remove)|init|clone|stash"
        r"|am|apply|reset|branch -[dDmM])",
    ),
    (
        "format",
        r"ruff format|black|isort|autopep8|yapf|prettier|gofmt|goimports|cargo fmt|rustfmt|mix format|clang-format"
        r"|shfmt|terraform fmt|stylua|(?:npm|pnpm|yarn|bun|make|just) (?:run )?(?:format|fmt)\S*",
    ),
    (
        "server",
        r"uvicorn|gunicorn|hypercorn|flask run|http\.server|mix phx\.server|iex -S mix|(?:bin/)?rails s(?:erver)?\b"
        r"|(?:npm|pnpm|yarn|bun) (?:run )?(?:start|dev|serve|preview|watch)\S*|(?:vite|next dev|ng serve|nodemon)\b"
        r"|docker(?:-compose| compose) up|(?:python[\d.]* )?(?:\./)?manage\.py runserver|docker(?:-compose| compose) "
        r"(?:down|restart|start|stop)|systemctl \S+|redis-server|celery",
    ),
    (
        "files",
        r"(?:git )?(?:mv|rm)|cp|ln|rsync|patch|unzip|tar|truncate|dd|sed -i\S*|perl -\w*i\S*",
    ),
    (
        "routine",
        r"ls|ll|cat|bat|head|tail|less|more|grep|egrep|fgrep|rg|ag|ack|find|fd|pwd|which|whereis|type|whoami|id"
        r"|hostname|uname|env|printenv|wc|sort|uniq|cut|tr|awk|sed -n|sed --quiet|tree|stat|file|du|df|free|top|htop"
        r"|ps|pgrep|pkill|kill|killall|lsof|netstat|ss|jq|yq|diff|cmp|comm|md5sum|sha\d+sum|test|\[+|basename|dirname"
        r"|realpath|readlink|mkdir|touch|chmod|chown|man|help|history|jobs|fg|bg|xxd|od|hexdump|strings|nproc|nl|seq"
        r"|column|tee|xargs|curl|wget|ping|dig|nslookup|host|open|xdg-open|code|tmux|screen|sqlite3|psql|if|for|while"
        r"|until|do|done|then|else|fi|case|break|continue|return|local|function|\{|\}|\(|!|BASH_\w+|alias|bc|expr|yes"
        r"|git (?:--no-pager |-\S+ \S+ )*(?:status|log|diff|show|branch|remote|ls-files|ls-tree|blame|rev-parse|config"
        r"|fetch|pull|add|stash (?:list|show)|describe|reflog|shortlog|grep|cat-file|worktree list|check-ignore"
        r"|rev-list|tag|checkout|switch|restore --staged)"
        r"|gh (?:pr|issue|run|repo|api|auth|workflow) ?(?:view|list|diff|checks|status|watch|comment)?|docker (?:ps"
        r"|logs|images|inspect)|kubectl (?:get|describe|logs)|(?:npm|pnpm|yarn|pip[\d.]*|uv pip) (?:ls|list|show|view"
        r"|outdated|info|freeze|why)|\S+ --?(?:version|help)|sed"
        r"|\S+ (?:show|list|ls|view|status|info|describe|logs?|search|help|version|stats|ready|diff|inspect|whoami|history"
        r"|find|query|tree|which)|" + "|".join(map(re.escape, sorted(shell.SETTING_UP))),
    ),
)
KINDS = tuple((kind, re.compile(rf"(?:{pattern})(?=\s|$)")) for kind, pattern in ROWS)
RANK = {kind: at for at, (kind, _) in enumerate(KINDS)} | {"run": len(KINDS) - 1.5}
CHECKS = frozenset(("test", "build", "lint", "type check"))
STANDING = CHECKS | {"migration", "deploy", "install", "push", "commit"}
FLAG_WITH_VALUE = frozenset(
    ("-k", "-m", "-run", "-t", "--grep", "-g", "--testNamePattern", "--tests")
)


@dataclass(frozen=True, slots=True)
class Command:
    """`text` names it in a sentence; `program` is what ran, `scope` what it was limited to.

    `programs`: all that the line ran. `hidden`: a pipe or a list swallowed the exit status, so only the output tells how it went.
    """

    text: str
    kind: str
    kinds: frozenset[str]
    program: str
    programs: frozenset[str]
    scope: frozenset[str]
    hidden: bool


def read_command(line: str) -> Command:
    found = shell.simples(line)
    if not found:
        return Command("", "routine", frozenset(), "", frozenset(), frozenset(), False)
    named = [(simple, *_kind_of(simple)) for simple in shell.telling(found)]
    main, kind, program = min(named, key=lambda row: RANK[row[1]])
    rest = main.bare[len(program) :].split()
    return Command(
        text=shell.label(found),
        kind=kind,
        kinds=frozenset(row[1] for row in named),
        program=program,
        programs=frozenset(row[2] for row in named if row[1] != "routine") or frozenset((program,)),
        scope=_scope(rest),
        hidden=main.hidden,
    )


def _kind(bare: str) -> tuple[str, str]:
    for kind, pattern in KINDS:
        if mark := pattern.match(bare):
            return kind, " ".join(mark[0].split())
    return "run", " ".join(bare.split()[:2])


def _kind_of(simple: shell.Simple) -> tuple[str, str]:
    """Looking around becomes writing when the output goes into a file."""
    kind, program = _kind(simple.bare)
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
