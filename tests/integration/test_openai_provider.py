"""The `openai` provider with the real SDK, against a scripted server that speaks the protocol."""

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import openai  # loaded here, since its time must not count as an answer's
import pytest

from recollect import text
from recollect.clock import SECOND
from recollect.model.requests import Away, Misconfigured, Refused, Reply, Request, Wait
from recollect.providers.endpoints import Endpoint, find
from recollect.providers.openai_api import OpenAiApi
from recollect.providers.protocol import Model
from tests.support.model_faults import FAULTS, Fault
from tests.support.scripted_models import (
    Broken,
    Cut,
    Hang,
    Raw,
    Say,
    ScriptedOpenAi,
    Status,
    Step,
    count,
)

KEY = "sk-scripted-0123456789"
NOW = 1_700_000_000_000
EXAMPLES = (("What was asked first?", "The first answer."), ("And then?", "The second answer."))
REQUEST = Request("You keep the record of a session.", EXAMPLES, "Here is what happened…", 700)
Make = Callable[..., OpenAiApi]


@pytest.fixture(autouse=True)
def nothing_of_the_developers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS", "ADMIN_KEY"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[OpenAiApi] = []

    def build(
        server: ScriptedOpenAi, *, key: str | None = KEY, seconds: float = 20, preset: str = ""
    ) -> OpenAiApi:
        endpoint = replace(find(preset), url=server.url, local=True) if preset else find(server.url)
        api = OpenAiApi(
            endpoint=endpoint, model="m-1", api_key=key, seconds=seconds, clock=lambda: NOW
        )
        made.append(api)
        return api

    yield build
    for api in made:
        api.close()


def ask(make: Make, step: Step, request: Request = REQUEST) -> object:
    with ScriptedOpenAi(step) as server:
        return make(server).ask(request)


def at(endpoint: Endpoint, *, model: str = "m", key: str | None = KEY) -> OpenAiApi:
    return OpenAiApi(endpoint=endpoint, model=model, api_key=key, seconds=20, clock=lambda: NOW)


def test_it_is_a_model_with_the_default_of_its_endpoint() -> None:
    api: Model = at(find("gemini"), model="")
    assert (api.name, api.model) == ("openai", find("gemini").default_model)
    api.idle()


def test_a_streamed_reply_is_put_together(make: Make) -> None:
    words = "<observation>" + "ünd so weiter… " * 40 + "</observation>"
    reply = ask(make, words)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.complete) == (words, "m-1", True)


def test_a_request_has_the_examples_as_turns_and_no_chance_in_it(make: Make) -> None:
    with ScriptedOpenAi("yes") as server:
        make(server).ask(REQUEST)
        body = server.bodies[0]
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", REQUEST.system),
        ("user", EXAMPLES[0][0]),
        ("assistant", EXAMPLES[0][1]),
        ("user", EXAMPLES[1][0]),
        ("assistant", EXAMPLES[1][1]),
        ("user", REQUEST.message),
    ]
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("m-1", 700, 0)
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})


def test_usage_is_what_the_api_counted(make: Make) -> None:
    with ScriptedOpenAi("a reply of some words", "another") as server:
        api = make(server)
        first, second = api.ask(REQUEST), api.ask(REQUEST)
        assert isinstance(first, Reply)
        assert isinstance(second, Reply)
        both = (first.usage, second.usage)
        assert first.usage.cached == 0 < second.usage.cached
        assert not any(usage.estimated for usage in both)
        assert sum(usage.sent for usage in both) == server.sent
        assert sum(usage.cached for usage in both) == server.cached
        assert sum(usage.received for usage in both) == server.received
        assert first.usage.microdollars is None


def test_a_server_that_does_not_count_is_estimated(make: Make) -> None:
    with ScriptedOpenAi("a reply of some words", counts=False) as server:
        reply = make(server).ask(REQUEST)
    assert isinstance(reply, Reply)
    said = (REQUEST.system, *EXAMPLES[0], *EXAMPLES[1], REQUEST.message)
    assert reply.usage.estimated
    assert reply.usage.sent == sum(map(text.tokens, said))
    assert reply.usage.received == text.tokens(reply.text)


def test_a_price_is_kept_in_microdollars(make: Make) -> None:
    with ScriptedOpenAi("yes", cost=0.00123) as server:
        reply = make(server, preset="openrouter").ask(REQUEST)
        assert server.bodies[0]["usage"] == {"include": True}
    assert isinstance(reply, Reply)
    assert reply.usage.microdollars == 1230


