"""A home in which somebody left something nasty in every field of every kind of thing."""

import json
from pathlib import Path

from aforesaid import clock, wiring
from aforesaid.clock import MINUTE
from aforesaid.model.memories import Memory
from aforesaid.model.observations import Doubt
from aforesaid.model.records import (
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
from aforesaid.model.search import Injection
from aforesaid.paths import Paths
from aforesaid.repository import Identity

# Each calls home or opens a dialog, if anything runs at all.
ATTACKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "<svg onload=alert(3)><animate onbegin=alert(4) attributeName=x></svg>",
    "[click me](javascript:alert(5)) and <javascript:alert(6)>",
    '<a href="javascript:alert(7)" onmouseover=alert(8)>link</a>',
    '"><iframe srcdoc="<script>parent.alert(9)</script>"></iframe>',
    "![pixel](http://evil.example/pixel.png) <img src=http://evil.example/2.png>",
    "<style>*{background:url(http://evil.example/3)}</style><link rel=stylesheet href=//evil.example>",
    "{{constructor.constructor('alert(10)')()}} ${alert(11)} <%= alert(12) %>",
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x9b31m bell\x07",
    "\u202etxt.exe\u202c \u2066hidden\u2069 \u200fright",
    "x" * 4000,
    "<form action=http://evil.example><input name=q autofocus onfocus=alert(13)></form>",
    "--><!--<base href=http://evil.example/><meta http-equiv=refresh content=0;url=//evil.example>",
    "</textarea></pre></code><details open ontoggle=alert(14)>",
    "[a](http://evil.example/ok) [b](data:text/html,<script>alert(15)</script>) [[../../x]]",
)


def make(home: Path) -> Path:
    paths = Paths(config=home, data=home, state=home)
    paths.make()
    known = wiring.home({"AFORESAID_HOME": str(home)})
    store = wiring.open_for_writing(paths)
    root = home.parent / "nasty"
    root.mkdir()
    at = clock.now() - 60 * MINUTE
    try:
        store.transfer.begin()
        for number, attack in enumerate(ATTACKS):
            store.transfer.import_records(
                [_project(attack, root, at, number), *_records(attack, number, root, at)]
            )
        store.transfer.end()
        while store.index.update(500):
            pass
        (project, *_) = store.projects.all()
        told = [
            Injection("observation", each.id, ATTACKS[number % len(ATTACKS)], 9)
            for number, each in enumerate(store.observations.recent(project.id, 20))
        ]
        for session in store.sessions.recent(project.id, 3):
            store.injections.add(session.id, "context", told, at)
        for each in store.projects.all():
            held = wiring.memories(known, each.root, clock.now, {})
            for number, attack in enumerate(ATTACKS):
                with held.change(f"reason {attack[:200]}") as change:
                    change.write(_memory(number, attack))
            break
    finally:
        store.close()
    return home


def _project(attack: str, root: Path, at: int, number: int) -> ProjectRecord:
    path = str(root / str(number))
    name = attack[:120].replace("/", "∕")
    identity = Identity("path", f"path:{path}")
    return ProjectRecord(f"p{number}", name, path, at, (identity,), (DirRecord(path, at),))


def _records(attack: str, number: int, root: Path, at: int) -> list[Record]:
    name = f"claude-code/nasty-{number}"
    body = {
        "hook_event_name": "PostToolUse",
        "tool_name": attack[:80],
        "tool_input": {"command": attack, "description": attack},
        "tool_response": {"stdout": attack, "stderr": attack},
    }
    doubts = (Doubt("facts 0", attack), Doubt("title", attack))
    return [
        SessionRecord(
            session=name, project=f"p{number}", agent="claude-code", ref=f"nasty-{number}",
            project_dir=str(root / str(number)), transcript=attack, status="active", started_at=at,
            last_event_at=at + MINUTE, ended_at=None, title=attack, subtitle=attack, prompts=1,
        ),
        PromptRecord(name, 1, "p1", at, attack),
        JobRecord(name, 1, "observe", 1, "skipped", 3, at, attack, at, None, attack),
        EventRecord(
            session=name, key="tool:t1", kind="tool", tool=attack[:80], hook="save",
            capture_id=f"c{number}", at=at, prompt_number=1, prompt_id="p1", subagent_type=attack[:80],
            boring=False, healed=True, job=1, body=json.dumps(body).encode(),
        ),
        ObservationRecord(
            session=name, observation=f"{name}#1", job=1, ordinal=0, prompt_number=1, at=at,
            provider=attack[:80], model=attack[:80], type="discovery", title=attack, subtitle=attack,
            narrative=attack, subagent_type=attack, pinned=True, edited=False,
            facts=(attack, f"marker {attack}"), concepts=(attack[:80],), files_read=(attack[:200],),
            files_modified=(f"src/{attack[:200]}",), doubts=doubts, evidence=("tool:t1",),
        ),
        SummaryRecord(
            session=name, prompt_number=1, at=at, provider="x", model=attack[:80], request=attack,
            investigated=attack, learned=f"marker {attack}", completed=attack, next_steps=attack,
            notes=attack, files_read=(attack,), files_edited=(attack,), doubts=doubts,
        ),
        RequestRecord(
            session=name, project=f"p{number}", job=1, at=at, provider=attack[:80],
            model=attack[:80], prompts="p1", purpose="observe", digest=f"d{number}",
            outcome="answered", error=attack, sent=10, cached=1, written=0, received=5,
            estimated=False, microdollars=5, milliseconds=9, stored=True, reply=attack,
        ),
    ]  # fmt: skip


def _memory(number: int, attack: str) -> Memory:
    return Memory(
        name=f"nasty-{number}",
        description=attack[:500],
        type="reference",
        body=f"# {attack}\n\n- {attack}\n\n> {attack}\n\n**{attack}** `{attack}`\n\n{attack}\n",
        evidence=(attack[:200], "observation 1"),
        extra={"by": attack[:80]},
    )
