"""A timeline of the process."""

import contextlib
import os
from collections.abc import Iterator

from . import _core


@contextlib.contextmanager
def trace_events(file: str | bytes | os.PathLike[str]) -> Iterator[None]:
    """Records what runs when, on which thread, and writes it to ``file`` at the end of the ``with``
    block, in Chrome's trace format.

    Spans are those of nb-sim's --trace-events: passes of the compiler, kernel cache, tiles of each
    thread, commands of a GPU. %p in the name is replaced by the number of the process. One timeline
    is recorded at a time. The environment variable NB_TRACE_EVENTS names a file for the whole
    process.
    """
    _core.begin_trace(os.fsdecode(file))
    try:
        yield
    finally:
        _core.end_trace()
