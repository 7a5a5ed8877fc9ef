"""When the index holds too little, and who mends that."""

from typing import Any

from aforesaid.model.search import IndexHealth
from aforesaid.worker.overview import missing_vectors
from tests.support.tables import loop_over

BUSY: dict[str, Any] = {"idle": False}
SAME: dict[str, Any] = {"idle": True, "index": {"encoder": "static"}}
OTHER: dict[str, Any] = {"idle": True, "index": {"encoder": "minilm"}}


@loop_over(
    ("vectors", "waiting", "worker", "fix"),
    [
        (100, 0, None, None),
        (95, 0, SAME, None),
        (10, 0, None, "aforesaid rebuild"),
        (10, 0, SAME, "aforesaid rebuild"),
        (10, 0, OTHER, "aforesaid worker restart"),
        (10, 5, None, None),
        (10, 0, BUSY, None),
    ],
)
def test_too_few_vectors_are_told_unless_they_are_on_their_way(
    vectors: int, waiting: int, worker: dict[str, Any] | None, fix: str | None
) -> None:
    found = missing_vectors(IndexHealth(100, vectors, waiting, 0, "static"), worker)
    assert (found.fix if found else None) == fix


def test_without_an_encoder_no_vectors_are_missed() -> None:
    assert missing_vectors(IndexHealth(100, 0, 0, 0, None), None) is None
