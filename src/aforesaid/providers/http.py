"""HTTP providers: endpoints, and a model whose request the caller can abort at any moment.

The SDKs block in places that no other thread can interrupt (DNS, connect, first byte). So each request runs
in its own thread, and the caller waits for the answer, a timeout or `close`, whichever comes first. Each
request has its own client: a connection that another thread closes cannot be reused.
"""

import ipaddress
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import SplitResult, urlsplit

from aforesaid import text
from aforesaid.clock import Clock
from aforesaid.errors import ConfigError, install_command
from aforesaid.model.requests import (
    Failure,
    Misconfigured,
    Reply,
    Request,
    Unavailable,
    Usage,
    usage_of,
)
from aforesaid.providers.base import LOOK_SECONDS, PATIENCE
from aforesaid.providers.errors import Service, failure_from, key_problem, rejects

REQUEST_PATH = "/chat/completions"  # people paste the whole address


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`local`: on this machine. It needs no key, and its address must not go through a proxy."""

    name: str
    url: str
    key_variable: str | None = None
    default_model: str | None = None
    local: bool = False


GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
OPENROUTER, CLAUDE = "https://openrouter.ai/api/v1", "anthropic/claude-haiku-4.5"
PRESETS = (
    Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-4.1-mini"),
    Endpoint("openrouter", OPENROUTER, "OPENROUTER_API_KEY", CLAUDE),
    Endpoint("gemini", GEMINI, "GEMINI_API_KEY", "gemini-2.5-flash-lite"),
    Endpoint("ollama", "http://127.0.0.1:11434/v1", local=True),
    Endpoint("lmstudio", "http://127.0.0.1:1234/v1", local=True),
    Endpoint("vllm", "http://127.0.0.1:8000/v1", local=True),
)


def find_endpoint(setting: str) -> Endpoint:
    """The preset of that name or address; else the address as it is."""
    wanted = setting.strip()
    url = wanted.rstrip("/").removesuffix(REQUEST_PATH)
    for preset in PRESETS:
        if wanted.lower() == preset.name or url == preset.url:
            return preset
    parts = parse_address(url)
    if parts is None:
        names = ", ".join(preset.name for preset in PRESETS)
        raise ConfigError(
            f"synthesis.endpoint is not an http(s) address or one of: {names}. "
            "Set it with `aforesaid config set synthesis.endpoint …`."
        )
    return Endpoint(parts.hostname or "", url, local=is_loopback(url))


def is_loopback(url: str) -> bool:
    parts = parse_address(url)
    host = (parts.hostname or "") if parts else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    # Nothing listens on "no address"; the system takes it for this machine.
    return address.is_loopback or address.is_unspecified


def host_and_port(url: str) -> str:
    """For messages: never the name and password that an address may carry."""
    parts = parse_address(url)
    if parts is None:
        return "its address"
    return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or ""


def parse_address(url: str) -> SplitResult | None:
    """None unless it is an http(s) address."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # a wrong one raises only when it is read
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname else None


LONGEST_NAME = 100
CLOSING = "aforesaid is closing."


@dataclass
class Incoming:
    """What has come of a reply so far. One thread writes it; another one may read it when it leaves."""

    request: Request
    model: str
    parts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)  # paid for, but not part of the reply
    counted: Usage | None = None
    left: bool = False
    hang_up: Callable[[], object] = lambda: None

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def usage(self) -> Usage:
        """As the server counted; by our own estimate where it did not."""
        return self.counted if self.counted and self.counted.sent else self.estimate

    @property
    def estimate(self) -> Usage:
        received = text.tokens("".join((*self.parts, *self.thoughts)))
        return Usage(sum(map(text.tokens, self.request.texts)), 0, 0, received, estimated=True)

    @property
    def partial(self) -> Reply | None:
        if not (self.parts or self.thoughts or self.counted):
            return None
        # The server counts what the model wrote at the end, which did not come.
        received = max(self.usage.received, self.estimate.received)
        usage = replace(self.usage, received=received, estimated=True)
        return Reply(self.text, self.model, usage, complete=False)

    def set_model(self, model: object) -> None:
        """The server knows best which model answered."""
        if isinstance(model, str) and model.strip():
            self.model = text.one_line(model, LONGEST_NAME)

    def add_to(self, failure: Failure) -> Failure:
        """The failure, with what had arrived before it."""
        if isinstance(failure, Misconfigured):
            return failure
        if isinstance(failure, Unavailable):
            return Unavailable(failure.why, self.partial)
        return replace(failure, usage=usage_of(self.partial) if self.partial else None)


