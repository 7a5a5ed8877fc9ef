"""What is noted where the user wants nothing recorded: which session it is, and nothing else.

Whoever reads its transcript later has to know. Loaded by capture.py in that case, and never else; like it,
this imports nothing of the package.
"""

import os
import re

SESSION = re.compile(rb'"session_*[iI][dD]" *: *"[^"]*"')
NOTE = b'{"systemMessage":"aforesaid is paused here: %s. It records and tells nothing."}'


def instead(hook: str, body: bytes) -> tuple[str, bytes]:
    """The hook and the payload to go on with. A new session is notified."""
    named = os.environ.get("AFORESAID_PAUSED", "0") not in ("", "0")
    why = b"AFORESAID_PAUSED is set" if named else b"there is a file .aforesaid/off"
    if hook == "context":
        os.write(1, NOTE % why)
    session = SESSION.search(body)
    return "paused", b"{%s}" % (session[0] if session else b"")
