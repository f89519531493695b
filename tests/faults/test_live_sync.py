"""Live runs from the program to the server: killed on the way, kept from it, too large for it, and full of secrets."""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import SOURCES

import evh
from evh.live.sync_folder import read_remote, read_state
from evh.store import layout, open_run_dir
from evh.testing.live import Fault, FaultProxy, Server, answer
from tests.soak import live as soak
from tests.soak.runs import ADAPTER as EPISODES
from tests.support.run_project import RunProject

PROFILE = os.environ.get("EVH_TEST_PROFILE", "dev")
CHUNKS, ROUNDS = {"dev": (2, 1), "ci": (8, 5), "deep": (20, 25)}[PROFILE]
LONG = pytest.mark.skipif(PROFILE == "dev", reason="takes long: `make test-long` runs it")
PATIENCE = 30.0


@pytest.fixture(scope="module")
def programs() -> Iterator[soak.Programs]:
    with soak.Programs() as programs:
        yield programs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests that do not kill it."""
    with Server(tmp_path_factory.mktemp("server") / "data") as server:
        yield server


class Case:
    """A program in a folder of its own, and what became of its run."""

    def __init__(self, programs: soak.Programs, folder: Path, url: str, **environ: str) -> None:
        self.programs = programs
        self.folder = folder
        self.url = url
        self.environ = environ
        self.said = folder / "said"

    def start(self, **asked: Any) -> int:
        given = {
            "log": True, "said": str(self.said), "acks": str(self.folder / "acks"), "runs": str(self.folder / "runs"),
            "url": self.url, "seed": secrets.randbelow(2**31), "count": 5, "pause": 0.0, "how": "finish",
            "patience": 20.0, "environ": self.environ,
        }  # fmt: skip
        return self.programs.ask(**{**given, **asked})

    def run(self, **asked: Any) -> int:
        """The exit code of a program that logs."""
        return self.programs.ask(wait=self.start(**asked))

    def sync(self, *words: str, **environ: str) -> int:
        asked = {"sync": [str(self.directory), *words], "said": str(self.said), "environ": {**self.environ, **environ}}
        return self.programs.ask(wait=self.programs.ask(**asked))

    @property
    def directory(self) -> Path:
        (found,) = (self.folder / "runs").iterdir()
        return found

    @property
    def acknowledged(self) -> list[str]:
        return (self.folder / "acks").read_text().split()

    @property
    def told(self) -> dict[str, Any]:
        """What the run said of itself when it was closed."""
        (line,) = [each for each in self.said.read_text().splitlines() if each.startswith("[")]
        return dict(
            zip(("mode", "reason", "status", "pending", "refused", "lost", "url"), json.loads(line), strict=True)
        )


def eventually(holds: Callable[[], Any]) -> None:
    due = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < due, "waited in vain"
        time.sleep(0.02)


def environ_of(server: Server, url: str) -> dict[str, str]:
    return {**server.environ, "PRIME_API_BASE_URL": url, "PRIME_TRACES_URL": url}


# --- kills and faults ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_b043_b047_b055_kills_and_faults_leave_nothing_missing_and_nothing_twice(chunk: int) -> None:
    seed = secrets.randbelow(2**31)
    told, faults = soak.soak(ROUNDS, seed)
    print(f"seed {seed}: {soak.summary(told)}")
    assert not faults, f"again by: python -m tests.soak.live --rounds {ROUNDS} --seed {seed}\n" + "\n".join(faults)
    assert len(told) == ROUNDS


def test_a_round_that_loses_an_episode_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that could not fail would prove nothing."""
    real = Server.documents

    def shortened(self: Server, run_id: str | None = None) -> dict[str, bytes]:
        return dict(list(real(self, run_id).items())[1:])

    monkeypatch.setattr(Server, "documents", shortened)
    monkeypatch.setattr(soak, "kept_for_a_look", lambda folder, seed: folder)
    _, faults = soak.soak(1, 7)
    assert any("missing" in each for each in faults)


# --- what keeps a run from the server --------------------------------------------------------------------------------


def hub_says_no(method: str, path: str) -> Fault | None:
    return answer(404) if "environmentshub" in path else None


