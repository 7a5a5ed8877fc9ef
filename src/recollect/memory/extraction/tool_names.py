"""Tools that do the same work: one of them is used in place of another, and who names one speaks of a habit.

`use a set instead of a list` is an order about one function; `use pnpm instead of npm` is about the project.
"""

from functools import cache

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
def kinds() -> dict[str, int]:
    """By name: the number of its kind."""
    rows = enumerate(KINDS.strip().splitlines())
    return {name: number for number, row in rows for name in row.split()}


def is_tool(name: str) -> bool:
    """`ruff format` and `Postgres 16` are called by their first word."""
    first = name.lower().split()[:1]
    return bool(first) and first[0].strip("`\"'“”.,;:!") in kinds()


def same_kind(one: str, other: str) -> bool:
    mine, theirs = (kinds().get(name.lower()) for name in (one, other))
    return mine is not None and mine == theirs
