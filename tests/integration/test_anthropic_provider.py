"""The `anthropic` provider with the real SDK, against a scripted server that speaks the protocol."""

import socket
import sys
import threading
from collections.abc import Callable, Iterator

import anthropic  # loaded here, since its time must not count as an answer's
import pytest

from recollect.clock import SECOND
from recollect.model.requests import Away, Misconfigured, Refused, Reply, Request, Wait
from recollect.providers.anthropic_api import DEFAULT_MODEL, AnthropicApi
from recollect.providers.protocol import Model
from tests.support.model_faults import FAULTS, Fault
from tests.support.scripted_models import (
    Broken,
    Cut,
    Hang,
    Raw,
    Say,
    ScriptedAnthropic,
    Status,
    Step,
    count,
)

KEY = "sk-ant-scripted-0123456789"
NOW = 1_700_000_000_000
EXAMPLES = (("What was asked first?", "The first answer."), ("And then?", "The second answer."))
REQUEST = Request("You keep the record of a session.", EXAMPLES, "Here is what happened…", 700)
Make = Callable[..., AnthropicApi]


@pytest.fixture(autouse=True)
def nothing_of_the_developers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[AnthropicApi] = []

    def build(
        server: ScriptedAnthropic | None, *, key: str | None = KEY, seconds: float = 20
    ) -> AnthropicApi:
        url = server.url if server else None
        api = AnthropicApi(
            model="m-1", api_key=key, base_url=url, seconds=seconds, clock=lambda: NOW
        )
        made.append(api)
        return api

    yield build
    for api in made:
        api.close()


def ask(make: Make, step: Step, request: Request = REQUEST) -> object:
    with ScriptedAnthropic(step) as server:
        return make(server).ask(request)


def test_it_is_a_model_with_a_default() -> None:
    api: Model = AnthropicApi(model="", api_key=None, base_url=None, seconds=1, clock=lambda: NOW)
    assert (api.name, api.model) == ("anthropic", DEFAULT_MODEL)
    api.idle()


def test_a_streamed_reply_is_put_together(make: Make) -> None:
    text = "<observation>" + "ünd so weiter… " * 40 + "</observation>"
    reply = ask(make, text)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.complete) == (text, "m-1", True)


def test_the_last_static_block_alone_is_marked_for_the_cache(make: Make) -> None:
    with ScriptedAnthropic("yes") as server:
        make(server).ask(REQUEST)
        body = server.bodies[0]
    roles = [(message["role"], message["content"][0]["text"]) for message in body["messages"]]
    assert roles == [
        ("user", EXAMPLES[0][0]),
        ("assistant", EXAMPLES[0][1]),
        ("user", EXAMPLES[1][0]),
        ("assistant", EXAMPLES[1][1]),
        ("user", REQUEST.message),
    ]
    blocks = [*body["system"], *(b for m in body["messages"] for b in m["content"])]
    marked = [block["text"] for block in blocks if "cache_control" in block]
    assert marked == [EXAMPLES[1][1]]
    assert body["system"][0]["text"] == REQUEST.system
    assert (body["model"], body["max_tokens"], body["stream"]) == ("m-1", 700, True)


def test_thinking_is_off_unless_the_model_cannot_do_without(make: Make) -> None:
    why = '{"error": {"type": "invalid_request_error", "message": "thinking cannot be disabled"}}'
    with ScriptedAnthropic(Status(400, body=why), "one", "two") as server:
        api = make(server)
        replies = [api.ask(REQUEST), api.ask(REQUEST)]
        asked = [body.get("thinking") for body in server.bodies]
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["one", "two"]
    assert asked == [{"type": "disabled"}, None, None]


def test_without_examples_the_system_block_is_marked(make: Make) -> None:
    with ScriptedAnthropic("yes") as server:
        make(server).ask(Request("System.", (), "Message.", 10))
        body = server.bodies[0]
    assert body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in body["messages"][0]["content"][0]


