"""Fields of an agent's JSON, which may be missing or of another type than expected."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def text_of(values: Mapping[str, Any], field: str) -> str:
    value = values.get(field)
    return value if isinstance(value, str) else ""


def number_of(values: Mapping[str, Any], field: str) -> int:
    value = values.get(field)
    return value if isinstance(value, int) else 0


def as_object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
