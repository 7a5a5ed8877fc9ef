"""What survives a compaction, as the model API sees it: before it, and after."""

import pytest

from aforesaid.memory.session import COMPACTION_LEAD, COMPACTION_REASON
from aforesaid.model.events import CompactionBegan
from aforesaid.recall import brief
from aforesaid.worker import rpc
from tests.acceptance.product import MEMORY, Installation, bash, last_request, write
from tests.support.scripted_api import Call, ScriptedApi, Text, strings_in

pytestmark = pytest.mark.client

ASKED = "Add a bulk discount to pricing.py. Never change the price of a single piece."
FULL = {"input_tokens": 990_000, "output_tokens": 10}  # the client compacts by itself after that
FAILING = "python3 -c 'raise SystemExit(\"the till is closed\")'"


def work(api: ScriptedApi, installed: Installation) -> str:
    api.when(
        ASKED,
        write("pricing.py", "def discount(quantity):\n    return 0.05 if quantity > 10 else 0\n"),
        bash(FAILING),
        Text("Ten pieces are cheaper.\n\nNext step: Show it on the invoice."),
    )
    done = installed.client.run(ASKED)
    assert done.returncode == 0, done
    installed.settled()
    return done.session_id


def compaction(api: ScriptedApi) -> str:
    """All text of the request that asks for the summary; there must be one."""
    (request,) = [r for r in api.requests if r["kind"] == "compact"]
    return "\n".join(strings_in(request["body"]))


def is_kept(asked: str) -> bool:
    instructions = asked.partition("Additional Instructions:")[2]
    needed = (ASKED, "Never change the price", "pricing.py", "the till is closed", "the invoice")
    return COMPACTION_LEAD in instructions and all(each in instructions for each in needed)


def test_a_compaction_is_told_what_to_keep_and_the_session_gets_it_back(
    api: ScriptedApi, installed: Installation
) -> None:
    session = work(api, installed)
    file = installed.paths.memory / "sessions" / f"claude-code-{session}.md"
    assert "Show it on the invoice" in file.read_text().partition("## Next steps")[2]

    installed.client.command("-p", "/compact mind the tests", "--resume", session)
    installed.client.run("what now", resume=session)

    asked = compaction(api)
    assert is_kept(asked)
    assert asked.index("mind the tests") < asked.index(COMPACTION_LEAD)
    own = last_request(api, "what now").partition(brief.THIS_SESSION)[2]
    assert "Show it on the invoice" in own
    installed.settled()
    (began,) = installed.events(session, "compact")
    assert began.event.what == CompactionBegan("manual", "mind the tests")
    assert COMPACTION_REASON in installed.cli("why", session)


def test_a_conversation_that_it_can_stand_for_gets_it_whole(
    api: ScriptedApi, installed: Installation
) -> None:
    session = work(api, installed)
    for number in range(3):
        installed.client.run(f"Think about part {number}. " + "More words. " * 1400, resume=session)
    installed.settled()

    installed.client.command("-p", "/compact", "--resume", session)
    installed.client.run("what now", resume=session)

    told = last_request(api, "what now")
    assert told.count(MEMORY) == 1
    own = told.partition(brief.THIS_SESSION)[2].partition("\n## ")[0]
    headings = [line for line in own.splitlines() if line.startswith("### ")]
    assert headings == [
        *("### Goal", "### State", "### Decisions", "### Files", "### Errors met"),
        "### Next steps",
    ]
    for said in ("Asked at first: Add a bulk discount", "pricing.py (changed)", "till is closed"):
        assert said in own


def test_a_client_that_compacts_in_the_middle_of_a_turn_is_told_too(
    api: ScriptedApi, installed: Installation
) -> None:
    installed.cli("worker", "start")
    slow = {"command": "sleep 2", "description": "So that the prompt is stored by then"}
    api.when(ASKED, Call("Bash", slow, usage=FULL), Text("Not said: the turn goes on elsewhere."))

    done = installed.client.run(ASKED)

    assert done.returncode == 0
    instructions = compaction(api).partition("Additional Instructions:")[2]
    assert COMPACTION_LEAD in instructions
    assert f"- Asked: {ASKED}" in instructions
    installed.settled()
    (began,) = installed.events(done.session_id, "compact")
    assert began.event.what == CompactionBegan("auto", "")


def test_without_a_worker_a_compaction_goes_on_in_silence_and_is_kept(
    api: ScriptedApi, installed: Installation
) -> None:
    session = work(api, installed)
    rpc.stop(installed.paths)
    # A hook would start another one.
    installed.paths.starting_file.touch()

    done = installed.client.command("-p", "/compact", "--resume", session)

    assert done.returncode == 0
    assert "Additional Instructions" not in compaction(api)
    installed.paths.starting_file.unlink(missing_ok=True)
    installed.client.run("what now", resume=session)
    installed.settled()
    assert len(installed.events(session, "compact")) == 1
