"""Is it working? By the age of what waits, not by a port that is open."""

from recollect.parameters import schema
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row

NUMBER, TEXT, TIME = {"type": "integer"}, {"type": "string"}, {"type": ["integer", "null"]}
ANSWER = schema(()) | {
    "properties": {
        "status": {"enum": ["ok", "degraded"]},
        "version": TEXT,
        "pid": NUMBER,
        "uptime_seconds": NUMBER,
        "memory_bytes": TIME,
        "active_sessions": NUMBER,
        "provider": {"type": "object", "properties": {"name": TEXT, "why": TEXT}},
        "queue": {
            "type": "object",
            "properties": {
                "pending": NUMBER,
                "oldest_at": TIME,
                "last_done_at": TIME,
                "skipped": NUMBER,
            },
        },
        "spool": NUMBER,
        "paused": {"type": "array", "items": TEXT},
        "problem": {"type": ["string", "null"]},
    }
}


def health(backend: Backend) -> Json:
    found = backend.status()
    queue = found["queue"]
    memory = found["memory_kb"]
    return {
        "status": "degraded" if found["problem"] else "ok",
        "version": found["version"],
        "pid": found["pid"],
        "uptime_seconds": found["uptime_s"],
        "memory_bytes": None if memory is None else memory * 1024,
        "active_sessions": queue["active_sessions"],
        "provider": {"name": found["provider"], "why": found["provider_why"]},
        "queue": {
            "pending": queue["pending"],
            "oldest_at": queue["oldest_pending"],
            "last_done_at": queue["last_done"],
            "skipped": queue["skipped"],
        },
        "spool": found["spool"],
        "paused": [each["why"] for each in found["paused"]],
        "problem": found["problem"],
    }


ROWS = (Row("GET", "/health", "Whether the memory works, and what waits.", health, answer=ANSWER),)
