"""`evh:command`: programs as systems, and that nothing of them is left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evh.errors import UsageError
from evh.harness.adapters import Adapter, AdapterError, Stopped, call_command, load_adapter, process
from evh.harness.result import Result
from evh.harness.retry import is_transient

pytestmark = pytest.mark.skipif(os.name != "posix", reason="evh:command is for POSIX")
PYTHON = sys.executable


@pytest.fixture
def adapter(tmp_path: Path) -> Iterator[Adapter]:
    (tmp_path / "configs").mkdir()
    with load_adapter("evh:command", config_dir=tmp_path / "configs", root=tmp_path) as loaded:
        yield loaded


def python(code: str, **more: Any) -> dict[str, Any]:
    return {"command": [PYTHON, "-S", "-c", code], **more}


def says(text: str) -> dict[str, Any]:
    return python(f"print({text!r}, end='')")


def open_descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def gone(pid: int) -> bool:
    """Whether a process has ended, given a moment to do so."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (ProcessLookupError, FileNotFoundError):
            return True
        if state == "Z":  # killed; whoever adopted it has not asked yet
            return True
        time.sleep(0.01)
    return False


def test_the_text_goes_in_and_comes_out(adapter: Adapter) -> None:
    assert adapter.call("héllo\n", {"command": ["cat"]}) == Result("héllo")
    assert adapter.call("a\n\n", {"command": "cat"}) == Result("a\n")
    assert adapter.call("", {"command": "sh -c 'printf \"a\\r\\n\"'"}) == Result("a")
    assert adapter.call("not read", {"command": ["true"]}) == Result("")


def test_json_with_an_output_is_a_result(adapter: Adapter) -> None:
    said = '{"output": "hi", "tokens_in": 3, "cost_usd": 0.5, "extra": {"n": true}, "meta": {"id": "r"}}\n'
    assert adapter.call("", says(said)) == Result("hi", 3, cost_usd=0.5, extra={"n": 1.0}, meta={"id": "r"})
    for text in ('{"out": 1}', "{not json", '["output"]', "{}"):
        assert adapter.call("", says(text)) == Result(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"output": 3}', "expected the output as text, found 3"),
        ('{"output": "x", "cost": 1}', "no member 'cost': did you mean cost_usd?"),
        ('{"output": "x", "output": "y"}', "/output: "),
        ('{"output": "x", "extra": {"a": NaN}}', "/extra/a: "),
    ],
)
def test_json_that_is_no_result_is_refused(adapter: Adapter, text: str, said: str) -> None:
    with pytest.raises(AdapterError, match=said):
        adapter.call("", says(text))


def test_a_failure_tells_the_exit_code_and_the_end_of_standard_error(adapter: Adapter) -> None:
    code = "import sys; sys.stderr.write('x' * 100000 + ' the last words'); sys.exit(7)"
    with pytest.raises(AdapterError, match=r"failed with exit code 7: x+ the last words$") as raised:
        adapter.call("", python(code))
    assert len(str(raised.value)) < 700
    with pytest.raises(AdapterError, match="exit code 1, and wrote nothing to standard error"):
        adapter.call("", {"command": ["false"]})
    with pytest.raises(AdapterError, match="was ended by SIGTERM"):
        adapter.call("", {"command": ["sh", "-c", "kill $$"]})
    with pytest.raises(AdapterError, match="not UTF-8 at byte 1"):
        adapter.call("", python("import sys; sys.stdout.buffer.write(b'a\\xff')"))


def test_what_standard_error_says_decides_whether_to_try_again(adapter: Adapter) -> None:
    for said, transient in (("429 Too Many Requests", True), ("no such model", False)):
        with pytest.raises(AdapterError) as raised:
            adapter.call("", {"command": ["sh", "-c", f"echo '{said}' >&2; exit 1"]})
        assert is_transient(raised.value) is transient


def test_large_texts_pass_both_ways_without_a_deadlock(adapter: Adapter) -> None:
    text = "0123456789abcdef" * (1 << 18)  # 4 MiB, far beyond what pipes hold
    assert adapter.call(text, {"command": ["cat"]}).output == text  # type: ignore[union-attr]
    code = "import sys; sys.stderr.write('e' * (1 << 21)); sys.stdout.write('o' * (1 << 21))"
    assert adapter.call(text, python(code)).output == "o" * (1 << 21)  # type: ignore[union-attr]


