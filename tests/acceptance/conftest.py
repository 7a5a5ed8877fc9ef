"""Fixtures for tests on the real client: the scripted API, clients, terminals, installations."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.product import Installation
from tests.support import terminal
from tests.support.client import Client, git_repo
from tests.support.scripted_api import ScriptedApi
from tests.support.terminal import Terminal

NewClient = Callable[..., Client]
OpenTerminal = Callable[..., Terminal]


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with ScriptedApi() as running:
        yield running


@pytest.fixture
def new_client(api: ScriptedApi, tmp_path: Path) -> NewClient:
    """`new_client("name", env={...})`: a home of its own, and a project that is a repository."""

    def make(name: str = "client", *, env: dict[str, str] | None = None) -> Client:
        client = Client(tmp_path / name, api.url, env=env)
        git_repo(client.project)
        return client

    return make


@pytest.fixture
def client(new_client: NewClient) -> Client:
    return new_client()


@pytest.fixture
def open_terminal() -> Iterator[OpenTerminal]:
    """`open_terminal(client, *args)`: an interactive session, closed after the test."""
    if reason := terminal.missing():
        pytest.skip(reason)
    opened: list[Terminal] = []

    def make(client: Client, *args: str, cwd: Path | None = None) -> Terminal:
        opened.append(Terminal(client, *args, cwd=cwd))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def prepared(new_client: NewClient, tmp_path: Path) -> Iterator[Installation]:
    """A user with a home for aforesaid and no hooks yet."""
    installation = Installation(
        new_client(
            env={
                "AFORESAID_HOME": str(tmp_path / "memory"),
                "AFORESAID_SYNTHESIS_PROVIDER": "rules",
            }
        )
    )
    yield installation
    installation.close()


@pytest.fixture
def installed(prepared: Installation) -> Installation:
    """A user who has run `aforesaid install`."""
    prepared.cli("install")
    return prepared
