"""One thing that is remembered, whatever it is: where it belongs and who said it."""

from dataclasses import dataclass

from recollect.model.observations import Observation, Summary
from recollect.model.search import FoundEvent
from recollect.model.sessions import Prompt, Session
from recollect.store.protocol import Reading

Said = Observation | Summary | Prompt | Session | FoundEvent


@dataclass(frozen=True, slots=True)
class Thing:
    project_id: int
    session_id: int
    at: int
    said: Said

    @property
    def observation(self) -> Observation | None:
        return self.said if isinstance(self.said, Observation) else None


def find(store: Reading, kind: str, number: int) -> Thing | None:
    match kind:
        case "observation":
            return _of(store.observation(number))
        case "summary":
            return _of(store.summary(number))
        case "event":
            return _of(store.event_by_id(number))
        case "session":
            session = store.session(number)
            if session is not None:
                return Thing(session.project_id, session.id, session.last_event_at, session)
        case "prompt":
            prompt = store.prompt_by_id(number)
            session = store.session(prompt.session_id) if prompt else None
            if prompt is not None and session is not None:
                return Thing(session.project_id, session.id, prompt.at, prompt)
    return None


def _of(said: Observation | Summary | FoundEvent | None) -> Thing | None:
    return Thing(said.project_id, said.session_id, said.at, said) if said else None
