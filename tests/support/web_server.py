"""The API and the viewer over an existing home, in the foreground, for people who work on them.

Run: python -m tests.support.web_server --home DIR [--port N] [--token]
"""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path

from aforesaid import clock, wiring
from aforesaid.worker.context import Context
from aforesaid.worker.rpc import Listener, single_instance
from aforesaid.worker.service import Service


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--home", required=True, type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", action="store_true", help="print the token, too")
    asked = parser.parse_args()
    os.environ["AFORESAID_HOME"] = str(asked.home.absolute())
    os.environ["AFORESAID_WEB_PORT"] = str(asked.port or 47391)
    os.environ.setdefault("AFORESAID_WORKER_IDLE_MINUTES", "10080")
    home = wiring.home(live=True)
    home.paths.make()
    with single_instance(home.paths):
        store = wiring.open_for_writing(home.paths, wiring.encoder(home.settings))
        service = Service(Context(home, store, clock.now))
        listener = Listener(home.paths, service.handlers().get)
        listener.start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: threading.Thread(target=service.stop).start())
        answer = service.web.open({"view": ""})
        sys.stdout.write(f"{answer.get('link') or answer}\n")
        if asked.token:
            sys.stdout.write(home.paths.web_token.read_text())
        sys.stdout.flush()
        try:
            service.run()
        finally:
            service.web.close()
            listener.close()
            store.close()


if __name__ == "__main__":
    main()