def test_a_key_that_is_not_taken_leaves_the_run_on_disk_until_a_sync_with_one_that_is(
    programs: soak.Programs, tmp_path: Path
) -> None:
    with Server(tmp_path / "server", tokens=True) as server:
        case = Case(programs, tmp_path, server.url)
        for key in ("", "evh_0123456789abcdef_wrong"):
            assert case.run(environ={"PRIME_API_KEY": key}) == 0
            told = case.told
            assert (told["mode"], told["status"], told["lost"]) == ("offline", "completed", 0)
            assert "401" in told["reason"] or "token" in told["reason"], told["reason"]
            assert open_run_dir(case.directory).count().n_items == 5
            assert case.sync(PRIME_API_KEY="evh_0123456789abcdef_wrong", PRIME_API_BASE_URL=server.url) in (1, 3)
            assert case.sync(PRIME_API_KEY=server.token, PRIME_API_BASE_URL=server.url) == 0, case.said.read_text()
            assert soak.same_as_disk(server, case.directory) == set(case.acknowledged)
            case = Case(programs, tmp_path / "second", server.url)
            case.folder.mkdir(exist_ok=True)


def test_an_environment_that_the_hub_does_not_know_leaves_the_run_on_disk(
    programs: soak.Programs, server: Server, tmp_path: Path
) -> None:
    with FaultProxy(server.url) as proxy:
        proxy.decide = hub_says_no
        case = Case(programs, tmp_path, proxy.url)
        assert case.run(open={"environments": ["owner/nobody-knows"]}) == 0
        assert case.told["mode"] == "offline"
        assert case.told["reason"]
        proxy.heal()
        run = open_run_dir(case.directory)
        assert run.manifest is not None and run.count().n_items == 5
        code = case.sync(**environ_of(server, proxy.url))
        assert code == 0, case.said.read_text()
        assert soak.same_as_disk(server, case.directory) == set(case.acknowledged)


def test_a_server_that_is_down_at_the_open_leaves_the_run_on_disk(
    programs: soak.Programs, server: Server, tmp_path: Path
) -> None:
    with FaultProxy("http://127.0.0.1:1") as proxy:
        case = Case(programs, tmp_path, proxy.url)
        assert case.run() == 0
        assert case.told["mode"] == "offline"
        assert case.told["reason"]
        assert case.sync("--wait", "0", **environ_of(server, proxy.url)) == 3
        proxy.upstream = server.url
        assert case.sync(**environ_of(server, proxy.url)) == 0, case.said.read_text()
        assert soak.same_as_disk(server, case.directory) == set(case.acknowledged)


def test_a_server_that_dies_at_the_end_changes_no_exit_code_and_a_later_sync_sends_the_rest(
    programs: soak.Programs, tmp_path: Path
) -> None:
    with Server(tmp_path / "server") as server, FaultProxy(server.url) as proxy:
        case = Case(programs, tmp_path, proxy.url)

        def dies(method: str, path: str) -> Fault | None:
            if method == "POST" and path.endswith("/traces"):
                server.kill()
            return None

        proxy.decide = dies
        assert case.run(patience=0.3) == 0
        told = case.told
        assert (told["mode"], told["status"], told["lost"], told["pending"]) == ("online", "completed", 0, 5)
        assert "evh sync" in case.said.read_text()
        assert (case.directory / layout.END).exists()
        proxy.heal()
        server.start()
        state = read_state(case.directory)
        assert state is not None and state.pid is not None
        os.kill(state.pid, signal.SIGKILL)
        eventually(lambda: case.sync(**environ_of(server, proxy.url)) == 0)
        assert soak.same_as_disk(server, case.directory) == set(case.acknowledged)


# --- the ways out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
def test_b044_a_run_that_is_told_to_stop_is_sent_and_closed_as_cancelled(
    sign: signal.Signals, programs: soak.Programs, server: Server, tmp_path: Path
) -> None:
    case = Case(programs, tmp_path, server.url)
    pid = case.start(count=10_000, pause=0.005)
    eventually(lambda: (tmp_path / "acks").exists() and len(case.acknowledged) > 20)
    os.kill(pid, sign)
    assert programs.ask(wait=pid) == {signal.SIGTERM: 143, signal.SIGINT: -signal.SIGINT}[sign]
    end = open_run_dir(case.directory).end
    assert end is not None and end.status == "cancelled"
    eventually(lambda: (remote := read_remote(case.directory)) is not None and remote.state == "closed")
    assert soak.same_as_disk(server, case.directory) >= set(case.acknowledged)
    remote = read_remote(case.directory)
    assert remote is not None and remote.status == "CANCELLED"


