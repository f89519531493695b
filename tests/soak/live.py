"""Live runs whose producer, uploader and server are killed while the network fails: `python -m tests.soak.live`.

A round is a program that logs to a run through a proxy that drops, delays, cuts, resets, loses, truncates and replaces
what goes through it, before and after the server has done it. Program, uploader and server are killed at random
moments; half of the killed runs are taken up by another program. Then `evh sync` is called until it says that
everything is sent, through a network that heals in the end. This must hold: every acknowledged episode is on disk; the
server has the episodes on disk and no others, each once and byte for byte as `for_upload` makes them; there is one
evaluation (or training run) of it, closed as the run ended; one more sync sends no record.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from evh.live.sync_folder import read_remote, read_state
from evh.platform import evaluations, for_upload
from evh.protocol import models
from evh.protocol.codec import decode
from evh.store import RunDir, host, open_run_dir
from evh.testing.live import FaultProxy, Server
from tests.support.run_project import SOURCES

__all__ = ["Programs", "Round", "Told", "expected", "first_difference", "same_as_disk", "soak", "summary"]

CHILD = Path(__file__).parents[1] / "support" / "live_child.py"
ROUGH_SYNCS, MOST_SYNCS = 3, 12
PROGRAM_SECONDS = 60.0
LIVED = 1.0
"""Seconds within which the kills fall."""


class Programs:
    """A process that forks the programs of the rounds. Use it in a `with` block."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith(("EVAL_", "EVH_", "PRIME_"))}
            | {"PYTHONPATH": SOURCES, "EVAL_BUILD_REF": "a-build", "EVH_ONLY_LOOPBACK": "1"},
        )

    def ask(self, **asked: Any) -> int:
        """Start a program (its process id), or wait for one (its exit code)."""
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.write(json.dumps(asked) + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        assert answer, "the process that forks programs ended"
        return int(answer)

    def __enter__(self) -> Programs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._child.stdin is not None and self._child.stdout is not None
        self._child.stdin.close()
        self._child.wait(30)
        self._child.stdout.close()


class Told(NamedTuple):
    """What a round was."""

    episodes: int
    kills: Counter[str]
    faults: int
    syncs: int
    taken_up: int


class Round:
    """One round in a folder of its own, over a server that it may kill."""

    def __init__(self, programs: Programs, server: Server, folder: Path, seed: int) -> None:
        self.programs = programs
        self.server = server
        self.folder = folder
        self.chance = random.Random(seed)
        self.kills: Counter[str] = Counter()
        self.said = folder / "said"
        self.acks = folder / "acks"
        self.runs = folder / "runs"
        self.acks.touch()
        self.taken_up = 0

    def play(self) -> Told:
        chance = self.chance
        syncs = 0
        with FaultProxy(self.server.url) as proxy:
            proxy.by_chance(chance.getrandbits(32), chance.choice((0.1, 0.3, 0.5)))
            kind = chance.choice(("eval", "eval", "train"))
            self._program(proxy, kind, None)
            while not (found := self._directory()):
                self._program(proxy, kind, None)
            if open_run_dir(found).end is None and chance.random() < 0.5:
                self.taken_up += 1
                self._program(proxy, kind, found)
            self.server.start() if self.server.pid is None else None
            while True:
                self._end_uploader(found)
                if syncs >= ROUGH_SYNCS:
                    proxy.heal()
                if self._sync(found, proxy) == 0:
                    break
                syncs += 1
                assert syncs < MOST_SYNCS, f"`evh sync` never said that it is done: {self._tail()}"
            proxy.heal()
            before = len(proxy.requests("POST", "/traces"))
            assert self._sync(found, proxy) == 0, self._tail()
            assert len(proxy.requests("POST", "/traces")) == before, "a record was sent again"
            self._check(found)
            faults = sum(each.fault.kind != "passing" for each in proxy.seen)
        return Told(len(self._acknowledged()), self.kills, faults, syncs, self.taken_up)

    def _program(self, proxy: FaultProxy, kind: str, resume: Path | None) -> None:
        """One program from its start to its end, and everything that is killed meanwhile."""
        chance = self.chance
        pid = self.programs.ask(
            log=True, said=str(self.said), acks=str(self.acks), runs=str(self.runs), url=proxy.url,
            seed=chance.getrandbits(32), count=chance.randint(1, 25), pause=chance.choice((0.0, 0.01, 0.03)),
            how=chance.choice(("finish", "finish", "raise", "exit")), patience=chance.choice((0.1, 1.0)),
            forks=chance.choice((0, 0, 2)), open={"kind": kind, "fsync": chance.choice(("group", "always"))},
            resume=None if resume is None else str(resume),
        )  # fmt: skip
        schedule = sorted(
            (chance.random() * LIVED, what)
            for what, odds in (("program", 0.6), ("uploader", 0.5), ("uploader", 0.3), ("server", 0.35), ("back", 1.0))
            if chance.random() < odds
        )
        began = time.monotonic()
        for at, what in schedule:
            time.sleep(max(0.0, began + at - time.monotonic()))
            if what == "program":
                self._kill(pid, what)
            elif what == "uploader":
                self._end_uploader(self._directory())
            elif what == "server" and self.server.pid is not None:
                self.server.kill()
                self.kills[what] += 1
            elif what == "back" and self.server.pid is None:
                self.server.start()
                proxy.upstream = self.server.url
        if self.server.pid is None:
            self.server.start()
        self.programs.ask(wait=pid)

    def _kill(self, pid: int, what: str) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            self.kills[what] += 1

    def _end_uploader(self, directory: Path | None) -> None:
        """Kill the uploader that says that it is at work, if it is still that process."""
        state = None if directory is None else read_state(directory)
        if state is None or state.pid is None or host.started(state.pid) != state.pid_started:
            return
        if state.state not in ("finished", "stopped") and b"uploader" in _command_line(state.pid):
            self._kill(state.pid, "uploader")
            while host.started(state.pid) == state.pid_started and _state(state.pid) not in "ZX":
                time.sleep(0.005)

    def _sync(self, directory: Path, proxy: FaultProxy) -> int:
        environ = {**self.server.environ, "PRIME_API_BASE_URL": proxy.url, "PRIME_TRACES_URL": proxy.url}
        pid = self.programs.ask(sync=[str(directory), "--json"], said=str(self.said), environ=environ)
        return self.programs.ask(wait=pid)

    def _directory(self) -> Path | None:
        found = sorted(self.runs.glob("*/run.json"))
        return found[0].parent if found else None

    def _acknowledged(self) -> list[str]:
        return self.acks.read_text().split()

    def _tail(self) -> str:
        return self.said.read_text()[-3000:]

    def _check(self, directory: Path) -> None:
        mine = same_as_disk(self.server, directory)
        acknowledged = self._acknowledged()
        if len(list(self.runs.iterdir())) == 1:
            assert set(acknowledged) <= mine, f"gone from disk: {set(acknowledged) - mine}"
            assert len(set(acknowledged)) == len(acknowledged)
        remote = read_remote(directory)
        assert remote is not None and remote.remote_id is not None
        run = open_run_dir(directory)
        self._check_closed(run, remote.remote_id)

    def _check_closed(self, run: RunDir, remote_id: str) -> None:
        assert run.manifest is not None
        status = "completed" if run.end is not None and run.end.status == "completed" else "failed"
        if run.manifest.kind == "train":
            return
        with self.server.client() as client:
            every = [
                each
                for each in client.items(evaluations.listing())
                if (each.get("metadata") or {}).get("evh", {}).get("run_id") == run.manifest.run_id
            ]
        assert [each.get("evaluation_id") for each in every] == [remote_id], f"evaluations: {every}"
        said, remote = every[0].get("status"), read_remote(run.path)
        assert remote is not None and (remote.state, remote.status) == ("closed", said)
        if self.taken_up and said == "FAILED" != status.upper():  # the uploader had closed it as crashed before that
            state = read_state(run.path)
            assert state is not None and any("closed as FAILED before" in note for note in state.notes), state
            return
        assert said == status.upper(), (said, run.end)


def same_as_disk(server: Server, directory: Path) -> set[str]:
    """Check that the server has the episodes of a run on disk, byte for byte and no others; returns their ids."""
    remote = read_remote(directory)
    assert remote is not None and remote.remote_id is not None, "was never opened on the server"
    mine, theirs = expected(open_run_dir(directory), remote.remote_id), server.documents(remote.remote_id)
    missing, foreign = mine.keys() - theirs.keys(), theirs.keys() - mine.keys()
    assert not missing and not foreign, f"missing {sorted(missing)}, not on disk {sorted(foreign)}"
    unequal = [name for name in mine if mine[name] != theirs[name]]
    assert not unequal, f"{unequal[0]}: {first_difference(mine[unequal[0]], theirs[unequal[0]])}"
    return set(mine)


def expected(run: RunDir, remote_id: str) -> dict[str, bytes]:
    """The documents that the server must have of what is on disk."""
    found: dict[str, bytes] = {}
    for path in sorted([*run.path.glob("traces.jsonl"), *run.path.glob("traces/*.jsonl")]):
        data = path.read_bytes()
        for line in data[: data.rfind(b"\n") + 1].splitlines():
            episode = decode(line)
            info: Any = models.EvalRunInfo(id=remote_id)
            if isinstance(episode.run, models.TrainRunInfo):
                info = models.TrainRunInfo(id=remote_id, work=models.TrainWorkInfo(step=0))
            assert episode.id not in found, f"{episode.id} stands twice on disk"
            found[episode.id] = for_upload(episode, info)
    return found


def first_difference(mine: bytes, theirs: bytes) -> str:
    at = next((n for n, (one, two) in enumerate(zip(mine, theirs, strict=False)) if one != two), 0)
    return f"from byte {at}: expected {mine[at - 20 : at + 60]!r}, there is {theirs[at - 20 : at + 60]!r}"


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "X"


def soak(rounds: int, seed: int, *, database: str | None = None) -> tuple[list[Told], list[str]]:
    """Play rounds over one server; returns what they were, and what was wrong, each with the seed of its round."""
    told: list[Told] = []
    faults: list[str] = []
    root = Path(tempfile.mkdtemp(prefix="evh-live-"))
    try:
        with Programs() as programs, Server(root / "server", database=database) as server:
            for number in range(rounds):
                own = seed if rounds == 1 else random.Random(f"{seed}-{number}").getrandbits(31)
                folder = root / str(number)
                folder.mkdir()
                round_ = Round(programs, server, folder, own)
                try:
                    told.append(round_.play())
                    shutil.rmtree(folder)
                except Exception:
                    kept = kept_for_a_look(folder, own)
                    faults.append(f"round {number}, seed {own} (its folder: {kept}):\n{traceback.format_exc()}")
                    if server.pid is None:
                        server.start()
            server.stop()
            damages = server.evh("serve", "verify", "--json")["damages"]
            faults.extend(f"the store is damaged: {each}" for each in damages)
            server.start()
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return told, faults


def kept_for_a_look(folder: Path, seed: int) -> Path:
    """Where the folder of a round that failed stays."""
    kept = Path(tempfile.mkdtemp(prefix=f"evh-live-{seed}-")) / "round"
    shutil.copytree(folder, kept)
    return kept


def summary(told: list[Told]) -> str:
    kills = sum((each.kills for each in told), Counter[str]())
    return (
        f"{len(told)} rounds, {sum(each.episodes for each in told)} episodes acknowledged, kills: "
        f"{', '.join(f'{name} {count}' for name, count in sorted(kills.items()))}; "
        f"{sum(each.faults for each in told)} requests broken, {sum(each.taken_up for each in told)} runs taken up, "
        f"{sum(each.syncs for each in told)} syncs that gave up"
    )


def main() -> int:
    options = argparse.ArgumentParser(description="Live runs under kills and faults.")
    options.add_argument("--rounds", type=int, default=500)
    options.add_argument("--seed", type=int, default=None, help="of the rounds; with --rounds 1, of the one")
    options.add_argument("--database", help="a postgresql:// URL for the server; default: SQLite")
    given = options.parse_args()
    seed = secrets.randbelow(2**31) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    told, faults = soak(given.rounds, seed, database=given.database)
    print(summary(told))
    print("\n".join(faults) or "nothing missing, nothing twice")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
