"""The soak in small: a hundredth of its full counts on each run of the tests; and that it can find what it looks
for."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

import pytest

from tests.soak.__main__ import Finding, main, soak
from tests.soak.checks import Broken, check_document, check_string
from tests.soak.child import bend
from tests.soak.seeds import Seed, seeds

DOCUMENTS = 20_000
STRINGS = 200_000


SHARE, SMALL_POOL = 100, 12


def test_a_hundredth_of_the_soak_finds_nothing(tmp_path: Path) -> None:
    seed = secrets.randbelow(2**31)
    found = soak(DOCUMENTS // SHARE, STRINGS // SHARE, seed, pool=SMALL_POOL, failures=tmp_path)
    shown = "\n\n".join(f"{each.kind} {each.number}: {each.text}" for each in found[:5])
    again = f"python -m tests.soak --seed {seed} --pool {SMALL_POOL}"
    assert not found, f"{len(found)} findings, inputs in {tmp_path}; again by {again}\n{shown}"


POOL = [Seed("RunInfo", b'{"type":"eval","id":"r"}'), Seed("Trace", b"", b"\x81\xa2id\xa1t")]


def test_an_input_follows_from_its_seed_and_number_alone() -> None:
    for kind in ("document", "string"):
        once, again = ([repr(bend(POOL, kind, 5, number)) for number in range(40)] for _ in range(2))
        assert once == again
        assert len(set(once)) > 20


def test_the_pool_has_every_root_type_and_both_formats() -> None:
    from evh.protocol.tables import ROOTS

    pool = seeds(1, 3)
    assert set(ROOTS) <= {each.type for each in pool}
    assert any(each.wire and not each.text for each in pool)


@pytest.mark.parametrize(
    ("name", "document"),
    [("RunInfo", {"type": "eval", "id": "r"}), ("RunInfo", {"type": "sweep"}), ("Episode", float("nan"))],
)
def test_agreement_on_a_document_passes(name: str, document: Any) -> None:
    check_document(name, document)


def test_a_disagreement_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A soak that could not fail would prove nothing."""
    from tests.soak import checks

    monkeypatch.setattr(checks, "decode_strict", lambda text, cls: None)
    with pytest.raises(Broken, match="decode_strict says valid, the reference validator invalid"):
        check_document("RunInfo", {"type": "sweep"})


def test_a_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.soak import checks

    def leaking(*_: Any, **__: Any) -> None:
        raise KeyError("leaked")

    monkeypatch.setattr(checks, "upgrade", leaking)
    with pytest.raises(KeyError):
        check_string("Episode", "json", b"{}")


def test_a_child_that_dies_is_a_finding_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tests.soak import __main__ as driver

    dying = tmp_path / "dying.py"
    dying.write_text(
        "import json, os, sys\n"
        "first, end, step = map(int, sys.argv[4:7])\n"
        "for number in range(first, end, step):\n"
        "    open(sys.argv[7], 'wb').write(b'%-20d' % number)\n"
        "    if number == 3: os.abort()\n"
        "print(json.dumps({'done': True}))\n"
    )
    monkeypatch.setattr(driver, "CHILD", [str(dying)])
    found = soak(8, 0, 1, pool=1, cores=1)
    assert [(each.kind, each.number) for each in found] == [("document", 3)]
    assert "the child ended with code -6" in found[0].text


def test_findings_of_one_cause_are_counted_together() -> None:
    one = Finding("string", 1, "Traceback\n  File \"a.py\", line 1, in f\nKeyError: 'x'")
    other = Finding("string", 9, "Traceback\n  File \"a.py\", line 1, in f\nKeyError: 'y'")
    assert one.signature == other.signature


def test_the_command_says_its_seed_and_exits_with_the_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tests.soak import __main__ as driver

    found: list[Finding] = []
    monkeypatch.setattr(driver, "soak", lambda *_, **__: found)
    monkeypatch.setattr("sys.argv", ["soak", "--seed", "7", "--documents", "1", "--strings", "1"])
    assert main() == 0
    assert "seed 7" in capsys.readouterr().out
    found.append(Finding("string", 4, "time: 2.0 s"))
    assert main() == 1
    assert "number 4" in capsys.readouterr().out


def test_failing_inputs_are_written_down_as_they_were(tmp_path: Path) -> None:
    from tests.soak.__main__ import _write_down

    _write_down(tmp_path, POOL, 5, [Finding("document", 2, "why")])
    (written,) = (path for path in tmp_path.iterdir() if not path.name.endswith(".finding.txt"))
    assert repr(json.loads(written.read_bytes())) == repr(bend(POOL, "document", 5, 2)[2])
    assert written.with_name(written.name + ".finding.txt").read_text() == "why"
