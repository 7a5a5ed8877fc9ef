"""A model whose settings are wrong: it is asked like any other, and says what to mend."""

from dataclasses import dataclass

from recollect.model.requests import Misconfigured, Request


@dataclass(frozen=True, slots=True)
class WrongSettings:
    name: str
    why: str
    model: str = ""
    longest_seconds: float = 0.0

    def ask(self, _: Request) -> Misconfigured:
        return Misconfigured(self.why)

    def idle(self) -> None:
        """Nothing is open."""

    def close(self) -> None:
        """Nothing is open."""
