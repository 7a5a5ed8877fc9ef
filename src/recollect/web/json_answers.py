"""JSON as bytes. Captured text may hold what UTF-8 cannot say; then it is escaped."""

import json
from typing import Any

from starlette.responses import Response

MEDIA = "application/json"


def encode(value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def answer(value: Any, status: int = 200) -> Response:
    return Response(encode(value), status, media_type=MEDIA)