def test_usage_is_what_the_api_counted(make: Make) -> None:
    static = count("".join((REQUEST.system, *EXAMPLES[0], *EXAMPLES[1])))
    with ScriptedAnthropic("a reply of some words", "another") as server:
        api = make(server)
        first, second = api.ask(REQUEST), api.ask(REQUEST)
        assert isinstance(first, Reply)
        assert isinstance(second, Reply)
        both = (first.usage, second.usage)
        assert (first.usage.cached, first.usage.written) == (0, static)
        assert (second.usage.cached, second.usage.written) == (static, 0)
        assert not any(usage.estimated for usage in both)
        assert sum(usage.sent for usage in both) == server.sent
        assert sum(usage.cached for usage in both) == server.cached
        assert sum(usage.written for usage in both) == server.written
        assert sum(usage.received for usage in both) == server.received


def test_an_empty_reply_is_a_reply(make: Make) -> None:
    reply = ask(make, "")
    assert isinstance(reply, Reply)
    assert (reply.text, reply.complete) == ("", True)


@pytest.mark.parametrize("stop", ["max_tokens", "model_context_window_exceeded"])
def test_a_reply_that_hits_the_limit_is_not_complete(make: Make, stop: str) -> None:
    reply = ask(make, Say("half a sent", stop=stop))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.complete) == ("half a sent", False)


def test_thoughts_are_no_part_of_the_reply(make: Make) -> None:
    reply = ask(make, Say("Yes.", thoughts="Let me think about this for a while."))
    assert isinstance(reply, Reply)
    assert reply.text == "Yes."


def test_a_model_that_declines_has_refused(make: Make) -> None:
    assert isinstance(ask(make, Say("I", stop="refusal")), Refused)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_is_a_value(make: Make, fault: Fault) -> None:
    failure = ask(make, fault.step)
    assert isinstance(failure, fault.kind), failure
    assert fault.words in failure.why
    assert KEY not in failure.why


def test_a_limit_is_waited_for(make: Make) -> None:
    found = ask(make, Status(429, {"retry-after": "30"}))
    assert isinstance(found, Wait)
    assert found.until == NOW + 30 * SECOND


def test_it_asks_once_and_leaves_retrying_to_the_worker(make: Make) -> None:
    with ScriptedAnthropic(Status(529), "late") as server:
        make(server).ask(REQUEST)
        assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [Cut("What came so far"), Cut("What came so far", clean=True)])
def test_a_cut_stream_keeps_what_arrived(make: Make, cut: Cut) -> None:
    found = ask(make, cut)
    assert isinstance(found, Away)
    assert found.partial is not None
    assert (found.partial.text, found.partial.complete) == (cut.text, False)
    assert found.partial.usage.sent > 0
    assert found.partial.usage.received == count(cut.text)
    assert found.partial.usage.estimated


def test_an_error_in_the_middle_of_a_stream_keeps_what_arrived(make: Make) -> None:
    found = ask(make, Broken("So far", {"type": "overloaded_error", "message": "Overloaded"}))
    assert isinstance(found, Away)
    assert "Overloaded" in found.why
    assert found.partial is not None
    assert found.partial.text == "So far"


def test_silence_is_a_time_out(make: Make) -> None:
    for step in (Hang(), Hang(after="So far")):
        with ScriptedAnthropic(step) as server:
            found = make(server, seconds=0.5).ask(REQUEST)
        assert isinstance(found, Away)
        assert "in time" in found.why


def test_a_slow_model_that_keeps_writing_is_no_time_out(make: Make) -> None:
    text = "slow " * 40
    with ScriptedAnthropic(Say(text, pause=0.4)) as server:
        reply = make(server, seconds=2).ask(REQUEST)
    assert isinstance(reply, Reply)
    assert reply.text == text


def test_a_stream_without_end_is_left(make: Make) -> None:
    with ScriptedAnthropic(Say("on and on " * 5_000, pause=0.05)) as server:
        found = make(server, seconds=0.4).ask(REQUEST)
    assert isinstance(found, Away)
    assert found.partial is not None
    assert found.partial.text.startswith("on and on")


