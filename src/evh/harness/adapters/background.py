"""One event loop in one thread, for adapters whose functions are async.

Promise: `run` gives what the awaitable gives, from any thread, several at a time. `cancel` cancels all that runs, lets
it clean up, and each waiting `run` raises `Stopped`; later ones are refused. After `close` the thread and the loop are
gone. `sys.exit` in a coroutine fails its call, never the loop.
Policy: the thread starts with the first awaitable.
When it breaks: a coroutine that blocks the loop stops all others; `close` gives up on it after ten seconds, saying so.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import threading
from collections.abc import Awaitable
from typing import Any

from evh.harness.adapters.errors import AdapterError, Stopped

__all__ = ["Background"]

CLOSING_SECONDS = 10.0


class Background:
    """The thread and its loop; see the module for what it promises."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._stopping = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, awaitable: Awaitable[Any]) -> Any:
        """What the awaitable gives, or raises. Not for use on the loop itself."""
        try:
            with self._guard:
                if self._stopping:
                    raise Stopped("the run is stopping: the call was given up")
                future = asyncio.run_coroutine_threadsafe(_awaited(awaitable), self._started())
            try:
                return future.result()
            except concurrent.futures.CancelledError:
                if self._stopping:
                    raise Stopped("the run is stopping: the call was given up") from None
                raise AdapterError("the adapter's coroutine was cancelled", transient=False) from None
        finally:
            if inspect.iscoroutine(awaitable):
                awaitable.close()  # it may never have been started

    def cancel(self) -> None:
        """Cancel everything that runs; returns at once."""
        with self._guard:
            self._stopping = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(_cancel_all, self._loop)

    def close(self) -> None:
        """Cancel, and end the thread. Raises AdapterError when a coroutine blocks the loop. Again: nothing."""
        self.cancel()
        with self._guard:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_wind_up(), loop)
        thread.join(CLOSING_SECONDS)
        if thread.is_alive():
            raise AdapterError(
                f"an async function of the adapter did not end within {CLOSING_SECONDS:.0f} s of being cancelled: it "
                "blocks its event loop or ignores the cancellation"
            )

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_serve, args=(self._loop,), name="evh-adapter", daemon=True)
            self._thread.start()
        return self._loop


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    try:
        return await awaitable
    except (SystemExit, KeyboardInterrupt) as error:  # would end the loop, and with it every other call
        raise AdapterError(f"the adapter raised {type(error).__name__}({error})", transient=False) from error


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    ended = False
    while not ended:
        # A task that the adapter started by itself may still raise SystemExit: the loop goes on.
        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            loop.run_forever()
            ended = True
    loop.close()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    for task in asyncio.all_tasks(loop):
        task.cancel()


async def _wind_up() -> None:
    """End what still runs, then the loop."""
    loop = asyncio.get_running_loop()
    others = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await loop.shutdown_asyncgens()
    loop.stop()
