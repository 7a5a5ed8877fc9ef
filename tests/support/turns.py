"""Turns as tests write them: a prompt, and what was done, in the order in which it was done."""

import difflib
from dataclasses import replace

from aforesaid.agents.claude_code import tools
from aforesaid.model.events import (
    CommandRun,
    Event,
    Failure,
    FileChanged,
    FileRead,
    Happening,
    Hunk,
    OtherTool,
    Subagent,
    SubagentEnded,
    ToolUsed,
)
from aforesaid.model.observations import Turn, TurnEvent

ROOT = "/home/dev/shop"


def turn(
    prompt: str | None,
    *done: Event,
    said: str | None = None,
    before: tuple[Event, ...] = (),
    number: int = 1,
    recorded: tuple[str, ...] = (),
    interrupted: bool = False,
    messages: tuple[str, ...] = (),
) -> Turn:
    """A turn of the project `shop`. `said` is the agent's last message, `messages` those before it."""
    return Turn(
        project="shop",
        root=ROOT,
        session="session-1",
        prompt_number=number,
        prompt=prompt,
        at=1_000,
        events=_placed(done),
        before=_placed(before),
        recorded=recorded,
        last_message=said,
        interrupted=interrupted,
        messages=messages,
    )


def _placed(events: tuple[Event, ...]) -> tuple[TurnEvent, ...]:
    return tuple(TurnEvent(at, at, event) for at, event in enumerate(events, start=1))


def edited(path: str, before: str, after: str) -> Event:
    """An edit, with the hunks that the client would send."""
    change = FileChanged(_full(path), False, hunks(before, after), before, after)
    return _tool("Edit", change)


def wrote(path: str, content: str) -> Event:
    """A file that was not there before."""
    return _tool("Write", FileChanged(_full(path), True, (), None, content))


def read(path: str, content: str = "…") -> Event:
    lines = content.count("\n") + 1
    return _tool("Read", FileRead(_full(path), 1, lines, lines, content))


def ran(command: str, stdout: str = "", *, stderr: str = "", background: bool = False) -> Event:
    """A command whose exit status was zero."""
    return _tool("Bash", CommandRun(command, None, stdout, stderr, background))


def failed(
    command: str, output: str = "", *, code: int | None = 1, interrupted: bool = False
) -> Event:
    """A command whose exit status was not zero: the output is in the error, as the client sends it."""
    error = f"Exit code {code}\n{output}" if code is not None else output
    event = _tool("Bash", CommandRun(command, None, "", "", False))
    assert isinstance(event.what, ToolUsed)
    return replace(event, what=replace(event.what, failure=Failure(error, code, interrupted)))


def used(name: str, output: str = "", **fields: str) -> Event:
    """Any other tool."""
    return _tool(name, tools.action(name, fields, output))


def by(agent: Subagent, *done: Event, said: str | None = None) -> tuple[Event, ...]:
    """The same events, done by a sub-agent that ends with a message."""
    ending = () if said is None else (_event(SubagentEnded(said)),)
    return tuple(replace(event, subagent=agent) for event in (*done, *ending))


def hunks(before: str, after: str) -> tuple[Hunk, ...]:
    old, new = before.splitlines(), after.splitlines()
    found = []
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [" " + line for line in old[a:b]]
            else:
                lines += ["-" + line for line in old[a:b]] + ["+" + line for line in new[c:d]]
        found.append(Hunk(group[0][1] + 1, group[0][3] + 1, tuple(lines)))
    return tuple(found)


def _full(path: str) -> str:
    return path if path.startswith("/") else f"{ROOT}/{path}"


def _tool(name: str, action: FileChanged | FileRead | CommandRun | OtherTool) -> Event:
    return _event(ToolUsed(name, "toolu_1", action, None, 10))


def _event(what: Happening) -> Event:
    return Event("claude_code", "session-1", None, what, "prompt-1", None, ROOT, None)
