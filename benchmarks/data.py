"""Made-up captures, and a store that looks like a year of work."""

import itertools
import json
import random
from functools import cache
from itertools import islice
from pathlib import Path

from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.agents.claude_code.install import AGENT
from aforesaid.hook.capture import header
from aforesaid.model.events import Arrival, Capture, Event
from aforesaid.model.jobs import OBSERVE, Fenced
from aforesaid.model.observations import Author, ObservationDraft, SummaryDraft
from aforesaid.model.sessions import SessionTitle
from aforesaid.repository import identify
from aforesaid.store.store import Store
from benchmarks.home import Home

KB, MB = 1024, 1024 * 1024
SESSION, USE = "@session@", "@use@"
WORDS = (
    *("return", "value", "import", "self", "order", "basket", "price", "tax", "total", "index"),
    *("cache", "query", "result", "token", "lease", "retry", "worker", "spool", "parse", "render"),
    *("budget", "window", "request", "reply", "header", "session", "project", "summary", "assert"),
)
FILES = tuple(f"src/{a}/{b}.py" for a in WORDS[8:20] for b in WORDS[20:28])
LEASE = 3_600_000
_count = itertools.count(1)


@cache
def prose(length: int, seed: int = 0) -> str:
    """Source-like text that compresses as source does, to about a quarter."""
    chance = random.Random(seed)
    lines = []
    size = 0
    while size < length:
        words = " ".join(chance.choices(WORDS, k=chance.randint(2, 9)))
        line = f"{'    ' * chance.randint(0, 3)}{words}({chance.randint(0, 9999)})"
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines)[:length]


@cache
def _tool_template(size: int, seed: int) -> bytes:
    path = FILES[seed % len(FILES)]
    file = {"filePath": path, "content": "", "numLines": 9, "startLine": 1, "totalLines": 9}
    payload = _common("PostToolUse") | {
        "tool_name": "Read",
        "tool_input": {"file_path": path},
        "tool_response": {"type": "text", "file": file},
        "tool_use_id": USE,
        "duration_ms": 12,
    }
    file["content"] = prose(size, seed)[: size - len(json.dumps(payload))]
    while len(data := json.dumps(payload)) > size:  # escapes take room of their own
        file["content"] = str(file["content"])[: size - len(data)]
    return data.encode()


def tool_used(size: int, session: str = "bench", seed: int = 0) -> bytes:
    """A tool call of about this size. Each has an id of its own, so that none is a duplicate."""
    return _fill(_tool_template(size, seed), session)


def tools_used(size: int, count: int) -> list[bytes]:
    return [tool_used(size) for _ in range(count)]


def session_started(session: str | None = None) -> bytes:
    payload = _common("SessionStart") | {"source": "startup"}
    return _fill(json.dumps(payload).encode(), session or f"bench-{next(_count)}")


def prompt_submitted(session: str, prompt: str) -> bytes:
    payload = _common("UserPromptSubmit") | {"prompt": prompt, "prompt_id": USE}
    return _fill(json.dumps(payload).encode(), session)


def spool(home: Home, count: int, size: int, sessions: int = 20) -> None:
    """Captures as the hooks leave them."""
    head = header(AGENT, "save", str(home.project))
    for number in range(count):
        body = tool_used(size, f"bench-{number % sessions}", number % 50)
        (home.paths.spool_new / f"capture-{number:06}").write_bytes(head + body)


def remember(home: Home, observations: int, each: int = 34, events: int = 40) -> list[str]:
    """Fill the store by its own methods: sessions with events, observations and a summary each, in a
    repository with work under way. Returns a prompt about each session, as somebody may ask who has forgotten
    it."""
    from benchmarks.search.synthetic import (
        Text,
    )  # numpy, which most benchmarks need not wait for

    made = Text()
    prompts = []
    store = Store(home.paths.database, writer=True)
    try:
        directory = str(home.project)
        last = made.drafts(each)
        home.make_repository("/".join(made.query(last[0])[:2]), {d.files_read[0] for d in last})
        project = store.projects.resolve(identify(directory), directory, 1)
        for number, done in enumerate(range(0, observations, each)):
            at = 1_700_000_000_000 + number * LEASE
            drafts = made.drafts(min(each, observations - done))
            about = drafts[number % len(drafts)]
            prompt = f"Why does {' '.join(made.query(about))} fail in {about.files_read[0]}?"
            _one_session(store, project, home.project, at, events, prompt, drafts)
            prompts.append(prompt)
        stored = store.health().observations
        assert stored == observations, stored
        return prompts
    finally:
        store.close()


def _one_session(
    store: Store,
    project: int,
    directory: Path,
    at: int,
    events: int,
    prompt: str,
    drafts: list[ObservationDraft],
) -> None:
    ref = f"past-{at}"
    asked = prompt_submitted(ref, prompt)
    bodies = [asked, *(tool_used(10 * KB, ref, n % 50) for n in range(events)), _stop(ref)]
    store.events.add([_arrival(b, directory, project, at + n) for n, b in enumerate(bodies)], at)
    told = [draft.facts[0] for draft in islice(itertools.cycle(drafts), 5)]
    summary = SummaryDraft(told[0], told[1], told[2], told[3], told[4])
    title = SessionTitle(drafts[0].title, drafts[0].subtitle)
    while (job := store.jobs.claim("bench", at, at + LEASE)) is not None:
        if job.kind == OBSERVE:
            done: object = store.jobs.finish_observations(job, Author("rules"), drafts, at, at)
            drafts = []  # a long turn is worked up in parts; one of them shall have them all
        else:
            done = store.jobs.finish_summary(job, Author("rules"), summary, at, at, title=title)
        assert not isinstance(done, Fenced)


def _arrival(body: bytes, directory: Path, project: int, at: int) -> Arrival:
    capture = Capture(f"bench-{next(_count)}", "claude-code", "save", str(directory), body, at)
    event = ClaudeCode().parse(capture)
    assert isinstance(event, Event)
    return Arrival(capture, event, project, boring=False)


def _stop(session: str) -> bytes:
    payload = _common("Stop") | {"last_assistant_message": prose(400), "prompt_id": USE}
    return _fill(json.dumps(payload).encode(), session)


def _common(event: str) -> dict[str, object]:
    transcript = f"/home/dev/.claude/projects/shop/{SESSION}.jsonl"
    return {"session_id": SESSION, "transcript_path": transcript, "hook_event_name": event}


def _fill(template: bytes, session: str) -> bytes:
    use = f"toolu_{next(_count):012}".encode()
    return template.replace(SESSION.encode(), session.encode()).replace(USE.encode(), use)