def test_eight_processes_log_to_one_run_two_are_killed_and_the_server_has_every_acknowledged_record_once(
    programs: soak.Programs, server: Server, tmp_path: Path
) -> None:
    case = Case(programs, tmp_path, server.url)
    pids = tmp_path / "pids"
    pid = case.start(forks=7, count=40, pause=0.01, pids=str(pids))
    eventually(lambda: pids.exists() and len(pids.read_text().split()) == 7 and len(case.acknowledged) > 30)
    for each in pids.read_text().split()[:2]:
        os.kill(int(each), signal.SIGKILL)
    assert programs.ask(wait=pid) == 0
    eventually(lambda: case.sync(**environ_of(server, server.url)) == 0)
    acknowledged = case.acknowledged
    assert len(acknowledged) == len(set(acknowledged)) >= 6 * 40
    assert soak.same_as_disk(server, case.directory) >= set(acknowledged)
    assert len(list((case.directory / layout.SEGMENTS).glob("*.jsonl"))) == 7


@pytest.mark.parametrize("killed", [False, True], ids=["in one go", "killed and resumed"])
def test_a_measured_run_is_pushed_while_it_is_measured(killed: bool, server: Server, tmp_path: Path) -> None:
    longest = 0.3 if killed else 0.0
    project = RunProject(tmp_path / "project", 12, adapter=EPISODES, params={"episodes": True, "longest": longest})
    project.environ |= environ_of(server, server.url)
    words = ["run", "--config", str(project.config), "--push"]
    if killed:
        with project.start(*words) as process:
            eventually(lambda: len(project.calls) >= 4)
            process.kill()
            process.communicate()
        words = ["run", "--resume", "--push"]
    done = project.process(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    eventually(lambda: (remote := read_remote(project.run.path)) is not None and remote.state == "closed")
    assert len(soak.same_as_disk(server, project.run.path)) == 12
    remote = read_remote(project.run.path)
    assert remote is not None and remote.status == "COMPLETED"


# --- large ones ------------------------------------------------------------------------------------------------------


def big_episode(number: int, size: int, chance: random.Random) -> evh.Episode:
    """An episode of about `size` bytes that does not compress to nothing."""
    text = chance.randbytes(size // 2).hex()
    trace = evh.Trace(
        task=evh.TraceTask(type="t", data={"idx": number}),
        agent=evh.AgentInfo(name="a", config={}),
        nodes=[evh.MessageNode(message=evh.UserMessage(content=text))],
    )
    return evh.Episode.of(trace)


@LONG
def test_4441_rows_of_93_mb_are_sent_none_is_refused_and_a_second_sync_sends_no_record(
    server: Server, tmp_path: Path
) -> None:
    chance = random.Random(4441)
    sizes = [int(min(4e6, chance.lognormvariate(8.9, 1.45))) for _ in range(4438)] + [4_000_000, 3_000_000, 2_000_000]
    scale = 93e6 / sum(sizes)
    run = evh.open_run(name="large", environments=["gsm8k"], mode="offline", dir=tmp_path / "runs", fsync="never")
    with run:
        for number, size in enumerate(sizes):
            run.log_episodes([big_episode(number, max(200, int(size * scale)) if size < 2e6 else size, chance)])
    assert run.dir is not None
    with FaultProxy(server.url) as proxy:
        command = [sys.executable, "-m", "evh", "sync", str(run.dir)]
        environ = os.environ | environ_of(server, proxy.url) | {"PYTHONPATH": SOURCES}
        begun = time.monotonic()
        subprocess.run(command, env=environ, check=True)
        took = time.monotonic() - begun
        uploads = len(proxy.requests("POST", "/traces"))
        assert not (run.dir / "sync" / "refused.jsonl").exists()
        assert len(soak.same_as_disk(server, run.dir)) == 4441
        subprocess.run(command, env=environ, check=True)
        assert len(proxy.requests("POST", "/traces")) == uploads
    lengths = sorted(map(len, (run.dir / layout.TRACES).read_bytes().splitlines()))
    print(
        f"{sum(lengths) / 1e6:.0f} MB, p95 {lengths[-222] // 1000} kB, largest {lengths[-1] // 1000} kB: {took:.0f} s"
    )


@LONG
@pytest.mark.parametrize("profile", ["evh", "prime"])
def test_an_episode_of_75_mib(profile: str, programs: soak.Programs, tmp_path: Path) -> None:
    """By default it is taken; under the limits of the hosted service it is refused, named and kept."""
    chance = random.Random(75)
    run = evh.open_run(name="huge", environments=["gsm8k"], mode="offline", dir=tmp_path / "runs")
    with run:
        run.log_episodes([big_episode(0, 1000, chance)])
        (huge,) = run.log_episodes([big_episode(1, 75 << 20, chance)])
        run.log_episodes([big_episode(2, 1000, chance)])
    assert run.dir is not None and run.lost == 0
    with Server(tmp_path / "server", profile=profile) as server:
        case = Case(programs, tmp_path, server.url)
        code = case.sync(**server.environ)
        if profile == "evh":
            assert code == 0, case.said.read_text()
            assert len(soak.same_as_disk(server, run.dir)) == 3
            return
        assert code == 1
        refusals = [json.loads(line) for line in (run.dir / "sync" / "refused.jsonl").read_bytes().splitlines()]
        assert [(each["episode_id"], each["row"]) for each in refusals] == [(huge.id, 2)]
        remote = read_remote(run.dir)
        assert remote is not None
        assert len(server.documents(remote.remote_id)) == 2
        assert len((run.dir / layout.TRACES).read_bytes()) > 75 << 20, "it is kept on disk"


# --- secrets ---------------------------------------------------------------------------------------------------------

CANARY = "canary-7f3a9b2c4d5e6f708192a3b4c5d6e7f8"
SECRETS = {name: f"{CANARY}-{name}" for name in ("header", "harness", "key", "url", "argv", "said")}


def test_b046_b070_secrets_reach_neither_the_uploaded_bytes_nor_the_server(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "eval.toml"
    config.write_text(
        f'model = "m"\n[client]\nbase_url = "https://me:{SECRETS["url"]}@example.test/v1"\n'
        f'[client.headers]\nX-Odd = "{SECRETS["header"]}"\n[harness.env]\nINNOCENT = "{SECRETS["harness"]}"\n'
    )
    monkeypatch.setenv("SOME_API_KEY", SECRETS["key"])
    monkeypatch.setenv("PRIME_TRACES_URL", "")
    monkeypatch.setattr(sys, "argv", ["eval", "--client.headers.X-More", SECRETS["argv"]])
    sent: list[bytes] = []
    with FaultProxy(server.url) as proxy:
        proxy.watch = sent.append
        run = evh.open_run(
            name="secret", environments=["gsm8k"], config=config, mode="online", base_url=proxy.url,
            dir=tmp_path / "runs", secrets=[SECRETS["said"]], notify=lambda text: None,
        )  # fmt: skip
        assert run.mode == "online", run.reason
        episode = big_episode(0, 100, random.Random(1))
        for value in SECRETS.values():
            episode.traces[0].nodes.append(
                evh.MessageNode(message=evh.UserMessage(content=f"see {value} here"), parent=0)
            )
            episode.traces[0].info[value] = {"as a name": value}
        try:
            raise ValueError(f"Authorization: Bearer {SECRETS['key']}")
        except ValueError as error:
            spelled = "".join(traceback.format_exception(error))
            episode.errors.append(evh.Error(type="ValueError", message=str(error), traceback=spelled))
        with pytest.raises(ValueError, match="broke"), run:
            run.log_episodes([episode])
            raise ValueError(f"broke with {SECRETS['header']}")
        assert run.pending == 0
    assert run.dir is not None
    soak.same_as_disk(server, run.dir)
    assert len(sent) >= 4
    places = {f"request {number}": unpacked(body) for number, body in enumerate(sent)}
    places |= {str(path): unpacked(path.read_bytes()) for path in all_files(run.dir, server.folder)}
    assert sum(episode.id.encode() in data for data in places.values()) >= 3, "on disk, in a request, on the server"
    assert {place for place, data in places.items() if CANARY.encode() in data} == set()


def all_files(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


def unpacked(data: bytes) -> bytes:
    """The bytes, and what every zstd frame in them holds."""
    import zstandard

    found = [data]
    at = data.find(b"\x28\xb5\x2f\xfd")
    while at >= 0:
        try:
            reader = zstandard.ZstdDecompressor().stream_reader(data[at:], read_across_frames=False)
            found.append(reader.read())
        except zstandard.ZstdError:
            pass
        at = data.find(b"\x28\xb5\x2f\xfd", at + 4)
    return b"\n".join(found)
