"""What the client's agent is told when it opens a file, as the model API sees it."""

import json

import pytest

from aforesaid.recall import inject
from tests.acceptance.product import Installation, last_request, write
from tests.support.client import until
from tests.support.scripted_api import Call, ScriptedApi, Text

pytestmark = pytest.mark.client

ASKED = "Count ten pieces as a bulk order"
REASON = "ten pieces must count, because the price list says so"
PRICING = "def discount(quantity):\n    return 0.05 if quantity >= 10 else 0\n"
LEAD = inject.FILE_LEAD.format(file="pricing.py")


def read(path: str) -> Call:
    return Call("Read", {"file_path": f"{{{{cwd}}}}/{path}"})


def work_on_pricing(api: ScriptedApi, installed: Installation) -> None:
    """Session one: the file, and why it is as it is."""
    api.when(
        ASKED,
        write("pricing.py", PRICING),
        write("notes.md", "# Notes\n"),
        Text(f"`discount` in pricing.py is right now: {REASON}."),
    )
    assert installed.client.run(ASKED).returncode == 0
    installed.settled()


def listed(installed: Installation, session: str) -> None:
    """Wait for the list of what is worth a question."""
    until((installed.paths.file_lists / session).exists, report=lambda: "no list")


def test_what_is_known_about_a_file_is_told_once_when_it_is_opened(
    api: ScriptedApi, installed: Installation
) -> None:
    work_on_pricing(api, installed)
    api.when("Look at the file", read("pricing.py"), Text("Seen."))
    api.when("Look again", read("pricing.py"), read("pricing.py"), Text("Seen again."))

    first = installed.client.run("Look at the file")
    session = first.session_id
    told = last_request(api, "Look at the file")
    assert told.count(LEAD) == 1
    assert REASON in told.partition(LEAD)[2]
    listed(installed, session)
    installed.client.run("Look again", resume=session)

    assert last_request(api, "Look again").count(LEAD) == 1
    installed.settled()
    with installed.store() as store:
        injected = store.injections.for_session(installed.session(session).id)
    (one,) = [one for one in injected if one.hook == "file"]
    assert one.reason == "the agent opened pricing.py"
    why = json.loads(installed.cli("why", session[:8], "--json"))
    assert "file" in {each["hook"] for each in why["injected"]}
    # Nothing of it was captured twice: two prompts, and each call once.
    assert installed.tools(session) == [("Read", 1), ("Read", 2), ("Read", 2)]


@pytest.mark.parametrize("path", ["README.md", pytest.param("notes.md", marks=pytest.mark.long)])
def test_a_file_of_which_nothing_is_known_brings_nothing(
    api: ScriptedApi, installed: Installation, path: str
) -> None:
    work_on_pricing(api, installed)
    (installed.client.project / "README.md").write_text("# Shop\n")
    api.when("Look elsewhere", read(path), Text("Seen."))

    done = installed.client.run("Look elsewhere")

    assert done.returncode == 0
    assert "Notes that aforesaid took about" not in last_request(api, "Look elsewhere")


def test_an_edit_is_told_before_it_is_made_and_goes_on(
    api: ScriptedApi, installed: Installation
) -> None:
    work_on_pricing(api, installed)
    changed = PRICING.replace("10", "12")
    api.when("Proceed", read("pricing.py"), write("pricing.py", changed), Text("Done."))

    installed.client.run("Proceed")

    assert last_request(api, "Proceed").count(LEAD) == 1
    assert (installed.client.project / "pricing.py").read_text() == changed


def test_a_large_file_is_written_though_the_hook_does_not_read_it(
    api: ScriptedApi, installed: Installation
) -> None:
    """The list says that nothing is known about it, and the hook ends at once."""
    large = "x = 1\n" * 200_000
    api.when("Write much", read("none.py"), write("large.py", large), Text("Done."))

    done = installed.client.run("Write much")

    assert done.returncode == 0
    assert (installed.client.project / "large.py").read_text() == large
