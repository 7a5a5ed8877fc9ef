"""How many examples a property gets: a few every day, ten times as many with `--hypothesis-profile=long`."""

from hypothesis import HealthCheck, settings

FEW, MANY = 25, 250
EVERY_DAY, LONG = "every-day", "long"


def register() -> None:
    """The machine is shared, so a slow example says nothing; and the fixtures hold no state of an example."""
    for name, most in ((EVERY_DAY, FEW), (LONG, MANY)):
        settings.register_profile(
            name,
            deadline=None,
            max_examples=most,
            derandomize=True,
            suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        )
    settings.load_profile(EVERY_DAY)


def examples(few: int) -> settings:
    """For what needs more or fewer than others: so many every day."""
    return settings(max_examples=few * settings().max_examples // FEW)