def test_nobody_listening_is_away(make: Make) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        api = AnthropicApi(model="m", api_key=KEY, base_url=url, seconds=5, clock=lambda: NOW)
        found = api.ask(REQUEST)
    assert isinstance(found, Away)
    assert "is it running?" in found.why


@pytest.mark.parametrize("step", [Hang(), Hang(after="So far")], ids=["before", "amid"])
def test_closing_ends_the_request_under_way_and_every_later_one(make: Make, step: Hang) -> None:
    with ScriptedAnthropic(step) as server:
        api = make(server, seconds=60)
        found: list[object] = []
        asking = threading.Thread(target=lambda: found.append(api.ask(REQUEST)))
        asking.start()
        while not server.requests:
            threading.Event().wait(0.01)
        api.close()
        asking.join(30)
        assert not asking.is_alive()
        assert isinstance(found[0], Away)
        assert isinstance(api.ask(REQUEST), Away)
        assert len(server.requests) == 1


def test_a_missing_package_names_its_installation(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    found = make(None).ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "is not installed. Install it with: pip install 'recollect[anthropic]'" in found.why


@pytest.mark.parametrize("key", [None, "", "  "])
def test_a_missing_key_names_the_variable_and_the_setting(make: Make, key: str | None) -> None:
    with ScriptedAnthropic() as server:
        found = make(server, key=key).ask(REQUEST)
        assert not server.requests
    assert isinstance(found, Misconfigured)
    assert "ANTHROPIC_API_KEY" in found.why
    assert "synthesis.api_key" in found.why


def test_a_key_that_cannot_be_one_is_not_sent(make: Make) -> None:
    with ScriptedAnthropic() as server:
        found = make(server, key="sk-ant-…\n-0").ask(REQUEST)
        assert not server.requests
    assert isinstance(found, Misconfigured)


@pytest.mark.parametrize("variable", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"])
def test_the_variables_of_the_sdk_are_honoured(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    secret = "secret-from-the-environment"
    monkeypatch.setenv(variable, secret)
    with ScriptedAnthropic("yes", Status(401, body=f'{{"error": "{secret}?"}}')) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        api = AnthropicApi(model="m", api_key=None, base_url=None, seconds=20, clock=lambda: NOW)
        assert isinstance(api.ask(REQUEST), Reply)
        sent = server.requests[0].headers
        assert secret in (sent.get("x-api-key") or sent["authorization"])
        refused = api.ask(REQUEST)
    assert isinstance(refused, Misconfigured)
    assert secret not in refused.why


@pytest.mark.parametrize("url", ["http://[1", "nonsense", "ftp://host", "http://host:port"])
def test_an_address_that_is_none_is_said(url: str) -> None:
    api = AnthropicApi(model="m", api_key=KEY, base_url=url, seconds=5, clock=lambda: NOW)
    found = api.ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "synthesis.endpoint" in found.why


def test_this_machine_is_not_reached_through_a_proxy(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert isinstance(ask(make, "yes"), Reply)


def test_another_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "https://models.invalid"
    with ScriptedAnthropic() as proxy:  # which knows POST and GET, but not CONNECT
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("https_proxy", proxy.url)
        api = AnthropicApi(model="m", api_key=KEY, base_url=url, seconds=20, clock=lambda: NOW)
        found = api.ask(REQUEST)
    assert isinstance(found, Away)
    assert "ProxyError" in found.why


def test_half_a_character_does_not_stop_a_request(make: Make) -> None:
    assert isinstance(ask(make, "yes", Request("s", (), "half \ud83d of it", 10)), Reply)


def test_an_answer_that_is_not_streamed_is_away(make: Make) -> None:
    assert isinstance(ask(make, Raw(b'{"content": []}', "application/json")), Away)


def test_the_sdk_is_the_one_we_know() -> None:
    assert int(anthropic.__version__.partition(".")[0]) >= 2
