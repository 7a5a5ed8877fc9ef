"""The held-out data is the same for a seed, and its halves have nothing in common."""

from itertools import islice

import pytest

from benchmarks import foreign, redaction
from benchmarks.secrets import HALVES, Half, Sample, Secret, half_of, load, samples, unmark

TUNE, REPORT = (load(half) for half in HALVES)


@pytest.mark.parametrize("half", HALVES)
def test_secrets_are_the_same_for_a_seed_and_others_for_another(half: str) -> None:
    first = [sample for _, sample in samples(half, 7, 1)]
    assert first == [sample for _, sample in samples(half, 7, 1)]
    assert first != [sample for _, sample in samples(half, 8, 1)]


@pytest.mark.parametrize("half", [TUNE, REPORT], ids=HALVES)
def test_a_kind_is_in_the_half_of_its_name(half: Half) -> None:
    assert {half_of(kind.name) for kind in half.kinds} == {half.name}
    assert len({kind.name for kind in half.kinds}) == len(half.kinds) >= 120


def test_every_area_is_in_both_halves() -> None:
    assert {kind.area for kind in TUNE.kinds} == {kind.area for kind in REPORT.kinds}


@pytest.mark.parametrize("words", ["names", "sentences", "assignments"])
def test_halves_have_no_surroundings_in_common(words: str) -> None:
    assert not set(getattr(TUNE, words)) & set(getattr(REPORT, words))


@pytest.mark.parametrize("half", HALVES)
def test_a_text_that_nobody_redacts_keeps_its_secret(half: str) -> None:
    for kind, sample in samples(half, 3, 2):
        assert sample.secrets, kind.name
        assert sample.left_in(sample.text) is not None, kind.name


def test_a_piece_that_is_left_is_found() -> None:
    sample = unmark("key = \ue000abcdefghij\ue001, abcdef is public")
    assert sample == Sample(
        "key = abcdefghij, abcdef is public",
        (Secret("abcdefghij", 6),),
        "key = \0, abcdef is public",
    )
    assert sample.left_in("key = [secret], abcdef is public") is None
    assert sample.left_in("key = [secret]efghij, abcdef is public") == "efghij"


def test_what_was_replaced_is_told_with_its_surroundings() -> None:
    found = list(redaction.hits_in("a = 1\nb = 2\n", "a = [secret:x]\nb = [secret:y]\n"))
    assert [hit["removed"] for hit in found] == ["1", "2"]


def test_commands_are_in_the_half_of_their_hash() -> None:
    rows = {half: foreign.commands(half) for half in HALVES}
    assert not set(rows["tune"]) & set(rows["report"])
    for label in ("FOREIGN", "OWN"):
        assert sum(row[0] == label for half in HALVES for row in rows[half]) >= 120


def test_the_measurements_run() -> None:
    answer = foreign.measure("tune")
    assert answer["foreign"] == sum(row[0] == "FOREIGN" for row in foreign.commands("tune"))
    results = redaction.measure_secrets("tune", 1, 1)
    assert len(results) == len(TUNE.kinds)
    assert list(islice(redaction.lines({"half": "tune", "seed": 1}), 1)) == ["half tune, seed 1"]
