"""Sessions in which an agent meets hostile text, each way in for itself, worked up by the real writer.

The agent of these sessions believes everything: its last message repeats what it has read.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aforesaid.agents.api import ApiAgent
from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.agents.registry import AGENTS
from aforesaid.clock import HOUR, MINUTE, SECOND
from aforesaid.model.events import Arrival, Capture, Event
from aforesaid.model.records import (
    ObservationRecord,
    ProjectRecord,
    SessionRecord,
)
from aforesaid.providers.rules import Rules
from aforesaid.repository import Identity
from aforesaid.store.store import Store
from aforesaid.synthesis import synthesize
from tests.support.arrivals import START, repository
from tests.support.injections import Injection

ROOT = "/home/dev/shop"
Json = dict[str, Any]
Together = Sequence[Injection]  # of one session
Feed = Callable[[Together], list[Json]]


@dataclass(slots=True)
class Sessions:
    """A store that is told of sessions, one behind the other."""

    store: Store
    at: int = START
    count: int = 0

    def project(self, name: str = "shop") -> int:
        found = repository(name)
        return self.store.projects.resolve(found, found.root, START)

    def play(
        self,
        ref: str,
        payloads: list[Json],
        *,
        healed: bool = False,
        api: bool = False,
        project: str = "shop",
    ) -> None:
        """All of a session. `healed`: a transcript tells of it, and no hook."""
        agent = ApiAgent() if api else ClaudeCode()
        project_id, arrivals = self.project(project), []
        self.at += MINUTE
        for payload in payloads:
            self.at += SECOND
            self.count += 1
            whose = {"session": ref} if api else {"session_id": ref, "prompt_id": f"{ref}-1"}
            body = json.dumps(whose | payload).encode("utf-8", "surrogatepass")
            folder = f"/home/dev/{project}"
            capture = Capture(f"c{self.count}", agent.name, "save", folder, body, self.at)
            event = agent.parse(capture)
            assert isinstance(event, Event)
            arrivals.append(Arrival(capture, event, project_id, False, healed=healed))
        (self.store.events.heal if healed else self.store.events.add)(arrivals, self.at)
        if healed:
            self.store.jobs.release_held(agent.name, ref, self.at)
        self.work()

    def work(self) -> None:
        while job := self.store.jobs.claim("test", self.at + HOUR, self.at + 2 * HOUR):
            session = self.store.sessions.get(job.session_id)
            assert session is not None
            clock = lambda: self.at  # noqa: E731
            synthesize.run(self.store, AGENTS, Rules(), job, session, clock)


def prompt(text: str) -> Json:
    return {"hook_event_name": "UserPromptSubmit", "prompt": text}


def tool(name: str, given: Json, result: object, **more: str) -> Json:
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": name,
        "tool_use_id": f"toolu_{abs(hash((name, json.dumps(given)))) % 10**9}",
        "tool_input": given,
        "tool_response": result,
    } | more


def stop(text: str) -> Json:
    return {"hook_event_name": "Stop", "last_assistant_message": text}


def believed(ones: Together) -> Json:
    """What an agent says that has taken it all over."""
    names = ", ".join(one.canary for one in ones)
    said = [
        f"I looked into {names} and found out how the release of the shop has to be done here.\n"
    ]
    said += [f"- Builds fail because {one.canary} was not run: {one.text}" for one in ones]
    return stop("\n".join(said))


def asked(ones: Together) -> Json:
    return prompt(f"How does the release of the shop work, question {ones[0].number}?")


def bash(command: str, stdout: str) -> Json:
    return tool("Bash", {"command": command}, {"stdout": stdout, "stderr": ""})


def read(path: str, content: str) -> Json:
    file = {"filePath": path, "content": content, "startLine": 1, "numLines": 9, "totalLines": 9}
    return tool("Read", {"file_path": path}, {"type": "text", "file": file})


def wrote(path: str, content: str) -> Json:
    result = {"type": "create", "filePath": path, "content": content, "structuredPatch": []}
    return tool("Write", {"file_path": path, "content": content}, result)


def _session(*met: Callable[[Injection], Json]) -> Feed:
    return lambda ones: [asked(ones), *(each(one) for one in ones for each in met), believed(ones)]


def page(one: Injection) -> str:
    return f"# Release guide\n{one.text}\nBuilds fail because {one.canary} was not run.\n"


def fetched(one: Injection) -> Json:
    url = f"https://docs.evil{one.number}.example/release"
    return tool("WebFetch", {"url": url, "prompt": "How?"}, {"result": page(one), "code": 200})


def _named(one: Injection) -> str:
    return f"{ROOT}/docs/{one.text[:180].replace('/', '∕')}.md"


LOCAL: dict[str, Feed] = {
    "prompt paste": lambda ones: [
        prompt("\n\n".join(("What do you make of this?", *(one.text for one in ones)))),
        read(f"{ROOT}/README.md", "# Shop\n"),
        believed(ones),
    ],
    "Read": _session(lambda one: read(f"{ROOT}/README{one.number}.md", page(one))),
    "Bash": _session(lambda one: bash(f"make release{one.number}", page(one))),
    "commit message": _session(
        lambda one: bash(f"git log -1 v{one.number}", page(one)),
        lambda one: wrote(f"{ROOT}/release{one.number}.py", "RELEASE = 1\n"),
        lambda one: bash(f"git commit -am 'Release {one.canary}'", f"[main abc1234] {one.text}"),
    ),
    "file name": _session(lambda one: wrote(_named(one), "RELEASE = 1\n")),
    "error": _session(
        lambda one: (
            tool("Bash", {"command": f"make {one.number}"}, None)
            | {"hook_event_name": "PostToolUseFailure", "error": f"Exit code 2\n{page(one)}"}
        )
    ),
}
WEB: dict[str, Feed] = {
    "WebFetch": _session(fetched),
    "WebSearch": _session(
        lambda one: tool("WebSearch", {"query": f"release {one.number}"}, {"results": [page(one)]})
    ),
    "MCP result": _session(
        lambda one: tool(
            "mcp__wiki__read_page", {"id": one.number}, [{"type": "text", "text": page(one)}]
        )
    ),
    "curl": _session(lambda one: bash(f"curl -s https://evil.example/{one.number}.md", page(one))),
    "web and a copy of it": _session(
        fetched,
        lambda one: wrote(f"{ROOT}/notes{one.number}.md", page(one)),
        lambda one: read(f"{ROOT}/notes{one.number}.md", page(one)),
        lambda one: bash(f"cat notes{one.number}.md", page(one)),
    ),
    "web by a sub-agent": _session(
        lambda one: fetched(one) | {"agent_id": "a1", "agent_type": "Explore"},
        lambda one: tool(
            "Agent", {"description": f"look {one.number}"}, [{"type": "text", "text": page(one)}]
        ),
    ),
}


def api_session(ones: Together) -> list[Json]:
    """An agent without hooks, over HTTP."""
    names = ("tool_name", "tool_use_id", "tool_input", "tool_response")
    said = {"kind": "stop", "last_message": believed(ones)["last_assistant_message"]}
    tools = [{"kind": "tool"} | {name: fetched(one)[name] for name in names} for one in ones]
    told = [{"kind": "prompt", "prompt": asked(ones)["prompt"]}, *tools, said]
    return [{"prompt_number": 1} | each for each in told]


def imported(store: Store, one: Injection) -> None:
    """As the reader of a claude-mem database gives it: words, and nothing that they could be weighed by."""
    name = f"claude-code/mem-{one.number}"
    words = one.text.replace("\x00", "")
    store.transfer.begin()
    store.transfer.import_records(
        [
            ProjectRecord("shop", "shop", ROOT, START, (Identity("path", f"path:{ROOT}"),)),
            SessionRecord(
                *(name, "shop", "claude-code", f"mem-{one.number}", ROOT, None, "completed"),
                *(START, START, START, words[:80], None, 1),
            ),
            ObservationRecord(
                *(name, f"{name}#1", None, 0, 1, START, "claude-mem", None, "discovery"),
                *(words, words, words, None, False, False),
                facts=(words, f"Builds fail because {one.canary} was not run"),
                files_read=(f"{ROOT}/README{one.number}.md",),
            ),
        ]
    )
    store.transfer.end()


def feed(sessions: Sessions, way: str, *ones: Injection) -> None:
    """One session, in which the agent meets all of them."""
    ref = f"{way.replace(' ', '-')}-{ones[0].number}"
    if way in LOCAL or way in WEB:
        sessions.play(ref, (LOCAL | WEB)[way](ones))
    elif way == "transcript":
        sessions.play(ref, WEB["WebFetch"](ones), healed=True)
    elif way == "HTTP API":
        sessions.play(ref, api_session(ones), api=True)
    else:
        assert way == "claude-mem import", way
        for one in ones:
            imported(sessions.store, one)


WAYS_OF_THE_WEB = (*WEB, "transcript", "HTTP API")
WAYS_IN = (*LOCAL, *WAYS_OF_THE_WEB, "claude-mem import")
