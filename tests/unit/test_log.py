"""What is written down, and what never is."""

from pathlib import Path

import pytest

from recollect import log
from recollect.errors import StoreError


@pytest.mark.parametrize(
    ("error", "written"),
    [
        (StoreError("the file is locked"), "StoreError: the file is locked"),
        (FileNotFoundError("no such folder"), "FileNotFoundError: no such folder"),
        (ValueError("a line of the user's code"), "ValueError"),
    ],
)
def test_only_texts_that_cannot_quote_a_capture_are_written(error: Exception, written: str) -> None:
    assert log.cause(error) == written


def test_a_line_is_an_action_with_values_on_one_line(tmp_path: Path) -> None:
    file = tmp_path / "worker.log"
    log.to_file(file)
    log.action("ingest.stored", added=2, why='two words "and\nmore"')
    (line,) = file.read_text().splitlines()
    assert line.endswith("INFO ingest.stored added=2 why=\"two words 'and\\nmore'\"")
    assert file.stat().st_mode & 0o777 == 0o600
    log.LOGGER.propagate = True
    for handler in log.LOGGER.handlers[:]:
        handler.close()
        log.LOGGER.removeHandler(handler)
