"""Who runs a command: the user, or an agent in its shell. Its client says so in the environment.

It keeps an agent that a page has talked round from vouching for that page. It is no wall: whoever can run
commands can also take the variables away.
"""

import os

from recollect.errors import RecollectError
from recollect.model.memories import AGENT, USER

INSIDE_AN_AGENT = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID")


def by() -> str:
    """Whose words they are. The user's own `!` commands in the client look like the agent's."""
    return AGENT if any(name in os.environ for name in INSIDE_AN_AGENT) else USER


def must_be_the_user(command: str) -> None:
    """For what makes something trusted, or puts words into the user's mouth."""
    if by() != USER:
        raise RecollectError(
            f"Only you can vouch for this. Run `recollect {command}` in a terminal of your own, not in the "
            "agent's."
        )
