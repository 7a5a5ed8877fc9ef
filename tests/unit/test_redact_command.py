"""`aforesaid redact`, and what a capture is after it was redacted."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from aforesaid.agents.claude_code.events import ClaudeCode
from aforesaid.cli.main import cli
from aforesaid.model.events import Capture, Event
from aforesaid.paths import Paths
from aforesaid.privacy.redactor import Redactor
from aforesaid.privacy.rules import expand
from aforesaid.worker.spool import redacted_capture

SECRET = expand("ghp_{A36}")
TEXT = f"first line\nthe key {SECRET} works\n"


def test_a_text_is_printed_as_it_would_be_kept(home: Paths, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text(TEXT)
    for done in (
        CliRunner().invoke(cli, ["redact", str(file)]),
        CliRunner().invoke(cli, ["redact"], input=TEXT),
    ):
        assert done.exit_code == 0
        assert done.output.startswith("first line\nthe key [secret:github:")
        assert SECRET not in done.output


def test_what_is_found_is_listed_by_place_and_kind_and_never_shown(home: Paths) -> None:
    done = CliRunner().invoke(cli, ["redact", "--json"], input=TEXT)
    assert json.loads(done.output) == [{"line": 2, "column": 9, "kind": "github", "length": 40}]
    checked = CliRunner().invoke(cli, ["redact", "--check"], input=TEXT)
    assert "1 secret found" in checked.output
    assert SECRET not in checked.output
    assert checked.exit_code == 4
    assert CliRunner().invoke(cli, ["redact", "--check"], input="nothing").exit_code == 0


def test_the_environment_of_the_terminal_counts(
    home: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = "".join(("Kq9", "_vB2", "-xT6", "mW"))
    monkeypatch.setenv("SHOP_TOKEN", value)
    assert value not in CliRunner().invoke(cli, ["redact"], input=f"it is {value}").output


@pytest.mark.parametrize("said", [f"Use {SECRET}", "Look <private>at this</private> now"])
def test_a_hook_and_a_transcript_report_the_same_event(said: str) -> None:
    """T21: also where something was taken out of it: what is left is hashed, whoever tells."""
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s",
        "prompt_id": "p",
        "prompt": said,
    }
    bodies = (json.dumps(event).encode(), json.dumps(event, separators=(",", ":")).encode())
    captures = [
        redacted_capture(Redactor(), Capture("c", "claude-code", "new", "/srv", body, 1))
        for body in bodies
    ]
    assert captures[0].body == captures[1].body
    first, second = (ClaudeCode().parse(capture) for capture in captures)
    assert isinstance(first, Event)
    assert isinstance(second, Event)
    assert first.key == second.key
    raw = ClaudeCode().parse(Capture("c", "claude-code", "new", "/srv", bodies[0], 1))
    assert isinstance(raw, Event)
    assert raw.key != first.key