def test_an_empty_reply_is_a_reply(make: Make) -> None:
    reply = ask(make, "")
    assert isinstance(reply, Reply)
    assert (reply.text, reply.complete) == ("", True)


def test_a_reply_that_hits_the_limit_is_not_complete(make: Make) -> None:
    reply = ask(make, Say("half a sent", stop="length"))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.complete) == ("half a sent", False)


def test_a_filtered_reply_is_refused(make: Make) -> None:
    assert isinstance(ask(make, Say("I", stop="content_filter")), Refused)


def test_a_refusal_in_words_is_refused(make: Make) -> None:
    delta = {"choices": [{"index": 0, "delta": {"refusal": "I may not."}, "finish_reason": "stop"}]}
    found = ask(make, Raw(f"data: {json.dumps(delta)}\n\n".encode()))
    assert isinstance(found, Refused)
    assert "I may not." in found.why


@pytest.mark.parametrize(
    ("step", "left"),
    [
        (Say("Yes.", thoughts="Let me think about it."), "Yes."),
        ("<think>\nHm, <b>well</b>.\n</think>\n\nYes.", "Yes."),
        ("<think></think>Yes, <think> is kept here.", "Yes, <think> is kept here."),
        ("<think>It never came to", ""),
        ("Yes. <think>no</think>", "Yes. <think>no</think>"),
    ],
)
def test_reasoning_is_no_part_of_the_reply(make: Make, step: Step, left: str) -> None:
    reply = ask(make, step)
    assert isinstance(reply, Reply)
    assert reply.text == left


def test_a_server_that_does_not_stream_is_understood(make: Make) -> None:
    def plain(body: dict[str, Any]) -> Step:
        choice = {"index": 0, "message": {"role": "assistant", "content": "Yes."}}
        whole = {"id": "1", "object": "chat.completion", "created": 0, "model": "m-2"}
        usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
        answer = {**whole, "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}
        return Raw(json.dumps(answer).encode(), "application/json")

    reply = ask(make, plain)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.usage.sent) == ("Yes.", "m-2", 9)


def test_an_error_that_is_called_a_success_is_still_one(make: Make) -> None:
    error = {"error": {"code": 402, "message": "More credits, please."}}
    found = ask(make, Raw(json.dumps(error).encode(), "application/json"))
    assert isinstance(found, Misconfigured)
    assert "no credit" in found.why


def naming(*names: str) -> Callable[[dict[str, Any]], Step]:
    """A server that takes none of these parameters, and names the first one it sees."""

    def answer(body: dict[str, Any]) -> Step:
        for name in names:
            if name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                return Status(400, body=json.dumps({"error": {"message": message, "param": name}}))
        return "Yes."

    return answer


@pytest.mark.parametrize(
    ("names", "requests"),
    [
        (("temperature",), 2),
        (("max_tokens",), 2),
        (("stream_options",), 2),
        (("temperature", "max_tokens", "stream_options"), 4),
    ],
)
def test_a_parameter_that_is_rejected_is_given_up_for_good(
    make: Make, names: tuple[str, ...], requests: int
) -> None:
    with ScriptedOpenAi(then=naming(*names)) as server:
        api = make(server)
        assert isinstance(api.ask(REQUEST), Reply)
        assert len(server.requests) == requests
        assert isinstance(api.ask(REQUEST), Reply)
        assert len(server.requests) == requests + 1
        last = server.bodies[-1]
    assert not set(names) & set(last)
    assert last.get("max_completion_tokens", 700) == 700
    assert ("max_completion_tokens" in last) == ("max_tokens" in names)


def test_a_parameter_is_given_up_only_once(make: Make) -> None:
    names = ("temperature", "max_tokens", "max_completion_tokens", "stream_options")
    with ScriptedOpenAi(then=naming(*names)) as server:
        assert isinstance(make(server).ask(REQUEST), Refused)
        assert len(server.requests) <= 4


def test_a_request_that_is_too_long_is_not_sent_again_under_another_name(make: Make) -> None:
    told = {"error": {"message": "max_tokens is too large: the context length is 4096"}}
    with ScriptedOpenAi(Status(400, body=json.dumps(told)), then="yes") as server:
        found = make(server).ask(REQUEST)
        assert len(server.requests) == 1
    assert isinstance(found, Refused)
    assert "longer than" in found.why


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_is_a_value(make: Make, fault: Fault) -> None:
    failure = ask(make, fault.step)
    assert isinstance(failure, fault.kind), failure
    assert fault.words in failure.why
    assert KEY not in failure.why


