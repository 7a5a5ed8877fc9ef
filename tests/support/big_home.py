"""A home that has seen three months of work: 3 projects, 200 sessions, 10,000 observations, 40 memories.

`python -m tests.support.big_home DIR` makes one by hand. The same numbers every time, but for the dates:
the last session ended a few minutes before it was made.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from textwrap import shorten

from aforesaid import clock, wiring
from aforesaid.clock import DAY, HOUR, MINUTE, SECOND
from aforesaid.memory.changes import Memories
from aforesaid.model.memories import Memory
from aforesaid.model.observations import Doubt, ObservationDraft
from aforesaid.model.records import (
    BlobRecord,
    DirRecord,
    EventRecord,
    JobRecord,
    ObservationRecord,
    ProjectRecord,
    PromptRecord,
    Record,
    RequestRecord,
    SessionRecord,
    SummaryRecord,
)
from aforesaid.model.search import Injection, MemoryInjection
from aforesaid.paths import Paths
from aforesaid.repository import identify
from aforesaid.store.store import Store
from tests.support import big_home_words as words
from tests.support.big_home_words import DOMAINS, Domain
from tests.support.values import blob_id

SESSIONS, PER_SESSION, DAYS, MEMORIES = 200, 50, 90, 40
MODELS = (("anthropic", "claude-haiku-4-5", 1, 5), ("claude", "claude-sonnet-5", 3, 15))


def make(home: Path, *, sessions: int = SESSIONS, per_session: int = PER_SESSION) -> Path:
    """In an empty folder: `home` is what AFORESAID_HOME names; the repositories stand beside it."""
    paths = Paths(config=home, data=home, state=home)
    paths.make()
    settings = wiring.home({"AFORESAID_HOME": str(home)})
    roots = [_repository(home.parent / "work" / domain.name, domain) for domain in DOMAINS]
    store = wiring.open_for_writing(paths, wiring.encoder(settings.settings))
    try:
        _fill(store, roots, sessions, per_session)
        _index(store)
        pinned = [
            _remember(wiring.memories(settings, str(root), clock.now, {}), domain)
            for domain, root in zip(DOMAINS, roots, strict=True)
        ]
        _tell(store, roots, pinned)
    finally:
        store.close()
    return home


def _repository(root: Path, domain: Domain) -> Path:
    for _, file, _ in domain.parts:
        path = root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {file}\n")
    git = ["git", "-c", "user.name=Dev", "-c", "user.email=dev@example.com", "-C", str(root)]
    env = os.environ | {"GIT_CONFIG_GLOBAL": "/dev/null"}
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", f"Begin {domain.name}"]):
        subprocess.run([*git, *arguments], check=True, env=env)
    return root


def _fill(store: Store, roots: list[Path], sessions: int, per_session: int) -> None:
    rng = random.Random(7)
    now = clock.now()
    store.transfer.begin()
    projects = [_project(root, now - DAYS * DAY) for root in roots]
    # Busy days and quiet days; the last one is today.
    days = sorted((rng.betavariate(1.1, 0.9) * DAYS for _ in range(sessions - 1)), reverse=True)
    for number, ago in enumerate([*days, 0.0]):
        which = rng.choices(range(3), (5, 3, 2))[0] if ago else 0
        start = _working_hour(rng, now - int(ago * DAY)) if ago else now - 50 * MINUTE
        records = list(
            _session(rng, projects[which], DOMAINS[which], roots[which], number, start, per_session)
        )
        store.transfer.import_records([projects[which], *records])
    store.transfer.end()


def _working_hour(rng: random.Random, at: int) -> int:
    """On that day, or on the Friday before a weekend; never in the future."""
    day = at // DAY * DAY
    weekday = (day // DAY + 3) % 7
    if weekday > 4 and rng.random() < 0.8:
        day -= (weekday - 4) * DAY
    return min(day + int(rng.triangular(7.5, 19, 11) * HOUR), at - 3 * HOUR)


def _project(root: Path, at: int) -> ProjectRecord:
    found = identify(str(root))
    dirs = (DirRecord(str(root), at),)
    return ProjectRecord(found.name, found.name, found.root, at, found.identities, dirs)


def _session(
    rng: random.Random,
    project: ProjectRecord,
    domain: Domain,
    root: Path,
    number: int,
    start: int,
    per_session: int,
) -> Iterator[Record]:
    ref = f"{number:08x}-0000-4000-8000-{number:012x}"
    name, turns, last = f"claude-code/{ref}", 5, number == SESSIONS - 1
    step = (40 if last else rng.randint(25, 150)) * MINUTE // (turns * 12)
    end = start + turns * 12 * step
    title = shorten(words.prompt(rng, domain), 70, placeholder="…")
    yield SessionRecord(
        session=name, project=project.project, agent="claude-code", ref=ref, project_dir=str(root),
        transcript=None, status="active" if last else rng.choice(("completed", "completed", "interrupted")),
        started_at=start, last_event_at=end, ended_at=None if last else end, title=title,
        subtitle=None, prompts=turns,
    )  # fmt: skip
    for turn in range(1, turns + 1):
        at = start + (turn - 1) * 12 * step
        text = words.prompt(rng, domain)
        yield PromptRecord(name, turn, f"p{turn}", at, text)
        yield from _jobs(name, turn, at, author="anthropic claude-haiku-4-5")
        yield _event(
            name,
            f"prompt:p{turn}",
            "prompt",
            None,
            at,
            turn,
            {"hook_event_name": "UserPromptSubmit", "prompt": text},
        )
        count = per_session // turns
        for index in range(count):
            when = at + (index + 1) * step
            draft = words.draft(rng, domain, index)
            use = f"toolu_{number:04d}{turn}{index:02d}"
            tool = "Edit" if draft.files_modified else rng.choice(("Read", "Bash"))
            yield _event(
                name, f"tool:{use}", "tool", tool, when, turn, _tool(tool, use, ref, root, draft)
            )
            yield _observation(rng, name, turn, index, when, use, draft)
        yield _summary(rng, name, turn, at + 11 * step, domain)
        yield _event(
            name, f"stop:p{turn}", "stop", None, at + 11 * step, turn,
            {"hook_event_name": "Stop", "last_assistant_message": "Done, and the tests pass."},
        )  # fmt: skip
        yield from _requests(rng, name, project.project, turn, at)


def _jobs(name: str, turn: int, at: int, author: str) -> Iterator[JobRecord]:
    for offset, kind in enumerate(("observe", "summarize")):
        yield JobRecord(
            session=name, job=turn * 2 - 1 + offset, kind=kind, prompt_number=turn, state="done",  # type: ignore[arg-type]
            tries=1, due_at=at, last_error=None, created_at=at, finished_at=at + MINUTE,
            written_by=author,
        )  # fmt: skip


def _event(
    name: str, key: str, kind: str, tool: str | None, at: int, turn: int, body: dict[str, object]
) -> EventRecord:
    hook = {"prompt": "new", "stop": "summary"}.get(kind, "save")
    return EventRecord(
        session=name, key=key, kind=kind, tool=tool, hook=hook, capture_id=f"{name}-{key}", at=at,
        prompt_number=turn, prompt_id=f"p{turn}", subagent_type=None, boring=False, healed=False,
        job=turn * 2 - 1 if kind == "tool" else None, body=json.dumps(body).encode(),
    )  # fmt: skip


def _tool(tool: str, use: str, ref: str, root: Path, draft: ObservationDraft) -> dict[str, object]:
    path = str(root / draft.files_read[0])
    inputs: dict[str, dict[str, object]] = {
        "Edit": {"file_path": path, "old_string": "timeout = 5", "new_string": "timeout = 30"},
        "Read": {"file_path": path},
        "Bash": {"command": f"pytest -q {draft.files_read[0]}", "description": "Run the tests"},
    }
    responses: dict[str, dict[str, object]] = {
        "Edit": {"filePath": path, "structuredPatch": []},
        "Read": {"type": "text", "file": {"filePath": path, "content": f"# {path}\n"}},
        "Bash": {"stdout": "1 failed, 12 passed", "stderr": "", "interrupted": False},
    }
    return {
        "hook_event_name": "PostToolUse", "session_id": ref, "cwd": str(root), "tool_name": tool,
        "tool_use_id": use, "tool_input": inputs[tool], "tool_response": responses[tool],
    }  # fmt: skip


def _observation(
    rng: random.Random, name: str, turn: int, index: int, at: int, use: str, draft: ObservationDraft
) -> ObservationRecord:
    doubts = (Doubt("facts 0", "no event names this test"),) if rng.random() < 0.04 else ()
    before = f"{name}#{turn}.{index - 1}" if index and rng.random() < 0.1 else None
    # As it still is, or as it was before somebody changed it.
    content = f"# {draft.files_read[0]}\n" if rng.random() < 0.8 else "# older\n"
    blobs = tuple(BlobRecord(path, blob_id(content.encode())) for path in draft.files_read)
    return ObservationRecord(
        session=name, observation=f"{name}#{turn}.{index}", job=turn * 2 - 1, ordinal=index,
        prompt_number=turn, at=at, provider="anthropic", model="claude-haiku-4-5", type=draft.type,
        title=draft.title, subtitle=draft.subtitle, narrative=draft.narrative, subagent_type=None,
        pinned=rng.random() < 0.002, edited=False, facts=draft.facts, concepts=draft.concepts,
        files_read=draft.files_read, files_modified=draft.files_modified, doubts=doubts,
        evidence=(f"tool:{use}",), follows=before, revision=blob_id(name.encode()), blobs=blobs,
    )  # fmt: skip


def _summary(rng: random.Random, name: str, turn: int, at: int, domain: Domain) -> SummaryRecord:
    said = words.said(rng, domain)
    return SummaryRecord(
        session=name, prompt_number=turn, at=at, provider="anthropic", model="claude-haiku-4-5",
        request=f"Find out why {said['thing']} {said['trouble']}",
        investigated=f"Read {said['file']} and its tests, ran them twice",
        learned=f"{said['thing']} {said['trouble']} because the value is taken before the lock",
        completed=f"Fixed {said['file']}, with a test", next_steps="Watch it on the CI machine for a week",
        notes=None, files_read=(said["file"],), files_edited=(said["file"],),
    )  # fmt: skip


def _requests(
    rng: random.Random, name: str, project: str, turn: int, at: int
) -> Iterator[RequestRecord]:
    for offset, purpose in enumerate(("observe", "summarize")):
        provider, model, price_in, price_out = rng.choices(MODELS, (4, 1))[0]
        sent, received = rng.randint(2_000, 6_000), rng.randint(200, 900)
        yield RequestRecord(
            session=name, project=project, job=turn * 2 - 1 + offset, at=at + offset * MINUTE,
            provider=provider, model=model, prompts="p1", purpose=purpose,  # type: ignore[arg-type]
            digest=f"{name}{turn}{offset}", outcome="answered", error=None, sent=sent,
            cached=sent // 2, written=0, received=received, estimated=False,
            microdollars=sent * price_in + received * price_out,
            milliseconds=rng.randint(700, 4_000), stored=True,
        )  # fmt: skip


def _index(store: Store) -> None:
    while store.index.update(1_000):
        pass
    below: int | None = None
    while (below := store.index.encode(500, below=below)) is not None:
        pass


def _remember(memories: Memories, domain: Domain) -> str:
    """A third of the memories each, then changes of some, for the history. The name of the pinned one."""
    rng = random.Random(domain.name)
    drafts = [_memory(rng, domain, number) for number in range(MEMORIES // 3 + 1)]
    with memories.change("extracted from a session") as change:
        written = {each.name: change.write(each) for each in drafts}
    for name in sorted(written)[:4]:
        stored = memories.get(name)
        assert stored is not None
        again = replace(stored.memory, body=f"{stored.memory.body}\n- Checked again in CI.\n")
        with memories.change(f"dream: {name} said more exactly") as change:
            change.write(again, expected=stored.checksum)
    with memories.change("retired: it no longer holds") as change:
        change.retire(sorted(written)[-1], "it no longer holds")
    return drafts[0].name


def _memory(rng: random.Random, domain: Domain, number: int) -> Memory:
    said = words.said(rng, domain)
    kind = ("project", "feedback", "reference", "project")[number % 4]
    slug = f"{said['slug'].replace('_', '-')}-{number + 1}"
    return Memory(
        name=slug,
        description=words.description(said, number),
        type=kind,
        body=f"# {said['thing'].capitalize()}\n\n"
        f"**Always** go through `{said['file']}`; it {said['trouble']} otherwise.\n\n"
        "## Why\n\nIt broke a release once, see "
        f"[the notes](https://example.com/notes/{slug}).\n\n"
        f"## How to apply\n\n1. Read `{said['file']}` first\n2. Run `make test`\n"
        f'   - at most {said["count"]} entries at once\n\n```sh\nmake test ARGS="-k {said["slug"]}"\n```\n',
        pinned=number == 0,
        evidence=(f"observation {number + 1}",),
    )


def _tell(store: Store, roots: list[Path], pinned: list[str]) -> None:
    """What the newest sessions of each project were told, and why."""
    for root, name in zip(roots, pinned, strict=True):
        project = store.projects.find_by_dir(str(root))
        assert project is not None
        known = store.observations.recent(project, 60)
        for session in store.sessions.recent(project, 12):
            told = [
                Injection("observation", o.id, "newest of the project", 40 + o.id % 50)
                for o in known[40:52]
            ]
            store.injections.add(session.id, "context", told, session.started_at + SECOND)
            matched = [Injection("observation", known[53].id, "matches: lock, test", 61)]
            store.injections.add(session.id, "new", matched, session.started_at + HOUR // 4)
            memory = MemoryInjection(name, "project", "pinned", 80, 320)
            store.injections.add(session.id, "context", [memory], session.started_at + SECOND)


def copied(kept: Path, into: Path) -> Path:
    """A home of one's own to change, from one that was made before."""
    shutil.copytree(kept, into, ignore=shutil.ignore_patterns("run"))  # no sockets
    return into


if __name__ == "__main__":
    sys.stdout.write(f"{make(Path(sys.argv[1]).absolute())}\n")
