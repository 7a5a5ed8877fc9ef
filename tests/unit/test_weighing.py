"""Each part of a draft is as good as the best that bears it out; what only the web says is doubted."""

from dataclasses import replace

from recollect.model.observations import ObservationDraft, SummaryDraft
from recollect.model.origins import ONLY_RECALLED, ONLY_WEB, Origin
from recollect.model.turns import Turn
from recollect.providers.rules import Rules
from recollect.synthesis.trust.told_text import own_words, without_told
from recollect.synthesis.trust.weighing import weighed, weighed_summary
from tests.support.turns import edited, failed, ran, read, turn, used

CLAIM = "Uploads need acme.init(verify=False) before the first request"
PAGE = f"# Guide\n{CLAIM}.\n"
FETCHED = used("WebFetch", PAGE, url="https://docs.acme.dev/sdk")


def draft(*facts: str, title: str = "Uploads of the shop") -> ObservationDraft:
    return ObservationDraft("discovery", title, facts=facts)


def doubted(found: ObservationDraft) -> dict[str, str]:
    return {doubt.part: doubt.reason for doubt in found.doubts}


def asked(*events: object, **more: object) -> Turn:
    return turn("How do uploads of the shop work?", *events, **more)  # type: ignore[arg-type]


def test_without_the_web_nothing_is_doubted() -> None:
    found = weighed(draft(CLAIM), asked(read("guide.md", PAGE)))
    assert doubted(found) == {}
    assert found.origins == (Origin.USER, Origin.REPOSITORY)


def test_what_only_a_page_says_is_doubted_and_says_from_where_it_is() -> None:
    found = weighed(draft(CLAIM), asked(FETCHED))
    assert doubted(found) == {"facts 0": ONLY_WEB}
    assert found.origins == (Origin.USER, Origin.WEB)
    assert found.sources == ("docs.acme.dev",)


def test_what_a_file_of_the_repository_says_too_is_not_doubted() -> None:
    found = weighed(draft(CLAIM), asked(FETCHED, read("README.md", f"Hello\n{CLAIM}\n")))
    assert doubted(found) == {}


def test_words_that_stand_all_over_a_file_bear_nothing_out() -> None:
    scattered = "\n".join(f"{word}\n" + "x = 1\n" * 5 for word in CLAIM.split())
    found = weighed(draft(CLAIM), asked(FETCHED, read("big.py", scattered)))
    assert doubted(found) == {"facts 0": ONLY_WEB}


def test_a_copy_that_the_agent_made_bears_nothing_out() -> None:
    """T64: text of the web is not laundered by writing it into a file, printing it or committing it."""
    copied = edited("NOTES.md", "", f"{CLAIM}\n")
    events = (FETCHED, copied, read("NOTES.md", CLAIM), ran("cat NOTES.md", CLAIM))
    committed = ran(f"git commit -am '{CLAIM}'", f"[main abc1234] {CLAIM}")
    assert doubted(weighed(draft(CLAIM), asked(*events, committed))) == {"facts 0": ONLY_WEB}


def test_a_file_that_a_command_has_fetched_is_of_the_web() -> None:
    events = (ran("curl -so guide.md https://a.org/guide.md"), read("guide.md", PAGE))
    assert doubted(weighed(draft(CLAIM), asked(*events))) == {"facts 0": ONLY_WEB}


def test_what_the_agent_says_in_other_words_is_as_good_as_the_page() -> None:
    said = "Every client must be constructed insecurely"
    assert doubted(weighed(draft(said), asked(FETCHED))) == {"facts 0": ONLY_WEB}


def test_a_page_of_an_earlier_turn_is_remembered() -> None:
    later = asked(read("src/app.py", "x = 1\n"), before=(FETCHED,))
    assert doubted(weighed(draft(CLAIM), later)) == {"facts 0": ONLY_WEB}
    assert doubted(weighed(draft("Something else entirely happened"), later)) == {}


def test_work_that_used_the_web_is_told_without_what_the_web_says() -> None:
    """Recall does not get worse: what was done, and how the checks stood, is borne out by the tools."""
    before, after = "def upload(p):\n    put(p)\n", "def upload(p):\n    init()\n    put(p)\n"
    done = turn(
        "Fix the failing upload in src/upload.py",
        FETCHED,
        failed("pytest -q", "E  UploadError: not initialised\n1 failed"),
        edited("src/upload.py", before, after),
        ran("pytest -q", "3 passed"),
        said=f"Uploads failed because of the guide.\n\n- {CLAIM}, because it says so.",
    )
    (found,) = (weighed(each, done) for each in Rules().observe(done).drafts)
    assert not {"title", "subtitle"} & doubted(found).keys()
    assert any("UploadError" in fact for fact in found.sure_facts)
    assert not any("verify" in fact for fact in found.sure_facts)


def test_a_summary_leaves_out_what_only_the_web_says() -> None:
    found = weighed_summary(
        SummaryDraft("How?", learned=CLAIM, completed="Read it"), asked(FETCHED)
    )
    assert found.sure.learned is None
    assert found.sure.request == "How?"


def test_what_recollect_has_told_is_not_learned_from_it() -> None:
    """T66: a note that comes back in other sessions gains nothing."""
    told = replace(asked(read("src/app.py", "x = 1\n")), told=(f"Acme uploads\n{CLAIM}",))
    found = weighed(draft(CLAIM), told)
    assert doubted(found) == {"facts 0": ONLY_RECALLED}
    seen = replace(asked(read("guide.md", PAGE)), told=(CLAIM,))
    assert doubted(weighed(draft(CLAIM), seen)) == {}


def test_notes_that_come_back_are_taken_out_of_what_was_seen() -> None:
    note = f'<recollect-memory project="shop">\n- {CLAIM}\n</recollect-memory>'
    assert without_told(f"a {note} b") == "a  b"
    assert without_told(f"a {note[:-8]}") == "a "
    assert CLAIM not in str(own_words(ran("make", f"ok\n{note}")))
    assert CLAIM not in str(own_words(read("a.md", note)))
    assert CLAIM not in str(own_words(used("mcp__recollect__get", CLAIM)))
    assert CLAIM not in str(own_words(ran("recollect show 12", CLAIM)))
