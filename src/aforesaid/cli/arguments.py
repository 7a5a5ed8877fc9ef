"""Arguments and options that commands share, and what they name: the store, a project, a session, a thing."""

import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from aforesaid import __version__, clock, errors
from aforesaid.cli import output as out
from aforesaid.errors import AforesaidError, NotFound, WorkerError, WorkerHung
from aforesaid.model.names import NAMED, NUMBER
from aforesaid.paths import Paths
from aforesaid.text import one_line

if TYPE_CHECKING:
    from aforesaid.store.store import Store

SENT = ("AFORESAID_", "CLAUDE", "HOME", "XDG_")  # variables that an answer may depend on
ANSWER_SECONDS = 5.0
AWAY_SECONDS = 60.0  # that a worker may not answer
POLL_SECONDS = 0.1
MOST_BEGINS = 5  # of a task, without progress
MOST_COMPLETED = 40  # as many as a shell shows on one screen
NO_PROGRESS = (
    f"It was begun {MOST_BEGINS} times and got no further. `aforesaid worker logs` says why; "
    "what was done is sound."
)
TIME_EXAMPLES = '30d, 12h, 2w, a day such as 2026-11-01, or "last week"'
Command = TypeVar("Command", bound=Callable[..., object])
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def open_store() -> "Store":
    from aforesaid import wiring

    return wiring.open_for_reading(Paths.of(os.environ))


def ask(query: str, **values: object) -> Any:
    """Asks the running worker, which has everything loaded; without one, the answer is found here: see
    `worker/queries.py`. The hook's client is the one that loads fastest."""
    from aforesaid.hook import capture

    here = Path.cwd()
    request: dict[str, Any] = {"name": query, "version": __version__, "dir": str(here)}
    env = {name: value for name, value in os.environ.items() if name.startswith(SENT)}
    request |= {"env": env, "values": values}
    answer: dict[str, Any] = {"declined": True}
    data = b"query " + json.dumps(request).encode()
    with suppress(OSError, ValueError):
        answer = json.loads(capture.ask(str(Paths.of(os.environ).run), data, ANSWER_SECONDS))
    os.chdir(here)  # the client has left it
    if "declined" in answer:
        from aforesaid.worker import queries

        answer = queries.answer_here(request)
    errors.raise_reported(answer)
    return answer["value"]


def call_worker(command: str, *, seconds: float | None = None, **values: object) -> dict[str, Any]:
    """Sends a command to the worker, which is started if need be, and returns its answer."""
    from aforesaid.worker import rpc

    return rpc.order(Paths.of(os.environ), command, seconds or rpc.SECONDS, **values)


def run_task(
    task: str, request: dict[str, Any], on_progress: Callable[[dict[str, Any]], None]
) -> dict[str, Any]:
    """Has the worker do what takes long, and returns its last answer, the result. A worker that was replaced
    meanwhile is asked again: nothing is done twice. One that ends again and again is an error."""
    name, begins, furthest = None, 0, -1
    answered = time.monotonic()
    while True:
        try:
            if name is None:
                answer = call_worker(f"{task}-begin", seconds=AWAY_SECONDS, **request)
                if "lost" in answer:  # it is just ending
                    raise WorkerError
                begins += 1
            else:
                answer = call_worker(f"{task}-progress", seconds=AWAY_SECONDS, name=name)
            answered = time.monotonic()
        except WorkerHung:
            raise
        except WorkerError:
            if time.monotonic() > answered + AWAY_SECONDS:
                raise
            answer = {}
        if answer.get("over"):
            return answer
        if "done" in answer:
            on_progress(answer)
            if answer["done"] > furthest:
                furthest, begins = answer["done"], 0
        name = None if "lost" in answer else answer.get("name", name)
        if name is None and begins >= MOST_BEGINS:
            raise WorkerError(NO_PROGRESS)
        time.sleep(POLL_SECONDS)


def watch_worker(
    label: str, count_left: Callable[[dict[str, Any]], int], stopped: str
) -> dict[str, Any]:
    """Shows a progress bar until nothing is left, and returns the worker's last status. A worker that ended
    is started again. `stopped`: what to say after Ctrl-C."""
    from aforesaid.worker import rpc

    paths = Paths.of(os.environ)
    found, most = rpc.start(paths), 0
    with out.interruptible(stopped), out.bar(label) as show:
        while left := count_left(found):
            most = max(most, left)
            show(most - left, most)
            time.sleep(POLL_SECONDS)
            found = rpc.start(paths)
    return found


