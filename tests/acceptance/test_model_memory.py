"""The whole way with a model: a session of the real client, worked up by the real client's own login."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aforesaid.worker import rpc
from tests.acceptance.conftest import NewClient
from tests.acceptance.product import Installation, bash, count_briefs, last_request, write
from tests.support.scripted_api import ScriptedApi, Text
from tests.support.stored import events_of

pytestmark = pytest.mark.client

ASKED = "Add a bulk discount to pricing.py"
PRICING = "def discount(quantity):\n    return 0.05 if quantity >= 10 else 0\n"
TITLE = "Bulk discount from ten pieces"
TRUE = "pricing.py: discount() returns 0.05 from a quantity of 10 and 0 below that."
INVENTED = "The new function applyLoyaltyBonus in loyalty/bonus.py adds 750 points per order."
NEXT = "Show the discount on the invoice."
OBSERVATION = f"""<observation><type>feature</type><title>{TITLE}</title>
<subtitle>Orders of ten pieces and more get five percent off.</subtitle>
<facts><fact>{TRUE}</fact><fact>{INVENTED}</fact></facts>
<narrative>A discount function was added to pricing.py.</narrative>
<concepts><concept>pricing</concept></concepts>
<files_modified><file>loyalty/bonus.py</file></files_modified></observation>"""
SUMMARY = f"""<summary><request>Add a bulk discount.</request>
<completed>discount() was added to pricing.py.</completed><next_steps>{NEXT}</next_steps></summary>"""


@pytest.fixture
def modelled(api: ScriptedApi, new_client: NewClient, tmp_path: Path) -> Iterator[Installation]:
    """A user who chose nothing: the login of the client is there, so `auto` takes it."""
    api.when("Write at least one observation", Text(OBSERVATION))
    api.when("No file was changed: write", Text("<none/>"))
    api.when("Write the summary.", Text(SUMMARY))
    installation = Installation(new_client(env={"AFORESAID_HOME": str(tmp_path / "memory")}))
    installation.cli("install")
    yield installation
    rpc.stop(installation.paths)  # and with the worker its agent, which is a client too
    installation.close()


def asked_by_the_agent(api: ScriptedApi) -> list[str]:
    return [r["prompt"] for r in api.requests if r["prompt"].startswith("Project: ")]


def test_a_session_is_remembered_in_the_models_words_and_the_agent_leaves_no_trace(
    api: ScriptedApi, modelled: Installation
) -> None:
    api.when(
        ASKED,
        write("pricing.py", PRICING),
        bash("python3 -c 'import pricing; print(pricing.discount(10))'"),
        Text(f"Orders of ten pieces and more are cheaper now.\n\nNext step: {NEXT}"),
    )
    done = modelled.client.run(ASKED)
    assert done.returncode == 0, done
    modelled.settled()

    [session] = modelled.sessions()  # the agent's own conversation is not one
    [observation] = modelled.observations(done.session_id)
    assert (observation.provider, observation.prompt_number) == ("claude", 1)
    assert observation.draft.title == TITLE
    assert observation.draft.files_modified == ("pricing.py",)  # from the tool, whatever it says
    assert observation.draft.sure_facts == (TRUE,)
    assert {d.part for d in observation.draft.doubts} == {"facts 1", "files_read 0"}
    with modelled.store() as store:
        own = {event.id: event for event in events_of(store, session.id)}
        assert set(observation.draft.evidence) <= set(own)
        assert observation.draft.evidence
        [summary] = store.summaries.for_session(session.id)
        spent = store.requests.spent(0, 1 << 60)
    assert summary.draft.next_steps == NEXT
    assert len(asked_by_the_agent(api)) == spent.requests == 2
    assert all(ASKED in prompt and "pricing.py" in prompt for prompt in asked_by_the_agent(api))
    assert not any("Project: " in kept.body for kept in modelled.events(done.session_id))
    assert len(modelled.client.transcripts()) == 1
    assert rpc.status(modelled.paths)["provider"].startswith("claude haiku")

    modelled.client.run("what is next?")
    told = last_request(api, "what is next?")
    assert count_briefs(told) == 1
    assert TITLE in told
    assert NEXT in told
    assert "applyLoyaltyBonus" not in told
    assert TITLE in modelled.cli("search", "quantity")
    assert "unverified" in modelled.cli("show", str(observation.id))


def test_no_process_of_the_agent_stays_after_a_request(
    api: ScriptedApi, modelled: Installation
) -> None:
    api.when("Write a note", write("note.md", "A note.\n"), Text("Written."))
    modelled.client.run("Write a note")
    modelled.settled()
    assert asked_by_the_agent(api)
    assert modelled.agents() == []
