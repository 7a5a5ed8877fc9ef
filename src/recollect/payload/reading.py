"""JSON from outside, parsed only when that cannot cost more than it is worth."""

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import Any

from recollect.payload.cutting import NotJson
from recollect.payload.limits import excess


def json_object(body: bytes) -> dict[str, Any]:
    """Raises NotJson, with a reason that a person can act on. What is no UTF-8 is read as far as it is."""
    if not body.strip():
        raise NotJson("the agent sent nothing")
    if why := excess(body):
        raise NotJson(why)
    wide = body.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    try:
        value = json.loads(body.decode("utf-16" if wide else "utf-8-sig", "replace"))
    except ValueError as error:
        raise NotJson(
            f"the payload is not JSON ({error}): it was cut off, or is not the agent's"
        ) from None
    except RecursionError:
        raise NotJson("the payload is nested too deeply") from None
    if not isinstance(value, dict):
        raise NotJson("the payload is not a JSON object")
    return value
