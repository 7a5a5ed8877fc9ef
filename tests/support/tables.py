"""`@loop_over(names, rows)`: `pytest.mark.parametrize` in one test, for the table of a pure function.

A case of its own costs every row a home and a place in the schedule. Here all rows run in one test, and each
one that fails is reported. Fixtures, if there are any, are shared by the rows.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any


def loop_over(
    names: str | Sequence[str], rows: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    table = list(rows)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(**fixtures: object) -> None:
            failures = []
            for row in table:
                values = (row,) if len(wanted) == 1 else row
                try:
                    test(**fixtures, **dict(zip(wanted, values, strict=True)))
                except Exception as error:
                    error.add_note(f"in the row {row!r:.500}")
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(table)} rows failed", failures)

        given = inspect.signature(test).parameters.values()
        run.__signature__ = inspect.Signature([each for each in given if each.name not in wanted])  # type: ignore[attr-defined]
        return run

    return decorate
