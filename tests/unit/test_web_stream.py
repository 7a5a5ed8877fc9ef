"""What happens, told live: from where a client was, to whoever keeps up."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest
from starlette.types import Message

from aforesaid.paths import Paths
from aforesaid.web import backend as backend_module
from aforesaid.web.backend import EventBus
from aforesaid.web.stream import BATCH, MAX_STREAMS, Stream
from tests.support.web import Site, ask, events, headers, scope_of, site


@pytest.fixture
def web(home: Paths) -> Iterator[Site]:
    with site(home) as found:
        found.service.context.notifier.on = True
        yield found


def told(text: str) -> tuple[str, str, Any]:
    """Its id, its kind and its data."""
    fields = dict(line.split(": ", 1) for line in text.splitlines())
    return fields["id"], fields["event"], json.loads(fields["data"])


async def some(stream: AsyncIterator[str], count: int) -> list[tuple[str, str, Any]]:
    return [told(await anext(stream)) for _ in range(count)]


def publish(web: Site, count: int, kind: str = "captured") -> None:
    for number in range(count):
        web.backend.event_bus.publish(kind, 1_000 + number, number=number)


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_a_client_is_greeted_and_then_told_what_happens(web: Site) -> None:
    async def story() -> None:
        publish(web, 3)
        stream = events(web.app, headers())
        ((_, kind, data),) = await some(stream, 1)
        assert (kind, data) == ("hello", {"missed": False})
        publish(web, 2, "observation")
        found = await some(stream, 2)
        assert [(kind, data["number"]) for _, kind, data in found] == [
            ("observation", 0),
            ("observation", 1),
        ]
        await stream.aclose()
        assert web.app.stream.clients == 0
        assert web.backend.event_bus.subscribers() == 0

    run(story)


def test_a_client_that_comes_back_is_told_what_it_missed(web: Site) -> None:
    async def story() -> None:
        publish(web, 1)
        stream = events(web.app, headers())
        found = await some(stream, 1)
        publish(web, 5)
        found += await some(stream, 3)
        await stream.aclose()
        publish(web, 300)
        again = events(web.app, headers(last_event_id=found[-1][0]))
        replayed = await some(again, 1 + 2 + 300)
        assert replayed[0][1:] == ("hello", {"missed": False})
        numbers = [int(each[0].rpartition("-")[2]) for each in (*found[1:], *replayed[1:])]
        assert numbers == list(range(2, 2 + 3 + 2 + 300))
        await again.aclose()

    run(story)


@pytest.mark.parametrize("last", ["0-1", "nonsense", "-", "ffffffff-3", "9" * 400, "{boot}-999"])
def test_a_client_of_another_life_is_told_that_it_missed_something(web: Site, last: str) -> None:
    async def story() -> None:
        publish(web, 3)
        known = last.format(boot=web.app.stream.boot)
        stream = events(web.app, headers(last_event_id=known))
        ((_, kind, data),) = await some(stream, 1)
        assert (kind, data) == ("hello", {"missed": True})
        publish(web, 1, "turn")
        assert (await some(stream, 1))[0][1] == "turn"
        await stream.aclose()

    run(story)


def test_what_is_no_longer_kept_is_missed(web: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend_module, "KEPT", 10)
    short = EventBus()
    for number in range(30):
        short.publish("captured", number)
    assert short.after(5) is None
    assert [each.number for each in short.after(25) or []] == [26, 27, 28, 29, 30]
    assert short.after(31) is None  # of another life


def test_a_silent_stream_says_that_it_is_there(web: Site) -> None:
    web.app.stream.heartbeat = 0.05

    async def story() -> None:
        stream = events(web.app, headers())
        await anext(stream)
        assert (await anext(stream)).startswith(": ")
        await stream.aclose()

    run(story)


def test_there_are_places_for_so_many_and_no_more(web: Site) -> None:
    """T47: many clients."""

    async def story() -> None:
        streams = [events(web.app, headers()) for _ in range(MAX_STREAMS)]
        for stream in streams:
            await anext(stream)
        answer = await ask(web.app, "GET", "/api/stream", headers())
        assert (answer.status, answer.json["error"]["code"]) == (429, "too_many_streams")
        await streams[0].aclose()
        late = events(web.app, headers())
        await anext(late)
        for stream in (*streams[1:], late):
            await stream.aclose()

    run(story)


def test_a_client_that_does_not_read_is_dropped_and_nobody_waits(web: Site) -> None:
    """T47: a slow client."""

    async def story() -> None:
        stream, event_bus = Stream(web.backend.event_bus), web.backend.event_bus
        stream.send_seconds = 0.05
        stuck, said = asyncio.Event(), []

        async def send(message: Message) -> None:
            said.append(message)
            if len(said) > 2:  # the system's buffers are full
                stuck.set()
                await asyncio.Event().wait()

        async def receive() -> Message:
            await asyncio.Event().wait()
            raise AssertionError

        scope = scope_of("GET", "/api/stream", headers())
        serving = asyncio.create_task(stream(scope, receive, send))
        while not said:
            await asyncio.sleep(0)
        event_bus.publish("captured", 1)
        await stuck.wait()
        assert stream.clients == 1
        await asyncio.wait_for(serving, 20)
        assert (stream.clients, event_bus.subscribers()) == (0, 0)

    run(story)


def test_a_burst_does_not_drop_a_client_that_reads(web: Site) -> None:
    async def story() -> None:
        stream = events(web.app, headers())
        await anext(stream)
        publish(web, 9 * BATCH)
        found = await some(stream, 9 * BATCH)
        assert [data["number"] for _, _, data in found] == list(range(9 * BATCH))
        await stream.aclose()

    run(story)


def test_nothing_is_kept_while_nobody_has_opened_the_viewer(home: Paths) -> None:
    with site(home) as web:
        web.service.context.notifier.publish("fault", thread="jobs", title="a lock")
        assert web.backend.event_bus.last == 0
