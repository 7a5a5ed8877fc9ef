"""Whether a memory says already what somebody says: nothing is taken for known that is not."""

import pytest

from aforesaid.memory.extraction.extract import covers, covers_all
from aforesaid.memory.extraction.rules import describe
from aforesaid.model.memories import PROJECT, Memory
from tests.support.tables import loop_over


def memory(text: str) -> Memory:
    return Memory("x", describe(text), PROJECT, text)


@loop_over(
    ("known", "said"),
    [
        ("I prefer tabs, not spaces.", "I prefer spaces, not tabs."),
        ("Use postgres, not mysql.", "Use mysql, not postgres."),
        ("main is merged into release", "release is merged into main"),
        ("Import A before B.", "Import B before A."),
        ("Copy from staging to production.", "Copy from production to staging."),
        ("The server at 10.0.0.1 talks to 10.0.0.2", "The server at 10.0.0.2 talks to 10.0.0.1"),
        ("The API returns JSON.", "The API accepts JSON."),
        ("Kept without git.", "A file without git."),
        ("Use tabs instead of spaces", "Use spaces"),
        ("Deploys need the VPN", "🎉🎉"),
    ],
)
def test_another_thing_is_not_known(known: str, said: str) -> None:
    assert not covers(memory(known), memory(said))
    assert not covers_all(memory(known), memory(said))


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Releases are cut from main only.", "Releases are cut from main only"),
        ("Use tabs in every file.", "Always use tabs in every file"),
        ("Deploy from main only. Ask Ada first.", "Ask Ada first"),
        ("🎉🎉", "🎉🎉"),
    ],
)
def test_the_same_thing_is(known: str, said: str) -> None:
    assert covers(memory(known), memory(said))


@loop_over(
    "text",
    [
        "First names are never stored",
        "Remember-me cookies last 30 days",
        "OK responses have status 204",
        "Note files live in notes/",
        "Please is not needed in prompts",
        "So files are built by make",
        "Well depth is in metres",
    ],
)
def test_a_word_that_belongs_to_it_is_no_opening(text: str) -> None:
    assert describe(f"{text}.") == text
