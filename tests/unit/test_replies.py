"""What can be taken from a model's reply, case by case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aforesaid.model.observations import TYPES, ObservationDraft, SummaryDraft, SummarySkipped
from aforesaid.synthesis.parse import (
    LONGEST_FIELD,
    Unusable,
    parse_observations,
    parse_summary,
)
from tests.support.examples import examples
from tests.support.tables import loop_over

WHOLE = """<observation>
<type>bugfix</type>
<title>Importer accepts decimal commas</title>
<subtitle>Files from Brest no longer crash the import.</subtitle>
<facts>
<fact>Importing data/brest.csv panicked at parse.rs:88.</fact>
<fact>parse.rs now calls parse_level instead of parse.</fact>
</facts>
<narrative>The importer panicked.

It takes the separator from the settings now.</narrative>
<concepts>
<concept>csv-import</concept>
<concept>number-format</concept>
</concepts>
</observation>"""
DRAFT = ObservationDraft(
    "bugfix",
    "Importer accepts decimal commas",
    "Files from Brest no longer crash the import.",
    (
        "Importing data/brest.csv panicked at parse.rs:88.",
        "parse.rs now calls parse_level instead of parse.",
    ),
    "The importer panicked.\n\nIt takes the separator from the settings now.",
    ("csv-import", "number-format"),
)
SECOND = ObservationDraft("feature", "Second thing was built", narrative="Second story.")
SECOND_WRITTEN = (
    "<observation><type>feature</type><title>Second thing was built</title>"
    "<narrative>Second story.</narrative></observation>"
)


def drafts(reply: str) -> tuple[ObservationDraft, ...]:
    found = parse_observations(reply)
    assert not isinstance(found, Unusable), found
    assert found
    return found


def draft(reply: str) -> ObservationDraft:
    found = drafts(reply)
    assert len(found) == 1, found
    return found[0]


def within(fields: str) -> ObservationDraft:
    return draft(f"<observation>{fields}</observation>")


def summed(reply: str) -> SummaryDraft:
    found = parse_summary(reply)
    assert isinstance(found, SummaryDraft), found
    return found


@loop_over(
    "reply",
    [
        WHOLE,
        f"```xml\n{WHOLE}\n```",
        f"Sure, if a < b & c, here it is:\n\n{WHOLE}\n\nLet me know <b>if</b> more is needed.",
        f"I will write an <observation> with a <title> and facts.\n{WHOLE}",
        f"<response>\n<observations>\n{WHOLE}\n</observations>\n</response>",
        f'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd">\n{WHOLE}',
        f"<think>First a draft: <observation><title>Not meant</title></observation></think>\n{WHOLE}",
        f"<![CDATA[{WHOLE}]]>",
        f"{WHOLE}\n{WHOLE}",
        WHOLE.replace("<observation>", '<observation id="1" lang=en>'),
        WHOLE.replace("fact>", "FACT>").replace("observation>", "Observation>"),
        WHOLE.replace("</fact>", "</fact >").replace("<title>", "<title\n>"),
        WHOLE.replace("</observation>", ""),
        WHOLE.replace("</facts>", ""),
        WHOLE.replace("</fact>\n<fact>", "\n<fact>"),
        WHOLE.replace("</concept>", ""),
        WHOLE.replace("</title>", ""),
        WHOLE.replace("</narrative>", ""),
        WHOLE.replace("</type>", "").replace("</subtitle>", ""),
        WHOLE.replace("</title>", "</subtitle>").replace("import.</subtitle>", "import.</title>"),
        WHOLE.replace("</observation>", "</facts></observation></observation>"),
        WHOLE.replace("<observation>", "").replace("</observation>", ""),
        WHOLE.replace("<type>bugfix</type>\n", "").replace(
            "</title>", "</title><type>Bug Fix</type>"
        ),
        WHOLE.replace("<type>bugfix</type>", "<type>bugfix</type></observation>"),
        WHOLE.replace("<facts>", "").replace("</facts>", ""),
        WHOLE.replace("<fact>", "- ").replace("</fact>", ""),
        WHOLE.replace("<fact>", "<li>").replace("</fact>", "</li>"),
        WHOLE.replace("<fact>", "<fact>- "),
        WHOLE.replace("<concept>", "")
        .replace("-import</concept>\n", "-import, ")
        .replace("</concept>", ""),
        WHOLE.replace("<narrative>", "<narrative><![CDATA[").replace(
            "</narrative>", "]]></narrative>"
        ),
        WHOLE.replace("<narrative>", "<narrative><![CDATA["),
        WHOLE.replace("The importer", "The im\u202eport\x1b[31mer\x1b[0m\0"),
    ],
)
def test_the_same_observation_is_read_however_it_was_written(reply: str) -> None:
    assert draft(reply) == DRAFT


def test_several_blocks_are_several_observations_with_or_without_walls() -> None:
    walls = f"{WHOLE}\n{SECOND_WRITTEN}"
    assert drafts(walls) == (DRAFT, SECOND)
    assert drafts(walls.replace("</observation>", "")) == (DRAFT, SECOND)
    assert drafts(walls.replace("<observation>", "").replace("</observation>", "")) == (
        DRAFT,
        SECOND,
    )
    assert drafts(f"<observation>{walls}</observation>") == (DRAFT, SECOND)


@loop_over(
    ("written", "read"),
    [
        ("if a < b && c > d", "if a < b && c > d"),
        ("List<String> and Map<K, V>", "List<String> and Map<K, V>"),
        (
            "Vec<File> of Option<None> in Result<Response>",
            "Vec<File> of Option<None> in Result<Response>",
        ),
        ("a <div class='x'>box</div> is drawn", "a <div class='x'>box</div> is drawn"),
        ("the <title> tag was missing", "the <title> tag was missing"),
        ("the <title>Home</title> tag was missing", "the <title>Home</title> tag was missing"),
        ("parses <facts> and <observation> blocks", "parses <facts> and <observation> blocks"),
        ("a stray </title> tag broke it", "a stray </title> tag broke it"),
        ("<none/> is written for nothing", "<none/> is written for nothing"),
        ("&lt;b&gt; &amp; &amp;lt; &quot;q&quot; &#233; &#x1F600;", '<b> & &lt; "q" é 😀'),
        ("R&D, AT&T; x &unknown; &", "R&D, AT&T; x &unknown; &"),
        ("<![CDATA[a < b && <title>]]> holds", "a < b && <title> holds"),
        ("<!-- a comment --> and <?php echo 1 ?>", "<!-- a comment --> and <?php echo 1 ?>"),
        ("  over \n two   lines ", "over two lines"),
        ("登录重定向循环已修复", "登录重定向循环已修复"),
        ("Исправлена ошибка входа", "Исправлена ошибка входа"),
        ("تم إصلاح تسجيل الدخول", "تم إصلاح تسجيل الدخول"),
    ],
)
def test_what_looks_like_markup_inside_a_field_is_its_text(written: str, read: str) -> None:
    for name in ("fact", "narrative"):
        found = within(f"<type>feature</type><{name}>{written}</{name}><concept>after</concept>")
        text = found.facts[0] if name == "fact" else " ".join((found.narrative or "").split())
        assert read in text
        assert found.type == "feature"
        assert found.concepts == ("after",)


@loop_over(
    ("written", "read"),
    [
        ("bugfix", "bugfix"),
        ("Bug Fix", "bugfix"),
        ("BUG-FIX", "bugfix"),
        (" `feature` ", "feature"),
        ("🔴 discovery", "discovery"),
        ("refactoring", "refactor"),
        ("enhancement", "change"),
        ("bugfix | feature | refactor", "change"),
        ("", "change"),
    ],
)
def test_a_type_is_one_of_ours(written: str, read: str) -> None:
    assert within(f"<type>{written}</type><title>One two three</title>").type == read
    assert within("<title>One two three</title>").type == "change"


def test_types_are_no_concepts() -> None:
    found = within(
        "<title>One two three</title><concepts><concept>Bugfix</concept><concept>auth</concept>"
        "<concept>change</concept><concept>auth</concept></concepts>"
    )
    assert found.concepts == ("auth",)


def test_a_missing_field_is_none_or_empty() -> None:
    assert within("<title>One two three</title>") == ObservationDraft("change", "One two three")
    assert within("<fact>A fact alone.</fact>") == ObservationDraft(
        "change", None, None, ("A fact alone.",)
    )


def test_files_are_read_from_elements_and_from_lines() -> None:
    found = within(
        "<title>One two three</title><files_read><file>a.py</file><file>`b.py`</file></files_read>"
        "<files_modified>\n- c.py\n- d.py\n</files_modified><files><file path='e.py'/></files>"
    )
    assert found.files_read == ("a.py", "b.py", "e.py")
    assert found.files_modified == ("c.py", "d.py")


def test_values_may_stand_in_attributes() -> None:
    found = draft(
        '<observation type="bugfix" title="a &lt; b &amp; c"><facts><fact id="1" text="F."/></facts>'
    )
    assert (found.type, found.title, found.facts) == ("bugfix", "a < b & c", ("F.",))
    assert draft("<observation type='Bug Fix'><fact>F.</fact></observation>").type == "bugfix"
    assert isinstance(parse_observations('<observation type="bugfix"></observation>'), Unusable)


def test_an_attribute_of_an_element_with_text_is_not_content() -> None:
    found = draft(
        '<observation id="7"><type id="t">bugfix</type><title lang="en">Real title</title><facts>'
        '<fact id="1" name="n">X</fact><fact id="2">Y</fact></facts><concept id="3"/></observation>'
    )
    assert found == ObservationDraft("bugfix", "Real title", facts=("X", "Y"))


def test_placeholders_are_empty() -> None:
    found = within(
        "<title>[Title]</title><subtitle>…</subtitle><facts><fact>...</fact>"
        "<fact>[fact]</fact><fact>A real fact.</fact></facts><narrative>N/A</narrative>"
    )
    assert found == ObservationDraft("change", None, None, ("A real fact.",))


def test_text_in_elements_nobody_asked_for_joins_the_narrative() -> None:
    found = within(
        "Loose words.<title>One two three</title><impact level='2'>High <i>indeed</i></impact>"
        "<narrative>Told.</narrative>"
    )
    for word in ("Loose words.", "High", "indeed", "Told."):
        assert word in (found.narrative or "")
    assert "impact" not in (found.narrative or "")
    assert within("Uses List<String> only.").narrative == "Uses List<String> only."


def test_a_second_title_or_subtitle_is_not_lost() -> None:
    found = within("<title>One two</title><title>Three four</title><subtitle>S</subtitle>")
    assert (found.title, found.narrative) == ("One two", "Three four")


@loop_over("end", range(len("<observation>"), len(WHOLE)))
def test_a_reply_cut_off_anywhere_keeps_what_was_written(end: int) -> None:
    cut = WHOLE[:end]
    found = parse_observations(cut)
    if isinstance(found, Unusable):
        assert cut.find("<title>I") < 0
        return
    (one,) = found
    for fact in DRAFT.facts:
        assert (fact in one.facts) == (fact in cut) or any(
            fact.startswith(f.rstrip("…")) for f in one.facts
        )
    assert (DRAFT.title or "").startswith((one.title or "").rstrip("…"))
    assert "<" not in str(one)
    assert (one.narrative is None) == ("<narrative>T" not in cut)
    if one.narrative:
        assert (DRAFT.narrative or "").startswith(one.narrative.rstrip("…"))


def test_the_cut_within_a_sentence_is_marked_and_no_other() -> None:
    assert draft("<observation><title>One two</title><facts><fact>It goes").facts == ("It goes…",)
    assert draft("<observation><title>One two</title><facts><fact>It goes.").facts == ("It goes.",)
    assert draft("<observation><title>One two</title><type>bugfix").type == "bugfix"


@loop_over(
    "end",
    [
        "It fails whenever a < b and the counter was reset",
        "It fails whenever a <b",
        "It takes a List<Str",
        "It draws a <div class='x",
        "It compares a </b and c",
        "It happens where <title is empty",
    ],
)
def test_only_a_known_tag_that_was_cut_off_is_left_out(end: str) -> None:
    for field in ("fact", "narrative"):
        reply = f"<observation><title>One two</title><{field}>{end}"
        for tag in ("", "<", "</fac", "<fact", "<fact id='1", "<skip reason='cut o"):
            found = draft(f"{reply}{tag}")
            assert f"{end}…" in (*found.facts, found.narrative), (end, tag)


@loop_over(
    "reply",
    [
        "<none/>",
        "<NONE />",
        "<none></none>",
        "```xml\n<none/>\n```",
        "Nothing here is worth keeping.\n<none/>",
        "<observations><none/></observations>",
        '<skip reason="routine"/>',
        "<no_observations/>",
        "none",
    ],
)
def test_a_model_may_say_that_there_is_nothing(reply: str) -> None:
    assert parse_observations(reply) == ()


@loop_over(
    "reply",
    [
        "",
        " \n",
        "I am sorry, I cannot do that.",
        "<observation></observation>",
        "<observation><type>bugfix</type><facts></facts></observation>",
        "<observation><type>bugfix</type><title>…</title></observation>",
        "<observation><concepts><concept>auth</concept></concepts></observation>",
        '{"type": "bugfix", "title": "JSON"}',
        "<observations></observations>",
    ],
)
def test_a_reply_without_any_text_is_unusable_and_says_why(reply: str) -> None:
    found = parse_observations(reply)
    assert isinstance(found, Unusable)
    assert found.why


SUMMARY_WRITTEN = """<summary>
<request>Find out why <title> is empty & mend it.</request>
<investigated>The panic in parse.rs.</investigated>
<learned>Brest writes commas.</learned>
<completed>- parse.rs mended
- tests added</completed>
<next_steps>Add a test.</next_steps>
<notes>None</notes>
<files_read><file>a.rs</file></files_read>
<files_edited>
b.rs
c.rs
</files_edited>
</summary>"""
SUMMARY_DRAFT = SummaryDraft(
    "Find out why <title> is empty & mend it.",
    "The panic in parse.rs.",
    "Brest writes commas.",
    "- parse.rs mended\n- tests added",
    "Add a test.",
    ("a.rs",),
    ("b.rs", "c.rs"),
)


@loop_over(
    "reply",
    [
        SUMMARY_WRITTEN,
        f"Here it is:\n```xml\n{SUMMARY_WRITTEN}\n```\nDone.",
        SUMMARY_WRITTEN.replace("summary>", "SUMMARY>"),
        SUMMARY_WRITTEN.replace("</summary>", ""),
        SUMMARY_WRITTEN.replace("<summary>", "").replace("</summary>", ""),
        SUMMARY_WRITTEN.replace("</learned>", "").replace("</files_read>", ""),
        SUMMARY_WRITTEN.replace("files_edited", "files_modified"),
        SUMMARY_WRITTEN.replace("next_steps", "next-steps"),
        f"{SUMMARY_WRITTEN}\n{SUMMARY_WRITTEN}",
        f"<observation><title>T</title></observation>{SUMMARY_WRITTEN}",
    ],
)
def test_the_same_summary_is_read_however_it_was_written(reply: str) -> None:
    assert summed(reply) == SUMMARY_DRAFT


def test_unknown_parts_of_a_summary_become_notes() -> None:
    found = summed("<summary><request>R.</request><risk>Deadline.</risk>Loose.</summary>")
    assert found == SummaryDraft("R.", notes="Deadline.\n\nLoose.")


@loop_over(
    ("reply", "reason"),
    [
        ('<skip_summary reason="nothing was done"/>', "nothing was done"),
        ("```\n<skip_summary reason='a &lt; b'>\n```", "a < b"),
        ("<summary><skip_summary>small talk</skip_summary></summary>", "small talk"),
        ('<skip_summary id="1">small talk</skip_summary>', "small talk"),
        ("<skip_summary/>", "no reason given"),
    ],
)
def test_a_summary_may_be_skipped(reply: str, reason: str) -> None:
    assert parse_summary(reply) == SummarySkipped(reason)


@pytest.mark.parametrize("reply", ["", "Hello.", "<summary></summary>", WHOLE])
def test_a_reply_without_a_summary_is_unusable(reply: str) -> None:
    assert isinstance(parse_summary(reply), Unusable)


@loop_over(
    "reply",
    [
        "<observation>" * 10_000 + "<title>Deep down</title>",
        "<facts><fact>" * 10_000 + "<title>Deep down</title>",
        "<div>" * 10_000 + "<title>Deep down</title>",
        '<!DOCTYPE l [<!ENTITY a "boom"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/hosts">]>'
        "<observation><title>Deep down</title><narrative>&b;&c;</narrative></observation>",
        "\ud800<observation>\udfff<title>Deep\0 down</title>",
    ],
)
def test_hostile_replies_are_only_text(reply: str) -> None:
    found = drafts(reply)
    assert any(each.title == "Deep down" for each in found)
    assert "boom" not in str(found)
    assert "localhost" not in str(found)


@pytest.mark.parametrize("size", [200_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("piece", ["<", "<fact>a", "x <title> ", '<a b="'])
def test_a_mass_of_rubbish_has_an_answer(piece: str, size: int) -> None:
    reply = f"<observation><narrative>begin {piece * (size // len(piece))}"
    assert parse_observations(reply)


def test_a_field_has_a_greatest_length() -> None:
    found = within(f"<title>{'word ' * 10_000}</title><narrative>{'word ' * 10_000}</narrative>")
    assert len(found.title or "") <= LONGEST_FIELD
    assert len(found.narrative or "") <= LONGEST_FIELD


PIECES = st.sampled_from(
    [
        *("<observation>", "</observation>", "<type>", "</type>", "<title>", "</title>", "<facts>"),
        *("<fact>", "</fact>", "</facts>", "<narrative>", "</narrative>", "<concepts>", "<file>"),
        *("<summary>", "<request>", "</request>", "</summary>", "<skip_summary", 'reason="', "/>"),
        *("<![CDATA[", "]]>", "<!--", "-->", "&amp;", "&#0;", "&#xD800;", "&lt;", "<none/>", "```"),
        *(
            "<",
            ">",
            "&",
            '"',
            "'",
            "=",
            "\n",
            " ",
            "bugfix",
            "words",
            "漢字",
            "\ud800",
            "\0",
            "\x1b]",
        ),
    ]
)
REPLIES = st.one_of(st.text(), st.lists(st.one_of(PIECES, st.text(max_size=5))).map("".join))


@examples(100)
@given(REPLIES)
def test_any_string_at_all_has_an_answer(reply: str) -> None:
    found = parse_observations(reply)
    if not isinstance(found, Unusable):
        for one in found:
            assert one.type in TYPES
            assert one.title or one.subtitle or one.facts or one.narrative
            for text in (one.title, one.subtitle, *one.facts, *one.concepts, *one.files_read):
                assert text is None or (text and text == " ".join(text.split()))
            str(one).encode()
    assert isinstance(parse_summary(reply), SummaryDraft | SummarySkipped | Unusable)


WORDS = st.text(st.characters(categories=["L", "N", "S", "P"]), min_size=1, max_size=20)


@examples(60)
@given(WORDS.map(lambda text: f"m {text} m"), WORDS.map(lambda text: f"n {text}"))
def test_escaped_text_comes_back_as_it_was(title: str, fact: str) -> None:
    def written(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    found = within(f"<title>{written(title)}</title><fact>{written(fact)}</fact>")
    assert (found.title, found.facts) == (title, (fact,))
