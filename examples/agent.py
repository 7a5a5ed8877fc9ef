"""A small coding agent that remembers, in one file: six tools, permission rules, and `aforesaid.Memory`.

    pip install -e '/path/to/aforesaid[anthropic]'  # your checkout
    export ANTHROPIC_API_KEY=…                    # and ANTHROPIC_BASE_URL, if it is not the usual one
    python agent.py                               # asks for prompts; an empty line or Ctrl-D ends
    python agent.py "Create test.py" "Run it"     # a turn for each argument
    echo "What do I prefer?" | python agent.py    # a turn for each line

Five lines make it remember: look for `memory` in `main`. What it learns stands in Markdown files that you can
read and edit; `aforesaid memory list` shows them, `aforesaid memory undo` takes back the last change.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic

import aforesaid

MODEL = os.environ.get("AGENT_MODEL", "claude-sonnet-5-5")
SMALL_MODEL = os.environ.get("AGENT_SMALL_MODEL", "claude-haiku-5-5")  # picks and writes memories
WORKDIR = Path.cwd().resolve()
SYSTEM = f"You are a coding agent. Working directory: {WORKDIR}\nUse the tools; do not guess."
MOST_OUTPUT, MOST_STEPS, SECONDS = 20_000, 50, 120

client = anthropic.Anthropic()  # the address and the key come from the environment


# --- Permissions: what leaves the working directory is refused, or whoever sits there is asked ---

NEVER = re.compile(r"\b(sudo|mkfs\S*|shutdown|reboot)\b|\brm\s+-\w*r\w*\s+[/~*]|>\s*/dev/(?!null)")
# An absolute path, the home directory or a way up, wherever in a command it stands.
ELSEWHERE = re.compile(
    r"""(?<![\w.*?\]/-])(?:~|/|\$\{?HOME\b|(?:[^\s'"]*/)?\.\.(?![\w.]))[^\s'";|&)`]*"""
)


def refusal(tool: str, given: dict[str, Any]) -> str | None:
    """Why a call is not made, or None. It guards against accidents; what you do not trust at all belongs
    into a container."""
    if tool == "bash":
        if NEVER.search(given["command"]):
            return "Refused: such a command is never run."
        leaves = [path for path in ELSEWHERE.findall(given["command"]) if not inside(path)]
        return ask_user(given["command"]) if leaves else None
    path = given.get("path", given.get("pattern", "."))
    return None if inside(path) else f"Refused: {path} is outside of {WORKDIR}."


def inside(path: str) -> bool:
    path = os.path.expandvars(path)
    if path.startswith("~"):
        return False
    return path == "/dev/null" or (WORKDIR / path).resolve().is_relative_to(WORKDIR)


def ask_user(command: str) -> str | None:
    """Only somebody who is there can say yes."""
    if sys.stdin.isatty() and input(f"This leaves {WORKDIR}: {command}\nRun it? [y/N] ") == "y":
        return None
    return f"Refused: the command leaves {WORKDIR}."


# --- The six tools ---


def bash(command: str) -> str:
    """Commands see neither keys nor tokens, and no terminal."""
    env = {k: v for k, v in os.environ.items() if not re.search("KEY|TOKEN|SECRET", k)}
    streams: Any = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
    }
    done = subprocess.run(
        ["bash", "-c", command], cwd=WORKDIR, env=env, timeout=SECONDS, check=False, **streams
    )
    said = done.stdout.decode(errors="replace").strip()
    return f"{said}\n[exit code {done.returncode}]" if done.returncode else said or "(no output)"


def read_file(path: str, limit: int | None = None) -> str:
    return "\n".join((WORKDIR / path).read_text().split("\n")[:limit])


def write_file(path: str, content: str) -> str:
    (WORKDIR / path).parent.mkdir(parents=True, exist_ok=True)
    (WORKDIR / path).write_text(content)
    return f"Wrote {len(content)} characters to {path}"


def edit_file(path: str, old_text: str, new_text: str) -> str:
    text = (WORKDIR / path).read_text()
    if text.count(old_text) != 1:
        return f"Error: old_text must be in {path} once; it is there {text.count(old_text)} times."
    (WORKDIR / path).write_text(text.replace(old_text, new_text))
    return f"Edited {path}"


def glob(pattern: str) -> str:
    found = (path for path in WORKDIR.glob(pattern) if inside(str(path)))
    return "\n".join(sorted(str(path.relative_to(WORKDIR)) for path in found)) or "(nothing)"


def task(prompt: str) -> str:
    """A helper with a fresh context. What it is told is not the user: nothing of it is remembered."""
    others = [tool for tool in TOOLS if tool["name"] != "task"]
    return converse([{"role": "user", "content": prompt}], SYSTEM, others)


RUN: dict[str, Callable[..., str]] = {}


def tool(run: Callable[..., str], about: str, **parameters: str) -> dict[str, Any]:
    """A tool as the API wants it. A type that ends in `?` may be left out."""
    RUN[run.__name__] = run
    properties = {name: {"type": kind.rstrip("?")} for name, kind in parameters.items()}
    required = [name for name, kind in parameters.items() if not kind.endswith("?")]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": run.__name__, "description": about, "input_schema": schema}


S = "string"
TOOLS = [
    tool(bash, "Run a shell command in the working directory.", command=S),
    tool(read_file, "Read a file.", path=S, limit="integer?"),
    tool(write_file, "Write a file, a new one or over the old one.", path=S, content=S),
    tool(edit_file, "Replace text that is in a file once.", path=S, old_text=S, new_text=S),
    tool(glob, "Find files, such as `src/**/*.py`.", pattern=S),
    tool(task, "Let a helper with a fresh context do part of the work and report.", prompt=S),
]


def call(name: str, given: dict[str, Any]) -> str:
    print(f"  > {name} {str(given)[:100]}")
    try:
        return (refusal(name, given) or RUN[name](**given))[:MOST_OUTPUT]
    except Exception as error:  # the model can mend its call; the agent goes on
        return f"Error: {type(error).__name__}: {error}"


# --- The loop ---


def converse(messages: list[Any], system: str, tools: list[Any]) -> str:
    """Asks and calls until the model has nothing more to call. All of it is kept in `messages`."""
    cached: Any = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
    for _ in range(MOST_STEPS):
        answer = client.messages.create(
            model=MODEL, max_tokens=8_000, system=cached, tools=tools, messages=messages
        )
        messages.append({"role": "assistant", "content": answer.content})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if answer.stop_reason != "tool_use":
            return "".join(block.text for block in answer.content if block.type == "text")
        results = [(block.id, call(block.name, block.input)) for block in calls]
        told = [
            {"type": "tool_result", "tool_use_id": id_, "content": text} for id_, text in results
        ]
        messages.append({"role": "user", "content": told})
    return f"Stopped after {MOST_STEPS} steps."


def ask_small_model(system: str, user: str) -> str:
    """For the memory: picks what a prompt needs, and writes down what a turn has taught."""
    said: Any = [{"role": "user", "content": user}]
    answer = client.messages.create(
        model=SMALL_MODEL, max_tokens=2_000, system=system, messages=said
    )
    return "".join(block.text for block in answer.content if block.type == "text")


def prompts() -> Iterator[str]:
    yield from sys.argv[1:]
    while len(sys.argv) == 1:
        print("\n> " if sys.stdin.isatty() else "", end="", flush=True)
        if not (line := sys.stdin.readline().strip()):
            return
        yield line


def main() -> None:
    memory = aforesaid.Memory(WORKDIR, model=ask_small_model)
    messages: list[Any] = []
    for prompt in prompts():
        system = memory.build_system(SYSTEM)  # the same bytes, unless a memory has changed
        messages.append({"role": "user", "content": prompt})
        if told := memory.load_memories(messages):  # before the prompt, where it stays: caches hold
            messages[-1]["content"] = [{"type": "text", "text": text} for text in (told, prompt)]
        try:
            print(converse(messages, system, TOOLS))
        except anthropic.APIError as error:
            sys.exit(f"The model did not answer: {error}")
        if learned := memory.extract_memories(messages):
            print(f"[Memory: learned {', '.join(each.memory.name for each in learned)}]")
        if (dream := memory.consolidate()).entry:  # mostly nothing: once a day, if there is enough
            print("[Memory: put in order]", *dream.lines, sep="\n  ")


if __name__ == "__main__":
    main()