def test_e42_too_much_output_is_refused_and_ends_the_program(adapter: Adapter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LARGEST_OUTPUT", 1 << 20)
    with pytest.raises(AdapterError, match="wrote more than 1 MiB and was killed") as raised:
        adapter.call("", {"command": ["yes"]})
    assert raised.value.transient is False


def test_out_of_time_the_whole_group_is_killed(adapter: Adapter, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"sleep 60 & echo $! > {note}; wait"
    with pytest.raises(AdapterError, match=r"timed out after 0.5 s and was killed") as raised:
        adapter.call("", {"command": ["sh", "-c", script], "timeout_s": 0.5})
    assert raised.value.transient is True
    assert gone(int(note.read_text()))


def test_what_a_program_leaves_running_is_killed_when_it_ends(adapter: Adapter, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    began = time.monotonic()
    result = adapter.call("", {"command": ["sh", "-c", f"sleep 60 & echo $! > {note}; echo done"]})
    assert result == Result("done") and time.monotonic() - began < 30
    assert gone(int(note.read_text()))


def test_a_process_that_left_the_group_is_not_waited_for(
    adapter: Adapter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "DRAIN_SECONDS", 0.05)
    note = tmp_path / "pid"
    code = (
        "import os, time\n"
        "if os.fork():\n"
        "    print('done', flush=True)\n"
        f"    while not os.path.exists({str(note)!r}): time.sleep(0.01)\n"
        "else:\n"
        "    os.setsid()\n"
        f"    open({str(note) + '.new'!r}, 'w').write(str(os.getpid()))\n"
        f"    os.rename({str(note) + '.new'!r}, {str(note)!r})\n"
        "    time.sleep(60)\n"
    )
    try:
        assert adapter.call("", python(code)) == Result("done")
    finally:
        os.kill(int(note.read_text()), signal.SIGKILL)


def test_cancel_kills_what_runs_and_refuses_more(adapter: Adapter, tmp_path: Path) -> None:
    pipe = tmp_path / "started"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(adapter.call, "", {"command": ["sh", "-c", f"echo $$ > {pipe}; sleep 60"]})
        pid = int(pipe.read_text())  # waits for the program to begin
        adapter.cancel()
        with pytest.raises(Stopped):
            future.result(10)
    assert gone(pid)
    with pytest.raises(Stopped):
        adapter.call("", {"command": ["true"]})


def test_calls_run_at_a_time_and_leave_no_descriptor(adapter: Adapter) -> None:
    adapter.call("", {"command": ["cat"]})
    before = open_descriptors()
    texts = [str(number) for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda text: adapter.call(text, {"command": ["cat"]}), texts))
    assert [each.output for each in results] == texts  # type: ignore[union-attr]
    assert open_descriptors() == before


def test_words_that_are_files_are_looked_up_like_other_paths(adapter: Adapter, tmp_path: Path) -> None:
    for folder, name in (("configs/tools", "a.sh"), ("tools", "a.sh"), ("tools", "b.sh")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).write_text(f"#!/bin/sh\necho {folder}/{name} $1\n")
        (tmp_path / folder / name).chmod(0o755)
    assert adapter.call("", {"command": "tools/a.sh x"}) == Result("configs/tools/a.sh x")
    assert adapter.call("", {"command": "sh tools/b.sh s/a/b/"}) == Result("tools/b.sh s/a/b/")
    found = adapter.fingerprint({"command": "sh tools/b.sh"})
    assert found["command"] == ["sh", "tools/b.sh"] and set(found["files"]) == {"tools/b.sh"}
    assert found["identity_declared"] is True
    with pytest.raises(UsageError, match=r"'tools/none.sh' is no file in the config's folder or the project's root"):
        adapter.check({"command": "tools/none.sh"})


def test_variables_and_params_are_handed_on(adapter: Adapter) -> None:
    code = "import os, json; print(os.environ['WORD'], json.loads(os.environ['EVH_PARAMS']))"
    result = adapter.call("", python(code, env={"WORD": "hello"}, seed=3))
    assert result == Result("hello {'seed': 3}")


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "needs `command`"),
        ({"command": []}, "one word or more"),
        ({"command": ["a", 1]}, "quote numbers"),
        ({"command": "a 'b"}, "can't be split into words: No closing quotation"),
        ({"command": ["no-such-program-at-all"]}, "can't be started: No such file"),
        ({"command": ["cat"], "timeout_s": 0}, "timeout_s is a number of seconds over 0, not 0"),
        ({"command": ["cat"], "timeout_s": "1"}, "timeout_s"),
        ({"command": ["cat"], "env": ["A"]}, "env is a table"),
        ({"command": ["cat"], "env": {"A": 5}}, "env: A is a text, not a value of type int; quote it"),
        ({"command": ["cat"], "env": {"A=B": "c"}}, "no name of a variable"),
    ],
)
def test_settings_that_make_no_sense_are_refused(adapter: Adapter, params: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        adapter.call("", params)


def test_half_a_character_is_refused(adapter: Adapter) -> None:
    with pytest.raises(AdapterError, match="half a character at 2"):
        adapter.call("ab\ud800", {"command": ["cat"]})


def test_exact_match_is_its_score(adapter: Adapter) -> None:
    assert adapter.score(" a\n", "a") == {"exact_match": 1.0}
    assert adapter.score("a", "b") == {"exact_match": 0.0}
    assert adapter.score("a", None) is None
    assert (adapter.primary_metric, adapter.metric_kinds) == ("exact_match", {"exact_match": "quality"})
    assert set(adapter.scorer_id()) == {"exact_match"}


def test_the_function_works_outside_of_an_adapter() -> None:
    assert call_command("x", {"command": ["cat"]}) == Result("x")
