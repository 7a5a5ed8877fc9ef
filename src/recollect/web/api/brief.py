"""What the next session of a project will be told. Only looked at: nothing counts as told."""

from collections.abc import Iterator
from dataclasses import replace

from recollect.briefing import Briefing
from recollect.model.search import OBSERVATION
from recollect.parameters import Parameter
from recollect.recall.brief import Brief
from recollect.store.protocol import Reading
from recollect.text import one_line, tokens
from recollect.web.api import parts
from recollect.web.api.memories import directory
from recollect.web.api.parts import (
    FLAG,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    PROJECT,
    TEXT,
    TITLE,
    many,
    shape,
)
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row

MOST = 2400
FRAME = "frame"  # headings, and what is said around it all
SHAPING = ("brief.tokens", "memory.tokens", "recall.tokens", "recall.file_tokens", "memory.client")


def preview(
    backend: Backend,
    *,
    project: int,
    tokens: int | None,
    memories: bool | None,
    work: bool | None,
) -> Json:
    """`memories`, `work`: whether the index of memories and what bears on the current work are in it."""
    settings = backend.home.settings
    budget = settings.number("brief.tokens") if tokens is None else tokens
    found = parts.project(backend, project)
    written = Briefing(backend.store, backend.searcher, backend.memories).write(
        project,
        directory(found),
        budget,
        with_memories=memories is not False,
        with_work=work is not False,
    )
    told = list(_parts(backend.store, written))
    return {
        "text": written.text,
        "tokens": _count(written.text),
        "parts": [*told, _frame(written, told)] if written.text else [],
        "knobs": {
            "tokens": budget,
            "memories": memories is not False,
            "work": work is not False,
            "settings": {name: settings.values[name] for name in SHAPING},
        },
    }


def _parts(store: Reading, written: Brief) -> Iterator[Json]:
    called: Json
    for memory in written.memories:
        called = {"id": None, "name": memory.name, "title": memory.name}
        yield {"kind": "memory", **called, "tokens": memory.tokens, "reason": memory.reason}
    for one in written.told:
        title = one_line(_title(store, one.kind, one.source), TITLE)
        called = {"id": one.source, "name": None, "title": title}
        yield {"kind": one.kind, **called, "tokens": one.tokens, "reason": one.reason}


def _title(store: Reading, kind: str, source: int) -> str:
    if kind == OBSERVATION:
        found = store.observation(source)
        return (found.draft.title or found.draft.subtitle or "") if found else ""
    summary = store.summary(source)
    return (summary.draft.request or summary.draft.completed or "") if summary else ""


def _frame(written: Brief, told: list[Json]) -> Json:
    rest = max(0, _count(written.text) - sum(each["tokens"] for each in told))
    called = {"id": None, "name": None, "title": "headings and what is said around it"}
    return {"kind": FRAME, **called, "tokens": rest, "reason": "always there"}


def _count(text: str) -> int:
    return tokens(text)


PART = shape(kind=TEXT, id=MAYBE_NUMBER, name=MAYBE_TEXT, title=TEXT, tokens=NUMBER, reason=TEXT)
KNOBS = shape(tokens=NUMBER, memories=FLAG, work=FLAG, settings={"type": "object"})
ROWS = (
    Row(
        "GET",
        "/api/brief",
        "What the next session of a project will be told at its start, and what each part costs.",
        preview,
        query=(
            replace(PROJECT, required=True),
            Parameter("tokens", "Of at most so many tokens.", "number", least=0, most=MOST),
            Parameter("memories", "Whether memories are named; yes if not said.", "flag"),
            Parameter("work", "Whether it speaks of the current work; yes if not said.", "flag"),
        ),
        answer=shape(text=TEXT, tokens=NUMBER, parts=many(PART), knobs=KNOBS),
    ),
)
