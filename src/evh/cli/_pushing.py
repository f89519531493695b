"""`evh run --push`: each pass is uploaded while it is measured.

Promise: an upload never changes how a run ends, nor its exit code. A platform that cannot be reached, a key that is not
taken: the run stays on disk, the reason is said, and `evh sync` sends it later. What is not sent when the run is over
is sent by the uploader, which goes on by itself.
Policy: pushing is asked for (`--push`, or `EVH_MODE=online`); a key alone, which may be an endpoint's, sends nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evh.cli._terminal import plural, printable
from evh.errors import EvhError

if TYPE_CHECKING:
    from evh.cli._running import Watcher
    from evh.harness.progress import Snapshot
    from evh.harness.project import Project
    from evh.platform import Settings

__all__ = ["Pusher", "pusher"]

FINISH_SECONDS = 300.0


class Pusher:
    """A listener of a launch that tells `watcher` everything and uploads what is measured."""

    def __init__(self, watcher: Watcher, project: Project, settings: Settings | None) -> None:
        self._watcher = watcher
        self._project = project
        self._settings = settings
        self._pushed: list[Path] = []

    def begun(self, directory: str, snapshot: Snapshot) -> None:
        self._watcher.begun(directory, snapshot)
        if self._settings is None:
            return
        from evh.live import uploads

        path = Path(directory)
        try:
            uploads.start(path, self._settings)
        except (EvhError, ImportError) as error:
            why = error.message if isinstance(error, EvhError) else f"{error}: pip install 'evh[live]'"
            self.notice(f"the run stays on this disk: {why}; `evh sync {self._project.portable(path)}` sends it later")
            return
        self._pushed.append(path)
        url = uploads.progress(path).url
        if url is not None:
            self.notice(f"the run is uploaded to {url}")

    def item(self, snapshot: Snapshot) -> None:
        self._watcher.item(snapshot)

    def notice(self, text: str) -> None:
        self._watcher.notice(text)

    def finish(self) -> dict[Path, dict[str, Any]]:
        """Give the uploads time to be done, and say of each how far it is."""
        found: dict[Path, dict[str, Any]] = {}
        if not self._pushed:
            return found
        from evh.live import uploads

        for path in self._pushed:
            try:
                done = uploads.wait(path, FINISH_SECONDS)
            except KeyboardInterrupt:
                done = False
            how = uploads.progress(path)
            found[path] = {"url": how.url, "pending": how.pending, "refused": how.refused, "error": how.error}
            named = printable(self._project.portable(path))
            if how.refused:
                self.notice(f"{named}: {plural(how.refused, 'record')} refused, named in sync/refused.jsonl")
            if how.error is not None or not done:
                why = f" ({how.error})" if how.error else ""
                self.notice(
                    f"{named}: {plural(how.pending, 'record')} not sent yet{why}; `evh sync {named}` goes on if need be"
                )
        return found


def pusher(push: bool | None, watcher: Watcher, project: Project, environ: Mapping[str, str]) -> Pusher:
    """The listener of a launch: `push` is what the command line says, None when it says nothing."""
    from evh.cli._uploaded import settings_of
    from evh.live.modes import resolve_mode

    asked = environ.get("EVH_MODE", "").strip().lower() == "online" if push is None else push
    if not asked:
        return Pusher(watcher, project, None)
    settings = settings_of()
    resolved = resolve_mode("online", environ, settings)
    if resolved.mode == "online":
        return Pusher(watcher, project, settings)
    watcher.notice(f"the run stays on this disk: {resolved.reason}; `evh sync` sends it later")
    return Pusher(watcher, project, None)