# Who runs a command: the user, or an agent in its shell. This keeps an agent that a web page has talked
# round from verifying that page. It is no sandbox: whoever runs commands can also unset the variables.


def require_user(command: str) -> None:
    """For commands that make something trusted, or write in the user's name. The user's own `!` commands in
    the client look like the agent's."""
    from aforesaid.agents.registry import is_inside_agent

    if is_inside_agent(os.environ):
        raise AforesaidError(
            f"Only you can do this. Run `aforesaid {command}` in a terminal of your own, not in the agent's."
        )


def memory_name(text: str) -> str | None:
    """The name of a memory; None if it is the id of something else."""
    before, _, name = text.rpartition("memory:")
    return None if before or NUMBER.fullmatch(name) or NAMED.fullmatch(name) else name


def observation_id(text: str) -> int:
    found = NUMBER.fullmatch(text.removeprefix("observation:"))
    if found is None:
        raise NotFound(f"{text!r} is not the number of an observation, such as 12 or #12.")
    return int(found[1])


# Shell completion


def completing(list_items: Callable[["Store"], Iterable[tuple[str, str]]]) -> Completer:
    """The items that begin as typed, each with a few words of help. An error completes nothing."""

    def complete(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
        with suppress(AforesaidError, OSError):
            found = list_items(open_store())
            return [CompletionItem(v, help=h or None) for v, h in found if v.startswith(typed)]
        return []

    return complete


def _sessions(store: "Store") -> list[tuple[str, str]]:
    from aforesaid.recall.results import short_id

    found = store.sessions.recent(None, MOST_COMPLETED)
    return [(short_id(store, each.ref), one_line(each.title or "", 60)) for each in found]


def _observations(store: "Store") -> list[tuple[str, str]]:
    from aforesaid.recall import resolve

    project = resolve.project_at(store, Path.cwd())
    found = store.observations.recent(project, MOST_COMPLETED) if project is not None else []
    return [(str(o.id), one_line(o.draft.title or "", 60)) for o in found]


complete_projects = completing(lambda store: [(p.name, p.root) for p in store.projects.all()])
complete_sessions = completing(_sessions)
complete_observations = completing(_observations)
complete_anything = completing(lambda store: _observations(store) + _sessions(store))
observation_argument = click.argument(
    "key",
    metavar="ID",
    callback=lambda _, __, value: observation_id(value),
    shell_complete=complete_observations,
)


# Options


def not_empty(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuses an unset variable of a script, which would otherwise mean everything."""
    if value is not None and not value.strip():
        raise click.BadParameter("it is empty. Name one, or leave it out.")
    return value


def project_option(what: str = "Only this project") -> Callable[[Command], Command]:
    return click.option(
        "--project",
        metavar="NAME",
        callback=not_empty,
        shell_complete=complete_projects,
        help=f"{what}: its name, a folder of it, or `.` for the current one.",
    )


def session_option(what: str) -> Callable[[Command], Command]:
    return click.option(
        "--session",
        metavar="ID",
        callback=not_empty,
        shell_complete=complete_sessions,
        help=f"{what}; the first letters of its id are enough.",
    )


all_option = click.option(
    "--all", "everywhere", is_flag=True, help="All projects, not only this directory's."
)


def limit_option(default: int, most: int = 1000) -> Callable[[Command], Command]:
    what = "Maximum number of results."
    return number_option("-n", "--limit", default=default, most=most, what=what)


def number_option(
    *names: str, default: int, what: str, least: int = 1, most: int = 1000
) -> Callable[[Command], Command]:
    kind = click.IntRange(least, most)
    return click.option(*names, type=kind, default=default, show_default=True, help=what)


def since_option(what: str, default: str | None = None) -> Callable[[Command], Command]:
    return time_option("--since", f"{what} since: {TIME_EXAMPLES}.", default)


def until_option(what: str) -> Callable[[Command], Command]:
    """`--until`, in milliseconds, exclusive: the named day, week or month is included."""
    return time_option("--until", f"{what} until the end of: {TIME_EXAMPLES}.")


def time_option(name: str, what: str, default: str | None = None) -> Callable[[Command], Command]:
    def parse(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
        if value is None:
            return None
        from aforesaid.times import begin, end  # slow to load

        read = end if name == "--until" else begin
        try:
            return read(value.strip(), clock.now())
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return click.option(
        name,
        metavar="WHEN",
        callback=parse,
        default=default,
        show_default=default is not None,
        help=what,
    )
