"""An encoder that is loaded when it is first needed: most commands and most seconds of a worker need none."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from recollect.encoders.protocol import Encoder

if TYPE_CHECKING:
    from recollect.encoders.protocol import Matrix


class Lazy:
    def __init__(self, name: str, *, instant: bool, load: Callable[[], Encoder]) -> None:
        self.name, self.instant = name, instant
        self._load = load
        self._encoder: Encoder | None = None
        self._lock = threading.Lock()

    @property
    def dimensions(self) -> int:
        return self._loaded().dimensions

    def encode(self, texts: Sequence[str]) -> "Matrix":
        return self._loaded().encode(texts)

    def _loaded(self) -> Encoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder
