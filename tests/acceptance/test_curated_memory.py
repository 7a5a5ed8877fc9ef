"""Curated memories with the real client: said in one session, told in the next, as the model API sees it."""

import json
from collections.abc import Iterator

import pytest

from aforesaid import clock, wiring
from aforesaid.model.memories import Memory
from aforesaid.worker.memory import LEAD
from tests.acceptance.product import MEMORY, Installation, last_request
from tests.support.client_directory import client_directory_path
from tests.support.scripted_api import Call, ScriptedApi, Text
from tests.support.scripted_memory import asked, scripted
from tests.support.scripted_models import Hang, ScriptedOpenAi, Status, Step

pytestmark = pytest.mark.client

SAID = "I prefer tabs. Remember that."
WRITE = "Write a Python file that prints the totals"
WRITE_AGAIN = "Write another Python file that prints the receipts"
WRITE_AT_LAST = "Write one more Python file that prints the refunds"
LINE = "- prefers-tabs (user): The user prefers tabs"
TABS = Memory(
    "prefers-tabs", "The user prefers tabs", "user", "The editor shows them at any width."
)
VAULT = Memory("deploy-key", "Where the deploy key is", "reference", "In the vault, blue shelf.")
RECEIPTS = ("How does the till print receipts?", "How does it print refunds?", "And the vouchers?")
FAULTS = {"error": Status(500), "hang": Hang(), "unreadable": "I am a teapot."}


def say(installed: Installation, prompt: str) -> str:
    """A session of one turn, until it is worked up."""
    done = installed.client.run(prompt)
    assert done.returncode == 0, done
    installed.settled()
    return done.session_id


def remember(installed: Installation, *written: Memory) -> None:
    env = installed.client.environment()
    memories = wiring.memories(
        wiring.home(env), str(installed.client.project), clock.now, installed.client.environment()
    )
    with memories.change("test") as change:
        for memory in written:
            change.write(memory)


def told_soon(
    api: ScriptedApi, installed: Installation, *prompts: str, session: str | None = None
) -> tuple[str, str]:
    """What the prompts of one session were told, and the session. On a slow machine a hook may not wait for
    its answer; then the next prompt is told."""
    for prompt in prompts:
        session = installed.client.run(prompt, resume=session).session_id
        installed.settled()
        _, lead, told = last_request(api, prompt).partition(LEAD)
        if lead:
            return told, session
    raise AssertionError(f"nothing was told at {prompts}")


@pytest.fixture
def modelled(prepared: Installation) -> Iterator[tuple[Installation, ScriptedOpenAi]]:
    """A user with a model of their own."""
    with ScriptedOpenAi() as model:
        prepared.client.env |= {
            "AFORESAID_SYNTHESIS_PROVIDER": "openai",
            "AFORESAID_SYNTHESIS_ENDPOINT": model.url,
            "AFORESAID_SYNTHESIS_MODEL": "scripted",
        }
        prepared.cli("install")
        prepared.cli("worker", "start")
        yield prepared, model


def test_what_was_said_once_is_a_file_and_the_next_session_knows_it(
    api: ScriptedApi, installed: Installation
) -> None:
    say(installed, SAID)
    place = installed.paths.memory / "user"
    assert "I prefer tabs." in (place / "prefers-tabs.md").read_text()
    assert (
        place / "MEMORY.md"
    ).read_text() == "- [prefers-tabs](prefers-tabs.md) — The user prefers tabs\n"

    session = say(installed, "Let us begin.")

    told = last_request(api, "Let us begin.")
    assert told.count(MEMORY) == told.count(LINE) == 1
    assert LEAD not in told

    told, _ = told_soon(api, installed, WRITE, WRITE_AGAIN, session=session)
    assert "I prefer tabs." in told

    installed.client.run(WRITE_AT_LAST, resume=session)
    told = last_request(api, WRITE_AT_LAST)
    assert told.count(LEAD) == told.count("I prefer tabs.") == 1
    why = installed.cli("why", session)
    assert "near to the prompt" in why
    assert "listed in the brief" in why


