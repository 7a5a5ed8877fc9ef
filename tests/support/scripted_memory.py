"""A scripted model that is asked about curated memories: which to tell, and what of a turn to keep."""

from tests.support.scripted_models import ScriptedOpenAi
from tests.support.scripted_steps import Json, Step

# Each prompt of ours begins in its own way.
BEGINNINGS = {
    "select": "A coding agent keeps notes",
    "extract": "You keep the long-term memory",
    "dream": "You tidy the long-term memory",
}


def purpose(body: Json) -> str:
    """Of a request; empty for what is written about turns."""
    system = str(body["messages"][0]["content"])
    found = (name for name, words in BEGINNINGS.items() if system.startswith(words))
    return next(found, "summarize" if "Write the summary." in str(body["messages"][-1]) else "")


def asked(model: ScriptedOpenAi, wanted: str) -> list[Json]:
    return [body for body in model.bodies if purpose(body) == wanted]


def scripted(
    select: Step = "Notes: none",
    extract: Step = "[]",
    dream: Step = "{}",
    other: Step = "<none/>",
) -> Step:
    """What it answers to each; `other`: of turns."""
    steps = {"select": select, "extract": extract, "dream": dream}

    def answer(body: Json) -> Step:
        return steps.get(purpose(body), other)

    return answer
