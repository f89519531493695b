"""Draws over items or clusters, many at a time and in bounded memory.

Promise: beside one number for each draw, memory is that of a block of draws, a few MiB; a draw of clusters takes whole
clusters, and the mean of a draw is over the items it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evh.stats._libraries import load
from evh.stats.clusters import Grouping

BLOCK = 1 << 16
"""Numbers drawn at a time: they stay in the processor's cache."""


def blocks(draws: int, width: int) -> Iterator[tuple[int, int]]:
    """The draws in pieces: where each begins and ends."""
    size = max(1, BLOCK // max(1, width))
    for start in range(0, draws, size):
        yield start, min(draws, start + size)


def bootstrap_means(values: Sequence[float], groups: Grouping | None, draws: int, generator: Any) -> Any:
    """The mean of each bootstrap draw, as a numpy array."""
    return bootstrap_rows([values], groups, draws, generator)[0]


def bootstrap_rows(rows: Sequence[Sequence[float]], groups: Grouping | None, draws: int, generator: Any) -> Any:
    """The same draws for several lists of values over the same items: an array of lists times draws."""
    np = load("numpy")
    columns = [np.asarray(row if groups is None else groups.sums(row), dtype=np.float64) for row in rows]
    count = len(columns[0])
    sizes = None if groups is None else np.asarray(groups.sizes, dtype=np.float64)
    means = np.empty((len(columns), draws))
    for start, stop in blocks(draws, count):
        chosen = generator.integers(0, count, size=(stop - start, count))
        total = count if sizes is None else sizes.take(chosen).sum(axis=1)
        for at, column in enumerate(columns):
            means[at, start:stop] = column.take(chosen).sum(axis=1) / total
    return means


def deviation(drawn: Any) -> float:
    """The standard deviation of drawn numbers, which is the standard error of what they are draws of."""
    scale = float(abs(drawn).max()) or 1.0  # so that no square overflows or is lost
    return float((drawn / scale).std(ddof=1)) * scale


def flipped_sums(values: Sequence[float], draws: int, generator: Any) -> Any:
    """The sum of the values under random signs, for each draw.

    Eight signs are one byte, and the sums of eight values under all 256 patterns are looked up.
    """
    np = load("numpy")
    padded = np.zeros((len(values) + 7) // 8 * 8)
    padded[: len(values)] = values
    patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) * 2.0 - 1.0
    table = padded.reshape(-1, 8) @ patterns.T  # for each byte of a draw, its 256 sums
    starts = np.arange(len(table)) * 256
    flat = table.ravel()
    sums = np.empty(draws)
    for start, stop in blocks(draws, len(table)):
        signs = generator.integers(0, 256, size=(stop - start, len(table)), dtype=np.uint8)
        sums[start:stop] = flat.take(signs + starts).sum(axis=1)
    return sums
