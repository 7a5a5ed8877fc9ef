"""What every provider that speaks HTTP does alike, with the real SDKs, against scripted servers."""

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anthropic  # noqa: F401  # loaded here, since its time must not count as an answer's
import openai  # noqa: F401
import pytest

from aforesaid.clock import SECOND
from aforesaid.errors import install_command
from aforesaid.model.requests import (
    Failure,
    Misconfigured,
    RateLimited,
    Refused,
    Reply,
    Request,
    Unavailable,
)
from aforesaid.providers.anthropic import AnthropicApi
from aforesaid.providers.base import PATIENCE, Model
from aforesaid.providers.http import find_endpoint
from aforesaid.providers.openai import OpenAiApi
from aforesaid.text import tokens
from tests.support.model_faults import FAULTS, Fault
from tests.support.scripted_models import (
    Broken,
    Cut,
    Hang,
    Say,
    ScriptedAnthropic,
    ScriptedOpenAi,
    Status,
    Step,
    count,
)

KEY = "sk-scripted-0123456789"
NOW = 1_700_000_000_000
EXAMPLES = (("What was asked first?", "The first answer."), ("And then?", "The second answer."))
REQUEST = Request("You keep the record of a session.", EXAMPLES, "Here is what happened…", 700)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@dataclass
class Api:
    """A provider, and the server that it talks to. `refusal` and `limit` are its reasons to stop."""

    name: str
    server: type[ScriptedAnthropic] | type[ScriptedOpenAi]
    refusal: str
    limit: str
    address_fix: str
    build: Callable[[str, float], Model]
    made: list[Model]

    def at(self, url: str, *, seconds: float = 20) -> Model:
        self.made.append(self.build(url, seconds))
        return self.made[-1]

    def ask(self, *steps: Step, seconds: float = 20, request: Request = REQUEST) -> Reply | Failure:
        with self.server(*steps) as server:
            return self.at(server.url, seconds=seconds).ask(request)


@pytest.fixture(params=["anthropic", "openai"])
def api(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS", "PROFILE", "CONFIG_DIR"):
        monkeypatch.delenv(f"ANTHROPIC_{name}", raising=False)
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    for name in (*PROXIES, "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    def of_anthropic(url: str, seconds: float) -> Model:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        return AnthropicApi(model="m-1", api_key=KEY, seconds=seconds, clock=lambda: NOW)

    def of_openai(url: str, seconds: float) -> Model:
        return OpenAiApi(
            endpoint=find_endpoint(url),
            model="m-1",
            api_key=KEY,
            seconds=seconds,
            clock=lambda: NOW,
        )

    made: list[Model] = []
    if request.param == "anthropic":
        fix = "ANTHROPIC_BASE_URL"
        yield Api("anthropic", ScriptedAnthropic, "refusal", "max_tokens", fix, of_anthropic, made)
    else:
        fix = "`synthesis.endpoint`"
        yield Api("openai", ScriptedOpenAi, "content_filter", "length", fix, of_openai, made)
    for each in made:
        each.close()


def test_a_streamed_reply_is_put_together(api: Api) -> None:
    text = "<observation>" + "ünd so weiter… " * 40 + "</observation>"
    reply = api.ask(text)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.complete) == (text, "m-1", True)


@pytest.mark.parametrize(
    "text",
    ["", "<think>\nHm.\n</think>\n\nYes.", "<think>It never came to", "Yes. <think>no</think>"],
)
def test_a_reply_is_given_back_as_it_came(api: Api, text: str) -> None:
    reply = api.ask(text)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.complete) == (text, True)


def test_a_reply_that_hits_the_limit_is_not_complete(api: Api) -> None:
    reply = api.ask(Say("half a sent", stop=api.limit))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.complete) == ("half a sent", False)


def test_thoughts_that_are_told_apart_are_no_part_of_the_reply(api: Api) -> None:
    reply = api.ask(Say("Yes.", thoughts="Let me think about this for a while."))
    assert isinstance(reply, Reply)
    assert reply.text == "Yes."


def test_a_refusal_is_paid_for(api: Api) -> None:
    with api.server(Say("I may not", stop=api.refusal)) as server:
        found = api.at(server.url).ask(REQUEST)
        assert isinstance(found, Refused)
        assert found.usage is not None
        assert (found.usage.sent, found.usage.received) == (server.sent, server.received)
        assert not found.usage.estimated


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_is_a_value(api: Api, fault: Fault) -> None:
    failure = api.ask(fault.step)
    assert isinstance(failure, fault.kind), failure
    assert fault.words in failure.why
    assert KEY not in failure.why


