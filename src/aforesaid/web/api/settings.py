"""Settings, checked as `aforesaid config set` checks them. A secret is written but never sent."""

from typing import Any

from aforesaid import configuring, settings, wiring
from aforesaid.errors import ConfigError
from aforesaid.parameters import Parameter
from aforesaid.settings import Row, Settings
from aforesaid.web.api import common
from aforesaid.web.backend import Backend, Json
from aforesaid.web.endpoint import ApiError, endpoint, not_found, page_of, shape

KEY = Parameter("key", "Its name, such as brief.tokens.", required=True, most=100)
VALUE = Parameter(
    "value",
    "A text, a whole number or a list of texts. DELETE restores the default.",
    "json",
    required=True,
)
ANY = {"type": ["string", "integer", "array", "null"]}
ITEM = shape(
    "key:str env:str help:str choices:[str] least:int? most:int? secret:bool set:bool restart:bool",
    value=ANY,
    default=ANY,
    source={"enum": ["default", "file", "env"]},
    kind={"enum": ["choice", "names", "number", "text"]},
)


@endpoint("GET", "/api/settings", response=page_of(ITEM))
def list_settings(backend: Backend) -> Json:
    """List all settings as stored. `restart`: the worker uses another value until it restarts."""
    stored = _load()
    return {"items": [_setting_json(backend, row, stored) for row in settings.ROWS], "next": None}


@endpoint("PUT", "/api/settings/{key}", KEY, VALUE, response=ITEM)
def change_setting(backend: Backend, *, key: str, value: Any) -> Json:
    """Change a setting. It takes effect at once or, if `restart` is true, when the worker restarts."""
    row = _find(key)
    try:
        configuring.set_value(key, value)
    except ConfigError as error:
        raise ApiError(400, "bad_setting", str(error), "value") from None
    return _setting_json(backend, row, _load())


@endpoint("DELETE", "/api/settings/{key}", KEY, response=ITEM)
def reset_setting(backend: Backend, *, key: str) -> Json:
    """Reset a setting to its default."""
    row = _find(key)
    try:
        configuring.unset(key)
    except ConfigError as error:
        raise ApiError(409, "bad_setting", str(error)) from None
    return _setting_json(backend, row, _load())


def _load() -> Settings:
    try:
        return wiring.home().settings
    except ConfigError as error:  # edited by hand since the worker started
        raise ApiError(409, "bad_setting", str(error)) from None


def _find(key: str) -> Row:
    found = settings.BY_NAME.get(key)
    if found is None:
        raise not_found(f"There is no setting {key!r}. GET /api/settings lists them.")
    return found


def _setting_json(backend: Backend, row: Row, stored: Settings) -> Json:
    value, origin = stored.values[row.name], stored.origins[row.name]
    kind = "number" if isinstance(row.default, int) else "text"
    if row.choices or isinstance(row.default, tuple):
        kind = "choice" if row.choices else "names"
    return common.pick(row, "env help least most secret") | {
        "key": row.name,
        "value": None if row.secret else value,
        "default": None if row.secret else row.default,
        "source": origin if origin in ("default", "file") else "env",
        "kind": kind,
        "choices": list(row.choices),
        "set": bool(value) if row.secret else origin != "default",
        "restart": value != backend.home.settings.values.get(row.name, row.default),
    }
