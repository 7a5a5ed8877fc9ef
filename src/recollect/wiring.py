"""The one place that chooses concrete classes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from recollect import settings as settings_module
from recollect.agents.claude_code import ClaudeCode
from recollect.agents.protocol import Agent
from recollect.clock import Clock
from recollect.errors import ConfigError
from recollect.model.jobs import Job
from recollect.model.observations import Author
from recollect.paths import Paths
from recollect.providers import claude_login, endpoints
from recollect.providers.anthropic_api import AnthropicApi
from recollect.providers.claude_agent import ClaudeAgent
from recollect.providers.openai_api import OpenAiApi
from recollect.providers.protocol import Model, Writer
from recollect.providers.rules import Rules
from recollect.providers.wrong_settings import WrongSettings
from recollect.settings import Settings
from recollect.store.protocol import Reading, Scratch, Store
from recollect.store.sqlite.scratch import ScratchStore
from recollect.store.sqlite.store import SqliteStore
from recollect.synthesis.asking import Asking, Terms
from recollect.synthesis.budget import Budget
from recollect.synthesis.by_model import ByModel
from recollect.synthesis.prices import Prices
from recollect.synthesis.prompting import VERSION, Style

ANTHROPIC_KEY = "ANTHROPIC_API_KEY"
PACKAGES = {"claude": "claude_agent_sdk", "anthropic": "anthropic", "openai": "openai"}
AGENTS: Mapping[str, Agent] = {agent.name: agent for agent in (ClaudeCode(),)}


@dataclass(frozen=True, slots=True)
class Home:
    """Where this user's recollect lives and how it is set."""

    paths: Paths
    settings: Settings


def home(env: Mapping[str, str] | None = None) -> Home:
    env = os.environ if env is None else env
    paths = Paths.of(env)
    return Home(paths, settings_module.load(paths.config_file, env))


def open_for_reading(paths: Paths) -> Reading:
    return SqliteStore(paths.database, writer=False)


def open_for_writing(paths: Paths) -> Store:
    """For the holder of the worker's lock only."""
    return SqliteStore(paths.database, writer=True)


def open_scratch(folder: Path) -> Scratch:
    """In a folder that its caller throws away."""
    return ScratchStore(folder / "recollect.db")


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider in force, and why it is that one. `model` is None for rules; `fallback`: nobody chose
    them, there is just nothing better."""

    author: Author
    why: str
    fallback: bool = False
    stands_in: bool = False
    model: Model | None = None
    terms: Terms | None = None
    style: Style = field(default_factory=Style)
    request_tokens: int = 0

    def writer(self, store: Store, job: Job, clock: Clock) -> Writer:
        if self.model is None or self.terms is None:
            return Rules()
        asking = Asking(store, self.model, self.terms, clock, job)
        return ByModel(asking, self.author, self.style, self.request_tokens)

    def without_model(self) -> Writer:
        return Rules()


def provider(home: Home, clock: Clock, env: Mapping[str, str] | None = None) -> Choice:
    """As the settings say; `auto` never sends anything to a party that the agent does not talk to."""
    env = os.environ if env is None else env
    wanted = home.settings.text("synthesis.provider")
    if wanted == "auto":
        wanted, why = _best(home.settings, env)
    else:
        why = "chosen in the settings"
    settings = home.settings
    if wanted == "rules":
        return Choice(Rules().author, why, settings.text("synthesis.provider") == "auto")
    try:
        model, free = _model(wanted, home, clock)
        prices = Prices.of(settings.names("cost.prices"), all_free=free)
    except ConfigError as error:
        # Said at session start and in `status`; capture goes on, and the work waits.
        model, prices = WrongSettings(wanted, str(error)), Prices.of(())
    style = Style(
        settings.text("synthesis.verbosity"),
        settings.text("synthesis.language"),
        settings.names("synthesis.skip"),
    )
    budget = Budget(
        settings.number("cost.daily_tokens"), settings.number("cost.daily_cents"), clock
    )
    return Choice(
        Author(model.name, model.model, VERSION),
        why,
        stands_in=settings.text("synthesis.stand_in") == "rules",
        model=model,
        terms=Terms(VERSION, prices, budget),
        style=style,
        request_tokens=settings.number("synthesis.request_tokens"),
    )


def _best(settings: Settings, env: Mapping[str, str]) -> tuple[str, str]:
    if settings.text("synthesis.endpoint"):
        return "openai", "synthesis.endpoint is set"
    no_claude = claude_login.usable(env)
    if no_claude is None:
        return "claude", "Claude Code's own login is used"
    if find_spec("anthropic") and (env.get(ANTHROPIC_KEY) or settings.text("synthesis.api_key")):
        return "anthropic", f"there is an API key, and {no_claude}"
    return "rules", f"needs no model, no key and no network; {no_claude}"


def _model(name: str, home: Home, clock: Clock) -> tuple[Model, bool]:
    """The model, and whether it runs on the user's own machine and costs nothing."""
    settings = home.settings
    wanted = settings.text("synthesis.model")
    seconds = settings.number("synthesis.timeout_seconds")
    key = settings.text("synthesis.api_key") or None
    match name:
        case "claude":
            folder = home.paths.state / "agent"
            return ClaudeAgent(
                model=wanted or "haiku", seconds=seconds, clock=clock, cwd=folder
            ), False
        case "anthropic":
            api = AnthropicApi(model=wanted, api_key=key, seconds=seconds, clock=clock)
            return api, False
        case _:
            endpoint = endpoints.find(settings.text("synthesis.endpoint") or "openai")
            compatible = OpenAiApi(
                endpoint=endpoint, model=wanted, api_key=key, seconds=seconds, clock=clock
            )
            return compatible, endpoint.local
