"""What a memory is made of is found again as it was written."""

from recollect.model import evidence


def test_what_was_written_is_what_is_found() -> None:
    said = (
        f"evidence: [{evidence.observation(12)}, {evidence.event(7)}, {evidence.observation(120)}]"
    )
    assert evidence.observations_in(said) == {12, 120}
    assert not evidence.observations_in("an observation of 12 birds, observations 3")
