"""`recollect edit`: an observation in a person's own words."""

import os
from pathlib import Path

import click

from recollect.cli import asker, editor, form, places, things
from recollect.cli.output import json_option, print_json, say
from recollect.errors import ConfigError, Edited, NotFound, RecollectError
from recollect.model import editing
from recollect.model.editing import Fields, changes
from recollect.model.observations import TYPES, Observation
from recollect.model.search import OBSERVATION
from recollect.paths import Paths
from recollect.text import clean
from recollect.worker import contact

ENDING = ".txt"


@click.command()
@click.argument(
    "number", metavar="ID", shell_complete=places.completing(places.observation_numbers)
)
@click.option("--title", help="What it is about, in a few words.")
@click.option("--subtitle", help="One sentence.")
@click.option("--narrative", help="The story.")
@click.option("--type", "kind", type=click.Choice(TYPES), help="What kind of thing it is.")
@click.option("--fact", "facts", multiple=True, help="One fact; repeat it. Replaces all there are.")
@click.option(
    "--concept", "concepts", multiple=True, help="One concept; repeat it. Replaces all there are."
)
@click.option(
    "--form",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A form that was filled in before.",
)
@click.option("--undo", is_flag=True, help="Take your last edit of it back instead.")
@json_option
def edit(
    number: str,
    title: str | None,
    subtitle: str | None,
    narrative: str | None,
    kind: str | None,
    facts: tuple[str, ...],
    concepts: tuple[str, ...],
    file: Path | None,
    undo: bool,
    as_json: bool,
) -> None:
    """Put observation ID into your own words.

    Without an option your editor ($VISUAL or $EDITOR) opens on a form. An empty value takes a field away; the
    title alone must stay.
    What you have edited stands: it is no longer marked unverified, and `synthesize --again` keeps it.
    """
    observation = _observation(number)
    before = editing.fields_of(observation.draft)
    options = _options(
        {"title": title, "subtitle": subtitle, "narrative": narrative, "type": kind},
        {"facts": facts, "concepts": concepts},
    )
    if undo:
        if options or file:
            raise click.UsageError("--undo takes back what you wrote: leave out the other options.")
        _take_back(observation, as_json)
        return
    asker.must_be_the_user(f"edit {observation.id}")
    if options:
        after = _told(editing.checked(before | options))
        _store(observation, _told(changes(before, after)), as_json)
        return
    text = file.read_text("utf-8", "replace") if file else _typed(observation, before)
    if text is None:
        _store(observation, {}, as_json)
        return
    try:
        changed = _told(changes(before, _told(form.read(text))))
        _store(observation, changed, as_json, version=editing.version_of(observation.draft))
    except RecollectError as error:
        kept = file or editor.kept(text, str(observation.id), ending=ENDING)
        fix = f"Your text is kept: {kept}. Mend it, then: recollect edit {observation.id} --form {kept}"
        raise type(error)(f"{error} {fix}") from None


def _options(texts: dict[str, str | None], lists: dict[str, tuple[str, ...]]) -> Fields:
    """Those that were given."""
    given: Fields = {n: clean(v).strip() or None for n, v in texts.items() if v is not None}
    for name, values in lists.items():
        if values:
            given[name] = [text for value in values if (text := clean(value).strip())]
    return given


def _observation(number: str) -> Observation:
    key = things.observation(number)
    store = places.store()
    found = store.observation(key)
    if found is None:
        raise things.missing(store, OBSERVATION, key)
    return found


def _typed(observation: Observation, fields: Fields) -> str | None:
    otherwise = "say what to change: `recollect edit ID --title …`."
    return editor.opened_on(
        form.written(observation.id, fields), ending=ENDING, otherwise=otherwise
    )


def _told(fields: Fields | editing.Unusable) -> Fields:
    if isinstance(fields, editing.Unusable):
        raise ConfigError(f"The observation was left as it is: {fields.why}.")
    return fields


def _take_back(observation: Observation, as_json: bool) -> None:
    answer = contact.order(Paths.of(os.environ), "unedit", id=observation.id)
    if not answer["found"]:
        raise NotFound(f"Nobody has edited #{observation.id}, or all of that was taken back.")
    if as_json:
        print_json({"id": observation.id, "left": answer["left"]})
        return
    more = f" An edit before that can be taken back, too: {answer['left']} left."
    say(f"#{observation.id} is as it was before you edited it.{more if answer['left'] else ''}")


def _store(
    observation: Observation, changed: Fields, as_json: bool, version: str | None = None
) -> None:
    if changed:
        key = observation.id
        answer = contact.order(
            Paths.of(os.environ), "edit", id=key, **(changed | {"version": version})
        )
        if not answer["found"]:
            raise NotFound(
                f"Observation #{observation.id} is gone: it was written anew meanwhile. Find its "
                "successor with `recollect search`."
            )
        if answer.get("meanwhile"):
            raise Edited(
                f"#{key} has other words by now (see `recollect show {key}`); left as it is."
            )
    if as_json:
        print_json({"id": observation.id, "changed": sorted(changed)})
    elif changed:
        say(f"#{observation.id} now stands as you wrote it; `synthesize --again` keeps it.")
    else:
        say(f"#{observation.id} is as it was.")
