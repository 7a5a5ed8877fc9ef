"""Findings, as commands show them: for people with marks and colours, for programs as JSON."""

from collections.abc import Iterable, Iterator

from recollect import clock
from recollect.cli.output import TYPE_COLOURS, heading, say, styled
from recollect.freshness import CHANGED, GONE, UNCHANGED
from recollect.model.observations import Observation, Summary
from recollect.model.search import EVENT, MATCH_END, MATCH_START, OBSERVATION, Hit, Reason
from recollect.recall.excerpts import BETWEEN
from recollect.recall.origin_words import FROM_WEB, is_only_of_the_web, listed
from recollect.recall.shown import TITLE_LENGTH, Shown, plain
from recollect.recall.telling import name
from recollect.text import ELLIPSIS, one_line

FILES = {UNCHANGED: ("files unchanged", "green"), CHANGED: ("files changed since", "yellow")}
FILES |= {GONE: ("files gone", "yellow")}
PROJECT_LENGTH = 40


def print_hit(shown: Shown, hit: Hit, *, excerpt: bool = True, lead: str = "") -> None:
    kind = hit.type if hit.kind in (OBSERVATION, EVENT) else hit.kind
    parts = [
        heading(shown.name(hit)),
        highlighted(shown.title(hit), bold=True),
        styled(kind or hit.kind, fg=TYPE_COLOURS.get(kind or "")),
        styled(clock.day_and_time(hit.at), dim=True),
        *([styled(one_line(shown.project(hit), PROJECT_LENGTH))] if shown.everywhere else []),
        *_marks(shown, hit),
        styled(f"~{hit.tokens:,} tokens", dim=True),
    ]
    say(f"{heading(lead)}{parts[0]} {'  '.join(parts[1:])}")
    if excerpt and (said := BETWEEN.join(_beyond_title(hit))):
        say("   " + highlighted(said))
    if hit.folded:
        same = ", ".join(name(hit.kind, other) for other in hit.folded)
        say(styled(f"   The same: {same}", dim=True))


def print_reasons(reasons: Iterable[Reason], score: float) -> None:
    """The points by name, the largest first, and their sum."""
    rows = sorted(reasons, key=lambda reason: -abs(reason.points))
    width = max((len(reason.name) for reason in rows), default=0)
    for reason in rows:
        because = f"  {one_line(reason.because, TITLE_LENGTH)}" if reason.because else ""
        colour = "red" if reason.points < 0 else None
        points = styled(f"{reason.points:+8.2f}", fg=colour)
        say(f"   {points}  {styled(f'{reason.name:<{width}}{because}'.rstrip(), dim=True)}")
    say(f"   {styled(f'{score:8.2f}', bold=True)}  {styled('in all', dim=True)}")


def highlighted(text: str, *, bold: bool = False) -> str:
    """Cleaned piece by piece: the marks are control characters themselves."""
    parts = text.replace(MATCH_END, MATCH_START).split(MATCH_START)
    beside, matched = {"bold": bold or None}, {"bold": True, "underline": True}
    return "".join(
        styled(" ".join(part.split("\n")), **(matched if number % 2 else beside))
        for number, part in enumerate(parts)
        if part
    )


def _beyond_title(hit: Hit) -> Iterator[str]:
    """The lines of the excerpt that do not say what the title says."""
    title = hit.title.casefold()
    for line in hit.excerpt.split(BETWEEN):
        if plain(line).strip(ELLIPSIS).casefold() not in title:
            yield line


def _marks(shown: Shown, hit: Hit) -> list[str]:
    found = []
    observation = shown.observation(hit)
    if hit.pinned:
        found.append(styled("pinned", fg="magenta"))
    if whose := _whose(observation or shown.summary(hit), hit):
        found.append(styled(whose, dim=True))
    if hit.doubted:
        found.append(styled("unverified", fg="yellow"))
    if hit.superseded:
        found.append(styled("carried on later", fg="yellow"))
    fresh = shown.freshness_of(observation) if observation and hit.files else None
    if fresh and fresh.state in FILES:
        said, colour = FILES[fresh.state]
        found.append(styled(said, fg=colour))
    return found


def _whose(said: Observation | Summary | None, hit: Hit) -> str:
    if said is None:
        return f"from {hit.origin}" if hit.origin else ""
    return FROM_WEB if is_only_of_the_web(said.draft) else f"from {listed(said.draft.origins)}"
