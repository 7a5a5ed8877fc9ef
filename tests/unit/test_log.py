"""What is written down, and what never is."""

from pathlib import Path

import pytest

from aforesaid import log
from aforesaid.errors import StoreError
from aforesaid.privacy.redactor import RULES
from aforesaid.privacy.rules import expand


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


def test_whatever_is_logged_passes_the_redactor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T60: folders, memories and tools may have a secret for a name."""
    monkeypatch.setattr(log, "_redactors", [])
    secret = expand("ghp_{A36}")
    log.redact_with(RULES.text)
    assert log._quoted(OSError(2, "No such file", f"/srv/{secret}/x")).count(secret) == 0
    assert secret not in log._quoted(f"/srv/{secret}")
    assert log._quoted(12) == "12"


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
