"""The one place that chooses concrete classes. Providers are imported when one is chosen: most commands need
none, and would wait for them."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from aforesaid import settings as settings_module
from aforesaid.clock import Clock
from aforesaid.encoders import find_encoder, minilm
from aforesaid.encoders.base import Encoder
from aforesaid.errors import ConfigError, StoreError
from aforesaid.model.jobs import Job
from aforesaid.model.observations import Author
from aforesaid.paths import Paths
from aforesaid.repository import Repository, identify
from aforesaid.settings import Settings
from aforesaid.store.store import Store

if TYPE_CHECKING:
    from aforesaid.backups.repository import BackupRepository
    from aforesaid.memory.changes import Memories
    from aforesaid.privacy.redactor import Redactor
    from aforesaid.providers.base import Model, Writer
    from aforesaid.recall.search import Searcher
    from aforesaid.synthesis.model import Requester, Terms
    from aforesaid.synthesis.prompt import Style

ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
PACKAGES = {"claude": "claude_agent_sdk", "anthropic": "anthropic", "openai": "openai"}
RULES = Author("rules")


@dataclass(frozen=True, slots=True)
class Home:
    paths: Paths
    settings: Settings


def home(env: Mapping[str, str] | None = None, *, live: bool = False) -> Home:
    """`live`, for a program that runs for long: some settings are read again when they have changed."""
    env = os.environ if env is None else env
    paths = Paths.of(env)
    load = settings_module.follow if live else settings_module.load
    return Home(paths, load(paths.config_file, env))


def make_redactor(
    home: Home,
    env: Mapping[str, str] | None = None,
    on_found: Callable[[str], None] = lambda _: None,
) -> "Redactor":
    from aforesaid.agents.registry import FIELDS

    env = os.environ if env is None else env
    redactor = settings_module.build_redactor(home.paths, home.settings, env, on_found)
    return replace(redactor, fields=FIELDS)


def open_for_reading(paths: Paths) -> Store:
    return Store(paths.database, writer=False)


def open_for_writing(
    paths: Paths, encoder: Encoder | None = None, *, checked: bool = False
) -> Store:
    """For the holder of the worker's lock only. `checked`: the file was seen to be sound."""
    return Store(paths.database, writer=True, encoder=encoder, checked=checked)


def backup_repository(home: Home, clock: Clock) -> "BackupRepository":
    from aforesaid.backups.repository import BackupRepository

    return BackupRepository(home.paths, clock)


def encoder(settings: Settings) -> Encoder | None:
    """As the settings say; nothing is loaded until it is used."""
    return find_encoder(settings.text("recall.encoder"))


def encoder_problem(settings: Settings) -> str | None:
    """Why the encoder that the settings name cannot work here. Nothing is loaded."""
    wanted = settings.text("recall.encoder") == "minilm"
    is_missing = not all(map(find_spec, minilm.PACKAGES))
    return minilm.how_to_install() if is_missing and wanted else None


def searcher(store: Store, settings: Settings, clock: Clock) -> "Searcher":
    from aforesaid.recall.search import Searcher

    return Searcher(store, encoder(settings), clock)


def memories(
    home: Home,
    directory: str,
    clock: Clock,
    env: Mapping[str, str] | None = None,
    repository: Repository | None = None,
    redactor: "Redactor | None" = None,
) -> "Memories":
    """The curated memories that hold in a directory. `repository`: if it is known already; to ask git takes a
    while, in a large repository seconds."""
    from aforesaid.memory.changes import Memories
    from aforesaid.memory.claude_memory import client_folder
    from aforesaid.memory.folders import find_places

    env = os.environ if env is None else env
    repository = repository or _owning_repository(home.paths, directory)
    folder = client_folder(directory, env, home.settings.text("memory.client"))
    found = find_places(home.paths, directory, home.settings, folder, repository)
    return Memories(found, clock, redactor or make_redactor(home, env))


def _owning_repository(paths: Paths, directory: str) -> Repository:
    """Memories are there without a store, too, or while it cannot be read."""
    repository = identify(directory)
    try:
        with closing(open_for_reading(paths)) as store:
            found = store.projects.find_at(directory, repository)
            return store.projects.owning_repository(repository, found)
    except StoreError:
        return repository


def open_scratch(paths: Paths, folder: Path) -> Store:
    """A copy of the store in a folder that its caller throws away: nothing waits for the disk."""
    from aforesaid.store import files

    path = folder / paths.database.name
    if paths.database.exists():
        files.copy(paths.database, path)
    store = Store(path, writer=True, checked=True)
    assert store.database.writer is not None
    store.database.writer.execute("PRAGMA synchronous = OFF")
    return store