class HttpModel(ABC):
    """A model behind one of the SDKs, which is imported at the first request."""

    name: str
    address_fix: str
    optional: tuple[
        str, ...
    ]  # parameters that a server may reject by name: it is asked without them

    def __init__(self, *, model: str, api_key: str | None, seconds: float, clock: Clock) -> None:
        self.model, self.longest_seconds = model, PATIENCE * seconds
        self._seconds, self._clock = seconds, clock
        self._key = (api_key or "").strip()
        self._closed = False
        self._rejected: set[str] = set()

    @abstractmethod
    def _connect(self) -> Any:
        """The SDK's client. The worker does the retrying, so it must not."""

    @abstractmethod
    def _service(self, client: Any) -> Service: ...

    @abstractmethod
    def _stream(self, client: Any, incoming: Incoming, service: Service) -> Reply | Failure: ...

    @abstractmethod
    def _problem(self) -> Misconfigured | None:
        """What keeps a request from being made at all."""

    def ask(self, request: Request) -> Reply | Failure:
        incoming = Incoming(request, self.model)
        answers: list[Reply | Failure] = []
        work = threading.Thread(target=lambda: answers.append(self._answer(incoming)), daemon=True)
        late = time.monotonic() + self.longest_seconds
        if not self._closed:
            work.start()
        while work.is_alive() and not self._closed and time.monotonic() < late:
            work.join(LOOK_SECONDS)
        if answers:
            return answers[0]
        incoming.left = True
        with suppress(Exception):  # it is in use by the other thread, and may say so
            incoming.hang_up()
        why = f"The answer was not complete after {self.longest_seconds:g} s."
        return Unavailable(CLOSING if self._closed else why, incoming.partial)

    def close(self) -> None:
        self._closed = True

    def _answer(self, incoming: Incoming) -> Reply | Failure:
        """Never raises, and stops soon after `incoming` was left or hung up."""
        if problem := self._problem():
            return problem
        try:
            client = self._connect()
            service = self._service(client)
        except ImportError:
            fix = f"Install it with: {install_command(self.name)}"
            return Misconfigured(f"The package {self.name} is not installed. {fix}")
        except Exception as error:  # an address, a variable or a profile that the SDK rejects
            why = f"The {self.name} SDK cannot be set up ({type(error).__name__})."
            return Misconfigured(f"{why} Check {self.address_fix}.")
        incoming.hang_up = client.close
        with client:
            # Loading an SDK takes a while; whoever asked may have left.
            gone = Unavailable(CLOSING) if incoming.left else key_problem(service)
            while gone is None:
                try:
                    return self._stream(client, incoming, service)
                except Exception as error:
                    left = (name for name in self.optional if name not in self._rejected)
                    name = next((name for name in left if rejects(error, name)), None)
                    if name is None:
                        return incoming.add_to(failure_from(error, service, now=self._clock()))
                    self._rejected.add(name)
            return gone

    def _http_client(self, *, direct: bool) -> Any:
        """`direct`: not through a proxy. None: the SDK's own."""
        import httpx2

        return httpx2.Client(trust_env=False, follow_redirects=True) if direct else None


def broke_off(service: Service, incoming: Incoming) -> Unavailable:
    why = f"{service.where} broke off, or it does not speak this protocol."
    return Unavailable(why, incoming.partial)