def test_what_may_be_a_wrong_address_names_where_it_is_set(api: Api) -> None:
    found = api.ask(Status(404))
    assert isinstance(found, Misconfigured)
    assert f"check {api.address_fix}" in found.why


def test_a_limit_is_waited_for(api: Api) -> None:
    found = api.ask(Status(429, {"retry-after": "30"}))
    assert isinstance(found, RateLimited)
    assert found.until == NOW + 30 * SECOND


def test_it_asks_once_and_leaves_retrying_to_the_worker(api: Api) -> None:
    with api.server(Status(529), "late") as server:
        api.at(server.url).ask(REQUEST)
        assert len(server.requests) == 1


@pytest.mark.parametrize("cut", [Cut("What came so far"), Cut("What came so far", clean=True)])
def test_a_cut_stream_keeps_what_arrived(api: Api, cut: Cut) -> None:
    found = api.ask(cut)
    assert isinstance(found, Unavailable)
    assert found.partial is not None
    assert (found.partial.text, found.partial.complete) == (cut.text, False)
    assert found.partial.usage.sent > 0
    assert found.partial.usage.received == count(cut.text)
    assert found.partial.usage.estimated


def test_an_error_in_the_middle_of_a_stream_keeps_what_arrived(api: Api) -> None:
    error = {"type": "overloaded_error", "code": 529, "message": "Overloaded"}
    found = api.ask(Broken("So far", error))
    assert isinstance(found, Unavailable)
    assert "Overloaded" in found.why
    assert found.partial is not None
    assert found.partial.text == "So far"


def test_a_refusal_in_the_middle_of_a_stream_is_paid_for(api: Api) -> None:
    error = {"type": "invalid_request_error", "code": 400, "message": "No more"}
    found = api.ask(Broken("So far", error))
    assert isinstance(found, Refused)
    assert found.usage is not None
    assert found.usage.sent > 0
    assert found.usage.received == tokens("So far")


def test_silence_is_a_time_out(api: Api) -> None:
    for step in (Hang(), Hang(after="So far")):
        found = api.ask(step, seconds=0.5)
        assert isinstance(found, Unavailable)
        assert "in time" in found.why


def test_a_slow_model_that_keeps_writing_is_no_time_out(api: Api) -> None:
    text = "slow " * 40
    reply = api.ask(Say(text, pause=0.4), seconds=2)
    assert isinstance(reply, Reply)
    assert reply.text == text


def test_a_stream_without_end_is_left_at_the_longest_time(api: Api) -> None:
    found = api.ask(Say("on and on " * 5_000, pause=0.2), seconds=1)
    assert isinstance(found, Unavailable)
    assert found.partial is not None
    assert found.partial.text.startswith("on and on")
    assert f"after {api.made[0].longest_seconds:g} s" in found.why
    assert api.made[0].longest_seconds == PATIENCE


def test_nobody_listening_is_away(api: Api) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        found = api.at(f"http://127.0.0.1:{unused.getsockname()[1]}/v1").ask(REQUEST)
    assert isinstance(found, Unavailable)
    assert "is it running? e.g. `ollama serve`" in found.why
    assert (found.partial, found.usage) == (None, None)


@pytest.mark.parametrize("step", [Hang(), Hang(after="So far")], ids=["before", "amid"])
def test_closing_ends_the_request_under_way_and_every_later_one(api: Api, step: Hang) -> None:
    with api.server(step) as server:
        model = api.at(server.url, seconds=60)
        found: list[object] = []
        asking = threading.Thread(target=lambda: found.append(model.ask(REQUEST)))
        asking.start()
        while not server.requests:
            threading.Event().wait(0.01)
        model.close()
        model.close()
        asking.join(30)
        assert not asking.is_alive()
        assert isinstance(found[0], Unavailable)
        assert isinstance(model.ask(REQUEST), Unavailable)
        assert len(server.requests) == 1


def test_a_missing_package_names_its_installation(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, api.name, None)
    found = api.at("http://127.0.0.1:9").ask(REQUEST)
    assert isinstance(found, Misconfigured)
    command = install_command(api.name)
    assert f"is not installed. Install it with: {command}" in found.why


def test_this_machine_is_not_reached_through_a_proxy(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PROXIES:
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert isinstance(api.ask("yes"), Reply)


def test_another_machine_is(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    with api.server() as proxy:  # which knows POST and GET, but not CONNECT
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("https_proxy", proxy.url)
        found = api.at("https://models.invalid/v1").ask(REQUEST)
    assert isinstance(found, Unavailable)
    assert "ProxyError" in found.why


def test_half_a_character_does_not_stop_a_request(api: Api) -> None:
    assert isinstance(api.ask("yes", request=Request("s", (), "half \ud83d of it", 10)), Reply)