@dataclass(frozen=True, slots=True)
class Choice:
    """The active provider, and why it is that one. `model` is None for rules; `fallback`: nobody chose
    them, there is just nothing better."""

    author: Author
    why: str
    fallback: bool = False
    model: "Model | None" = None
    terms: "Terms | None" = None
    style: "Style | None" = None
    request_tokens: int = 0

    def asking(
        self, store: Store, clock: Clock, session_id: int | None, job_id: int | None = None
    ) -> "Requester | None":
        """Questions to the model; None where there is none."""
        if self.model is None or self.terms is None:
            return None
        from aforesaid.synthesis.model import Requester

        return Requester(store, self.model, self.terms, clock, session_id, job_id)

    def writer(self, store: Store, job: Job, clock: Clock) -> "Writer":
        asking = self.asking(store, clock, job.session_id, job.id)
        if asking is None:
            return self.without_model()
        from aforesaid.synthesis.model import ModelWriter
        from aforesaid.synthesis.prompt import Style

        return ModelWriter(asking, self.author, self.style or Style(), self.request_tokens)

    def without_model(self) -> "Writer":
        from aforesaid.providers.rules import Rules

        return Rules()


def provider(
    home: Home,
    clock: Clock,
    env: Mapping[str, str] | None = None,
    redactor: "Redactor | None" = None,
) -> Choice:
    """As the settings say; `auto` never sends anything to a party that the agent does not talk to."""
    env = os.environ if env is None else env
    settings = home.settings
    wanted, why = settings.text("synthesis.provider"), "chosen in the settings"
    is_auto = wanted == "auto"
    if is_auto:
        wanted, why = _best(settings, env)
    if wanted == "rules":
        return Choice(RULES, why, fallback=is_auto)
    from aforesaid.providers.base import MisconfiguredModel, RedactingModel
    from aforesaid.synthesis.cost import Budget, Prices
    from aforesaid.synthesis.model import Terms
    from aforesaid.synthesis.prompt import VERSION, Style

    model: Model
    try:
        model, free = _model(wanted, home, clock)
        model = RedactingModel(model, redactor or make_redactor(home, env))
        prices = Prices.of(settings.names("cost.prices"), all_free=free)
    except ConfigError as error:
        # Said at session start and in `status`; capture goes on, and the work waits.
        model, prices = MisconfiguredModel(wanted, str(error)), Prices.of(())
    language, skip = settings.text("synthesis.language"), settings.names("synthesis.skip")
    tokens, cents = settings.number("cost.daily_tokens"), settings.number("cost.daily_cents")
    return Choice(
        Author(model.name, model.model, VERSION),
        why,
        model=model,
        terms=Terms(VERSION, prices, Budget(tokens, cents, clock)),
        style=Style(settings.text("synthesis.verbosity"), language, skip),
        request_tokens=settings.number("synthesis.request_tokens"),
    )


def _best(settings: Settings, env: Mapping[str, str]) -> tuple[str, str]:
    if settings.text("synthesis.endpoint"):
        return "openai", "synthesis.endpoint is set"
    from aforesaid.providers import claude_login

    no_claude = claude_login.usable(env)
    if no_claude is None:
        return "claude", "Claude Code's own login is used"
    if find_spec("anthropic") and (env.get(ANTHROPIC_KEY) or settings.text("synthesis.api_key")):
        return "anthropic", f"there is an API key, and {no_claude}"
    return "rules", f"needs no model, no key and no network; {no_claude}"


def _model(name: str, home: Home, clock: Clock) -> "tuple[Model, bool]":
    """The model, and whether it runs on the user's own machine and costs nothing."""
    settings = home.settings
    wanted = settings.text("synthesis.model")
    seconds = settings.number("synthesis.timeout_seconds")
    key = settings.text("synthesis.api_key") or None
    match name:
        case "claude":
            from aforesaid.providers.claude import ClaudeAgent

            folder = home.paths.state / "agent"
            agent = ClaudeAgent(model=wanted or "haiku", seconds=seconds, clock=clock, cwd=folder)
            return agent, False
        case "anthropic":
            from aforesaid.providers.anthropic import AnthropicApi

            api = AnthropicApi(model=wanted, api_key=key, seconds=seconds, clock=clock)
            return api, False
        case _:
            from aforesaid.providers.http import find_endpoint
            from aforesaid.providers.openai import OpenAiApi

            endpoint = find_endpoint(settings.text("synthesis.endpoint") or "openai")
            compatible = OpenAiApi(
                endpoint=endpoint, model=wanted, api_key=key, seconds=seconds, clock=clock
            )
            return compatible, endpoint.local
