"""Types of observations as others spell them, and citations."""

from aforesaid.model.names import EVENT, OBSERVATION
from aforesaid.model.observations import cite, cited, known_type
from tests.support.tables import loop_over


@loop_over(
    ("said", "kind"),
    [
        ("bugfix", "bugfix"),
        ("Bug Fix", "bugfix"),
        ("fix", "bugfix"),
        ("Refactoring", "refactor"),
        ("type: feature", "feature"),
        ("feature, bugfix", "change"),
        ("whatever", "change"),
        ("", "change"),
    ],
)
def test_a_type_is_known_however_it_is_spelt(said: str, kind: str) -> None:
    assert known_type(said) == kind


def test_what_was_written_is_what_is_found() -> None:
    said = f"evidence: [{cite(OBSERVATION, 12)}, {cite(EVENT, 7)}, {cite(OBSERVATION, 120)}]"
    assert cited(OBSERVATION, said) == {12, 120}
    assert cited(EVENT, said) == {7}
    assert not cited(OBSERVATION, "an observation of 12 birds, observations 3")
