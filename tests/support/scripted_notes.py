"""A scripted model that keeps notes: it answers each prompt of ours in the form that is asked for, and what
it was sent is counted for each project."""

import re
from collections import Counter
from typing import Any

import pytest

from tests.support.scripted_models import ScriptedOpenAi, Step
from tests.support.scripted_server import Counts

Json = dict[str, Any]

MODEL = "scripted"
OBSERVATION = """<observation><type>feature</type><title>{title}</title>
<subtitle>People can be greeted by name.</subtitle>
<facts><fact>hello.py defines greet(name), which returns Hello and the name.</fact></facts>
<narrative>The model wrote this about: {title}</narrative>
<concepts><concept>greeting</concept></concepts></observation>"""
SUMMARY = """<summary><request>{title}</request><completed>hello.py defines greet.</completed>
<next_steps>Call it from the command line.</next_steps></summary>"""


class Notes(ScriptedOpenAi):
    """`by_project`: sent, cached, received and requests under the project's name."""

    def __init__(self, *steps: Step) -> None:
        self.by_project: dict[str, Counter[str]] = {}
        super().__init__(*steps, then=answer)

    def counted(self, body: Json, reply: str) -> Counts:
        counts = super().counted(body, reply)
        own = self.by_project.setdefault(_told(body, r"^Project: (.*)$"), Counter())
        own.update(sent=counts.sent, cached=counts.cached, received=counts.received, requests=1)
        return counts

    @property
    def added_up(self) -> dict[str, int]:
        return {
            "requests": len(self.requests),
            "sent": self.sent,
            "cached": self.cached,
            "received": self.received,
        }


def answer(body: Json) -> str:
    title = _told(body, r"^The user asked \(request \d+\): (.*)$")
    asked = str(body["messages"][-1]["content"])
    form = SUMMARY if "Write the summary." in asked else OBSERVATION
    return form.format(title=title)


def use(monkeypatch: pytest.MonkeyPatch, url: str, **settings: object) -> None:
    """What is started from now on asks this address."""
    told = {"synthesis_provider": "openai", "synthesis_endpoint": url, "synthesis_model": MODEL}
    for name, value in (told | settings).items():
        monkeypatch.setenv(f"AFORESAID_{name.upper()}", str(value))


def _told(body: Json, pattern: str) -> str:
    found = re.search(pattern, str(body["messages"][-1]["content"]), re.MULTILINE)
    assert found is not None, pattern
    return found[1]
