"""The doctor's proof: a synthetic session in a scratch project, through the real hook lines.

It takes the whole way of the data (hook, spool, worker, store, observation, brief) in the user's own home,
and leaves nothing behind. No model is asked; where one is in force, the proof ends at the store, because the
queue may be waiting for it.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from recollect import clock, wiring
from recollect.agents.claude_code_install import HOOK_EVENTS, hook_command
from recollect.cli.findings import Finding
from recollect.cli.install import hook_dir
from recollect.errors import RecollectError, StoreMissing, WorkerError
from recollect.model.sessions import COMPLETED
from recollect.paths import Paths
from recollect.worker import contact

WAIT_SECONDS = 20.0
AGENT = "claude-code"


def whole_path() -> Iterator[Finding]:
    paths = Paths.of(os.environ)
    reference = f"doctor-{uuid.uuid4()}"
    with tempfile.TemporaryDirectory(prefix="recollect-doctor-") as scratch:
        # A repository of its own: the folder for temporary files may lie in one of the user's.
        with suppress(OSError):
            subprocess.run(["git", "init", "-q", scratch], capture_output=True, check=False)
        began = time.monotonic()
        try:
            for event, details in _session(reference, scratch):
                common = {"session_id": reference, "hook_event_name": event, "cwd": scratch}
                _fire(event, common | details, scratch)
            with_model = wiring.provider(wiring.home(), clock.now).model is not None
            yield _remembered(paths, reference, began, with_model=with_model)
        except (RecollectError, subprocess.SubprocessError, ValueError) as error:
            yield Finding("fault", "whole path", str(error), "recollect worker logs")
        finally:
            _forget(paths, reference)


def _session(reference: str, scratch: str) -> Iterator[tuple[str, dict[str, object]]]:
    prompt_id = str(uuid.uuid4())
    file = str(Path(scratch, "probe.py"))
    content = "def probe() -> int:\n    return 42\n"
    yield "SessionStart", {"source": "startup"}
    yield "UserPromptSubmit", {"prompt_id": prompt_id, "prompt": "Add a probe function to probe.py"}
    yield (
        "PostToolUse",
        {
            "prompt_id": prompt_id,
            "tool_name": "Write",
            "tool_use_id": f"toolu_{reference}",
            "tool_input": {"file_path": file, "content": content},
            "tool_response": {"type": "create", "filePath": file, "content": content},
        },
    )
    yield "Stop", {"prompt_id": prompt_id, "last_assistant_message": "Added probe()."}
    yield "SessionEnd", {"reason": "other"}


def _fire(event: str, payload: dict[str, object], scratch: str) -> None:
    """The very line that `install` writes, run as the client runs it."""
    row = next(row for row in HOOK_EVENTS if row.event == event)
    done = subprocess.run(
        ["/bin/sh", "-c", hook_command(row.hook, hook_dir(), Path(sys.executable))],
        input=json.dumps(payload).encode(),
        env=os.environ | {"CLAUDE_PROJECT_DIR": scratch},
        capture_output=True,
        timeout=30,
        check=False,
    )
    if done.returncode or done.stderr:
        detail = done.stderr.decode("utf-8", "replace")[:300]
        raise RecollectError(f"the {event} hook ended with {done.returncode}: {detail}")
    if done.stdout.strip():
        json.loads(done.stdout)


def _remembered(paths: Paths, reference: str, began: float, *, with_model: bool) -> Finding:
    while time.monotonic() - began < WAIT_SECONDS:
        try:
            store = wiring.open_for_reading(paths)
        except StoreMissing:
            time.sleep(0.05)
            continue
        session = store.session_by_ref(AGENT, reference)
        # Only when its last event is in: one that came after the clean-up would bring it back.
        ended = session is not None and session.status == COMPLETED
        if session and ended and with_model:
            store.close()
            what = f"hook, spool, worker, store: {time.monotonic() - began:.1f} s"
            return Finding("ok", "whole path", what)
        if session and ended and store.summaries_of_session(session.id):
            observations = store.observations_of_session(session.id)
            store.close()
            seconds = time.monotonic() - began
            if not observations:
                return Finding(
                    "fault",
                    "whole path",
                    "the event arrived, no observation came of it",
                    "a bug: report it",
                )
            what = f"hook, spool, worker, store, observation: {seconds:.1f} s"
            return Finding("ok", "whole path", what)
        store.close()
        time.sleep(0.05)
    return Finding(
        "fault",
        "whole path",
        f"the synthetic event did not arrive within {WAIT_SECONDS:.0f} s",
        "recollect worker restart, then recollect worker logs",
    )


def _forget(paths: Paths, reference: str) -> None:
    try:
        contact.order(paths, "drop-doctor-session", session=reference)
    except WorkerError:
        return
