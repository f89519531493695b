"""Clusters from the tags of a dataset."""

from __future__ import annotations

import pytest

from evh.errors import RecordError
from evh.protocol import models
from evh.stats import clusters_of, grouping


def dataset(*tags: list[str]) -> models.Dataset:
    items = [models.DatasetItem(item_id=f"i{at}", source_sha256="a" * 64, tags=each) for at, each in enumerate(tags)]
    return models.Dataset(dataset_id="d", version="1.0", created_at="2026-10-04T08:15:30Z", items=items)


def test_the_tag_names_the_cluster() -> None:
    assert clusters_of(dataset(["x", "cluster:a"], ["cluster:a"], [])) == {"i0": "a", "i1": "a"}
    assert clusters_of(dataset(["x"], [])) == {}


@pytest.mark.parametrize("tags", [["cluster:a", "cluster:b"], ["cluster:"]])
def test_an_item_has_one_cluster(tags: list[str]) -> None:
    with pytest.raises(RecordError, match=r"/items/1/tags: the item 'i1' names .* give it one tag cluster:<name>"):
        clusters_of(dataset([], tags))


def test_an_item_without_a_cluster_stands_alone() -> None:
    found = grouping(["a", "b", "c", "d"], {"a": "d", "b": "d"})
    assert found is not None
    assert (found.codes, found.count, found.sizes) == ((0, 0, 1, 2), 3, [2, 1, 1])
    assert found.sums([1.0, 2.0, 3.0, 4.0]) == [3.0, 3.0, 4.0]
