"""The `claude` provider on the real SDK and the real client, against the scripted API."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from aforesaid import clock
from aforesaid.errors import install_command
from aforesaid.model.requests import (
    Failure,
    Misconfigured,
    RateLimited,
    Refused,
    Reply,
    Request,
    Unavailable,
    usage_of,
)
from aforesaid.providers.claude import ClaudeAgent
from aforesaid.synthesis.cost import ROUNDS
from tests.acceptance.product import Installation
from tests.support.client import KEY, Client, HookDump, find_cli, until
from tests.support.scripted_api import (
    Cut,
    Delay,
    Fail,
    ScriptedApi,
    Step,
    Text,
    counted,
    strings_in,
)

pytestmark = pytest.mark.client

NewAgent = Callable[..., ClaudeAgent]
HOUR_LATER = clock.now() // 1000 + 3600
LIMIT = (
    ("anthropic-ratelimit-unified-status", "rejected"),
    ("anthropic-ratelimit-unified-reset", str(HOUR_LATER)),
    ("anthropic-ratelimit-unified-representative-claim", "five_hour"),
)
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")


def question(message: str, *, system: str = "You keep notes.", most_tokens: int = 900) -> Request:
    return Request(system, (("What is 1?", "<one/>"),), message, most_tokens)


def agents(root: Path) -> set[int]:
    """The agent processes of this test: they have its home and our mark, and are not merely a
    short-lived child (`git`) of another one."""
    found: dict[int, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            variables = (process / "environ").read_bytes().split(b"\0")
            parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        at_home = any(v.startswith(b"HOME=" + os.fsencode(root)) for v in variables)
        if at_home and b"AFORESAID_INSIDE=1" in variables:
            found[int(process.name)] = int(parent)
    return {pid for pid, parent in found.items() if parent not in found}


@pytest.fixture
def user(client: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A user of Claude Code, whose environment is the worker's. What silences the client is left to
    the provider."""
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "CLAUDE", "DISABLE_")):
            monkeypatch.delenv(name)
    for name, value in client.environment().items():
        if not name.startswith(("DISABLE_", "CLAUDE_CODE_DISABLE_")):
            monkeypatch.setenv(name, value)
    return client


@pytest.fixture
def new_agent(user: Client, tmp_path: Path) -> Iterator[NewAgent]:
    made: list[ClaudeAgent] = []

    def make(*, seconds: float = 60, cli: str = "") -> ClaudeAgent:
        made.append(
            ClaudeAgent(
                model="haiku",
                seconds=seconds,
                clock=clock.now,
                cli=cli or find_cli(),
                cwd=tmp_path / "agent",
            )
        )
        return made[-1]

    yield make
    for each in made:
        each.close()
    assert agents(user.root) == set()


@pytest.mark.quick
def test_a_reply_comes_with_what_the_api_counted_and_nothing_else_is_sent(
    api: ScriptedApi, new_agent: NewAgent
) -> None:
    cached = {"cache_creation_input_tokens": 30, "cache_read_input_tokens": 500}
    api.when("Batch 2", Text("<two/>", usage={"input_tokens": 7, "output_tokens": 11, **cached}))
    agent = new_agent()

    first = agent.ask(question("Batch 1: <b> & @/etc/hostname and /clear"))
    second = agent.ask(question("Batch 2"))

    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert (first.text, second.text, first.complete) == ("Done.", "<two/>", True)
    assert first.model.startswith("claude-haiku")
    assert len(api.requests) == 2
    sent = counted(api.requests[0]["body"])
    assert (first.usage.sent, first.usage.received) == (sent["input_tokens"], 100)
    usage = second.usage
    assert (usage.sent, usage.cached, usage.written, usage.received) == (537, 500, 30, 11)
    assert first.usage.microdollars
    assert usage.microdollars
    assert usage.microdollars < first.usage.microdollars


def test_each_request_is_the_question_alone_word_for_word(
    api: ScriptedApi, user: Client, new_agent: NewAgent
) -> None:
    secret = user.root / "secret.txt"
    secret.write_text("the words of a file")
    agent = new_agent()
    asked = [f"Batch {n}: see @{secret} and /clear" for n in range(4)]

    for message in asked:
        assert isinstance(agent.ask(question(message)), Reply)

    sizes = set()
    for message, request in zip(asked, api.requests, strict=True):
        body = request["body"]
        texts = list(strings_in(body))
        assert sum(message in text for text in texts) == 1
        assert not any(other in text for other in asked if other != message for text in texts)
        assert not any("the words of a file" in text for text in texts)
        assert any("You keep notes." in text and "<one/>" in text for text in texts)
        assert (body.get("tools") or [], body["max_tokens"]) == ([], 900)
        sizes.add(len(json.dumps(body)))
    assert len(sizes) == 1


