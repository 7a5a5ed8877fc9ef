"""`recollect retry`."""

import os

import click

from recollect.cli.output import count, json_option, print_json, say
from recollect.errors import NotFound
from recollect.paths import Paths
from recollect.worker import contact


@click.command()
@click.argument("job", type=int, required=False)
@json_option
def retry(job: int | None, as_json: bool) -> None:
    """Try JOB again, or every job that failed three times. `recollect status` lists them."""
    answer = contact.order(Paths.of(os.environ), "retry", id=job)
    if job is not None and not answer["requeued"]:
        raise NotFound(f"There is no failed job {job}. `recollect status` lists those there are.")
    if as_json:
        print_json(answer)
    else:
        say(f"{count(answer['requeued'], 'job')} to be tried again.")
