"""Erasing for good: a planted sentence leaves no byte, wherever it went, and nothing brings it back."""

import json
from pathlib import Path

import pytest

from recollect.paths import Paths
from tests.support.planted import SAID, plant_everywhere, traces
from tests.support.product import recollect, settled


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def test_a_purged_sentence_leaves_no_trace_in_any_byte_of_the_home(
    home: Paths, project: Path
) -> None:
    """T63: rows, words, vectors, derived texts, memories and their history, files, backups and the log."""
    plant_everywhere(home, project)
    before = {each.partition(":")[0] for each in traces(home.data)}
    wanted = {
        *("recollect.db prompts", "recollect.db summaries"),
        *("recollect.db event_texts", "recollect.db forgotten", "recollect.db edits"),
        *("recollect.db words of document_words", "recollect.db words of event_words"),
        *("objects of .git", "spool/bad/bad-one", "logs/worker.log"),
        *("memory/sessions/claude-code-first.md", "backups/20261101T000000Z-daily/recollect.db"),
    }
    assert wanted <= before
    dry = recollect("purge", "--text", SAID, "--dry-run", "--json", cwd=project)
    counts = json.loads(dry.stdout)["counts"]
    assert (counts["prompts"], counts["memories"], counts["backups"]) == (3, 1, 1)
    done = recollect("purge", "--text", SAID, "--yes", cwd=project)
    assert done.returncode == 0, done.stderr
    assert not (left := traces(home.data)), "\n".join(left)
    assert not home.erasing_file.exists()
    assert "tabs" in recollect("memory", "list", cwd=project).stdout
    settled(home).check()
