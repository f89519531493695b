"""What a job found: timings for people, figures with their bars, and both as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.timing import Timings

__all__ = ["Bar", "Figure", "Report", "at_least", "at_most"]


@dataclass(frozen=True)
class Bar:
    """A limit that a figure has to keep to."""

    limit: float
    floor: bool

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.floor else value <= self.limit

    def __str__(self) -> str:
        return f"{'>=' if self.floor else '<='} {self.limit:g}"


def at_least(limit: float) -> Bar:
    return Bar(limit, True)


def at_most(limit: float) -> Bar:
    return Bar(limit, False)


@dataclass(frozen=True)
class Figure:
    """One number; with a bar it is met or missed, without one it is for information."""

    job: str
    what: str
    value: float
    unit: str = "x"
    bar: Bar | None = None
    quartiles: tuple[float, float] | None = None

    @property
    def missed(self) -> bool:
        return self.bar is not None and not self.bar.holds(self.value)

    def line(self) -> str:
        said = f"{self.value:9.2f} {self.unit:2s}"
        if self.quartiles is not None:
            low, high = sorted(self.quartiles)
            said += f" [{low:.2f} .. {high:.2f}]"
        if self.bar is None:
            return f"  {self.what:76s} {said}"
        verdict = "MISSED" if self.missed else "ok"
        return f"  {self.what:76s} {said:32s} {self.bar!s:>8s}  {verdict}"


@dataclass
class Report:
    """Everything measured so far. With `quiet`, nothing is printed on the way."""

    quiet: bool = False
    figures: list[Figure] = field(default_factory=list)
    timings: list[dict[str, Any]] = field(default_factory=list)

    def say(self, text: str) -> None:
        if not self.quiet:
            print(text, flush=True)

    def table(self, job: str, title: str, timings: Timings, sizes: Mapping[str, float] | float | None = None) -> None:
        """The medians of a job; `sizes` are bytes per unit, for the throughput."""
        self.say(f"\n## {title}")
        for name in sorted(timings.seconds, key=timings.median):
            spent = timings.median(name)
            size = sizes.get(name) if isinstance(sizes, Mapping) else sizes
            rate = f"{size / spent / 1e6:9.1f} MB/s" if size else ""
            self.say(f"  {name:44s} {spent * 1e6:12.1f} us CPU {rate}")
            self.timings.append({"job": job, "title": title, "candidate": name, "cpu_s": spent, "bytes": size})

    def cost(self, job: str, what: str, timings: Timings, name: str, base: str, bar: Bar | None = None) -> Figure:
        """Add how many times the CPU of `base` the candidate takes."""
        return self.add(Figure(job, what, timings.cost(name, base), "x", bar, timings.spread(name, base)))

    def speed(self, job: str, what: str, timings: Timings, name: str, base: str, bar: Bar | None = None) -> Figure:
        """Add how many times as fast as `base` the candidate is."""
        low, high = timings.spread(name, base)
        return self.add(Figure(job, what, timings.speed(name, base), "x", bar, (1 / high, 1 / low)))

    def add(self, figure: Figure) -> Figure:
        self.figures.append(figure)
        self.say(figure.line())
        return figure

    @property
    def missed(self) -> list[Figure]:
        return [figure for figure in self.figures if figure.missed]

    def summary(self) -> str:
        bars = [figure for figure in self.figures if figure.bar is not None]
        lines = ["", f"# Bars: {len(bars) - len(self.missed)} of {len(bars)} met"]
        lines += [f"  {figure.job:10s}{figure.line()}" for figure in bars]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        figures = [
            {**asdict(figure), "bar": str(figure.bar) if figure.bar else None, "ok": not figure.missed}
            for figure in self.figures
        ]
        return {"figures": figures, "timings": self.timings, "missed": len(self.missed)}
