"""Which parameters an OpenAI-compatible server takes: they differ, and say so only when they are asked."""

from dataclasses import dataclass, replace
from typing import Any

from recollect.providers.http_failures import rejects

MOST_REJECTIONS = 3  # as many as there are parameters that can be given up


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is sent. The usual ones, until the server has rejected one."""

    temperature: bool = True
    limit: str = "max_tokens"
    stream_options: bool = True

    def without(self, name: str) -> "Dialect":
        match name:
            case "temperature":
                return replace(self, temperature=False)
            case "max_tokens":
                return replace(self, limit="max_completion_tokens")
            case _:
                return replace(self, stream_options=False)

    @property
    def names(self) -> tuple[str, ...]:
        """What can still be given up."""
        optional = (("stream_options", self.stream_options), ("temperature", self.temperature))
        limit = ("max_tokens",) if self.limit == "max_tokens" else ()
        return (*(name for name, used in optional if used), *limit)

    def parameters(self, most_tokens: int) -> dict[str, Any]:
        chosen: dict[str, Any] = {self.limit: most_tokens}
        if self.temperature:
            chosen["temperature"] = 0
        if self.stream_options:
            chosen["stream_options"] = {"include_usage": True}
        return chosen


def rejected(error: Exception, dialect: Dialect) -> str | None:
    """The parameter that a server names in its refusal, if we can do without."""
    return next((name for name in dialect.names if rejects(error, name)), None)
