"""What a pause covers, and what it is once its project is gone."""

from aforesaid.model.sessions import Pause, Where, place_of

SHOP = place_of("/work/shop")
SESSION = ("claude-code", "s")


def of_project(project_id: int | None) -> Pause:
    return Pause(1, "command", "project", 0, project_id=project_id, place=SHOP)


def test_a_project_is_known_by_its_number_as_long_as_it_has_one() -> None:
    """It may have moved, and another may lie in its old place."""
    assert of_project(7).covers(Where(7, place_of("/elsewhere/shop")), SESSION)
    assert not of_project(7).covers(Where(8, SHOP), SESSION)


def test_once_it_is_gone_its_place_stands_for_it() -> None:
    assert of_project(None).covers(Where(8, SHOP), SESSION)
    assert of_project(None).covers(Where(None, SHOP), SESSION)
    assert not of_project(None).covers(Where(7, place_of("/work/other")), SESSION)
    assert not Pause(1, "command", "project", 0).covers(Where(), SESSION)


def test_of_a_session_and_of_everything() -> None:
    assert Pause(1, "seen", "session", 0, agent="claude-code", ref="s").covers(Where(), SESSION)
    assert not Pause(1, "seen", "session", 0, agent="claude-code", ref="t").covers(Where(), SESSION)
    assert Pause(1, "command", "everything", 0).covers(Where(3, SHOP), SESSION)
