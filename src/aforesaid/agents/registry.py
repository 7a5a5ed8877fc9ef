"""The coding agents we know, and what the environment says about the one that runs us."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from pathlib import Path

from aforesaid.agents.api import ApiAgent
from aforesaid.agents.base import Agent
from aforesaid.agents.claude_code.events import ClaudeCode

DEFAULT = ClaudeCode()  # the one that commands mean where none is named
AGENTS: Mapping[str, Agent] = {agent.name: agent for agent in (DEFAULT, ApiAgent())}
CONNECTIONS = tuple(each.connection for each in AGENTS.values() if each.connection is not None)
FIELDS = reduce(or_, (each.fields for each in AGENTS.values()))


def project_directory(env: Mapping[str, str], here: Path | None = None) -> str:
    """The directory the agent was started in, if its client says so; else `here` or the current one. Raises
    OSError if that no longer exists."""
    named = (env.get(each.variables.project) for each in AGENTS.values())
    return next(filter(None, named), None) or str(here or Path.cwd())


def current_session(env: Mapping[str, str]) -> str | None:
    """The session of `DEFAULT` whose shell or MCP server we are in."""
    return env.get(DEFAULT.variables.session) or None


def is_inside_agent(env: Mapping[str, str]) -> bool:
    """Whether an agent runs us, as far as its client says so. The user's own `!` commands look the same."""
    return any(name in env for each in AGENTS.values() for name in each.variables.inside)
