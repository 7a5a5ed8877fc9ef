"""`aforesaid search`, `timeline`, `related` and `files`. What they print is found by `worker/queries.py`."""

from collections.abc import Iterable
from typing import Any

import click

from aforesaid import clock
from aforesaid.cli import arguments
from aforesaid.cli import output as out
from aforesaid.model import names
from aforesaid.model.names import EVENT, FULL, OBSERVATION, SESSION
from aforesaid.text import one_line

Json = dict[str, Any]
AROUND = 5  # things on each side of a timeline
PROJECT_LENGTH = 40
TITLE_LENGTH = 100
UNCHANGED = "files unchanged"
WEAK = "No close match: these results may have nothing to do with the question."
WORDS_ONLY = (
    "Only words were matched. `aforesaid status` shows the index, `aforesaid rebuild` rebuilds it."
)


@click.command()
@click.argument("words", nargs=-1, required=True)
@arguments.project_option()
@arguments.all_option
@click.option(
    "--type",
    "types",
    type=click.Choice(names.TYPES),
    multiple=True,
    help="Only observations of this type. Can be repeated.",
)
@click.option("--concept", "concepts", multiple=True, help="Only results tagged with this concept.")
@click.option("--file", "files", multiple=True, help="Only results about this file.")
@click.option(
    "--agent",
    callback=arguments.not_empty,
    help="Only results of this agent, such as claude-code.",
)
@arguments.session_option("Only this session")
@arguments.since_option("Only results")
@arguments.until_option("Only results")
@click.option(
    "--level",
    type=click.Choice(names.LEVELS),
    default="titles",
    show_default=True,
    help="From whole sessions to raw events; `full` prints each result in full.",
)
@arguments.limit_option(10)
@click.option("--explain", is_flag=True, help="Show how each result was scored.")
@out.json_option
def search(
    words: tuple[str, ...], project: str | None, everywhere: bool, explain: bool, **given: Any
) -> None:
    """Search by words, meaning, names and times. WORDS may be a whole question."""
    if project and everywhere:
        raise click.UsageError("Give either --project or --all.")
    text, full = " ".join(words), given["level"] == FULL
    found = arguments.ask("search", text=text, project=project, everywhere=everywhere, **given)
    hits, memories = found["hits"], found["memories"]
    value = {"query": text, "level": given["level"], "without": found["without"]}
    value |= {"hits": [hit["json"] for hit in hits], "total": found["total"]}
    value |= {"complete": found["complete"], "weak": found["weak"]}
    value |= {"memories": [each["json"] for each in memories]}
    if out.print_if_json(value):
        return
    if found["weak"]:
        out.say(out.styled(WEAK, fg="yellow"))
    for each in memories:
        _print_memory(each, full=full, explain=explain)
    for hit in hits:
        print_hit(hit, excerpt=not full, project=found["everywhere"])
        if full:
            _print_indented((hit["json"]["text"] or "").split("\n")[1:])
        if explain:
            print_reasons(hit["json"])
    if found["hints"]:
        out.say("\n".join(found["hints"]))
    elif not full:
        out.say(out.styled(out.SHOW_HINT, dim=True))
    if found["total"] > len(hits):
        every = f"{found['total']:,}{'' if found['complete'] else ' or more'}"
        out.say(out.styled(f"{len(hits)} of {every} results. Show more with -n.", dim=True))
    if without := found["without"]:
        missing = f"{without[:1].upper()}{without[1:]}".rstrip(".")
        out.say(out.styled(f"{missing}. {WORDS_ONLY}", fg="yellow"))


def _print_indented(lines: Iterable[str]) -> None:
    out.say("".join(f"   {out.styled(line)}\n" for line in lines))


def _print_memory(found: Json, *, full: bool, explain: bool) -> None:
    parts = [
        out.styled(found["title"], bold=True),
        out.styled(found["label"], fg="magenta"),
        out.styled(clock.day_and_time(found["at"]), dim=True),
        *([out.styled("pinned", fg="magenta")] if found["json"]["pinned"] else []),
        out.styled(f"~{found['tokens']:,} tokens", dim=True),
    ]
    out.say(f"{out.heading(found['name'])} {'  '.join(parts)}", indent=3)
    if full:
        _print_indented(found["json"]["body"].strip().split("\n"))
    if explain:
        out.say(out.styled(f"   {found['json']['why']}", dim=True))


def print_hit(found: Json, *, excerpt: bool = True, lead: str = "", project: bool = False) -> None:
    hit = found["json"]
    kind = (hit["type"] if hit["kind"] in (OBSERVATION, EVENT) else None) or hit["kind"]
    marks = (
        ("pinned" if hit["pinned"] else "", {"fg": "magenta"}),
        (found["source"], {"dim": True}),
        ("unverified" if hit["unverified"] else "", {"fg": "yellow"}),
        ("superseded" if hit["superseded"] else "", {"fg": "yellow"}),
        (found["files"], {"fg": "green" if found["files"] == UNCHANGED else "yellow"}),
    )
    parts = [
        highlight(found["title"], bold=True),
        out.styled(kind, fg=out.TYPE_COLOURS.get(kind)),
        out.styled(clock.day_and_time(hit["at"]), dim=True),
        *([out.styled(one_line(hit["project"], PROJECT_LENGTH))] if project else []),
        *(out.styled(text, **style) for text, style in marks if text),
        out.styled(f"~{hit['tokens']:,} tokens", dim=True),
    ]
    out.say(f"{out.heading(lead)}{out.heading(hit['name'])} {'  '.join(parts)}", indent=3)
    if excerpt and found["excerpt"]:
        out.say("   " + highlight(found["excerpt"]))
    if found["same"]:
        out.say(out.styled(f"   Duplicates: {', '.join(found['same'])}", dim=True))


