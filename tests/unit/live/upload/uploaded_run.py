"""A live run on disk, written without the run object: rows, metrics, an end; and its upload without waiting."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evh.live.patience import Patience
from evh.live.sync import Sync
from evh.platform import Settings, for_upload
from evh.protocol import models
from evh.protocol.codec import encode
from evh.store import _os
from evh.store.clock import now
from evh.store.journal import FsyncPolicy, Journal
from evh.store.lease import Lease
from evh.store.run_writer import make_run_directory
from tests.unit.live.upload.fake_platform import FakePlatform


class LiveRunOnDisk:
    """A run of `kind` below `root`. While `held`, its writer lives."""

    fsync: FsyncPolicy = "group"

    def __init__(self, root: Path, kind: str = "eval", *, run_id: str = "run1", **members: Any) -> None:
        named: dict[str, Any] = {} if kind == "train" else {"dataset_id": "gsm8k", "config_id": "arm"}
        manifest = models.RunManifest(
            run_id=run_id,
            kind=kind,
            started_at=now(),
            harness_version="0.4.0",
            config={"model": "m"},
            name="first",
            environments=["gsm8k"],
            **named,
            **members,
        )
        self.kind = kind
        self.run_id = run_id
        self.directory = make_run_directory(root / "runs", manifest, exact=True)
        self.episodes: list[models.Episode] = []
        self._lease: Lease | None = None

    def episode(self, *, step: int | None = None, size: int = 20) -> models.Episode:
        """The next episode, stamped with the run."""
        number = len(self.episodes)
        made = models.Episode(
            id=f"ep-{number}",
            env=models.EnvInfo(id="gsm8k"),
            task=models.TraceTask(type="t", data=models.TaskData({"idx": number // 2, "text": "x" * size})),
            traces=[
                models.Trace(
                    id=f"tr-{number}",
                    agent=models.AgentInfo(name="a", config=models.AgentConfig()),
                    task=models.TraceTask(type="t", data=models.TaskData({"idx": number // 2})),
                    nodes=[models.MessageNode(message=models.UserMessage(content=f"hello {number}"))],
                )
            ],
        )
        if self.kind == "train":
            made.record_run(models.TrainRunInfo(id=self.run_id, work=models.TrainWorkInfo(step=step or 0)))
        else:
            made.record_run(models.EvalRunInfo(id=self.run_id, name="first"))
        self.episodes.append(made)
        return made

    def log(self, count: int = 1, *, writer: str | None = None, step: int | None = None, size: int = 20) -> None:
        """Append episodes, to the owner's file or to another writer's."""
        path = self.directory / ("traces.jsonl" if writer is None else f"traces/{writer}.jsonl")
        if not path.parent.exists():
            _os.mkdir(path.parent)
        with Journal(path, fsync=self.fsync, note=False) as journal:
            for _ in range(count):
                journal.append(encode(self.episode(step=step, size=size)))

    def log_line(self, line: bytes) -> None:
        """Append any line."""
        with Journal(self.directory / "traces.jsonl", note=False) as journal:
            journal.append(line)

    def log_metrics(self, step: int | None, **metrics: float) -> None:
        with Journal(self.directory / "steps.jsonl", note=False) as journal:
            journal.append(encode(models.StepRow(step=step, metrics=metrics, at=now())))

    def hold(self) -> Lease:
        """Let its writer live."""
        self._lease = Lease(self.directory)
        return self._lease

    def let_go(self) -> None:
        if self._lease is not None:
            self._lease.release()
            self._lease = None

    def end(self, status: str = "completed", **members: Any) -> None:
        """Close it on disk."""
        counts = models.RunCounts(episodes=len(self.episodes), steps=0)
        end = models.RunEnd(status=status, ended_at=now(), counts=counts, **members)
        (self.directory / "end.json").write_bytes(encode(end))
        self.let_go()

    def documents(self, remote_id: str) -> list[bytes]:
        """What a platform must have of it."""
        if self.kind == "train":
            run: Any = models.TrainRunInfo(id=remote_id, work=models.TrainWorkInfo(step=0))
        else:
            run = models.EvalRunInfo(id=remote_id)
        return [for_upload(episode, run) for episode in self.episodes]


def settings(platform: FakePlatform, **members: Any) -> Settings:
    """Those of somebody who uploads there."""
    return Settings(
        **{"api_key": platform.key, "base_url": platform.url, "traces_url": platform.url, **members},
        sources=dict.fromkeys(("api_key", "base_url", "traces_url"), "argument"),
    )


def syncing(run: LiveRunOnDisk | Path, platform: FakePlatform, *, limit: float | None = 1e9, **how: Any) -> Sync:
    """An uploader that waits for nothing and never gives up; the clock stands still."""
    members = {name: how.pop(name) for name in ("api_key", "team_id", "traces_opt_out", "base_url") if name in how}
    patience = Patience(limit, sleep=lambda seconds: None, clock=lambda: 0.0)
    directory = run if isinstance(run, Path) else run.directory
    return Sync(directory, settings(platform, **members), patience, **how)