def test_a_key_that_a_server_repeats_is_not_shown(make: Make) -> None:
    told = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    found = ask(make, Status(401, body=json.dumps(told)))
    assert isinstance(found, Misconfigured)
    assert "Incorrect API key provided" in found.why
    assert KEY not in found.why


def test_a_limit_is_waited_for(make: Make) -> None:
    found = ask(make, Status(429, {"x-ratelimit-reset-requests": "30s"}))
    assert isinstance(found, Wait)
    assert found.until == NOW + 30 * SECOND


def test_it_asks_once_and_leaves_retrying_to_the_worker(make: Make) -> None:
    with ScriptedOpenAi(Status(500), "late") as server:
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
    found = ask(make, Broken("So far", {"code": 502, "message": "Upstream is gone"}))
    assert isinstance(found, Away)
    assert "Upstream is gone" in found.why
    assert found.partial is not None
    assert found.partial.text == "So far"


def test_silence_is_a_time_out(make: Make) -> None:
    for step in (Hang(), Hang(after="So far")):
        with ScriptedOpenAi(step) as server:
            found = make(server, seconds=0.5).ask(REQUEST)
        assert isinstance(found, Away)
        assert "in time" in found.why


def test_a_slow_model_that_keeps_writing_is_no_time_out(make: Make) -> None:
    words = "slow " * 40
    with ScriptedOpenAi(Say(words, pause=0.4)) as server:
        reply = make(server, seconds=2).ask(REQUEST)
    assert isinstance(reply, Reply)
    assert reply.text == words


def test_a_stream_without_end_is_left(make: Make) -> None:
    with ScriptedOpenAi(Say("on and on " * 5_000, pause=0.05)) as server:
        found = make(server, seconds=0.4).ask(REQUEST)
    assert isinstance(found, Away)
    assert found.partial is not None
    assert found.partial.text.startswith("on and on")


def test_a_local_server_that_does_not_run_is_asked_after() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        found = at(find(f"http://127.0.0.1:{unused.getsockname()[1]}/v1")).ask(REQUEST)
    assert isinstance(found, Away)
    assert "is it running? e.g. `ollama serve`" in found.why


@pytest.mark.parametrize("step", [Hang(), Hang(after="So far")], ids=["before", "amid"])
def test_closing_ends_the_request_under_way_and_every_later_one(make: Make, step: Hang) -> None:
    with ScriptedOpenAi(step) as server:
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
    monkeypatch.setitem(sys.modules, "openai", None)
    found = at(find("ollama")).ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "is not installed. Install it with: pip install 'recollect[openai]'" in found.why


def test_a_missing_key_names_the_variable_and_the_setting() -> None:
    found = at(find("openrouter"), key=None).ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "OPENROUTER_API_KEY" in found.why
    assert "synthesis.api_key" in found.why


def test_a_missing_model_names_the_setting() -> None:
    found = at(find("ollama"), model="").ask(REQUEST)
    assert isinstance(found, Misconfigured)
    assert "`recollect config set synthesis.model …`" in found.why


def test_a_preset_takes_its_key_from_its_variable(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    with ScriptedOpenAi("yes") as server:
        assert isinstance(make(server, key=None, preset="openrouter").ask(REQUEST), Reply)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_what_is_meant_for_openai_goes_to_nobody_else(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-user")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-the-user")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer of-the-user")
    with ScriptedOpenAi("yes") as server:
        assert isinstance(make(server, key=None).ask(REQUEST), Reply)
        assert "of-the-user" not in str(server.requests[0].headers)


def test_this_machine_is_not_reached_through_a_proxy(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert isinstance(ask(make, "yes"), Reply)


def test_another_machine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedOpenAi() as proxy:  # which knows POST and GET, but not CONNECT
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        monkeypatch.setenv("https_proxy", proxy.url)
        found = at(find("https://models.invalid/v1")).ask(REQUEST)
    assert isinstance(found, Away)
    assert "ProxyError" in found.why


def test_half_a_character_does_not_stop_a_request(make: Make) -> None:
    assert isinstance(ask(make, "yes", Request("s", (), "half \ud83d of it", 10)), Reply)


def test_the_sdk_is_the_one_we_know() -> None:
    assert int(openai.__version__.partition(".")[0]) >= 3
