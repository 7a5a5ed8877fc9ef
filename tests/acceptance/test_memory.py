"""What a later session is told about an earlier one, as the model API sees it."""

import subprocess
from pathlib import Path

import pytest

from aforesaid.recall import inject
from tests.acceptance.conftest import OpenTerminal
from tests.acceptance.product import MEMORY, Installation, bash, count_briefs, last_request, write
from tests.support.client import git_repo
from tests.support.history import NEEDED, TOLD, UNRELATED, remember_in
from tests.support.scripted_api import Call, ScriptedApi, Text

pytestmark = pytest.mark.client

ASKED = "Add a bulk discount to pricing.py"
NEXT = "Show the discount on the invoice in invoice.py"
PRICING = """\
def discount(quantity):
    return 0.05 if quantity > 10 else 0
"""
TEST = """\
from pricing import discount
assert discount(10) == 0.05, "ten pieces are a bulk order"
"""
MENDED = {"old_string": "quantity > 10", "new_string": "quantity >= 10"}


def work_on_pricing(api: ScriptedApi, installed: Installation) -> list[str]:
    """Session one: new files, a test that fails and then works. The titles of what is remembered."""
    api.when(
        ASKED,
        write("pricing.py", PRICING),
        write("check_pricing.py", TEST),
        bash("python3 check_pricing.py"),
        Call("Edit", {"file_path": "{{cwd}}/pricing.py", **MENDED}),
        bash("python3 check_pricing.py"),
        Text(f"Orders of ten pieces and more are cheaper now.\n\nNext step: {NEXT}."),
    )
    done = installed.client.run(ASKED)
    assert done.returncode == 0, done
    installed.settled()
    return installed.titles(done.session_id)


@pytest.mark.quick
def test_a_later_session_anywhere_in_the_repository_knows_what_was_done_and_what_is_next(
    api: ScriptedApi, installed: Installation, tmp_path: Path
) -> None:
    project = installed.client.project
    titles = work_on_pricing(api, installed)
    folder = project / "docs"
    folder.mkdir()
    worktree = tmp_path / "other-branch"
    add = ["git", "worktree", "add", "--quiet", str(worktree)]
    subprocess.run(add, cwd=project, check=True, capture_output=True)

    for place in (project, folder, worktree):
        installed.client.run(f"go on in {place.name}", cwd=place)

        told = last_request(api, f"go on in {place.name}")
        assert count_briefs(told) == 1, place
        assert [title for title in titles if title not in told] == []
        assert NEXT in told
        assert ASKED in told
    with_project = {session.project_id for session in installed.sessions()}
    assert len(with_project) == 1


def test_a_repository_of_the_same_name_is_told_nothing(
    api: ScriptedApi, installed: Installation, tmp_path: Path
) -> None:
    titles = work_on_pricing(api, installed)
    namesake = git_repo(tmp_path / "elsewhere" / installed.client.project.name)

    installed.client.run("What do you know about pricing.py", cwd=namesake)

    told = last_request(api, "What do you know about pricing.py")
    assert [text for text in (MEMORY, NEXT, *titles) if text in told] == []


def test_a_resumed_session_is_not_told_again(api: ScriptedApi, installed: Installation) -> None:
    work_on_pricing(api, installed)
    api.when("Create an invoice", write("invoice.py", "VAT = 0.2\n"), Text("There it is."))

    session = installed.client.run("Create an invoice").session_id
    # There is more to tell now: the client itself would drop a brief that it has word by word.
    installed.settled()
    resumed = installed.client.run("go on", resume=session)

    assert resumed.session_id == session
    assert count_briefs(last_request(api, "Create an invoice")) == 1
    assert count_briefs(last_request(api, "go on")) == 1


def test_a_compacted_session_is_told_what_it_did_itself(
    api: ScriptedApi, installed: Installation
) -> None:
    titles = work_on_pricing(api, installed)
    api.when(
        "Create a changelog",
        write("CHANGES.md", "# Changes\n\nBulk discounts.\n"),
        Text("The changelog begins with the discounts.\n\nNext step: Tag the release."),
    )
    session = installed.client.run("Create a changelog for the shop").session_id
    installed.settled()

    installed.client.command("-p", "/compact", "--resume", session)
    installed.client.run("what now", resume=session)

    told = last_request(api, "what now")
    assert count_briefs(told) == 1
    own, _, others = told.partition("## This session before its compaction")[2].partition("\n## ")
    assert "Create a changelog for the shop" in own
    assert "Tag the release" in own
    assert ASKED in others
    assert [title for title in titles if title not in others] == []


def test_a_cleared_session_gets_its_brief_again(
    api: ScriptedApi, installed: Installation, open_terminal: OpenTerminal
) -> None:
    titles = work_on_pricing(api, installed)
    api.when("before it is", Text("That was before."))
    api.when("after it was", Text("This is after."))
    screen = open_terminal(installed.client)
    screen.ready()

    screen.submit("before it is cleared")
    screen.wait_for("That was before")
    screen.submit("/clear")
    screen.wait_for(r"(?s)\A(?!.*That was before)")
    screen.ready()
    screen.submit("after it was cleared")
    screen.wait_for("This is after")

    told = last_request(api, "after it was cleared")
    assert "before it is cleared" not in told
    assert count_briefs(told) == 1
    assert titles[0] in told
    assert NEXT in told


def test_a_prompt_is_told_what_it_needs_once_per_session_and_else_nothing(
    api: ScriptedApi, installed: Installation
) -> None:
    remember_in(installed.paths, installed.client.project)

    for _ in range(4):  # on a busy machine the hook gives up at its deadline
        session = installed.client.run(NEEDED).session_id
        if inject.PROMPT_LEAD in last_request(api, NEEDED):
            break
    installed.client.run(f"{NEEDED} still", resume=session)
    installed.client.run(UNRELATED)

    told = last_request(api, NEEDED)
    assert TOLD in told.partition(inject.PROMPT_LEAD)[2]
    assert last_request(api, f"{NEEDED} still").count(inject.PROMPT_LEAD) == 1
    assert inject.PROMPT_LEAD not in last_request(api, UNRELATED)
    listed = installed.cli("why", session)
    assert "near to the prompt" in listed
