"""Settings, checked as `recollect config set` checks them. A secret is written, and never sent."""

from typing import Any

from recollect import configuring, settings, wiring
from recollect.errors import ConfigError
from recollect.parameters import Parameter
from recollect.settings import Row as Setting
from recollect.settings import Settings
from recollect.web.api.parts import FLAG, MAYBE_NUMBER, TEXT, many, page_of, shape
from recollect.web.backend import Backend, Json
from recollect.web.rows import Row, Wrong, not_found

WHERE = "PUT /api/settings"


def listed(backend: Backend) -> Json:
    """As they are written now. Where the worker goes by another value until its next start, `restart`."""
    now = _written()
    return {"items": [_told(backend, row, now) for row in settings.ROWS], "next": None}


def change(backend: Backend, *, key: str, value: Any) -> Json:
    row = _row(key)
    try:
        if isinstance(value, str) and not isinstance(row.default, str):
            configuring.set_text(key, value, WHERE)
        else:
            configuring.set_value(key, value, WHERE)
    except ConfigError as error:
        why = str(error).removeprefix(f"{WHERE}: ")
        raise Wrong(400, "bad_setting", why, "value") from None
    return _told(backend, row, _written())


def reset(backend: Backend, *, key: str) -> Json:
    row = _row(key)
    try:
        configuring.unset(key)
    except ConfigError as error:
        raise Wrong(409, "bad_setting", str(error)) from None
    return _told(backend, row, _written())


def _written() -> Settings:
    try:
        return wiring.home().settings
    except ConfigError as error:  # by hand, since the worker has started
        raise Wrong(409, "bad_setting", str(error)) from None


def _row(key: str) -> Setting:
    found = settings.BY_NAME.get(key)
    if found is None:
        raise not_found(f"There is no setting {key!r}. GET /api/settings lists them.")
    return found


def _told(backend: Backend, row: Setting, now: Settings) -> Json:
    value, origin = now.values[row.name], now.origins[row.name]
    in_force = backend.home.settings.values.get(row.name, row.default)
    return {
        "key": row.name,
        "value": None if row.secret else value,
        "default": None if row.secret else row.default,
        "source": origin if origin in ("default", "file") else "env",
        "env": row.env,
        "help": row.help,
        "kind": _kind(row),
        "choices": list(row.choices),
        "least": row.least,
        "most": row.most,
        "secret": row.secret,
        "set": bool(value) if row.secret else origin != "default",
        "restart": value != in_force,
    }


def _kind(row: Setting) -> str:
    if row.choices:
        return "choice"
    if isinstance(row.default, tuple):
        return "names"
    return "number" if isinstance(row.default, int) else "text"


KEY = Parameter("key", "Its name, such as brief.tokens.", required=True, most=100)
VALUE = Parameter(
    "value",
    "A text, a whole number or a list of texts. DELETE goes back to the default.",
    "json",
    required=True,
)
ANY = {"type": ["string", "integer", "array", "null"]}
ITEM = shape(
    key=TEXT,
    value=ANY,
    default=ANY,
    source={"enum": ["default", "file", "env"]},
    env=TEXT,
    help=TEXT,
    kind={"enum": ["choice", "names", "number", "text"]},
    choices=many(TEXT),
    least=MAYBE_NUMBER,
    most=MAYBE_NUMBER,
    secret=FLAG,
    set=FLAG,
    restart=FLAG,
)
PLACE = "/api/settings/{key}"
ROWS = (
    Row("GET", "/api/settings", "Every setting, with its help.", listed, answer=page_of(ITEM)),
    Row(
        "PUT",
        PLACE,
        "Write a setting to the file. The worker goes by it at once or, where `restart` says so, when it "
        "starts anew.",
        change,
        place=(KEY,),
        body=(VALUE,),
        answer=ITEM,
    ),
    Row("DELETE", PLACE, "Back to the default.", reset, place=(KEY,), answer=ITEM),
)
