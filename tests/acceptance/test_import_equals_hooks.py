"""Sessions of the real client, remembered through hooks and through an import: the same."""

from dataclasses import replace
from pathlib import Path

import pytest

from aforesaid.model.events import Event, ToolUsed
from tests.acceptance.conftest import NewClient
from tests.acceptance.product import Installation, Kept
from tests.support.client import Client
from tests.support.scripted_api import ScriptedApi
from tests.support.transcripts import FRAMING, Session, comparable, plain, subagent

pytestmark = pytest.mark.client


def told(installation: Installation) -> list[Kept]:
    """Of all sessions. What begins and ends one is left out: a transcript does not always tell it."""
    refs = sorted(session.ref for session in installation.sessions())
    kept = [each for ref in refs for each in installation.events(ref)]
    return [each for each in kept if each.kind not in FRAMING]


def events(installation: Installation) -> list[tuple[int, Event]]:
    return [(each.prompt, comparable(each.event)) for each in told(installation)]


def nameless(installation: Installation) -> list[tuple[int, str]]:
    """Without the names that the client gives each time, and without the place."""
    found = []
    for each in told(installation):
        what = each.event.what
        if isinstance(what, ToolUsed):
            what = replace(what, use_id="", duration_ms=None)
        found.append((each.prompt, repr(what).replace(str(installation.client.root), "")))
    return found


@pytest.mark.parametrize("session", [plain, subagent], ids=lambda session: session.__name__)
def test_an_import_into_an_empty_memory_gives_what_the_hooks_gave(
    api: ScriptedApi, installed: Installation, session: Session, tmp_path: Path
) -> None:
    session(api, installed.client)
    installed.settled()

    empty = {**installed.client.env, "AFORESAID_HOME": str(tmp_path / "empty")}
    imported = Installation(Client(installed.client.root, api.url, env=empty))
    try:
        imported.cli("import", "claude-code")
        imported.settled()

        assert [event.key for _, event in events(imported)]
        assert events(imported) == events(installed)
        refs = [each.ref for each in installed.sessions()]
        assert [each.ref for each in imported.sessions()] == refs
        assert [imported.prompts(ref) for ref in refs] == [installed.prompts(ref) for ref in refs]
    finally:
        imported.close()


def test_a_session_without_hooks_is_imported_as_if_it_had_had_them(
    api: ScriptedApi, installed: Installation, new_client: NewClient
) -> None:
    plain(api, installed.client)
    installed.settled()
    env = {**installed.client.env, "AFORESAID_HOME": str(installed.client.root / "other")}
    without = Installation(new_client("without", env=env))
    try:
        plain(api, without.client)
        assert not without.paths.state.exists()
        without.cli("import", "claude-code")
        without.settled()

        assert nameless(without) == nameless(installed)
    finally:
        without.close()
