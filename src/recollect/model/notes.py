"""What somebody wants remembered in so many words, and what somebody wants forgotten."""

from dataclasses import dataclass

from recollect.model.observations import ObservationDraft

USER, AGENT = "user", "agent"  # whose words a note is; the observation's provider
WORDS_OF = {USER: "in the user's own words", AGENT: "noted by the agent"}
NOTES_AGENT = "recollect"  # of the session that holds notes that belong to no other
LONGEST_NOTE = 10_000  # characters


@dataclass(frozen=True, slots=True)
class Note:
    """`session`: the client's own id of the one it was said in, if there was one."""

    project_id: int
    project_dir: str
    by: str
    draft: ObservationDraft
    session: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`at`: when it was forgotten."""

    observation_id: int
    at: int
    title: str | None