def print_reasons(hit: Json) -> None:
    """The points by name, the largest first, and their sum."""
    rows = sorted(hit["reasons"], key=lambda reason: -abs(reason["points"]))
    width = max((len(reason["name"]) for reason in rows), default=0)
    for reason in rows:
        because = f"  {one_line(reason['because'], TITLE_LENGTH)}" if reason["because"] else ""
        points = out.styled(f"{reason['points']:+8.2f}", fg="red" if reason["points"] < 0 else None)
        text = out.styled(f"{reason['name']:<{width}}{because}".rstrip(), dim=True)
        out.say(f"   {points}  {text}", indent=13)
    score = f"{hit['score']:8.2f}"
    out.say(f"   {out.styled(score, bold=True)}  {out.styled('in all', dim=True)}")


def highlight(text: str, *, bold: bool = False) -> str:
    """Shows matches. Cleaned piece by piece: the marks are control characters themselves."""
    parts = text.replace(names.MATCH_END, names.MATCH_START).split(names.MATCH_START)
    beside, matched = {"bold": bold or None}, {"bold": True, "underline": True}
    return "".join(
        out.styled(" ".join(part.split("\n")), **(matched if number % 2 else beside))
        for number, part in enumerate(parts)
        if part
    )


@click.command()
@click.argument("what", metavar="[ID]", required=False, shell_complete=arguments.complete_anything)
@arguments.time_option("--at", "Around a time: 3d, 2026-11-01, 2026-11-01 14:50, yesterday.")
@arguments.project_option()
@arguments.number_option("--before", default=AROUND, least=0, what="Number of earlier results.")
@arguments.number_option("--after", default=AROUND, least=0, what="Number of later results.")
@out.json_option
def timeline(what: str | None, at: int | None, **given: Any) -> None:
    """Show what happened around ID or a time, in order, across the sessions of the project.

    ID is a number such as 12 or #12, summary:7, prompt:3, event:9, or the first letters of a session's id.
    Without either: the latest.
    """
    if what and at:
        raise click.UsageError("Give either ID or --at.")
    found = arguments.ask("timeline", what=what, at=at or clock.now(), **given)
    hits, around = found["hits"], found["around"]  # the kind and the number of what was asked for
    if out.print_if_json([hit["json"] for hit in hits]):
        return
    if not hits:
        out.say("Nothing is remembered around that time.")
        return
    session = None
    for hit in hits:
        if hit["json"]["session_id"] != session:
            session = hit["json"]["session_id"]
            here = [SESSION, session] == around
            title = f"{'▶' if here else '──'} {found['sessions'][str(session)]}"
            out.say(out.styled(title, dim=not here, bold=here))
        here = [hit["json"]["kind"], hit["json"]["id"]] == around
        print_hit(hit, excerpt=here, lead="▶ " if here else "  ")
    out.say(out.styled(out.SHOW_HINT, dim=True))


@click.command()
@arguments.observation_argument
@arguments.limit_option(5, 100)
@click.option("--explain", is_flag=True, help="Show how each result was scored.")
@out.json_option
def related(key: int, limit: int, explain: bool) -> None:
    """Show observations related to observation ID, across sessions: by files, concepts, meaning, or because
    one continues another."""
    hits = arguments.ask("related", number=key, limit=limit)
    if out.print_if_json([hit["json"] for hit in hits]):
        return
    if not hits:
        out.say(f"Nothing is related to #{key}.")
        return
    for hit in hits:
        print_hit(hit, excerpt=False)
        if explain:
            print_reasons(hit["json"])
        else:
            out.say(out.styled(f"   {hit['because']}", dim=True))
    out.say(out.styled(out.SHOW_HINT, dim=True))


@click.command()
@click.argument("path", required=False)
@arguments.project_option()
@arguments.limit_option(10)
@out.json_option
def files(path: str | None, project: str | None, limit: int) -> None:
    """Show what is known about the file PATH; its name alone is enough.

    With a directory, which need not exist here, or without PATH: list the files with the most observations.
    """
    found = arguments.ask("files", path=path, project=project, limit=limit)
    if "observations" in found:
        _print_file(found["path"], found["observations"])
        return
    below = f" in {found['below']}" if found["below"] else ""
    nothing = f"Nothing is known about files{below} yet."
    numbers = ("observations", "changed by")
    rows = (
        (
            each["path"],
            f"{each['observations']:,}",
            f"{each['changes']:,}",
            clock.day_and_time(each["last_at"]),
        )
        for each in found["files"]
    )
    columns = ("file", *numbers, "when")
    if out.report_table(found["files"], columns, rows, empty=nothing, numbers=numbers):
        out.say(out.styled("What is known about one: aforesaid files <path>", dim=True))


def _print_file(file: str, found: list[Json]) -> None:
    if out.print_if_json({"path": file, "observations": [each["json"] for each in found]}):
        return
    if not found:
        out.say(f"Nothing is known about {one_line(file, 200)}.")
        return
    for each in found:
        out.print_text(each["text"])
        out.say(out.styled(f"Files: {each['files']}\n" if each["files"] else "", dim=True))
    out.say(out.styled(out.SHOW_HINT, dim=True))
