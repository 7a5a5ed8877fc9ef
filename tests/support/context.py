"""The worker's context, without a worker."""

import os
from collections.abc import Mapping

from aforesaid import wiring
from aforesaid.agents.base import Agent
from aforesaid.agents.registry import AGENTS
from aforesaid.clock import Clock
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.wiring import RULES, Choice
from aforesaid.worker.context import Context

NO_MODEL = Choice(RULES, "a test")


def make_context(
    paths: Paths,
    store: Store,
    clock: Clock,
    *,
    choice: Choice = NO_MODEL,
    agents: Mapping[str, Agent] = AGENTS,
    env: Mapping[str, str] = os.environ,
) -> Context:
    home = wiring.Home(paths, wiring.home(os.environ).settings)
    return Context(home, store, clock, agents=agents, env=env, choice=choice)
