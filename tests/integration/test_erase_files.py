"""A text in files beside the database: taken out where it was captured, left where aforesaid runs on it."""

from contextlib import closing
from pathlib import Path

from aforesaid.clock import DAY, now
from aforesaid.model.purge import Needle
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.purge import find_files, purge_files

TEXT = "the lilac heron"


def test_what_aforesaid_runs_on_is_left_alone(tmp_path: Path) -> None:
    """An edited interpreter's path, key or undo copy would break hooks, marks or `uninstall`."""
    paths = Paths.of({"AFORESAID_HOME": str(tmp_path / "home")})
    paths.make()
    own = (
        *(paths.python_file, paths.redaction_key, paths.web_token, paths.config_file),
        *(paths.pid_file, paths.lock_file, paths.database_state_file, paths.installs / "one.json"),
    )
    captured = (paths.health_note, paths.spool_bad / "one")
    for each in (*own, *captured):
        each.write_text(f"of {TEXT} here")
    needle = Needle(TEXT)
    with closing(Store(paths.database, writer=True)) as store:
        assert set(find_files(paths, needle.found, now() + DAY)) == set(captured)
        purge_files(paths, store, needle, now() + DAY)
    assert {each.read_text() for each in own} == {f"of {TEXT} here"}
    assert not any(each.exists() for each in captured)
