"""The one place that chooses concrete classes."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from recollect import settings as settings_module
from recollect.agents.claude_code import ClaudeCode
from recollect.agents.protocol import Agent
from recollect.paths import Paths
from recollect.providers.protocol import Provider
from recollect.providers.rules import Rules
from recollect.settings import Settings
from recollect.store.protocol import Reading, Store
from recollect.store.sqlite.store import SqliteStore

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


@dataclass(frozen=True, slots=True)
class Choice:
    """The provider in force, and why it is that one."""

    provider: Provider
    why: str


def provider(settings: Settings) -> Choice:
    if settings.text("synthesis.provider") == "rules":
        return Choice(Rules(), "chosen in the settings")
    return Choice(Rules(), "needs no model, no key and no network")
