"""One event loop in a thread of its own: many threads may wait for calls, and a call that takes too long is cancelled.

Clients that LiteLLM keeps belong to the loop that made them, so there is one loop for the whole process
(spec/ecosystem.md 2.7).
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")

_lock = threading.Lock()
_running: tuple[int, asyncio.AbstractEventLoop] | None = None


def run(call: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on the loop and wait for it. An interrupt while waiting cancels it."""
    future = asyncio.run_coroutine_threadsafe(call, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _loop() -> asyncio.AbstractEventLoop:
    global _running
    with _lock:
        # A forked child has the loop's memory without its thread.
        if _running is None or _running[0] != os.getpid():
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="skillevo-models", daemon=True).start()
            _running = os.getpid(), loop
        return _running[1]
