"""A function of one's own, `(system, user) -> text`, as a model that can be asked."""

from collections.abc import Callable

from recollect import text
from recollect.model.requests import Away, Failure, Refused, Reply, Request, Usage

Ask = Callable[[str, str], str]
LONGEST_SECONDS = 600.0


class OwnModel:
    """Whatever the function raises is an answer that did not come: memory must not end an agent's turn."""

    name = "own"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.model = str(getattr(ask, "__name__", type(ask).__name__))
        self.longest_seconds = (
            LONGEST_SECONDS  # the function itself decides; this is only what we expect
        )

    def ask(self, request: Request) -> Reply | Failure:
        user = _with_examples(request)
        try:
            said: object = self._ask(request.system, user)
        except Exception as error:
            return Away(f"{self.model} failed: {type(error).__name__}")
        if not isinstance(said, str):
            return Refused(f"{self.model} gave a {type(said).__name__} and not a str.")
        sent = text.tokens(request.system) + text.tokens(user)
        return Reply(said, self.model, Usage(sent, 0, 0, text.tokens(said), estimated=True))

    def idle(self) -> None:
        """Nothing is kept open."""

    def close(self) -> None:
        """The function's own business."""


def _with_examples(request: Request) -> str:
    shown = [f"Example:\n{asked}\n\nAnswer:\n{answer}\n" for asked, answer in request.examples]
    return "\n".join([*shown, request.message])
