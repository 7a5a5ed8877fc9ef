"""`recollect open`: the viewer, in a browser."""

import os
import webbrowser

import click

from recollect.cli.output import json_option, print_json, say
from recollect.errors import RecollectError
from recollect.paths import Paths
from recollect.worker import contact

SECONDS = 15.0  # for the worker to load the web server
VIEWS = ("now", "timeline", "search", "sessions", "memories", "brief", "cost", "settings")
HOW = "Open this link in a browser on this machine within a minute. It is good once."
# Programs that draw into the terminal: the shell would be gone under them.
IN_TERMINAL = ("w3m", "lynx", "links", "elinks", "www-browser")


class NotOpened(RecollectError):
    """The viewer could not be opened. `recollect worker logs` says why."""


@click.command("open")
@click.argument("view", required=False, type=click.Choice(VIEWS), metavar="[VIEW]")
@click.option("--print", "only_print", is_flag=True, help="Print the link, open nothing.")
@json_option
def open_(view: str | None, only_print: bool, as_json: bool) -> None:
    """Open the viewer in a browser, at VIEW if one is named.

    Views: now, timeline, search, sessions, memories, brief, cost, settings. The link is good once and for a
    minute; the browser keeps a cookie from then on.
    """
    paths = Paths.of(os.environ)
    answer = contact.order_patiently(paths, "web", SECONDS, view=view or "")
    if refused := answer.get("refused"):
        raise NotOpened(refused)
    link = str(answer["link"])
    opened = not only_print and not as_json and _browse(link)
    if as_json:
        print_json({"link": link, "port": answer["port"]})
    elif opened:
        say(f"Opened http://127.0.0.1:{answer['port']}/{view or ''} in your browser.")
    else:
        say(link)
        if not only_print:
            click.echo(HOW, err=True)


def _browse(link: str) -> bool:
    try:
        browser = webbrowser.get()
        if getattr(browser, "basename", "") in IN_TERMINAL:
            return False
        return browser.open(link)
    except webbrowser.Error:
        return False
