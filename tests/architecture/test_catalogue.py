"""Every fault of the catalogue has a test that says so, and docs/reliability.md names it."""

import re

import pytest

from tests.support import catalogue
from tests.support.catalogue import ROOT
from tests.support.catalogue_rows import ROWS


def test_every_fault_has_a_test_or_a_reason() -> None:
    assert catalogue.missing() == []


def test_no_test_names_a_fault_that_is_not_in_the_catalogue() -> None:
    assert catalogue.unknown() == []


def test_faults_are_numbered_for_good() -> None:
    numbers = [row.number for row in ROWS]
    assert numbers == sorted(set(numbers))
    assert {*range(1, 33), *range(40, 53), *range(60, 71)} == set(numbers)


@pytest.mark.parametrize("name", ["SECURITY.md", "docs/reliability.md"])
def test_every_number_that_a_promise_cites_is_in_the_catalogue(name: str) -> None:
    cited = {int(number) for number in re.findall(r"\bT(\d+)\b", (ROOT / name).read_text())}
    assert cited <= {row.number for row in ROWS}


def test_the_page_names_the_tests_as_they_are() -> None:
    text = catalogue.PAGE.read_text()
    assert text == catalogue.page(), "run: python -m tests.support.catalogue"
