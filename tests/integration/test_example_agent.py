"""examples/agent.py as a process, against a scripted API: it remembers across runs, and stays where it is."""

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import aforesaid
from tests.support.scripted_api import (
    Call,
    Fail,
    Json,
    Kind,
    ScriptedApi,
    Step,
    Text,
    Together,
)

pytestmark = pytest.mark.slow

AGENT = Path(__file__).parents[2] / "examples/agent.py"
TABS = "I prefer using tabs for indentation, not spaces. Remember that."
CREATE = "Create a Python file called test.py"
ASKS = "What did I tell you about my preferences?"
QUOTES = "I also prefer single quotes over double quotes for strings."
SELECTS, EXTRACTS = "You pick notes for a coding agent", "You keep the long-term memory"


class Api(ScriptedApi):
    """The model of the agent, and the small one that the memory asks."""

    small: Callable[[str, str], Step] = staticmethod(lambda system, user: Fail(400))

    def answer(self, body: Json) -> Any:
        self._system = body.get("system")
        return super().answer(body)

    def _step(self, kind: Kind, prompt: str, number: int) -> Step:
        if kind == "side":
            assert isinstance(self._system, str)
            return self.small(self._system, prompt)
        return super()._step(kind, prompt, number)

    def main(self, prompt: str) -> list[Json]:
        return [r["body"] for r in self.requests if r["kind"] == "main" and r["prompt"] == prompt]

    def asked(self, begins: str) -> list[str]:
        """What the small model was asked, of one kind."""
        side = (r["body"] for r in self.requests if r["kind"] == "side")
        return [
            body["messages"][0]["content"] for body in side if body["system"].startswith(begins)
        ]


@pytest.fixture
def api() -> Iterator[Api]:
    with Api() as server:
        server.when(TABS, Text("Noted: tabs."))
        server.when(
            CREATE,
            Call("write_file", {"path": "test.py", "content": "def main():\n\tpass\n"}),
            Text("Created test.py."),
        )
        server.when(ASKS, Text("That you prefer tabs."))
        server.when(QUOTES, Text("Noted: single quotes."))
        yield server


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    return folder


