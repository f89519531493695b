"""`evh serve` as a process of its own, over a folder: started, stopped, killed, started again, and asked what it has.

Promise: `start` returns when it answers. `kill` ends it at once, as a crash does; what was acknowledged is there after
the next `start`. It listens on loopback, at a port of its own that it keeps from start to start.
Policy: no disk space is kept free, since folders of tests are small.
When it breaks: `SourceError` with what the process said.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import evh.errors
from evh.errors import SourceError

if TYPE_CHECKING:
    from evh.platform import Platform, Settings

__all__ = ["Server"]

SOURCES = str(Path(evh.errors.__file__).parents[1])
START_SECONDS = 60.0
STOP_SECONDS = 40.0
LOOK = 0.01


class Server:
    """A server over `folder` (made when there is none); `database` is a `postgresql://` URL, for SQLite None.

    `tokens`: it asks for tokens; `token` is one that may do everything in the project `default`.
    Use it in a `with` block, or call `start` and `stop`.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, database: str | None = None, profile: str = "evh", tokens: bool = False
    ) -> None:
        self.folder = Path(folder)
        self.database = database
        self.profile = profile
        self.token = ""
        self._tokens = tokens
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.folder.with_name(f"{self.folder.name}.log")
        self._ready = self.folder.with_name(f"{self.folder.name}.ready")

    @property
    def url(self) -> str:
        """Where it answers, from the first start on."""
        if not self._port:
            raise SourceError("was not started yet, so it has no address", source=str(self.folder))
        return f"http://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int | None:
        """Of the process; None while there is none."""
        alive = self._process is not None and self._process.poll() is None
        return self._process.pid if alive and self._process is not None else None

    @property
    def environ(self) -> dict[str, str]:
        """The variables that point a client at it."""
        return {
            "PRIME_API_KEY": self.token or "no-key-is-asked-for",
            "PRIME_API_BASE_URL": self.url,
            "PRIME_TRACES_URL": self.url,
            "PRIME_FRONTEND_URL": self.url,
        }

    @property
    def settings(self) -> Settings:
        """The settings of a client of it."""
        from evh.platform import resolve

        return resolve(environ=self.environ, home=None)

    def client(self) -> Platform:
        """A client of it, to be closed."""
        from evh.platform import Platform

        return Platform(self.settings)

    def start(self) -> Self:
        """Start it, or start it again; returns when it answers."""
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        if self._tokens and not self.token:
            self.token = self.evh("token", "create", "--name", "tests", "--scope", "admin", "--json")["secret"]
        self._ready.unlink(missing_ok=True)
        words = ["serve", "--port", str(self._port), "--ready-file", str(self._ready), "--reserve", "0", "--quiet"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(*words, "--profile", self.profile),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            )
        due = time.monotonic() + START_SECONDS
        while not self._ready.exists():
            if self._process.poll() is not None or time.monotonic() > due:
                self.kill()
                raise SourceError(f"the server did not start: {self.said[-1000:]}", source=str(self.folder))
            time.sleep(LOOK)
        self._port = json.loads(self._ready.read_bytes())["port"]
        return self

    def stop(self) -> int:
        """Ask it to end, and wait; returns its exit code (0 when it was not running)."""
        if self._process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise SourceError("the server did not stop when it was asked to", source=str(self.folder)) from None
        finally:
            self._process = None

    def kill(self) -> None:
        """End it at once (SIGKILL)."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @property
    def said(self) -> str:
        """What its processes wrote to standard output and error."""
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    def evh(self, *words: str) -> Any:
        """A command on its data (`token create`, `serve verify`), as JSON."""
        done = subprocess.run(
            self._command(*words), env=self._environment(), capture_output=True, text=True, timeout=120, check=False
        )
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise SourceError(
                f"evh {' '.join(words)}: exit {done.returncode}: {done.stderr or done.stdout}", source=str(self.folder)
            ) from None

    def documents(self, run_id: str | None = None) -> dict[str, bytes]:
        """The stored documents of episodes by id, of one run of the platform or of all. Raises `SourceError` when an
        id came with several contents."""
        from evh.platform import traces

        found: dict[str, bytes] = {}
        asked: Any = {"limit": 100} if run_id is None else {"limit": 100, "run_id": run_id}
        with self.client() as client:
            for each in client.items(traces.episodes(**asked)):
                if each.episode_id in found or each.get("versions") != 1:
                    raise SourceError(f"the episode {each.episode_id} is there twice", source=str(self.folder))
                found[each.episode_id] = self._raw(client, f"/episodes/{each.episode_id}")
        return found

    def _raw(self, client: Platform, path: str) -> bytes:
        from evh.platform import Call

        params = (("raw", "document"),)
        return client.run(Call(f"read {path}", "GET", path, lambda said: said.body, params, service="traces"))

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "evh", *words, "--data", str(self.folder)]

    def _environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PRIME_", "EVH_DATABASE"))}
        paths = [SOURCES, *filter(None, [os.environ.get("PYTHONPATH")])]
        given = {} if self.database is None else {"EVH_DATABASE": self.database}
        return {**clean, **given, "PYTHONPATH": os.pathsep.join(paths)}

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill() if kind is not None else self.stop()
