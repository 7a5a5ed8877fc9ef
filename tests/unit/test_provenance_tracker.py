"""Whose words an event brings."""

from aforesaid.model.events import Event, PromptSubmitted
from aforesaid.model.observations import ONLY_RECALLED, ONLY_WEB, Origin
from aforesaid.provenance.tracker import origin_of, source_of
from aforesaid.store.database import migrations
from tests.support.tables import loop_over
from tests.support.turns import ROOT, failed, ran, read, used, wrote


@loop_over(
    ("event", "origin"),
    [
        (read("src/app.py"), Origin.REPOSITORY),
        (wrote("docs/a.md", "x"), Origin.REPOSITORY),
        (read("/etc/hosts"), Origin.COMMAND),
        (read("node_modules/left-pad/README.md"), Origin.WEB),
        (read(f"{ROOT}/../other/README.md"), Origin.COMMAND),
        (read("/home/dev/.local/share/aforesaid/memory/a.md"), Origin.RECALLED),
        (ran("pytest -q"), Origin.COMMAND),
        (failed("make"), Origin.COMMAND),
        (ran("git log -3"), Origin.COMMAND),
        (ran("curl -s https://example.org/x"), Origin.WEB),
        (ran("cd /tmp && wget -qO- example.org/x"), Origin.WEB),
        (ran("sudo timeout 5 curl example.org"), Origin.WEB),
        (ran("cat urls | xargs curl"), Origin.WEB),
        (ran("gh pr view 12"), Origin.WEB),
        (ran("git pull"), Origin.COMMAND),
        (ran("python -c 'import urllib.request as u; u.urlopen(\"https://a.org\")'"), Origin.WEB),
        (ran("curl http://localhost:8000/health"), Origin.COMMAND),
        (ran("curl http://127.0.0.1:8000/"), Origin.COMMAND),
        (ran("grep curl README.md"), Origin.COMMAND),
        (ran("aforesaid search lease"), Origin.RECALLED),
        (ran("aforesaid forget"), Origin.RECALLED),
        (ran("cd shop && .venv/bin/aforesaid context"), Origin.RECALLED),
        (ran("aforesaid compact < payload.json"), Origin.RECALLED),
        (ran("cat ~/.local/share/aforesaid/memory/a.md"), Origin.RECALLED),
        (ran("cat .aforesaid/memory/a.md"), Origin.RECALLED),
        (ran("ls my.aforesaid/memory"), Origin.COMMAND),
        (ran("aforesaid doctor"), Origin.COMMAND),
        (ran("aforesaid status"), Origin.COMMAND),  # numbers, and nothing that was said
        (used("WebFetch", "x", url="https://a.org"), Origin.WEB),
        (used("WebSearch", "x", query="a"), Origin.WEB),
        (used("mcp__github__get_issue", "x"), Origin.WEB),
        (used("mcp__aforesaid__search", "x"), Origin.RECALLED),
        (used("mcp__plugin_aforesaid_aforesaid__get", "x"), Origin.RECALLED),
        (used("mcp__plugin_aforesaid_other__get", "x"), Origin.WEB),
        (used("AskUserQuestion", "yes"), Origin.USER),
        (used("TodoWrite", "x"), Origin.COMMAND),
    ],
)
def test_an_event_is_as_trusted_as_where_its_words_come_from(event: Event, origin: Origin) -> None:
    assert origin_of(event, (ROOT,)) is origin


def test_a_prompt_is_the_users_unless_the_client_spoke() -> None:
    said = read("a")
    by_user = Event(*_fields(said, PromptSubmitted("x", by_machine=False)))
    by_client = Event(*_fields(said, PromptSubmitted("x", by_machine=True)))
    assert origin_of(by_user, (ROOT,)) is Origin.USER
    assert origin_of(by_client, (ROOT,)) is Origin.AGENT


def _fields(event: Event, what: PromptSubmitted) -> tuple:  # type: ignore[type-arg]
    rest = (event.prompt_id, event.subagent, event.cwd, event.transcript)
    return (event.agent, event.session, event.key, what, *rest)


@loop_over(
    ("event", "source"),
    [
        (used("WebFetch", "x", url="https://www.a.org/b?c=d"), "a.org"),
        (used("WebSearch", "x", query="https://a.org"), "*"),
        (used("mcp__wiki__page", "x"), "mcp:wiki"),
        (ran("curl -s https://b.org:8443/x"), "b.org"),
        (ran("gh pr view 12"), ""),
    ],
)
def test_what_came_over_the_network_says_from_where(event: Event, source: str) -> None:
    assert source_of(event) == source


def test_the_order_is_the_order_of_trust() -> None:
    ranked = (Origin.USER, Origin.REPOSITORY, Origin.COMMAND, Origin.AGENT, Origin.WEB)
    assert sorted(ranked, key=lambda origin: origin.rank) == list(ranked)


def test_the_views_know_a_part_that_is_held_back_by_the_same_words() -> None:
    """They are written in SQL, which cannot ask for a constant."""
    script = "".join(text for _, text in migrations())
    assert script.count(f"'{ONLY_WEB}', '{ONLY_RECALLED}'") == 3
