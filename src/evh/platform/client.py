"""The platform's clients: `Platform` waits for answers, `AsyncPlatform` awaits them; both run the same calls.

Promise: `run` does a call or a series of steps and gives what it reads; `items` goes through a listing; `download`
never leaves half a file. Every failure is a `PlatformError`. Neither client knows an endpoint: calls come from
`evaluations`, `hub`, `training`, `traces` and `service`, and what happens after a try is decided by the `Policy`.
Policy: addresses given by the platform are followed for GET only; connections are kept.
When it breaks: a client is made for one process; after a fork, make another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self, TypeVar, overload

from evh.errors import PlatformError, UsageError
from evh.platform import wire
from evh.platform.call import Answer, Call, NoAnswer, Paged, Steps
from evh.platform.downloads import Download
from evh.platform.loopback import check_place, checked, checked_async
from evh.platform.policy import Policy
from evh.platform.settings import Settings

if TYPE_CHECKING:
    import httpx

__all__ = ["AsyncPlatform", "Platform"]

T = TypeVar("T")
P = TypeVar("P")
I = TypeVar("I")  # noqa: E741 - the items of a page
CHUNK = 1 << 18


def _httpx() -> ModuleType:
    """The HTTP library, or words about how to get it."""
    try:
        import httpx
    except ImportError as error:
        raise UsageError("the platform's clients need the library httpx: pip install 'evh[live]'") from error
    return httpx


def _built(client: Any, call: Call[Any], settings: Settings) -> Any:
    """The request of a call, as the HTTP library wants it."""
    import httpx

    made = wire.request(call, settings)
    timeout = httpx.Timeout(made.timeout, connect=wire.CONNECT)
    return client.build_request(made.method, made.url, headers=made.headers, content=made.body, timeout=timeout)


class _Client:
    """What both clients know."""

    def __init__(self, settings: Settings, policy: Policy | None) -> None:
        self.settings = settings
        self.policy = policy or Policy()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.base_url})"

    def _pause(self, call: Call[Any], tried: int, outcome: Answer | NoAnswer) -> float | None:
        at, secrets = wire.place(call, self.settings), wire.secrets(call, self.settings)
        return self.policy.after(call, tried, outcome, at=at, secrets=secrets)


class Platform(_Client):
    """A blocking client. `transport` is httpx's, for tests; `sleep` is called with the seconds to wait."""

    def __init__(
        self,
        settings: Settings,
        *,
        policy: Policy | None = None,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(settings, policy)
        httpx = _httpx()
        self._sleep = sleep
        self._transport = transport
        self._client = httpx.Client(timeout=httpx.Timeout(120.0, connect=wire.CONNECT), transport=transport)
        if transport is None:
            self._client.event_hooks = {"request": [checked]}

    @overload
    def run(self, work: Call[T]) -> T: ...
    @overload
    def run(self, work: Steps[T]) -> T: ...
    def run(self, work: Any) -> Any:
        """Do a call, or calls that depend on each other, and give the result."""
        if isinstance(work, Call):
            return work.read(self._answer(work))
        try:
            call = next(work)
            while True:
                try:
                    result = self.run(call)
                except PlatformError as error:
                    call = work.throw(error)
                else:
                    call = work.send(result)
        except StopIteration as stop:
            return stop.value

    def items(self, listing: Paged[P, I]) -> Iterator[I]:
        """The items of a listing, page after page."""
        call: Call[P] | None = listing.first
        while call is not None:
            page = self.run(call)
            yield from listing.items(page)
            call = listing.following(page)

    def download(self, call: Call[bytes], path: str | PathLike[str], *, force: bool = False) -> int:
        """Write an answer to a file, whole or not at all; gives its size.

        A file that is there already is left alone, a `WriteError`, unless `force` is given.
        """
        with Download(path, force=force) as file:
            self._answer(call, file)
            return file.keep()

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _answer(self, call: Call[Any], file: Download | None = None) -> Answer:
        tried = 0
        while True:
            outcome = self._try(call, file)
            tried += 1
            pause = self._pause(call, tried, outcome)
            if pause is None:
                assert isinstance(outcome, Answer)
                return outcome
            self._sleep(pause)

    def _try(self, call: Call[Any], file: Download | None) -> Answer | NoAnswer:
        import httpx

        try:
            if call.service == "storage":
                return self._try_storage(call)
            request = _built(self._client, call, self.settings)
            response = self._client.send(request, stream=True, follow_redirects=call.method == "GET")
            with closing(response):
                if file is not None and response.is_success:
                    file.restart()
                    for chunk in response.iter_bytes(CHUNK):
                        file.write(chunk)
                    return wire.answer_of(response.status_code, response.headers, b"")
                return wire.answer_of(response.status_code, response.headers, response.read())
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return wire.no_answer(error)

    def _try_storage(self, call: Call[Any]) -> Answer:
        """Past the client, which would write the address to its log: whoever has it may write there."""
        import httpx

        made = wire.request(call, self.settings)
        timeouts = httpx.Timeout(made.timeout, connect=wire.CONNECT).as_dict()
        if self._transport is None:
            check_place(made.url)
        transport = self._transport or httpx.HTTPTransport()
        try:
            request = httpx.Request(
                made.method, made.url, headers=made.headers, content=made.body, extensions={"timeout": timeouts}
            )
            response = transport.handle_request(request)
            with closing(response):
                response.read()  # storages repeat the address in their errors
                return wire.answer_of(response.status_code, response.headers, b"")
        finally:
            if transport is not self._transport:
                transport.close()


class AsyncPlatform(_Client):
    """The same for coroutines. `sleep` is awaited with the seconds to wait."""

    def __init__(
        self,
        settings: Settings,
        *,
        policy: Policy | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(settings, policy)
        httpx = _httpx()
        self._sleep = sleep
        self._transport = transport
        self._client = httpx.AsyncClient(timeout=httpx.Timeout(120.0, connect=wire.CONNECT), transport=transport)
        if transport is None:
            self._client.event_hooks = {"request": [checked_async]}

    @overload
    async def run(self, work: Call[T]) -> T: ...
    @overload
    async def run(self, work: Steps[T]) -> T: ...
    async def run(self, work: Any) -> Any:
        """Do a call, or calls that depend on each other, and give the result."""
        if isinstance(work, Call):
            return work.read(await self._answer(work))
        try:
            call = next(work)
            while True:
                try:
                    result = await self.run(call)
                except PlatformError as error:
                    call = work.throw(error)
                else:
                    call = work.send(result)
        except StopIteration as stop:
            return stop.value

    async def items(self, listing: Paged[P, I]) -> AsyncIterator[I]:
        """The items of a listing, page after page."""
        call: Call[P] | None = listing.first
        while call is not None:
            page = await self.run(call)
            for item in listing.items(page):
                yield item
            call = listing.following(page)

    async def download(self, call: Call[bytes], path: str | PathLike[str], *, force: bool = False) -> int:
        """Write an answer to a file, whole or not at all; gives its size. See `Platform.download`."""
        with Download(path, force=force) as file:
            await self._answer(call, file)
            return file.keep()

    async def close(self) -> None:
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _answer(self, call: Call[Any], file: Download | None = None) -> Answer:
        tried = 0
        while True:
            outcome = await self._try(call, file)
            tried += 1
            pause = self._pause(call, tried, outcome)
            if pause is None:
                assert isinstance(outcome, Answer)
                return outcome
            await self._sleep(pause)

    async def _try(self, call: Call[Any], file: Download | None) -> Answer | NoAnswer:
        import httpx

        try:
            if call.service == "storage":
                return await self._try_storage(call)
            request = _built(self._client, call, self.settings)
            response = await self._client.send(request, stream=True, follow_redirects=call.method == "GET")
            try:
                if file is not None and response.is_success:
                    file.restart()
                    async for chunk in response.aiter_bytes(CHUNK):
                        file.write(chunk)
                    return wire.answer_of(response.status_code, response.headers, b"")
                return wire.answer_of(response.status_code, response.headers, await response.aread())
            finally:
                await response.aclose()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return wire.no_answer(error)

    async def _try_storage(self, call: Call[Any]) -> Answer:
        """Past the client, which would write the address to its log: whoever has it may write there."""
        import httpx

        made = wire.request(call, self.settings)
        timeouts = httpx.Timeout(made.timeout, connect=wire.CONNECT).as_dict()
        if self._transport is None:
            check_place(made.url)
        transport = self._transport or httpx.AsyncHTTPTransport()
        try:
            request = httpx.Request(
                made.method, made.url, headers=made.headers, content=made.body, extensions={"timeout": timeouts}
            )
            response = await transport.handle_async_request(request)
            try:
                await response.aread()  # storages repeat the address in their errors
                return wire.answer_of(response.status_code, response.headers, b"")
            finally:
                await response.aclose()
        finally:
            if transport is not self._transport:
                await transport.aclose()
