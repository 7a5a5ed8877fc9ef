"""An error that the worker reports arrives at the client as what it was."""

import json

import pytest

from aforesaid import errors
from aforesaid.errors import AforesaidError, describe_error, raise_reported


def reported(error: AforesaidError) -> AforesaidError:
    with pytest.raises(AforesaidError) as arrived:
        raise_reported(json.loads(json.dumps(describe_error(error))))
    return arrived.value


@pytest.mark.parametrize("kind", errors.ERRORS.values())
def test_a_reported_error_arrives_as_what_it_was(kind: type[AforesaidError]) -> None:
    arrived = reported(kind("Why, and what helps."))
    assert (type(arrived), str(arrived)) == (kind, "Why, and what helps.")


def test_its_attributes_arrive_too() -> None:
    arrived = reported(errors.Misused("There is no such type.", "type"))
    assert isinstance(arrived, errors.Misused)
    assert arrived.field == "type"
    settings = reported(errors.SettingsError("the file is not JSON", "Repair it"))
    assert vars(settings) == {"reason": "the file is not JSON", "fix": "Repair it"}


@pytest.mark.parametrize("name", ["json", "Path", "install_command", "Unheard"])
def test_only_the_name_of_an_error_is_looked_up(name: str) -> None:
    with pytest.raises(AforesaidError, match="Run it again") as arrived:
        raise_reported({"raised": name, "message": "Run it again."})
    assert type(arrived.value) is AforesaidError


def test_an_answer_without_an_error_raises_nothing() -> None:
    raise_reported({"message": "All is well."})
