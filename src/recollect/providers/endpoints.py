"""Where an OpenAI-compatible API is found: presets by name, or any http(s) address.

A key read from the environment goes to the preset it belongs to and to nobody else: an address of the
user's own has no `key_variable`, so its key must be in the settings.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from recollect.errors import ConfigError

PATH_OF_REQUESTS = "/chat/completions"  # people paste the whole address


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`local`: on this machine. It needs no key, and its address must not go through a proxy."""

    name: str
    url: str
    key_variable: str | None
    default_model: str | None
    local: bool

    @property
    def preset(self) -> bool:
        return self in PRESETS


PRESETS = (
    Endpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-4.1-mini", False),
    Endpoint(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "anthropic/claude-haiku-4.5",
        False,
    ),
    Endpoint(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "gemini-2.5-flash-lite",
        False,
    ),
    Endpoint("ollama", "http://127.0.0.1:11434/v1", None, None, True),
    Endpoint("lmstudio", "http://127.0.0.1:1234/v1", None, None, True),
    Endpoint("vllm", "http://127.0.0.1:8000/v1", None, None, True),
)


def find(setting: str) -> Endpoint:
    """The preset of that name or address; else the address as it is."""
    wanted = setting.strip()
    url = wanted.rstrip("/").removesuffix(PATH_OF_REQUESTS)
    for preset in PRESETS:
        if wanted.lower() == preset.name or url == preset.url:
            return preset
    parts = _address(url)
    if parts is None:
        names = ", ".join(preset.name for preset in PRESETS)
        raise ConfigError(
            f"synthesis.endpoint is not an http(s) address or one of: {names}. "
            "Set it with `recollect config set synthesis.endpoint …`."
        )
    return Endpoint(parts.hostname or "", url, None, None, is_loopback(url))


def is_address(url: str) -> bool:
    return _address(url) is not None


def is_loopback(url: str) -> bool:
    parts = _address(url)
    host = (parts.hostname or "") if parts else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    # Nothing listens on "no address"; the system takes it for this machine.
    return address.is_loopback or address.is_unspecified


def place(url: str) -> str:
    """Host and port, for messages: never the name and password that an address may carry."""
    parts = _address(url)
    if parts is None:
        return "its address"
    host = parts.hostname or ""
    return f"{host}:{parts.port}" if parts.port else host


def _address(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return (
            parts if parts.scheme in ("http", "https") and _port(parts) and parts.hostname else None
        )
    except ValueError:
        return None


def _port(parts: SplitResult) -> int:
    """Read in any case: a wrong one is an error only then."""
    return parts.port or 1
