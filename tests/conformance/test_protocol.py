"""The line protocol: what is asked of whom, what counts as agreement, and programs that hang, end or write garbage."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from evh.errors import SourceError, UsageError
from evh.testing import reader
from evh.testing.conformance import MOST_FALLS, Outcome, check, hold
from evh.testing.vectors import load_vectors, vector_bytes, vectors_folder

HELLO = '{"evh_conformance":1,"name":"test","modes":["strict"],"layers":["json","schema"]}'
SAYS_HELLO = f"import sys\nprint({HELLO!r}, flush=True)\n"
QUICK = 0.1
"""Seconds after which a program of these tests counts as hung."""
PATIENT = 30.0


def program(body: str) -> list[str]:
    """A program that says hello and then does what `body` says."""
    return [sys.executable, "-c", SAYS_HELLO + body]


def few(count: int = 12) -> list[dict[str, Any]]:
    return list(load_vectors(only=["Goal"]))[:count]


def vector(name: str) -> dict[str, Any]:
    return next(each for each in load_vectors() if each["name"] == name)


ANSWERS = """
import json
for line in sys.stdin:
    asked = json.loads(line)
    {before}
    print(json.dumps({{"id": asked["id"], "verdict": "unsupported"}}), flush=True)
"""


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("if asked['id'] == 3: sys.exit(7)", "ended with exit code 7"),
        ("if asked['id'] == 3: import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("if asked['id'] == 3: print('so sorry', flush=True); continue", "wrote what is no JSON object: 'so sorry'"),
        ("if asked['id'] == 3: print('[1]', flush=True); continue", "wrote what is no JSON object"),
        ("if asked['id'] == 3: asked['id'] = 99", "answered another request: expected the id 3, found 99"),
        ("if asked['id'] == 3: print('[' * 100000, flush=True); continue", "wrote what is no JSON object"),
    ],
)
def test_a_program_that_falls_is_told_and_started_again(before: str, why: str) -> None:
    outcome = check(program(ANSWERS.format(before=before)), few(), timeout=PATIENT)
    # Ids go on counting over a new start, so that the fault comes once.
    [fall] = outcome.falls
    assert why in fall.why and fall.vector == few()[2]["name"]
    assert outcome.unsupported["strict"] == 11 and not outcome.agrees and outcome.unasked == 0


def test_a_program_that_writes_more_than_an_answer_is_told() -> None:
    before = 'if asked[\'id\'] == 3: sys.stdout.write(\'{"id": 3, "verdict": "unsupported"}\\nmore\\n\')'
    outcome = check(program(ANSWERS.format(before=before)), few(), timeout=PATIENT)
    assert outcome.falls and "wrote more than an answer" in outcome.falls[0].why


@pytest.mark.parametrize(
    "body",
    [
        "import time; time.sleep(600)",
        "sys.stdin.read()\nimport time; time.sleep(600)",
        "import subprocess; subprocess.run(['sleep', '600'])",
    ],
)
def test_a_program_that_hangs_is_given_up_with_all_that_it_started(body: str) -> None:
    started = time.monotonic()
    outcome = check([sys.executable, "-S", "-c", SAYS_HELLO + body], few(), timeout=QUICK, hello_timeout=PATIENT)
    assert [fall.why for fall in outcome.falls[:1]] == [f"no answer within {QUICK:g} s"]
    assert len(outcome.falls) <= MOST_FALLS and outcome.unasked + len(outcome.falls) == 12
    assert time.monotonic() - started < PATIENT


def test_a_program_that_reads_nothing_does_not_block_a_large_request() -> None:
    large = {"name": "large", "type": "Goal", "text": "[" + "1," * 500_000 + "1]", "json": "ok", "schema": "ok"}
    outcome = check(
        [sys.executable, "-S", "-c", SAYS_HELLO + "import time; time.sleep(600)"],
        [large],
        timeout=QUICK,
        hello_timeout=PATIENT,
    )
    assert outcome.falls[0].why == f"no answer within {QUICK:g} s"


def test_what_a_fallen_program_said_is_kept() -> None:
    body = "sys.stdin.readline(); sys.stderr.write('x' * 5000 + '\\nno memory left\\n'); sys.exit(3)"
    outcome = check(program(body), few(1), timeout=PATIENT)
    assert outcome.falls[0].stderr.endswith("no memory left") and len(outcome.falls[0].stderr) <= 2000


def test_a_program_that_floods_its_streams_is_bounded() -> None:
    body = "import os\nwhile True: os.write(2, b'e' * 65536)"
    outcome = check(program(body), few(1), timeout=QUICK, hello_timeout=PATIENT)
    assert outcome.falls[0].why == f"no answer within {QUICK:g} s"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["./no-such-reader"], "cannot be started: No such file or directory"),
        (["/"], "cannot be started"),
        (
            [sys.executable, "-c", "import sys; sys.exit('no schemas')"],
            "says no hello: ended with exit code 1; it wrote: no",
        ),
        ([sys.executable, "-c", "print('Hello')"], "says no hello: wrote what is no JSON object: 'Hello'"),
        ([sys.executable, "-c", "print('{}')"], '"evh_conformance": 1'),
        ([sys.executable, "-c", "print('{\"evh_conformance\": 2}')"], '"evh_conformance": 1'),
        ([sys.executable, "-c", "print('{\"evh_conformance\": 1}')"], "names no modes"),
        ([sys.executable, "-c", 'print(\'{"evh_conformance": 1, "modes": ["guess"]}\')'], "'guess' among its modes"),
        ([sys.executable, "-c", 'print(\'{"evh_conformance": 1, "modes": "strict"}\')'], "modes are a list"),
    ],
)
def test_a_program_that_cannot_start_or_says_no_hello_is_wrong_usage(command: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=r"\w") as caught:
        check(command, few(1), timeout=PATIENT)
    assert said in str(caught.value)


def test_a_program_that_never_says_hello_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="says no hello: no answer within"):
        check([sys.executable, "-S", "-c", "import time; time.sleep(600)"], few(1), hello_timeout=QUICK)


# --- what is asked, and what agrees ----------------------------------------------------------------------------------


def held(name: str, answer: dict[str, Any], **hello: Any) -> Outcome:
    """What comes out when a reader says `answer` about one vector."""
    said = {**reader.HELLO, "modes": ["strict"], **hello}
    return hold(lambda request: {"id": request["id"], **answer}, [vector(name)], said)


REFUSED = {"verdict": "refused", "layer": "schema", "pointer": "/start", "keyword": "type"}


@pytest.mark.parametrize(
    ("answer", "agrees"),
    [
        (REFUSED, True),
        (REFUSED | {"pointer": "/"}, False),
        (REFUSED | {"keyword": "anyOf"}, False),
        (REFUSED | {"layer": "json"}, False),
        ({"verdict": "accepted"}, False),
        ({"verdict": "refused"}, False),
        ({}, False),
    ],
)
def test_a_strict_answer_agrees_in_verdict_layer_pointer_and_keyword(answer: dict[str, Any], agrees: bool) -> None:
    assert held("Timing/start-null", answer).agrees is agrees


def test_a_reader_is_asked_only_about_its_layers() -> None:
    duplicate = "text/duplicate"
    assert held(duplicate, {"verdict": "accepted"}, layers=["schema"]).agreed.total() == 0
    assert held(duplicate, {"verdict": "accepted"}, layers=["json"]).disagreed.total() == 1
    no_json = {"verdict": "refused", "layer": "json", "pointer": "", "keyword": "not-json"}
    assert held("text/no-json-torn-object", no_json, layers=["schema"]).agrees
    assert held("Timing/start-null", {"verdict": "accepted"}, layers=["json"]).agrees
    assert held("semantic/parent-cycle", {"verdict": "accepted"}, layers=["json", "schema"]).agrees


def test_a_fault_in_a_layer_that_the_vector_does_not_state_is_no_disagreement() -> None:
    found = {"verdict": "refused", "layer": "semantic", "pointer": "/ok", "keyword": "ok-without-traces"}
    assert held("Episode/ok-present", found).agrees
    assert not held("Episode/ok-present", found | {"layer": "schema"}).agrees


def test_types_that_a_reader_does_not_read_are_counted_and_not_asked() -> None:
    outcome = held("Timing/start-null", REFUSED, types=["Episode"])
    assert outcome.unsupported == {"types": 1} and not outcome.agreed and not outcome.agrees


@pytest.mark.parametrize(
    ("answer", "agrees"),
    [
        ({"notices": [["unknown", "/never_declared"]]}, True),
        (
            {
                "notices": [["unknown", "/never_declared"]],
                "written": '{"never_declared":{"kept":[1,null]},"start":0.5}',
            },
            True,
        ),
        ({"notices": [["unknown", "/never_declared"]], "written": '{"start":0.5}'}, False),
        (
            {
                "notices": [["unknown", "/never_declared"]],
                "written": '{"never_declared":{"kept":[2,null]},"start":0.5}',
            },
            False,
        ),
        (
            {
                "notices": [["unknown", "/never_declared"]],
                "written": '{"never_declared":{"kept":[true,null]},"start":0.5}',
            },
            False,
        ),
        ({"notices": [["unknown", "/never_declared"]], "written": None}, False),
        ({"notices": []}, False),
        ({"notices": [["unknown", ""]]}, False),
        ({"notices": 3}, False),
        ({"notices": [3]}, False),
        ({}, False),
    ],
)
def test_a_lenient_answer_agrees_in_its_notices_and_loses_nothing(answer: dict[str, Any], agrees: bool) -> None:
    said = {"verdict": "accepted", **answer}
    assert held("Timing/unknown-never_declared", said, modes=["lenient"]).agrees is agrees


# --- the files -------------------------------------------------------------------------------------------------------


def test_types_without_vectors_and_folders_without_a_manifest_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no vectors of the type 'Nothing'"):
        list(load_vectors(only=["Nothing"]))
    with pytest.raises(SourceError, match="cannot be read"):
        list(load_vectors(tmp_path))
    for text, said in (
        ("{", "not JSON"),
        ("{}", "no manifest"),
        ('{"types": {}, "files": {"a.jsonl": {}}}', "no vector"),
    ):
        (tmp_path / "manifest.json").write_text(text, "utf-8")
        (tmp_path / "a.jsonl").write_text('{"name": "a"}\n', "utf-8")
        with pytest.raises(SourceError, match=said):
            list(load_vectors(tmp_path))


def test_a_long_text_is_told_by_what_it_repeats() -> None:
    filled = [each for each in load_vectors() if "fill" in each]
    assert filled
    for each in filled:
        assert len(vector_bytes(each)) > each["fill"]["times"]
    assert (vectors_folder() / "README.md").exists() or vectors_folder().name == "_vectors"
