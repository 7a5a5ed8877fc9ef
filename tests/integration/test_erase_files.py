"""A text in files beside the database: taken out where it was captured, left where recollect runs on it."""

from contextlib import closing
from pathlib import Path

from recollect.clock import DAY, now
from recollect.needle import MARK, Needle
from recollect.paths import Paths
from recollect.store.sqlite.store import SqliteStore
from recollect.worker.erasing_files import ErasingFiles

TEXT = "the lilac heron"


def test_what_recollect_runs_on_is_left_alone(tmp_path: Path) -> None:
    """An edited interpreter's path, key or undo copy would break hooks, marks or `uninstall`."""
    paths = Paths.of({"RECOLLECT_HOME": str(tmp_path / "home")})
    paths.make()
    own = (
        *(paths.python_file, paths.redaction_key, paths.web_token, paths.config_file),
        *(paths.pid_file, paths.lock_file, paths.condition_file, paths.installs / "one.json"),
    )
    captured = (paths.health_note, paths.spool_bad / "one", paths.briefs / "one")
    for each in (*own, *captured):
        each.write_text(f"of {TEXT} here")
    needle = Needle(TEXT)
    with closing(SqliteStore(paths.database, writer=True)) as store:
        files = ErasingFiles(paths, store)
        assert set(files.with_text(needle.found, now() + DAY)) == set(captured)
        files.erase(needle.found, needle.changed, now() + DAY)
    assert {each.read_text() for each in own} == {f"of {TEXT} here"}
    assert paths.health_note.read_text() == f"of {MARK} here"
