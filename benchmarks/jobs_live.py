"""Jobs about live runs: what logging an episode costs, what uploading a batch costs, and what the server takes in."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.data import Data, size_of
from benchmarks.report import Figure, Report, at_least, at_most
from benchmarks.timing import interleave, whole

__all__ = ["ingest", "log", "upload"]

CALLS = {False: 2000, True: 400}
BATCH = 5_000_000
FRAME = 1 << 20
SLOW = 0.2
"""Seconds that each request to the slow server waits."""


def log(data: Data, report: Report, rounds: int) -> None:
    """`log_episodes` of a 50 KB episode, one call at a time, against encoding it and appending the same bytes under the
    same policy: by the clock on the wall, since a program waits for it, with the server up, slow, and down."""
    import evh
    from evh.store import Journal
    from evh.testing.live import FaultProxy, Server, delay

    rows = data.clean("e50")
    calls = CALLS[data.quick]
    with scratch() as folder, Server(folder / "server") as server, ExitStack() as stack:
        proxies = {name: stack.enter_context(FaultProxy(server.url)) for name in ("up", "slow", "down")}
        proxies["slow"].decide = lambda method, path: delay(SLOW)
        for policy in ("group", "always", "never"):
            runs = {
                f"log_episodes, server {name}": evh.open_run(
                    name=f"{name}-{policy}", environments=["gsm8k"], mode="online", base_url=proxy.url,
                    dir=folder / "runs", fsync=policy, finish_timeout=0, notify=lambda text: None,
                )
                for name, proxy in proxies.items()
            }  # fmt: skip
            assert {run.mode for run in runs.values()} == {"online"}
            proxies["down"].upstream = "http://127.0.0.1:1"
            journal = stack.enter_context(Journal(folder / f"bare-{policy}.jsonl", fsync=policy))
            jobs: dict[str, Callable[[evh.Episode], object]] = {
                "encode + append": lambda episode, journal=journal: journal.append(evh.encode(episode)),  # type: ignore[misc]
                **{name: (lambda episode, run=run: run.log_episodes([episode])) for name, run in runs.items()},  # type: ignore[misc]
            }
            spent = by_turns(jobs, rows, max(50, calls // (10 if policy == "always" else 1)))
            bare = spent.pop("encode + append")
            report.say(f"\n## log one episode of {size_of(rows) / 1000:.0f} kB, fsync {policy}: p50 and p99 in us")
            for name, times in {"encode + append": bare, **spent}.items():
                report.say(f"  {name:44s} {median(times) * 1e6:9.0f} {p99(times) * 1e6:9.0f}")
            for name, times in spent.items():
                said = f"{name}, fsync {policy}, against encode + append"
                report.add(Figure("log", f"{said}: p50", median(times) / median(bare), "x", at_most(2.3)))
                report.add(Figure("log", f"{said}: p99", p99(times) / p99(bare), "x", at_most(3)))
            proxies["down"].upstream = server.url
            proxies["slow"].heal()
            for run in runs.values():
                run.finish(status="cancelled", timeout=60)  # so that no uploader outlives its folder


def by_turns(jobs: dict[str, Callable[[Any], object]], rows: list[bytes], calls: int) -> dict[str, list[float]]:
    """Seconds of every call; who is first changes, and everybody gets an episode of its own."""
    import evh

    spent: dict[str, list[float]] = {name: [] for name in jobs}
    names = list(jobs)
    for turn in range(calls + 20):
        row = rows[turn % len(rows)]
        first = turn % len(names)
        for number, name in enumerate(names[first:] + names[:first]):
            episode = evh.decode(row)
            episode.id = f"{turn}-{number}"
            episode.run = None
            for trace in episode.traces:
                trace.id = f"{turn}-{number}-{trace.id}"
            begun = time.perf_counter()
            jobs[name](episode)
            took = time.perf_counter() - begun
            if turn >= 20:
                spent[name].append(took)
    return spent


def p99(times: list[float]) -> float:
    return quantiles(times, n=100)[98]


def upload(data: Data, report: Report, rounds: int) -> None:
    """A batch of 5 MB to its receipt: the same ready bytes given to our client and to `prime_traces.upload_batch`; and,
    for information, from the rows on disk, which ours re-keys and cuts first. CPU time of this process, and the bytes
    on the wire. The bars are about rows of text; rows of tokens cost the peer's gzip half as much."""
    import gzip as library

    from prime_traces.core.client import TracesAPIClient
    from prime_traces.models import LineFormat

    from evh import EvalRunInfo
    from evh.platform import Batch, Limits, Platform, Rekeyed, compress, cut_batches, resolve, traces
    from evh.testing.live import Server

    run = EvalRunInfo(id="a-run-of-the-platform")
    with scratch() as folder, Server(folder / "server") as server:
        platform = Platform(resolve(environ=server.environ, home=None))
        theirs = TracesAPIClient(api_key="a-key", base_url=server.url)
        for name in ("e50", "e50t"):
            source = b"".join(row + b"\n" for row in several(data.clean(name), BATCH))

            def batch(source: bytes = source) -> Batch:
                (made,) = cut_batches(source, Limits(target_bytes=1 << 40), shape=Rekeyed(run))
                assert isinstance(made, Batch)
                return made

            body = batch().body

            def ready(encoding: Any, body: bytes = body) -> None:
                platform.run(traces.upload(Batch(0, len(body), 1, body, ()), encoding=encoding))

            def from_rows(encoding: Any, batch: Callable[[], Batch] = batch) -> None:
                platform.run(traces.upload(batch(), encoding=encoding))

            def peer(body: bytes = body) -> None:
                key = f"sha256:{hashlib.sha256(body).hexdigest()}"
                theirs.upload_batch(body, key, line_format=LineFormat.EPISODE)

            candidates = {
                "evh, zstd": whole(lambda ready=ready: ready("zstd"), 1),  # type: ignore[misc]
                "evh, gzip": whole(lambda ready=ready: ready("gzip"), 1),  # type: ignore[misc]
                "evh, zstd, from rows on disk": whole(lambda all=from_rows: all("zstd"), 1),  # type: ignore[misc]
                "evh, gzip, from rows on disk": whole(lambda all=from_rows: all("gzip"), 1),  # type: ignore[misc]
                "prime_traces upload_batch": whole(peer, 1),
            }
            timings = interleave(candidates, max(5, rounds // 3))
            zstd, gzip, zstd_rows, gzip_rows, prime = timings.seconds
            barred = name == "e50"
            report.table("upload", f"a batch of {len(body) / 1e6:.1f} MB of {name}, to its receipt", timings, len(body))
            for mine, bar in ((zstd, at_least(8)), (gzip, at_least(4)), (zstd_rows, None), (gzip_rows, None)):
                what = f"{name}: CPU per batch, {mine.removeprefix('evh, ')}, against upload_batch"
                report.speed("upload", what, timings, mine, prime, bar if barred else None)
            packed = len(library.compress(body, mtime=0))
            for encoding, most in (("zstd", 0.8), ("gzip", 1.25)):
                share = len(compress(body, encoding)) / packed  # type: ignore[arg-type]
                what = f"{name}: bytes, {encoding}, of those of upload_batch"
                report.add(Figure("upload", what, share, "x", at_most(most)))
        platform.close()
        theirs.close()


def several(rows: list[bytes], size: int) -> Iterator[bytes]:
    """Rows of about `size` bytes together, each with ids of its own."""
    total = number = 0
    while total < size:
        row = rows[number % len(rows)]
        number += 1
        total += len(row)
        yield renamed(row, number)


def renamed(row: bytes, number: int) -> bytes:
    """The row with other ids, of the same length."""
    import msgspec

    document = msgspec.json.decode(row)
    for each in (document, *document["traces"]):
        each["id"] = hashlib.md5(f"{number} {each['id']}".encode(), usedforsecurity=False).hexdigest()
    return msgspec.json.encode(document)


def ingest(data: Data, report: Report, rounds: int) -> None:
    """Batches of 5 MB of 50 KB episodes, taken in by the server on SQLite, one client: against the least that any
    server does with them (unpack, decode into structs, pack, write, sync). By the clock on the wall."""
    import zstandard

    import evh
    from evh.platform import Batch, Platform, compress, resolve, traces
    from evh.server.storage import open_storage
    from evh.testing.live import Server

    turns = max(5, rounds // 3)
    rows = data.clean("e50")
    made = [list(several([renamed(row, turn) for row in rows], BATCH)) for turn in range(turns + 1)]
    bodies = [b"".join(row + b"\n" for row in batch) for batch in made]
    sent = [compress(body, "zstd") for body in bodies]
    batches = [Batch(0, len(body), body.count(b"\n"), body, ()) for body in bodies]
    for batch in batches:
        assert batch.digest
    with scratch() as folder, Server(folder / "server") as server, open_storage(folder / "inside", reserve=0) as store:
        platform = Platform(resolve(environ=server.environ, home=None))
        who = anybody(store)
        packer = zstandard.ZstdCompressor(level=3)
        file = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        taken = {"bare": 0, "inside": 0, "http": 0}

        def turn(name: str) -> int:
            taken[name] += 1
            return taken[name] - 1

        def bare() -> None:
            body = zstandard.ZstdDecompressor().decompress(sent[turn("bare")], max_output_size=1 << 28)
            for line in body.splitlines():
                evh.decode(line)
            for at in range(0, len(body), FRAME):
                os.write(file, packer.compress(body[at : at + FRAME]))
            os.fsync(file)

        def inside() -> None:
            number = turn("inside")
            body = zstandard.ZstdDecompressor().decompress(sent[number], max_output_size=1 << 28)
            store.ingest.upload(who, body, key=batches[number].key, line_format="episode")

        def http() -> None:
            platform.run(traces.upload(batches[turn("http")], encoding="zstd"))

        candidates = {"bare": whole(bare, 1), "storage": whole(inside, 1), "evh serve over HTTP": whole(http, 1)}
        timings = interleave(candidates, turns, clock=time.perf_counter)
        os.close(file)
        platform.close()
    least, storage, served = timings.seconds
    report.table("ingest", f"take in {len(bodies[0]) / 1e6:.1f} MB of e50, wall time", timings, len(bodies[0]))
    report.speed("ingest", "storage on SQLite, of the bare loop", timings, storage, least, at_least(0.4))
    report.speed("ingest", "evh serve, one client that packs and sends, of the bare loop", timings, served, least)


def anybody(store: Any) -> Any:
    """Somebody who may do everything."""
    from evh.server.records import SCOPES, Principal

    project = store.catalog.projects.ensure("default")
    return Principal(project.id, project.name, frozenset(SCOPES))


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder that goes away."""
    folder = Path(tempfile.mkdtemp(prefix="evh-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
