"""What the rules make of a turn, and the small program that the turns of these tests are about."""

from aforesaid.model.observations import ObservationDraft, Turn
from aforesaid.providers.base import Writer
from aforesaid.providers.rules import Rules

PRICING = """\
RATE = 0.1


def apply_discount(total, code):
    if code == "BULK":
        return total * RATE
    return total
"""
MENDED = PRICING.replace("total * RATE", "total * (1 - RATE)")
EXTENDED = PRICING + "\n\ndef bulk_rate(count):\n    return 0.1 if count >= 10 else 0.0\n"
RED = (
    "FAILED tests/test_pricing.py::test_bulk - AssertionError: assert 9.0 == 81\n"
    "1 failed, 11 passed in 0.05s"
)
GREEN = "12 passed in 0.03s"


def observe(made: Turn) -> list[ObservationDraft]:
    writer: Writer = Rules()
    written = writer.observe(made)
    assert isinstance(written, tuple)
    return list(written)


def the_only(made: Turn) -> ObservationDraft:
    (draft,) = observe(made)
    return draft


def told(draft: ObservationDraft) -> str:
    return "\n".join([draft.title or "", draft.subtitle or "", *draft.facts, draft.narrative or ""])
