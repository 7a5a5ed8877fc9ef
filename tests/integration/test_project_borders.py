"""Nothing crosses from one project into another automatically, by whichever way out."""

import json
from collections.abc import Iterator

import pytest

from aforesaid import clock, wiring
from aforesaid.mcp.context import Context, call
from aforesaid.memory.extraction.extract import RememberRequest, remember
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.hook_answers import HookAnswers
from tests.support import briefs as briefs_support
from tests.support.injected import Sessions, bash, prompt, read, stop, wrote

BANK, SHOP = "/home/dev/bank", "/home/dev/shop"
SECRET = "quuxvault"
SAID = (
    f"The {SECRET} ledger is closed at midnight because the {SECRET} job locks every account.\n\n"
    f"- The {SECRET} ledger must be opened with `open_vault()` before a transfer is booked.\n"
    f"- Transfers fail because the {SECRET} lock was held by the nightly job.\n"
)


@pytest.fixture
def sessions(home: Paths) -> Iterator[Sessions]:
    """A bank with much to tell, and a shop that knows nothing of it."""
    found = Sessions(Store(home.database, writer=True))
    found.play(
        "bank-1",
        [
            prompt(f"Why do transfers of the {SECRET} ledger fail? Always use open_vault() there."),
            read(f"{BANK}/src/ledger.py", f"def {SECRET}():\n    pass\n"),
            wrote(f"{BANK}/src/ledger.py", f"def {SECRET}():\n    return open_vault()\n"),
            bash("pytest -q", "3 passed"),
            stop(SAID),
        ],
        project="bank",
    )
    found.play(
        "shop-1", [prompt("Add a cart"), wrote(f"{SHOP}/src/ledger.py", "CART = 1\n"), stop("Ok.")]
    )
    yield found
    found.store.close()


@pytest.fixture
def briefs(home: Paths, sessions: Sessions) -> HookAnswers:
    return briefs_support.made(home, sessions.store, lambda: sessions.at)


def ask(briefs: HookAnswers, directory: str, event: str, hook: str, **fields: object) -> str:
    """As the shop's own session, or the bank's."""
    session = "shop-1" if directory == SHOP else "bank-2"
    body = {"session_id": session, "hook_event_name": event, "cwd": directory} | fields
    header = f"aforesaid/1 claude-code {hook} {directory}\0\n".encode()
    return briefs.answer(header + json.dumps(body).encode()).text.decode()


def every_answer(briefs: HookAnswers, directory: str) -> dict[str, str]:
    question = f"Why do transfers of the {SECRET} ledger fail, and how is open_vault() used?"
    opened = {"tool_name": "Read", "tool_input": {"file_path": f"{directory}/src/ledger.py"}}
    answers = {
        f"start {source}": ask(briefs, directory, "SessionStart", "context", source=source)
        for source in ("startup", "clear", "compact", "resume")
    }
    return answers | {
        "prompt": ask(briefs, directory, "UserPromptSubmit", "new", prompt=question),
        "file": ask(briefs, directory, "PreToolUse", "file", **opened),
        "compaction": ask(briefs, directory, "PreCompact", "compact", trigger="auto"),
    }


def test_a_project_gets_nothing_of_another(
    sessions: Sessions, briefs: HookAnswers, home: Paths
) -> None:
    """T67: brief, prompt, file, compaction, prepared copies and memories, with the same file names and the
    very words of the other project."""
    memories = wiring.memories(wiring.home(), BANK, clock.now)
    remember(
        memories, RememberRequest(f"The {SECRET} ledger is audited by Jane", type="project"), BANK
    )
    for name in ("bank", "shop"):
        briefs.prepare_brief(sessions.project(name))
    for out, said in every_answer(briefs, SHOP).items():
        assert SECRET not in said, out
        assert "open_vault" not in said, out
    copies = {path.name: path.read_bytes() for path in home.briefs.iterdir()}
    assert [SECRET.encode() in copy for copy in copies.values()].count(True) == 1
    sessions.play("bank-2", [prompt("Go on.")], project="bank")
    told = every_answer(briefs, BANK)
    assert SECRET in told["start startup"]  # it is there for whom it is meant
    assert SECRET in told["prompt"]


def test_who_asks_in_a_project_is_answered_of_it_alone(sessions: Sessions, home: Paths) -> None:
    """T67: MCP tools look into other projects only when they are named."""
    env = {"AFORESAID_HOME": str(home.data), "CLAUDE_PROJECT_DIR": SHOP, "HOME": str(home.data)}
    place = Context(env | {"AFORESAID_RECALL_ENCODER": "none"}, lambda: sessions.at)
    (bank,) = [p.id for p in sessions.store.projects.all() if p.name == "bank"]
    number = f"#{sessions.store.observations.recent(bank, 1)[0].id}"
    for tool, given in (
        ("search", {"query": f"{SECRET} ledger open_vault"}),
        ("files", {"path": "src/ledger.py"}),
        ("get", {"ids": [number]}),
        ("timeline", {"id": number}),
        ("related", {"id": number}),
    ):
        assert SECRET not in call(place, tool, given).text.replace("open_vault", ""), tool
    everywhere = {"query": f"{SECRET} ledger", "project": "all"}
    assert SECRET in call(place, "search", everywhere).text
