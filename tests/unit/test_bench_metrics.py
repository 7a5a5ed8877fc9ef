"""all@10, mean@10, NDCG@10, computed by hand."""

import pytest

from benchmarks.recall.metrics import Figures, Score, figures, score


def test_one_answer_at_the_second_place() -> None:
    # 1 / log2(3) = 0.63093, and the best would be 1.
    found = score(["a", "b", "c"], ["b"])
    assert (found.all, found.mean) == (1.0, 1.0)
    assert found.ndcg == pytest.approx(0.63093, abs=1e-5)


def test_two_of_three_answers() -> None:
    # (1 + 1/log2(5)) / (1 + 1/log2(3) + 1/log2(4)) = 1.43068 / 2.13093
    found = score(["x", "a", "b", "y"], ["x", "y", "z"])
    assert found.all == 0.0
    assert found.mean == pytest.approx(2 / 3)
    assert found.ndcg == pytest.approx(1.43068 / 2.13093, abs=1e-5)


def test_the_eleventh_place_does_not_count() -> None:
    found = score([*"0123456789", "a"], ["a"])
    assert found == Score(0.0, 0.0, 0.0)


def test_what_is_found_twice_counts_once() -> None:
    assert score(["a", "a"], ["a", "b"]).mean == 0.5


def test_more_answers_than_places_can_still_be_ranked_best() -> None:
    answers = [str(number) for number in range(12)]
    found = score(answers[:10], answers)
    assert found.all == 0.0
    assert found.ndcg == pytest.approx(1.0)


def test_figures_are_means_in_per_cent() -> None:
    assert figures([Score(1, 1, 1), Score(0, 0.5, 0.25)]) == Figures(2, 50.0, 75.0, 62.5)
    assert figures([]) == Figures(0, 0.0, 0.0, 0.0)
