"""The redactor of a home: the rules, the user's settings and the secrets of an environment, under one key."""

from collections.abc import Callable, Mapping

from recollect.paths import Paths
from recollect.privacy import marking, own_rules
from recollect.privacy.redactor import Redactor
from recollect.settings import Settings


def redactor(
    paths: Paths,
    settings: Settings,
    env: Mapping[str, str],
    on_found: Callable[[str], None] = lambda _: None,
) -> Redactor:
    """Nothing is made before the first secret is found."""
    return Redactor.made(
        mark=marking.keyed_by(paths.redaction_key),
        env=env,
        leave=settings.names("privacy.keep_variables"),
        own=own_rules.compiled(settings.names("privacy.patterns")),
        paths=settings.names("privacy.paths"),
        on_found=on_found,
    )
