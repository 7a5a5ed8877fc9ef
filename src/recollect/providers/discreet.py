"""A model that is told no secrets, and whose words are searched for some, like any other text from outside.

What is stored was redacted when it came; this is for what was stored before that was done, for memories
that people write by hand, and for error messages of a server, which like to quote the key.
"""

from dataclasses import dataclass, replace

from recollect.model.requests import Away, Failure, Reply, Request
from recollect.privacy.redactor import Redactor
from recollect.providers.protocol import Model


@dataclass(frozen=True, slots=True)
class Discreet:
    within: Model
    redactor: Redactor

    @property
    def name(self) -> str:
        return self.within.name

    @property
    def model(self) -> str:
        return self.within.model

    @property
    def longest_seconds(self) -> float:
        return self.within.longest_seconds

    def ask(self, request: Request) -> Reply | Failure:
        message = self.redactor.text(request.message)
        unsaid = request if message is request.message else replace(request, message=message)
        answer = self.within.ask(unsaid)
        if isinstance(answer, Reply):
            return self._reply(answer)
        answer = replace(answer, why=self.redactor.text(answer.why))
        if isinstance(answer, Away) and answer.partial:
            return replace(answer, partial=self._reply(answer.partial))
        return answer

    def idle(self) -> None:
        self.within.idle()

    def close(self) -> None:
        self.within.close()

    def _reply(self, reply: Reply) -> Reply:
        return replace(reply, text=self.redactor.text(reply.text))