def test_inside_no_hook_fires_nothing_is_captured_and_no_session_is_kept(
    user: Client, new_agent: NewAgent, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    dump = user.dump_hooks(*EVENTS)
    add_plugin(user, tmp_path / "market", HookDump(tmp_path / "plugin-hooks"))
    installation = Installation(user)
    request.addfinalizer(installation.close)
    installation.cli("install")

    fired = len(dump.payloads())  # by `claude plugin`, which has a session's end too

    reply = new_agent().ask(question("Batch 1"))

    assert isinstance(reply, Reply)
    assert len(dump.payloads()) == fired
    assert HookDump(tmp_path / "plugin-hooks").payloads() == []
    assert installation.spooled() == 0
    assert user.transcripts() == []
    assert user.run("A session of the user's").returncode == 0
    assert {p["hook_event_name"] for p in dump.payloads()} == set(EVENTS)
    assert HookDump(tmp_path / "plugin-hooks").payloads()


def add_plugin(client: Client, market: Path, dump: HookDump) -> None:
    """A plugin of somebody else's, with hooks."""
    plugin = {"name": "other", "version": "1.0.0", "description": "Other", "author": {"name": "O"}}
    listed = {"name": "other", "source": "./other", "description": "Other"}
    for name, data in (
        (
            ".claude-plugin/marketplace.json",
            {"name": "m", "owner": {"name": "O"}, "plugins": [listed]},
        ),
        ("other/.claude-plugin/plugin.json", plugin),
        ("other/hooks/hooks.json", dump.settings(EVENTS)),
    ):
        (market / name).parent.mkdir(parents=True, exist_ok=True)
        (market / name).write_text(json.dumps(data))
    for line in (["marketplace", "add", str(market)], ["install", "other@m"]):
        done = client.plugin(*line)
        assert done.returncode == 0, done


def test_there_is_one_process_at_most_and_none_after_the_answer(
    user: Client, new_agent: NewAgent
) -> None:
    agent = new_agent()
    counts: set[int] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            counts.add(len(agents(user.root)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    asking = [threading.Thread(target=agent.ask, args=(question("Batch"),)) for _ in range(2)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    done.set()
    watcher.join()

    assert counts == {0, 1}
    assert agents(user.root) == set()


FAILURES: tuple[tuple[Step, Failure], ...] = (
    (Fail(400, "invalid_request_error", "no"), Refused("API Error: 400 no")),
    (Fail(401, "authentication_error", "invalid x-api-key"), Misconfigured("/login")),
    (Fail(403, "permission_error", "no"), Misconfigured("/login")),
    (Fail(404, "not_found_error", "model: x"), Misconfigured("synthesis.model")),
    (Fail(413, "request_too_large", "no"), Refused("too large")),
    (Fail(429, "rate_limit_error", "slow"), RateLimited("(429)", 0)),
    (Fail(429, "rate_limit_error", "slow", (("retry-after", "30"),)), RateLimited("(429)", 0)),
    (Fail(500), Unavailable("500")),
    (Fail(529, "overloaded_error", "Overloaded"), Unavailable("529")),
    (Cut("<observation>half of it</observation>"), Unavailable("lost")),
    (Text("", stop="refusal"), Refused("can't help")),
)


def test_what_the_api_refuses_is_a_failure_and_never_a_reply_and_the_next_one_is_answered(
    api: ScriptedApi, new_agent: NewAgent
) -> None:
    agent = new_agent()
    for number, (step, expected) in enumerate(FAILURES):
        api.when(f"Batch {number}.", step)
        before = len(api.requests)

        failure = agent.ask(question(f"Batch {number}."))

        assert isinstance(failure, type(expected)), step
        assert expected.why in failure.why
        assert len(api.requests) - before <= 2  # some are tried once more without a stream
        if isinstance(step, Text):  # of a cut one the client may have seen nothing
            usage = usage_of(failure)
            assert usage is not None
            assert usage.sent > 0
        if isinstance(failure, RateLimited):
            assert 0 < failure.until - clock.now() <= clock.MINUTE
        assert isinstance(agent.ask(question("Another one")), Reply)
        assert f"Batch {number}." not in "".join(strings_in(api.requests[-1]["body"]))


def test_a_plans_limit_is_waited_for_a_login_is_asked_for_and_a_key_helper_is_one(
    api: ScriptedApi, user: Client, new_agent: NewAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.when("Batch 1", Fail(429, "rate_limit_error", "five hours", LIMIT))
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    nobody = new_agent().ask(question("Batch 1"))
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-dummy")
    limited = new_agent().ask(question("Batch 1"))

    monkeypatch.delenv("CLAUDE_CODE_OAUTH_TOKEN")
    user.settings({"apiKeyHelper": f"echo {KEY}"}, "user")
    helped = new_agent().ask(question("Batch 2"))

    assert isinstance(helped, Reply)
    assert isinstance(nobody, Misconfigured)
    assert "/login" in nobody.why
    assert isinstance(limited, RateLimited)
    assert limited.until == HOUR_LATER * 1000


def test_a_reply_that_the_token_limit_cuts_is_continued_once_and_then_given_back_as_cut(
    api: ScriptedApi, new_agent: NewAgent
) -> None:
    api.when("Batch 1", Text("<a>be", stop="max_tokens"))
    api.when("Batch 2", Text("<a>", stop="max_tokens"))
    agent = new_agent()
    api.otherwise = "gin</a>"
    once = agent.ask(question("Batch 1"))
    api.when("token limit", Text("more", stop="max_tokens"))
    before = len(api.requests)
    always = agent.ask(question("Batch 2"))
    assert len(api.requests) - before <= ROUNDS["claude"]

    assert isinstance(once, Reply)
    assert (once.text, once.complete) == ("<a>begin</a>", True)
    assert isinstance(always, Reply)
    assert always.text.startswith("<a>more")
    assert not always.complete


def test_a_model_that_hangs_or_a_client_that_dies_is_away_and_the_next_request_is_answered(
    api: ScriptedApi, user: Client, new_agent: NewAgent
) -> None:
    api.when("Hang", Delay(60, Text("late")))
    hung = new_agent(seconds=3).ask(question("Hang"))
    assert isinstance(hung, Unavailable)
    assert agents(user.root) == set()

    agent = new_agent()
    assert isinstance(agent.ask(question("Batch")), Reply)
    answers: list[Reply | Failure] = []
    asking = threading.Thread(target=lambda: answers.append(agent.ask(question("Hang"))))
    asking.start()
    until(lambda: api.requests[-1]["prompt"] == "Hang")
    for pid in agents(user.root):
        os.kill(pid, signal.SIGKILL)
    asking.join()
    assert isinstance(answers[0], Unavailable)
    assert answers[0].usage is not None  # the API had it
    assert answers[0].usage.sent > 0
    assert answers[0].usage.estimated
    assert isinstance(agent.ask(question("Batch")), Reply)


def test_close_brings_a_hanging_request_back_and_leaves_no_process(
    api: ScriptedApi, user: Client, new_agent: NewAgent
) -> None:
    api.when("Hang", Delay(60, Text("late")))
    agent = new_agent()
    answers: list[Reply | Failure] = []
    asking = threading.Thread(target=lambda: answers.append(agent.ask(question("Hang"))))
    asking.start()
    until(lambda: bool(api.requests))

    agent.close()
    asking.join()

    assert isinstance(answers[0], Unavailable)
    assert agents(user.root) == set()
    assert list(user.home.glob(".claude/sessions/*")) == []
    assert isinstance(agent.ask(question("Batch")), Unavailable)
    agent.close()


PARENT = """
import sys
from pathlib import Path
from aforesaid import clock
from aforesaid.model.requests import Request
from aforesaid.providers.claude import ClaudeAgent
agent = ClaudeAgent(model="haiku", seconds=60, clock=clock.now, cli=sys.argv[1], cwd=Path(sys.argv[2]))
agent.ask(Request("S", (), "Hang", 500))
"""


def test_the_agent_of_a_worker_that_was_killed_ends_with_its_answer(
    api: ScriptedApi, user: Client, tmp_path: Path
) -> None:
    api.when("Hang", Delay(3, Text("late")))
    command = [sys.executable, "-c", PARENT, find_cli(), str(tmp_path / "agent")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as parent:
        until(lambda: bool(api.requests))
        assert len(agents(user.root)) == 1
        parent.kill()
    until(lambda: agents(user.root) == set())


@pytest.mark.quick
def test_a_missing_client_is_named_with_its_fix(new_agent: NewAgent) -> None:
    failure = new_agent(cli="/nowhere/claude").ask(question("Batch"))
    assert isinstance(failure, Misconfigured)
    assert install_command("claude") in failure.why


@pytest.mark.quick
def test_a_missing_package_is_named_with_its_fix(
    new_agent: NewAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = new_agent()
    monkeypatch.setitem(sys.modules, "claude_agent_sdk", None)
    failure = agent.ask(question("Batch"))
    assert isinstance(failure, Misconfigured)
    assert install_command("claude") in failure.why
