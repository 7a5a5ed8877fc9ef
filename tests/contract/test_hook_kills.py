"""Hooks that are killed with SIGKILL at any byte and any moment of their short lives."""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aforesaid import clock
from aforesaid.paths import Paths
from aforesaid.store.store import Store
from aforesaid.worker.maintenance import Housekeeper
from tests.support.context import make_context
from tests.support.rounds import rounds, seed
from tests.support.writers import Writer, environment, published, start_no_worker, unfinished

LARGEST = 60_000  # less than a pipe holds: writing to a hook does not wait for it
LIFE = 0.012  # seconds; longer than most of them live
TWO_HOURS = 7200


@dataclass(slots=True)
class Hooks:
    state: Path
    writer: Writer
    chance: random.Random
    sent: set[bytes] = field(default_factory=set)
    acknowledged: set[bytes] = field(default_factory=set)
    killed: int = 0

    def run(self, number: int) -> None:
        body = b'{"n":%d,"text":"%s"}' % (number, b"x" * self.chance.randrange(LARGEST))
        self.sent.add(body)
        with subprocess.Popen(
            self.writer.command,
            env=environment(AFORESAID_HOME=str(self.state)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as hook:
            assert hook.stdin is not None
            dies_at_a_byte = self.chance.random() < 0.5
            part = body[: self.chance.randrange(len(body))] if dies_at_a_byte else body
            with suppress(BrokenPipeError):
                os.write(hook.stdin.fileno(), part)
            if dies_at_a_byte:
                time.sleep(self.chance.uniform(0, LIFE))
                self._kill(hook)  # before the end of its input
                hook.stdin.close()
            else:
                hook.stdin.close()
                time.sleep(self.chance.uniform(0, LIFE))
                self._kill(hook)
        if hook.returncode == 0:
            self.acknowledged.add(body)

    def _kill(self, hook: subprocess.Popen[bytes]) -> None:
        if hook.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(hook.pid, signal.SIGKILL)
                self.killed += 1


def test_a_hook_that_is_killed_at_any_byte_leaves_a_whole_event_or_none(
    writer: Writer, home: Paths
) -> None:
    """T1: what ended with status 0 is there, byte for byte; everything that is there is whole."""
    given = seed()
    hooks = Hooks(home.state, writer, random.Random(given))
    start_no_worker(home.state)
    number = 0
    while number < rounds(80, 1000) or not (hooks.killed and hooks.acknowledged):
        hooks.run(number)
        number += 1
    found = [capture.body for capture in published(home.state)]
    sys.stdout.write(
        f"seed {given}: {number} hooks, {hooks.killed} killed, {len(hooks.acknowledged)} acknowledged\n"
    )
    assert len(found) == len(set(found))
    assert hooks.acknowledged <= set(found) <= hooks.sent


def test_what_killed_hooks_left_is_swept_after_an_hour_and_not_before(home: Paths) -> None:
    """T1: a hook may be slow; one that has not finished in an hour is dead."""
    for name, age in (("dead", TWO_HOURS), ("slow", 60)):
        (home.spool_tmp / name).write_bytes(b"half of an ev")
        then = time.time() - age
        os.utime(home.spool_tmp / name, (then, then))
    with closing(Store(home.database, writer=True)) as store:
        Housekeeper(make_context(home, store, clock.now)).run()
    assert unfinished(home.state) == ["slow"]
