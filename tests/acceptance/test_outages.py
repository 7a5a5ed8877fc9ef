"""A model that answers nonsense, is overloaded, slow, out of budget or absent: what the next session is told.

Four turns of one session with the real client, then a second session. `pytest -s` prints the table:

    .venv/bin/python -m pytest -s -m slow tests/acceptance/test_outages.py | grep '^|'
"""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.conftest import NewClient
from tests.acceptance.product import Installation, last_request, write
from tests.support.client import until
from tests.support.product import command
from tests.support.scripted_api import ScriptedApi, Text
from tests.support.scripted_models import Say, ScriptedOpenAi, Status, Step
from tests.support.stub_model import rows

pytestmark = pytest.mark.client

TURNS = {
    "discount": "Orders of ten pieces and more get 5 %, because the shop wants fewer small parcels.",
    "invoice": "The invoice showed gross prices: the tax was added twice in `total()`.",
    "retry": "The payment API answers 502 on Mondays, so the client now retries three times.",
    "cache": "The cache is keyed by the customer and not by the basket, because baskets change ids.",
}
MOST_REQUESTS, MOST_PER_JOB = 8, 2
WATCHED_SECONDS = 20  # after the last turn: time enough for a storm of requests


@dataclass(frozen=True, slots=True)
class Outage:
    """`rests`: `status` says in one line that the model rests, with these words."""

    name: str
    step: Step = ""
    env: tuple[tuple[str, str], ...] = ()
    rests: str = ""


OUTAGES = (
    Outage("no model", env=(("AFORESAID_SYNTHESIS_PROVIDER", "rules"),)),
    Outage("nonsense", "The weather is fine today.", rests="could not be used"),
    Outage("529", Status(529), rests="unavailable (529)"),
    Outage("429", Status(429, {"retry-after": "3600"}), rests="rate limit"),
    Outage("60 s replies", Say("<none/>" * 100, pause=2.0)),
    Outage("budget", "", (("AFORESAID_COST_DAILY_TOKENS", "6000"),), rests="tokens a day"),
)


@pytest.fixture
def user(
    request: pytest.FixtureRequest, new_client: NewClient, tmp_path: Path
) -> Iterator[tuple[Installation, ScriptedOpenAi]]:
    outage: Outage = request.param
    with ScriptedOpenAi(then=outage.step) as model:
        env = {
            "AFORESAID_HOME": str(tmp_path / "memory"),
            "AFORESAID_SYNTHESIS_PROVIDER": "openai",
            "AFORESAID_SYNTHESIS_ENDPOINT": model.url,
            "AFORESAID_SYNTHESIS_MODEL": "small",
            **dict(outage.env),
        }
        installation = Installation(new_client(env=env))
        installation.cli("install")
        yield installation, model
        installation.close()


def rests_in_status(installation: Installation) -> list[str]:
    status = command(["status"], env=installation.client.environment()).stdout.splitlines()
    return [line.strip() for line in status if "next try in" in line]


@pytest.mark.parametrize(
    ("outage", "user"),
    [pytest.param(each, each, id=each.name) for each in OUTAGES],
    indirect=["user"],
)
def test_the_next_session_is_told_everything_and_nobody_storms_the_model(
    api: ScriptedApi, user: tuple[Installation, ScriptedOpenAi], outage: Outage
) -> None:
    installation, model = user
    session = None
    for name, finding in TURNS.items():
        asked = f"Please see to {name}.py"
        api.when(asked, write(f"{name}.py", f"{name} = 1\n"), Text(finding))
        session = installation.client.run(asked, resume=session).session_id
    assert session is not None
    until(lambda: len(installation.observations(session)) >= len(TURNS))
    until(lambda: bool(rests_in_status(installation)) == bool(outage.rests))
    rests = rests_in_status(installation)
    if outage.step:
        time.sleep(WATCHED_SECONDS)

    installation.client.run("go on")

    told = last_request(api, "go on").partition("<aforesaid-memory")[2]
    brief = told.partition("</aforesaid-memory>")[0].splitlines()
    per_job = Counter(rows(installation.paths.database, "SELECT job_id FROM requests"))
    most = max(per_job.values(), default=0)
    missing = [name for name in TURNS if f"{name}.py" not in told]
    sys.stdout.write(
        f"\n| {outage.name} | {len(brief)} lines, {len(TURNS) - len(missing)} of {len(TURNS)} turns"
        f" | {most} | {len(model.requests)} | {' '.join(rests)} |\n"
    )
    assert missing == []
    assert most <= MOST_PER_JOB
    assert len(model.requests) <= MOST_REQUESTS
    assert [outage.rests in line for line in rests] == ([True] if outage.rests else [])
