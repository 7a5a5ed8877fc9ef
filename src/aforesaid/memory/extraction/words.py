"""Words for the work of a coding agent, as opposed to what the programs do that it writes.

`always run the tests` is about the work, `always show the total` about a program. Lists are regular
expressions, with `_` for a space.
"""

import re
from functools import cache


def any_of(words: str) -> str:
    """A pattern for one of these."""
    return f"(?:{'|'.join(words.split()).replace('_', ' ')})"


# How an order begins.
VERB = (
    any_of(
        "use run write add put keep make check ask show tell explain name call prefer avoid create "
        "include import export test format lint commit push rebase squash merge branch open close pin "
        "prefix suffix start begin end read update document comment follow respect log handle validate "
        "escape wrap type annotate declare define install build deploy release ship tag bump sign "
        "verify confirm review propose plan answer reply respond speak talk give provide list cite link "
        "refer quote do be let leave ignore skip stop touch edit change modify delete remove rename "
        "move refactor rewrite regenerate generate mock stub hardcode hard-code force force-push amend "
        "revert reset store save set treat assume consider think work go pass specify indent align sort "
        "group split mention translate convert spell fetch pull sync clean send post upload publish "
        "mark label assign invent guess summarize summarise apologize apologise suggest introduce "
        "depend rely query select lock migrate drop seed round expose leak swallow catch silence "
        "disable enable bypass approve trust restart rebuild remind target support stick have reformat "
        "abbreviate cache mutate nest inline extract throw batch stage cherry-pick proofread"
    )
    + r"(?![\w-])"
)
WORK = re.compile(
    r"\b"
    + any_of(
        "run commit push ask squash rebase install deploy merge lint mock stub amend force-push "
        "cherry-pick regenerate pin explain answer reply respond edit touch refactor reformat guess "
        "invent review sign stage apologi[sz]e summari[sz]e abbreviate hard-?code confirm verify "
        "propose suggest plan proofread"
    )
    + r"(?![\w-])",
    re.IGNORECASE,
)
WORKPIECE = re.compile(
    r"\b"
    + any_of(
        "commits? commit_messages? branch(?:es)? prs? pull_requests? merge_requests? tests? specs? docs "
        "documentation readme changelog comments? docstrings? type_hints? annotations? naming names? "
        "imports? exports? dependenc(?:y|ies) packages? librar(?:y|ies) mocks? fixtures? code "
        "functions? class(?:es)? variables? constants? tabs spaces indentation quotes semicolons? "
        "migrations? diffs? plans? emojis? todos? ci builds? releases? secrets? credentials "
        "lock_?files? main master conventions? style linter formatter type_checker me types? files? "
        "modules? english spelling"
    )
    + r"\b|`|\w+\.(?:json|toml|lock|ya?ml|md|py|ts|js|go|rs|sql)\b",
    re.IGNORECASE,
)
# What is done again and again, as a verb and as a noun.
DOES = any_of(
    "add change touch edit write commit push create update modify finish fix refactor run rename delete "
    "remove make start open merge deploy release bump install implement move generate are_done work_on "
    "introduce upgrade review"
)
DONE = any_of(
    "commit push pr pull_request merge release deploy(?:ment)? change session task edit migration "
    "refactoring answer feature fix"
)
# What an agent writes beside the code.
TITLES = any_of(
    "commit_messages? pr_titles? pull_requests? branch(?:es)?(?:_names)? changelog_entries docstrings "
    "code_comments variable_names file_names test_names release_notes"
)
TEXTS = any_of(
    "answers responses replies explanations summaries commit_messages prs diffs commits functions "
    "pull_requests"
)
HABITS = any_of(
    "adding putting writing apologi[sz]ing ending starting asking explaining summari[sz]ing rewriting "
    "reformatting renaming committing pushing guessing inventing repeating generating creating wrapping "
    "mocking suggesting proposing"
)
# What a team does as a rule.
PRACTICES = any_of(
    "use using support deploy target ship squash(?:-merge)? rebase merge release write format lint test "
    "follow keep store track name prefix run host pin commit review require stick prefer avoid vendor "
    "version publish log build branch tag sign indent document generate validate mock"
)
ROLES = any_of(
    "developer engineer scientist designer student analyst researcher beginner novice architect "
    "consultant freelancer founder teacher maintainer programmer dev dba sre physicist biologist "
    "chemist mathematician economist doctor nurse lawyer journalist professor newbie hobbyist "
    "statistician geologist linguist translator musician artist electrician mechanic accountant "
    "librarian cto ceo"
)
SYSTEMS = any_of("windows macos mac a_mac os_x linux ubuntu debian fedora arch nixos wsl2? freebsd")
EDITORS = any_of(
    "vim neovim nvim emacs vs_?code pycharm intellij webstorm sublime zed helix nano cursor fish zsh "
    "bash powershell tmux dvorak colemak"
)
# Where teams keep what is not code, and what they keep there.
PRODUCTS = any_of(
    "linear jira notion confluence slack figma grafana sentry datadog kibana google_(?:docs|drive) "
    "sharepoint airtable miro trello asana zendesk 1password vault s3 github gitlab the_wiki our_wiki "
    "storybook pagerduty"
)
KEPT = any_of(
    "docs documentation (?:dash)?boards? specs? wiki runbooks? designs? mock-?ups? wireframes tickets? "
    "issues? bugs? tasks logs metrics alerts repo tracker backlog roadmap channel "
    "staging(?:_server|_environment|_site)? playground storybook status_page changelog guides? "
    "guidelines sheets? spreadsheets? reference admin_panel pipelines? artifacts meeting_notes minutes "
    "secrets credentials requirements stories questions requests incidents errors feedback style_?guide"
)
FILED_DOCUMENTS = any_of(
    "docs documentation specs? runbooks? adrs? fixtures migrations designs? schema deploy_scripts? changelog "
    "style_?guide guidelines glossary design_docs? openapi_file test_data seeds?"
)
# What a person has.
OWN = any_of(
    "name handle github(?:_handle|_user_?name|_account)? time_?zone editor ide shell os "
    "operating_system keyboard_layout (?:native|first)_language mother_tongue pronouns"
)
# What a team works on, and what that needs.
WHOLES = any_of("project repo repository code_?base package library monorepo team company")
PARTS = any_of("app service backend frontend api stack product ci pipeline")
NEEDS = any_of(
    "uses? targets? is_written_in runs?_on requires? supports? is_deployed deploys?_to follows? "
    "builds?_with doesn't_use does_not_use no_longer_uses"
)