def run(api: Api, shop: Path, *prompts: str, stdin: str = "", status: int = 0) -> str:
    env = {**os.environ, "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "a-key"}
    done = subprocess.run(
        [sys.executable, "-W", "error", AGENT, *prompts],
        cwd=shop,
        env=env,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout if status == 0 else done.stderr


def names(shop: Path) -> list[str]:
    return sorted(each.memory.name for each in aforesaid.Memory(shop).all())


def index_lines(shop: Path) -> list[str]:
    folders = {each.path.parent for each in aforesaid.Memory(shop).all()}
    return [line for folder in folders for line in (folder / "MEMORY.md").read_text().splitlines()]


def system_of(body: Json) -> str:
    (block,) = body["system"]
    assert block["cache_control"] == {"type": "ephemeral"}
    return str(block["text"])


def told_with(body: Json) -> str:
    """What stands before the newest prompt, in its message."""
    told, _ = body["messages"][-1]["content"]
    return str(told["text"])


def no_model(system: str, user: str) -> Step:
    """The small model is away: rules and words alone."""
    return Fail(400)


def good_model(system: str, user: str) -> Step:
    """The small model finds what there is to find, and picks what a preference bears on."""
    if system.startswith(SELECTS):
        listed = user.rpartition("Notes:\n")[2].partition("\n\nConversation:")[0]
        names = [line.split(". ", 1)[1].split(":")[0] for line in listed.splitlines()]
        prompt = user.rpartition("User: ")[2]
        return Text(json.dumps(names if CREATE in prompt or ASKS in prompt else []))
    assert system.startswith(EXTRACTS)
    said = user.rpartition("User: ")[2]
    if said.startswith(TABS[:20]):
        return Text(
            _draft(
                "tabs-for-indentation",
                "Prefers tabs for indentation, not spaces",
                TABS.partition(". ")[0],
            )
        )
    if said.startswith(QUOTES[:20]):
        return Text(
            _draft("single-quotes", "Prefers single quotes over double quotes for strings", QUOTES)
        )
    return Text("[]")


def _draft(name: str, description: str, body: str) -> str:
    return json.dumps([{"type": "user", "name": name, "description": description, "body": body}])


@pytest.mark.parametrize("small", [pytest.param(no_model, marks=pytest.mark.long), good_model])
def test_the_four_prompts_each_in_a_process_of_its_own(
    api: Api, shop: Path, small: Callable[[str, str], Step]
) -> None:
    api.small = small
    out = run(api, shop, TABS)
    (tabs,) = names(shop)
    assert f"[Memory: learned {tabs}]" in out
    (stored,) = aforesaid.Memory(shop).all()
    assert stored.path.read_text().startswith(f"---\nname: {tabs}\n")
    assert stored.memory.type == "user"
    (line,) = index_lines(shop)
    assert line.startswith(f"- [{tabs}]({tabs}.md) — ")
    assert "tabs" in line
    (first,) = api.main(TABS)
    assert "aforesaid-memory" not in json.dumps(first)  # nothing was known
    assert system_of(first).startswith("You are a coding agent. Working directory: ")

    out = run(api, shop, CREATE)
    assert "[Memory" not in out
    assert (shop / "test.py").read_text() == "def main():\n\tpass\n"
    for body in api.main(CREATE):
        assert line in system_of(body)
    assert "tabs for indentation" in told_with(api.main(CREATE)[0])

    run(api, shop, ASKS)
    (third,) = api.main(ASKS)
    assert len(third["messages"]) == 1  # a new conversation
    assert line in system_of(third)
    assert "tabs for indentation" in told_with(third)

    out = run(api, shop, QUOTES)
    assert "[Memory: learned " in out
    assert len(names(shop)) == 2
    assert any("single quotes" in line for line in index_lines(shop))
    assert line in index_lines(shop)
    if small is good_model:
        for asked in api.asked(SELECTS):
            assert stored.memory.body not in asked  # names and descriptions alone
        assert all(stored.memory.description in asked for asked in api.asked(SELECTS)[-2:])


def test_the_four_prompts_in_one_run_and_all_of_them_in_the_next(api: Api, shop: Path) -> None:
    out = run(api, shop, stdin=f"{TABS}\n{CREATE}\n{ASKS}\n{QUOTES}\n")
    assert out.count("[Memory: learned ") == 2
    assert len(names(shop)) == 2
    # What was told stays in the conversation, and is not told again in it.
    last = api.main(QUOTES)[-1]
    assert json.dumps(last["messages"]).count("<aforesaid-memory") == 1
    # The beginning of each request is that of the one before: caches hold.
    bodies = [r["body"] for r in api.requests if r["kind"] == "main"]
    for before, after in itertools.pairwise(bodies[1:]):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["system"] == before["system"]
    run(api, shop, stdin=f"{TABS}\n{QUOTES}\n")
    assert len(names(shop)) == 2  # what is known is not learned twice
    (asked,) = api.main(TABS)[1:]
    assert "single quotes" in system_of(asked)


def test_the_six_tools(api: Api, shop: Path) -> None:
    (shop / "src").mkdir()
    (shop / "src/a.py").write_text("one\ntwo\nthree\n")
    calls = [
        (Call("bash", {"command": "echo $((6 * 7)); exit 3"}), "42\n[exit code 3]"),
        (Call("bash", {"command": "echo ${ANTHROPIC_API_KEY:-nothing}"}), "nothing"),
        (Call("read_file", {"path": "src/a.py", "limit": 2}), "one\ntwo"),
        (
            Call("write_file", {"path": "new/b.py", "content": "b\n"}),
            "Wrote 2 characters to new/b.py",
        ),
        (
            Call("edit_file", {"path": "src/a.py", "old_text": "two", "new_text": "2"}),
            "Edited src/a.py",
        ),
        (
            Call("edit_file", {"path": "src/a.py", "old_text": "zwei", "new_text": "2"}),
            "Error: old_text must",
        ),
        (Call("glob", {"pattern": "**/*.py"}), "new/b.py\nsrc/a.py"),
        (Call("read_file", {"path": "none.py"}), "Error: FileNotFoundError"),
        (Call("read_file", {"way": "none.py"}), "Error: TypeError"),
        (Call("fly", {}), "Error: KeyError"),
    ]
    api.when("do all", *(each for each, _ in calls), Text("Done."))
    run(api, shop, "do all")
    for (_, expected), result in zip(calls, results(api, "do all"), strict=True):
        assert result.startswith(expected), result
    assert (shop / "src/a.py").read_text() == "one\n2\nthree\n"
    tools = [tool["name"] for tool in api.main("do all")[0]["tools"]]
    assert tools == ["bash", "read_file", "write_file", "edit_file", "glob", "task"]


def test_nothing_leaves_the_working_directory(api: Api, shop: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    (shop / "link").symlink_to(tmp_path)
    api.when(
        "break out",
        Together(
            (
                Call("read_file", {"path": str(tmp_path / "outside.txt")}),
                Call("read_file", {"path": "../outside.txt"}),
                Call("read_file", {"path": "link/outside.txt"}),
                Call("write_file", {"path": "../new.txt", "content": "x"}),
                Call(
                    "edit_file", {"path": "../outside.txt", "old_text": "secret", "new_text": "x"}
                ),
                Call("glob", {"pattern": "../*"}),
                Call("bash", {"command": "cat ../outside.txt"}),
                Call("bash", {"command": f"cat '{tmp_path}/outside.txt'"}),
                Call("bash", {"command": "ls ~"}),
                Call("bash", {"command": 'ls "$HOME"'}),
                Call("bash", {"command": "sudo true"}),
                Call("bash", {"command": "rm -rf /"}),
            )
        ),
        Call("glob", {"pattern": "link/*"}),
        Text("No way."),
    )
    run(api, shop, "break out")
    *refused, last = results(api, "break out")
    assert len(refused) == 12
    assert all(result.startswith("Refused: ") for result in refused), refused
    assert "outside.txt" not in last
    assert (tmp_path / "outside.txt").read_text() == "secret"
    assert not (tmp_path / "new.txt").exists()


def test_a_helper_works_with_a_fresh_context_and_teaches_nothing(api: Api, shop: Path) -> None:
    order = "I prefer vim over emacs. Remember that. Count the files."
    api.when("with a helper", Call("task", {"prompt": order}), Text("There are none."))
    api.when(order, Call("bash", {"command": "ls | wc -l"}), Text("There are 0 files."))
    run(api, shop, "count them with a helper")
    assert results(api, "count them with a helper") == ["There are 0 files."]
    first, *_ = api.main(order)
    assert len(first["messages"]) == 1
    assert "task" not in [tool["name"] for tool in first["tools"]]
    assert names(shop) == []


def test_a_model_that_does_not_answer_ends_the_run_with_a_sentence(api: Api, shop: Path) -> None:
    api.when("hello", Fail(400, message="scripted trouble"))
    said = run(api, shop, "hello", status=1)
    assert said.startswith("The model did not answer: ")
    assert "Traceback" not in said


def results(api: Api, prompt: str) -> list[str]:
    """All results of tools, in the last request of a turn."""
    last = api.main(prompt)[-1]
    blocks = (
        block
        for message in last["messages"]
        if message["role"] == "user"
        for block in message["content"]
    )
    return [
        block["content"]
        for block in blocks
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]
