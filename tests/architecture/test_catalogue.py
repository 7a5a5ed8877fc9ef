"""Every fault of the catalogue has a test that says so, and docs/reliability.md names it."""

from tests.support import catalogue
from tests.support.catalogue_rows import ROWS

# Rows whose tests are still to come. It is to stay empty.
PENDING: frozenset[int] = frozenset()


def test_every_fault_has_a_test_or_a_reason() -> None:
    assert set(catalogue.missing()) == PENDING


def test_no_test_names_a_fault_that_is_not_in_the_catalogue() -> None:
    assert catalogue.unknown() == []


def test_faults_are_numbered_for_good() -> None:
    numbers = [row.number for row in ROWS]
    assert numbers == sorted(set(numbers))
    assert {*range(1, 33), *range(40, 53), *range(60, 69)} == set(numbers)


def test_the_page_names_the_tests_as_they_are() -> None:
    text = catalogue.PAGE.read_text()
    assert text == catalogue.page(), "run: python -m tests.support.catalogue"
