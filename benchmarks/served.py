"""A model behind an OpenAI-compatible server, for benchmarks: set up as the product does, with settings of no
home."""

from pathlib import Path

from aforesaid import clock, wiring
from aforesaid import settings as settings_module
from aforesaid.paths import Paths

NOWHERE = "/nonexistent"
SECONDS = "900"  # a small model on a processor takes its time


def choice(url: str, model: str = "local", **settings: str) -> wiring.Choice:
    """`settings`: more of `synthesis.*`, by name."""
    given = {"endpoint": url, "model": model, "provider": "openai", "timeout_seconds": SECONDS}
    env = {
        f"AFORESAID_SYNTHESIS_{name.upper()}": value for name, value in (given | settings).items()
    }
    env["AFORESAID_HOME"] = NOWHERE
    home = wiring.Home(Paths.of(env), settings_module.load(Path(NOWHERE), env))
    return wiring.provider(home, clock.now, env)