# A line is a kind: a project mostly uses one of it.
KINDS = """
npm pnpm yarn bun
pip uv poetry pipenv conda pdm hatch
pytest unittest nose
jest vitest mocha jasmine ava
playwright cypress selenium puppeteer
eslint biome oxlint tslint
black yapf autopep8 ruff
prettier dprint
mypy pyright pytype
postgres postgresql mysql mariadb sqlite mssql oracle cockroachdb
redis memcached valkey
mongodb dynamodb couchdb firestore
rabbitmq kafka nats sqs activemq zeromq
docker podman nerdctl
webpack vite rollup esbuild parcel turbopack
moment dayjs luxon date-fns
axios fetch ky got superagent
requests httpx aiohttp urllib urllib3
redux zustand mobx jotai recoil pinia vuex
tailwind bootstrap bulma
maven gradle bazel sbt
make just task
jenkins circleci travis
jira linear asana trello
confluence notion sharepoint
slack teams discord mattermost
django flask fastapi
express fastify koa hono
tabs spaces
rebase merge
graphql rest grpc
yaml toml json
javascript typescript
kubernetes nomad swarm
terraform pulumi ansible cloudformation
sequelize typeorm prisma drizzle knex
winston pino bunyan
bash zsh fish
vim neovim emacs vscode
twine flit
main master develop trunk
"""


@cache
def tool_kinds() -> dict[str, int]:
    """By name, the number of its kind."""
    rows = enumerate(KINDS.strip().splitlines())
    return {name: number for number, row in rows for name in row.split()}


def is_tool(name: str) -> bool:
    """`ruff format` and `Postgres 16` are called by their first word."""
    first = name.lower().split()[:1]
    return bool(first) and first[0].strip("`\"'“”.,;:!") in tool_kinds()


def same_kind(one: str, other: str) -> bool:
    mine, theirs = (tool_kinds().get(name.lower()) for name in (one, other))
    return mine is not None and mine == theirs
