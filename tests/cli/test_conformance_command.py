"""`evh conformance`: its report, its data and its exit codes."""

from __future__ import annotations

import shlex
import sys

import pytest
from cli_support import Evh

OURS = shlex.join([sys.executable, "-m", "evh.testing.reader"])
HELLO = '{"evh_conformance": 1, "name": "yes", "modes": ["strict", "lenient"], "layers": ["json", "schema"]}'
YES = f"""
import json, sys
print({HELLO!r}, flush=True)
for line in sys.stdin:
    print(json.dumps({{"id": json.loads(line)["id"], "verdict": "accepted", "notices": []}}), flush=True)
"""
ALWAYS_YES = shlex.join([sys.executable, "-S", "-c", YES])


def test_a_reader_that_agrees_ends_with_0(evh: Evh) -> None:
    ran = evh("conformance", "--cmd", OURS, "--only", "Goal", "--only", "config")
    assert ran.code == 0 and not ran.err
    assert ran.out.startswith("evh (Python): strict, lenient, canonical, upgrade (json, schema, semantic)\n")
    assert "✓  Goal" in ran.out and "✓  Config" in ran.out and "Episode" not in ran.out
    assert "agrees on" in ran.out and "not supported" not in ran.out


def test_disagreements_are_shown_with_what_was_expected_and_said(evh: Evh) -> None:
    ran = evh("conformance", "--cmd", ALWAYS_YES, "--only", "Lease", "--max-errors", "1")
    assert ran.code == 1
    assert "✗  Lease" in ran.out and "✗ Lease/whole-array: strict  [schema]" in ran.out
    assert '    expected  {"verdict": "refused", "layer": "schema", "pointer": "", "keyword": "type"}' in ran.out
    assert '    said      {"verdict": "accepted"}' in ran.out
    assert "disagreements more" in ran.out
    assert "not supported by the program, so not tested: canonical" in ran.out


def test_the_same_as_data(evh: Evh) -> None:
    ran = evh("conformance", "--cmd", ALWAYS_YES, "--only", "Lease", "--max-errors", "2", "--json")
    data = ran.json
    assert ran.code == 1 and data["ok"] is False
    assert data["reader"] == {"name": "yes", "modes": ["strict", "lenient"], "layers": ["json", "schema"]}
    assert data["agreed"] > 0 and data["disagreed"] > 2 and len(data["disagreements"]) == 2 and data["falls"] == []
    assert data["disagreements"][0].keys() == {"vector", "type", "mode", "layer", "input", "expected", "said"}
    assert sum(each["agreed"] for each in data["types"]) == data["agreed"]


def test_a_program_that_falls_is_told_with_its_last_words(evh: Evh) -> None:
    body = f"import sys; print({HELLO!r}, flush=True); sys.stdin.readline(); sys.exit('out of ideas')"
    ran = evh("conformance", "--cmd", shlex.join([sys.executable, "-S", "-c", body]), "--only", "Goal")
    assert ran.code == 1
    assert ran.out.count("the program ended with exit code 1") == 5 and "    out of ideas" in ran.out
    assert "the program fell too often" in ran.out and "not asked" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--cmd"),
        (("--cmd", "./no-such-reader"), "'./no-such-reader' cannot be started"),
        (("--cmd", "'open"), "cannot be split into words"),
        (("--cmd", " "), "names no program"),
        (("--cmd", OURS, "--only", "Gaol"), "did you mean 'Goal'?"),
        (("--cmd", OURS, "--timeout", "0"), "seconds above 0"),
        (("--cmd", shlex.join([sys.executable, "-S", "-c", "print('hi')"])), "says no hello"),
    ],
)
def test_what_cannot_start_is_wrong_usage(evh: Evh, arguments: tuple[str, ...], said: str) -> None:
    ran = evh("conformance", *arguments)
    assert ran.code == 2 and said in ran.err and "Traceback" not in ran.err


def test_a_folder_without_vectors_is_a_line_and_1(evh: Evh, tmp_path: object) -> None:
    ran = evh("conformance", "--cmd", OURS, "--vectors", str(tmp_path))
    assert ran.code == 1 and "the vectors cannot be read" in ran.err
