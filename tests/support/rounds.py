"""How long a test goes on: a few rounds in the normal suite, many under `make torture`."""

import os
import random

TORTURE = "AFORESAID_TORTURE"
SEED = "AFORESAID_TORTURE_SEED"


def rounds(few: int, many: int) -> int:
    return many if os.environ.get(TORTURE) else few


def seed() -> int:
    """The one that was given, else a new one; a test that uses it prints it."""
    return int(os.environ.get(SEED, random.randrange(1 << 31)))
