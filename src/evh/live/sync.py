"""A run directory, uploaded: everything that is on disk goes to the platform once, or is refused by name.

Promise
    A row is sent in a parcel that is in the books before it leaves (`evh.live.ledger`), in the order of its file. What
    an earlier process left on its way is settled first. A parcel that is refused is halved until the refused rows stand
    alone: they are named, and the others go. A row that the service is known not to take is refused without sending it.
    When the run is over and everything is sent, it is closed on the platform.
Policy
    Many refusals in a row, before anything was ever taken, and without a code that says why, are taken for a platform
    that refuses everything: the upload pauses instead of refusing the whole run.
When it breaks
    `PlatformError` when the platform can or will not now, `SourceError` for a file that was rewritten, `WriteError`
    when the disk refuses; the books are coherent, and it can be gone on with.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from evh.errors import Refused, ServiceNotEnabled, UsageError
from evh.live.cutting import TARGET, Cutter, kind_of
from evh.live.delivery import Delivery, WholeUploadRefused
from evh.live.ledger import Ledger
from evh.live.parcels import METRICS, TABLE, TRACES, Parcel, of_books
from evh.live.remote import TRAINING, close_remote, identity_of, note_stopped, open_remote
from evh.live.run_ending import Ending, closing_metrics, ending_of
from evh.live.segments_reader import SegmentReader
from evh.live.sync_folder import SyncFolder
from evh.live.sync_state import Reporter
from evh.live.tables import next_tables
from evh.live.uploaded_rows import episode_id_of, uploaded_files
from evh.live.wire import Wire
from evh.protocol import models
from evh.store.run_dir import open_run_dir

if TYPE_CHECKING:
    from evh.live.patience import Patience
    from evh.platform import Settings

__all__ = ["Sync"]

SUSPICIOUS = 20


class Sync:
    """The upload of one run by this process, from the constructor to `close`.

    Raises `LockedError` when another process uploads it, `UsageError` for a directory that holds no run of ours.
    """

    def __init__(
        self,
        directory: Path,
        settings: Settings,
        patience: Patience,
        *,
        hurry: float | None = None,
        target: int = TARGET,
    ) -> None:
        manifest = open_run_dir(directory).manifest
        if manifest is None:
            raise UsageError("has no run.json: only runs that this harness began are uploaded", source=str(directory))
        self.directory = directory
        self.manifest = manifest
        self.sent = 0
        """Rows that the platform took from this process."""
        self._target = target
        self._refused_in_a_row = 0
        self._readers: dict[str, SegmentReader] = {}
        self._remote: models.SyncRemote | None = None
        self._delivery: Delivery | None = None
        self._cutter: Cutter | None = None
        self._folder = SyncFolder(directory)
        try:
            self.report = Reporter(self._folder)
            self.ledger = Ledger(self._folder)
            self.wire = Wire(settings, patience, hurry=hurry)
        except BaseException:
            self._folder.release()
            raise
        patience.told = lambda error, seconds: self.tell("retrying", str(error), seconds)

    def close(self) -> None:
        """Give the run's upload back."""
        try:
            self.wire.close()
        finally:
            self._folder.release()

    def __enter__(self) -> Sync:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def tell(self, state: str, error: str | None = None, seconds: float | None = None) -> None:
        """Say what is done now, in `sync/state.json`."""
        if state in ("retrying", "paused"):
            self.report.see({name: self.directory / name for name in self.files()})
        self.report.say(state, error, seconds)

    def files(self) -> list[str]:
        """The files whose rows are uploaded."""
        return uploaded_files(self.directory, self.manifest.kind, self.ledger.segments)

    def renew(self, settings: Settings) -> None:
        """Go on with other settings: a key that was mended, say."""
        before, self.wire = self.wire, self.wire.renewed(settings)
        before.close()
        self._remote = self._delivery = self._cutter = None

    def open(self) -> models.SyncRemote:
        """The run on the platform, opened there unless it is."""
        if self._remote is None:
            self._remote = open_remote(self._folder, self.manifest, self.wire)
        return self._remote

    def run(self, *, abandon: bool = False) -> Ending | None:
        """Send what is there and, when the run is over, close it; returns how it ended. `abandon`: one that stopped
        will not be resumed."""
        ending = ending_of(self.directory)
        self.send(over=ending is not None)
        if ending is not None:
            if abandon and ending.word == "stopped":
                ending = Ending("cancelled", "stopped, and not to be resumed")
            self.finish(ending)
        return ending

    def send(self, *, over: bool = False) -> int:
        """Send everything that is on disk; returns how many rows the platform took. `over`: no more rows will come."""
        before = self.sent
        if not self._has_work():
            return 0
        try:
            cutter = self._ready()
            self._settle()
            for name in self.files():
                reader = self._reader(name)
                for parcel in cutter.behind_cursor(reader):
                    self._send(parcel)
                if over and (size := reader.torn(self.ledger.cursor(name))):
                    self.report.note(f"{name}: a torn last line of {size} bytes was left out")
            if self.manifest.kind == "train" and (over or self.sent > before):
                self._send_tables(over)
        except BaseException:
            self._cutter = None  # it may be ahead of what was sent
            raise
        return self.sent - before

    def retry_refused(self) -> int:
        """Send the refused records once more; returns how many the platform took now."""
        self.send()
        taken = 0
        for refusal in self.ledger.refusals:
            source = self._reader(refusal.segment).piece(refusal.start, refusal.end)
            for parcel in self._ready().cut(refusal.segment, source, refusal.start, told=False):
                try:
                    self._deliver(replace(parcel, retry=True))
                    taken += 1
                except Refused:
                    self.ledger.drop_intent()
        return taken

    def finish(self, ending: Ending) -> models.SyncRemote:
        """Close the run on the platform, everything being sent. One that can be resumed stays open there."""
        remote = self.open()
        if remote.state == "closed" and remote.status == ending.status:
            return remote
        if ending.word == "stopped":
            note_stopped(remote, self.manifest, self.wire)
            return remote
        metrics = closing_metrics(self.directory, ending)
        closed = close_remote(self._folder, remote, self.manifest, ending, metrics, self.wire)
        if closed.status != ending.status and closed.kind != TRAINING:
            self.report.note(f"it ended as {ending.word}; there it was closed as {closed.status} before, and stays so")
        return closed

    def _ready(self) -> Cutter:
        remote = self.open()
        if self._delivery is None:
            self._delivery = Delivery(remote, identity_of(self.manifest), self.wire, self.ledger, target=self._target)
        if self._cutter is None:
            self._cutter = Cutter(
                remote,
                self._delivery.limits,
                self.ledger,
                lambda: [self._reader(name) for name in self.files()],
                self._refuse,
            )
        return self._cutter

    def _has_work(self) -> bool:
        """Whether there may be anything to send: the platform need not be asked otherwise."""
        if self.manifest.kind == "train" or self.ledger.has_intent():
            return True
        for name in self.files():
            at = self.ledger.cursor(name)
            if self._reader(name).size() != (0 if at is None else at.offset):
                return True
        return False

    def _reader(self, name: str) -> SegmentReader:
        found = self._readers.get(name)
        if found is None:
            found = self._readers[name] = SegmentReader(self.directory, name)
        return found

    def _settle(self) -> None:
        """Send what an earlier try left on its way, as it was."""
        found = self.ledger.unsettled()
        if found is None:
            return
        intent, body = found
        parcel = of_books(intent, body, self._reader(intent.segment).piece(intent.start, intent.end))
        assert self._delivery is not None
        try:
            said = self._delivery.deliver(parcel, doubt=True, place=intent.place)
        except Refused:
            self.ledger.drop_intent()  # it was not done: its rows are cut anew, and the refused ones found
            return
        self.ledger.commit(parcel, said)
        self._count(parcel)

    def _send(self, parcel: Parcel) -> None:
        """Deliver a parcel, or what of it the platform takes."""
        try:
            self._deliver(parcel)
        except ServiceNotEnabled:
            if parcel.kind != TRACES or self.ledger.has_receipt(TRACES):
                raise
            self._to_samples(parcel)
        except Refused as error:
            if parcel.rows > 1:
                for half in parcel.halves():
                    self._send(half)
                return
            self._suspect(error)
            self._refuse(parcel, error.message, code=error.code, status=error.status)

    def _deliver(self, parcel: Parcel) -> None:
        assert self._delivery is not None
        self.report.say("sending")
        self.ledger.intend(parcel)
        self.ledger.commit(parcel, self._delivery.deliver(parcel))
        self._refused_in_a_row = 0
        self._count(parcel)

    def _count(self, parcel: Parcel) -> None:
        self.sent += parcel.rows if parcel.kind != TABLE else 0

    def _to_samples(self, parcel: Parcel) -> None:
        """From here on the run goes as samples: the account has no traces service."""
        self.ledger.drop_intent()
        remote = self.open()
        remote.transport = "samples"
        self._folder.write_remote(remote)
        self.report.note("the account has no traces service: episodes go as samples")
        for each in self._ready().cut(parcel.segment, parcel.source, parcel.start):
            self._send(each)

    def _suspect(self, error: Refused) -> None:
        """Count refusals that say nothing; of many, and nothing else, no record is at fault."""
        self._refused_in_a_row += error.code is None
        if self._refused_in_a_row > SUSPICIOUS and not self.sent:
            self.ledger.drop_intent()
            raise WholeUploadRefused(
                f"every record is refused, and the platform does not say why ({error.message})", status=error.status
            )

    def _refuse(self, parcel: Parcel, message: str, *, code: str | None, status: int | None = None) -> None:
        self.ledger.refuse(parcel, message, code=code, status=status, episode_id=episode_id_of(parcel.source))

    def _send_tables(self, over: bool) -> None:
        remote = self.open()
        assert remote.remote_id is not None
        for name in self.files():
            if kind_of(name, remote) == METRICS:
                continue
            try:
                for table in next_tables(self._reader(name), self.ledger, remote.remote_id, over=over):
                    try:
                        self._deliver(table)
                    except Refused as error:
                        self.report.note(f"{table!r} was refused: {error.message}")
                        self.ledger.drop_intent()
                        self.ledger.pass_table(name, table.start, table.end, table.rows, table.source, keep=True)
            except UsageError as error:
                self.report.note(f"no sample tables: {error}")
                return
