"""The fingerprint: one hash for one measurement, wherever it is computed; differences by their paths."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import evh.errors
from evh.protocol import models
from evh.store.fingerprint import differences, files_digest, host_identity, installed, items_digest, sealed

CODE = """
from evh.protocol import models as m
from evh.store.fingerprint import sealed
made = m.Fingerprint(
    version=3,
    instrument=m.FingerprintInstrument(harness=m.FingerprintHarness(), adapter=m.FingerprintAdapter(id="a.py")),
    data=m.FingerprintData(dataset_id="d", n_items=1, items_sha256="0" * 64),
    arm=m.FingerprintArm(config_id="c", params={PARAMS}),
)
"""


def made(params: dict[str, Any], **data: Any) -> models.Fingerprint:
    return models.Fingerprint(
        version=3,
        instrument=models.FingerprintInstrument(
            harness=models.FingerprintHarness(), adapter=models.FingerprintAdapter(id="a.py")
        ),
        data=models.FingerprintData(dataset_id="d", n_items=1, items_sha256="0" * 64, **data),
        arm=models.FingerprintArm(config_id="c", params=params),
    )


def test_the_hash_is_the_same_in_another_process_and_in_another_order() -> None:
    here = sealed(made({"b": [1, 2.5, "é"], "a": {"y": 1, "x": None}})).hash
    assert here == sealed(made({"a": {"x": None, "y": 1}, "b": [1, 2.5, "é"]})).hash
    code = CODE.replace("{PARAMS}", "{'a': {'x': None, 'y': 1}, 'b': [1, 2.5, 'é']}") + "print(sealed(made).hash)"
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": str(Path(evh.errors.__file__).parents[1]), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        assert done.stdout.strip() == here


def test_sealing_again_changes_nothing_and_any_change_changes_the_hash() -> None:
    one = sealed(made({"t": 0}))
    first = one.hash
    assert sealed(one).hash == first
    for other in (made({"t": 1}), made({"t": 0, "u": None}), made({"t": 0}, reference_id="gold/d"), made({"t": "0"})):
        assert sealed(other).hash != first


def test_differences_are_named_by_their_paths() -> None:
    one = sealed(made({"t": 0, "deep": {"x": [1]}, "same": 1}))
    other = sealed(made({"t": 0.5, "deep": {"x": [2]}, "same": 1.0}, reference_id="gold/d"))
    assert differences(one, other) == ["arm.params.deep.x", "arm.params.t", "data.reference_id"]
    assert differences(one, one) == []
    assert differences({"a": None}, {}) == []
    assert differences({"a": True}, {"a": 1}) == ["a"]
    assert differences({"a": 1}, {"a": 1.0}) == []
    assert differences({"a": {}}, {"a": "x"}) == ["a"]


def test_digests_are_those_of_the_rule() -> None:
    items = [("a", "0" * 64), ("b/é", "1" * 64)]
    assert items_digest(items) == hashlib.sha256(f"a{'0' * 64}b/é{'1' * 64}".encode()).hexdigest()
    assert items_digest(items) != items_digest(reversed(items))
    assert files_digest([("a.txt", b"x")]) == hashlib.sha256(b"a.txt\0x\x1e").hexdigest()


def test_what_is_not_known_is_absent() -> None:
    assert host_identity({}).label is None
    assert host_identity({"EVAL_HOST_LABEL": "box"}).label == "box"
    assert "msgspec" in installed(["msgspec", "no-such-distribution"])
    assert "no-such-distribution" not in installed(["msgspec", "no-such-distribution"])