def test_what_holds_everywhere_is_known_in_another_project_and_what_does_not_is_not(
    api: ScriptedApi, installed: Installation
) -> None:
    say(installed, f"{SAID} Our staging server is called otter. Remember that.")
    elsewhere = installed.client.root / "elsewhere"
    elsewhere.mkdir()

    installed.client.run("What is this place?", cwd=elsewhere)
    installed.client.run("What is our place?")

    assert "otter" in last_request(api, "What is our place?")
    told = last_request(api, "What is this place?")
    assert LINE in told
    assert "otter" not in told


def test_a_model_chooses_by_names_and_descriptions_alone_and_its_choice_is_told(
    api: ScriptedApi, modelled: tuple[Installation, ScriptedOpenAi]
) -> None:
    installed, model = modelled
    model.then = scripted("Asks for: how receipts are printed\nNotes: deploy-key")
    remember(installed, TABS, VAULT)

    told, session = told_soon(api, installed, *RECEIPTS)

    assert VAULT.body in told
    assert TABS.body not in told
    assert "the model chose it for the prompt" in installed.cli("why", session)
    seen = json.dumps(asked(model, "select")[0])
    for memory in (TABS, VAULT):
        assert f"{memory.name}: {memory.description}" in seen
        assert memory.body not in seen
    assert RECEIPTS[0] in seen


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(step, id=name, marks=[] if name == "hang" else pytest.mark.long)
        for name, step in FAULTS.items()
    ],
)
def test_words_find_it_where_the_model_fails(
    api: ScriptedApi, modelled: tuple[Installation, ScriptedOpenAi], fault: Step
) -> None:
    installed, model = modelled
    model.then = scripted(fault)
    remember(installed, TABS, VAULT)

    told, session = told_soon(api, installed, WRITE, WRITE_AGAIN)

    assert TABS.body in told
    assert VAULT.body not in told
    assert asked(model, "select")
    assert "near to the prompt" in installed.cli("why", session)


def test_a_model_keeps_what_was_only_meant(
    api: ScriptedApi, modelled: tuple[Installation, ScriptedOpenAi]
) -> None:
    installed, model = modelled
    said = "we have to keep the audit log for seven years because legal wants it"
    kept = {
        "type": "project",
        "name": "audit-log-seven-years",
        "description": "The audit log is kept for seven years",
        "body": said,
    }
    model.then = scripted(extract=json.dumps([kept]))

    say(installed, said)

    files = installed.paths.memory.glob("projects/*/*audit-log*.md")
    [file] = [each for each in files if said in each.read_text()]
    installed.client.run("What is next?")
    assert f"{file.stem} (project)" in last_request(api, "What is next?")


def test_a_correction_changes_the_memory_and_the_history_shows_it(
    api: ScriptedApi, installed: Installation
) -> None:
    say(installed, SAID)
    say(installed, "no, use spaces instead")

    [file] = (installed.paths.memory / "user").glob("prefers-*.md")
    assert "description: The user prefers spaces" in file.read_text()
    log = installed.cli("memory", "log")
    assert log.index("corrected: prefers-tabs") < log.index("remembered: prefers-tabs")
    assert "+description: The user prefers spaces" in installed.cli("memory", "diff")

    told, _ = told_soon(api, installed, WRITE, WRITE_AGAIN)

    assert "I prefer spaces." in told
    assert "I prefer tabs." not in told


def test_what_the_agent_keeps_itself_is_not_kept_again(
    api: ScriptedApi, installed: Installation
) -> None:
    theirs = client_directory_path(str(installed.client.project), installed.client.environment())
    assert theirs is not None
    text = "---\nname: tabs\ndescription: Indent with tabs\ntype: user\n---\n\nTabs.\n"
    wanted = {"file_path": str(theirs / "tabs.md"), "content": text}
    api.when(SAID, Call("Write", wanted), Text("I wrote it down."))

    installed.client.run(SAID, args=["--permission-mode", "acceptEdits"])
    installed.settled()

    assert "Indent with tabs" in (theirs / "tabs.md").read_text()
    assert not list(installed.paths.memory.glob("user/*"))
