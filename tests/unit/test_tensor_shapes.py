"""Axis lengths of a tensor are integers as the schema has them: a number without a fraction, however it is spelled."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

import evh
from evh.protocol import models
from evh.protocol.engine import violations
from evh.protocol.tables import FILES

SCHEMA = f"{FILES['SamplingMask']}#SamplingMask"


def mask(size: str) -> bytes:
    tensor = '{"__nd__": true, "dtype": "i4", "shape": [%s], "data": ""}'
    return f'{{"ids": {tensor % size}, "counts": {tensor % 1}}}'.encode()


@pytest.mark.parametrize("read", [evh.decode, evh.decode_strict])
@pytest.mark.parametrize("size", ["0", "0.0", "-0.0", "2.0", "1e3", "9007199254740991.0", "9007199254740991"])
def test_an_axis_length_may_be_spelled_as_a_float(size: str, read: Any) -> None:
    data = mask(size)
    assert violations(SCHEMA, json.loads(data)) == []
    (found,) = read(data, models.SamplingMask).ids.shape
    assert type(found) is int and found == int(float(size))
    again = evh.encode(read(data, models.SamplingMask))
    assert read(again, models.SamplingMask) == read(data, models.SamplingMask)


@pytest.mark.parametrize(
    "size", ["0.5", "-1", "-1.0", "9007199254740992", "9007199254740992.0", "1e300", "true", '"1"']
)
def test_any_other_length_is_refused_as_the_schema_does(size: str) -> None:
    data = mask(size)
    assert violations(SCHEMA, json.loads(data))
    for read in (evh.decode, evh.decode_strict):
        with pytest.raises(evh.SchemaError):
            read(data, models.SamplingMask)


def test_the_wire_form_is_read_alike() -> None:
    tensor = {"__nd__": True, "dtype": "i4", "shape": [2.0], "data": b"12345678"}
    data = msgspec.msgpack.encode({"ids": tensor, "counts": tensor})
    for read in (evh.decode, evh.decode_strict):
        assert read(data, models.SamplingMask, format="msgpack").ids.shape == [2]
