"""What only a process shows: signals, closed pipes, terminals, and how fast `--version` is."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_support import REAL

SOURCE = Path(__file__).parents[2] / "src"
EVAL = REAL / "v0.4.0-eval" / "traces.jsonl"
LIMIT = 60


def environment(**more: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "CI", "COLUMNS")
    }
    return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONIOENCODING": "utf-8", "TERM": "xterm-256color", **more}


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "evh", *map(str, arguments)]


def on_terminal(*arguments: str | Path, columns: int = 100, **more: str) -> str:
    """What a terminal shows, escapes included."""
    ours, theirs = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    child = subprocess.Popen(command(*arguments), stdout=theirs, stderr=theirs, stdin=theirs, env=environment(**more))
    os.close(theirs)
    seen = b""
    while select.select([ours], [], [], LIMIT)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(ours)
    child.wait(LIMIT)
    return seen.decode().replace("\r\n", "\n")


def test_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    for arguments, code in (
        (["check", REAL / "v0.4.0-branches"], 0),
        (["check", REAL / "v0.4.0-torn"], 1),
        (["nonsense"], 2),
        (["upgrade", EVAL, "-o", tmp_path / "x.jsonl"], 0),
    ):
        ran = subprocess.run(command(*arguments), capture_output=True, env=environment(), timeout=LIMIT, check=False)
        assert ran.returncode == code, arguments
        assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_upgrade_leaves_nothing_and_says_130(tmp_path: Path, number: signal.Signals) -> None:
    target = tmp_path / "out.jsonl"
    child = subprocess.Popen(
        command("upgrade", "-", "-o", target), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(),
    )  # fmt: skip
    assert child.stdin is not None and child.stderr is not None
    rows = EVAL.read_bytes()
    # The pipe holds 64 KiB: once far more went in, the child is in the middle of its work.
    for _ in range(4):
        child.stdin.write(rows)
    child.stdin.flush()
    assert [path.name[:10] for path in tmp_path.iterdir()] == [".out.jsonl"]
    child.send_signal(number)
    error = child.stderr.read()
    child.stdin.close()
    assert child.stdout is not None
    child.stdout.close()
    assert child.wait(LIMIT) == 130
    child.stderr.close()
    assert b"interrupted; nothing was written" in error and b"Traceback" not in error
    assert not list(tmp_path.iterdir())


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_bytes(EVAL.read_bytes() * 60)
    for arguments in (["show", big], ["show", big, "--json"], ["check", big, "--max-errors", "0"]):
        child = subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        assert child.stdout is not None and child.stderr is not None
        child.stdout.read(10)
        child.stdout.close()
        assert child.stderr.read() == b""
        child.stderr.close()
        assert child.wait(LIMIT) in (0, 1)


def test_rows_that_nobody_takes_are_a_failure(tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_bytes(EVAL.read_bytes() * 20)
    child = subprocess.Popen(
        command("upgrade", big, "-o", "-"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert child.stdout is not None and child.stderr is not None
    child.stdout.read(10)
    child.stdout.close()
    assert b"closed before everything was written" in child.stderr.read()
    child.stderr.close()
    assert child.wait(LIMIT) == 1


def test_a_pipeline_of_commands(tmp_path: Path) -> None:
    shell = (
        f"'{sys.executable}' -m evh upgrade - -o - < '{EVAL}' | '{sys.executable}' -m evh check - --mode strict --json"
    )
    ran = subprocess.run(shell, shell=True, capture_output=True, env=environment(), timeout=LIMIT, check=False)
    assert b'"rows": 18' in ran.stdout and b"18 rows" in ran.stderr


def test_a_terminal_gets_colours_short_ids_and_fifty_rows(tmp_path: Path) -> None:
    big = tmp_path / "big.jsonl"
    big.write_bytes(EVAL.read_bytes() * 4)
    seen = on_terminal("show", big)
    assert "\x1b[32m✓" in seen and "f6a1bbd0  probe reason" in seen.replace("\x1b[0m", "")
    assert "… 22 more: --limit 0 shows all" in seen
    plain = on_terminal("show", big, NO_COLOR="1")
    assert "\x1b" not in plain and "f6a1bbd0  probe reason" in plain


@pytest.mark.parametrize("columns", [60, 100])
def test_lines_fit_the_terminal(columns: int) -> None:
    for arguments in (["show", EVAL], ["show", EVAL, "#17"], ["check", REAL / "v0.3.1-eval" / "traces.jsonl"]):
        seen = on_terminal(*arguments, columns=columns, NO_COLOR="1")
        # Only names of files, and numbers without a blank in them, may be wider.
        lines = [line for line in seen.splitlines() if str(REAL) not in line and "16069380442589902" not in line]
        assert max(len(line) for line in lines) <= columns, arguments


def test_pipes_get_no_colours_unless_they_are_forced() -> None:
    for more, coloured in (({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)):
        for arguments in (["show", EVAL], ["--help"]):
            ran = subprocess.run(
                command(*arguments), capture_output=True, env=environment(**more), timeout=LIMIT, check=False
            )
            assert (b"\x1b[" in ran.stdout) is coloured, (arguments, more)


def test_a_stream_that_cannot_show_the_signs_is_no_error() -> None:
    for arguments in (["show", EVAL], ["show", EVAL, "#10"], ["check", EVAL], ["--help"]):
        ran = subprocess.run(
            command(*arguments),
            capture_output=True,
            env=environment(PYTHONIOENCODING="ascii"),
            timeout=LIMIT,
            check=False,
        )
        assert ran.returncode in (0, 1) and not ran.stderr and ran.stdout.isascii()


def test_long_work_shows_progress_on_a_terminal_only_and_wipes_it(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        command("upgrade", "-", "-o", tmp_path / "out.jsonl"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=theirs, env=environment(),
    )  # fmt: skip
    os.close(theirs)
    assert child.stdin is not None and child.stdout is not None
    stdin = child.stdin
    going = threading.Event()
    going.set()
    rows = EVAL.read_bytes()

    def feed() -> None:
        while going.is_set():
            stdin.write(rows)
        stdin.close()

    feeder = threading.Thread(target=feed)
    feeder.start()
    seen = b""
    while b"upgrading <stdin>" not in seen and select.select([ours], [], [], LIMIT)[0]:
        seen += os.read(ours, 4096)
    going.clear()
    out = child.stdout.read()
    feeder.join(LIMIT)
    child.stdout.close()
    assert child.wait(LIMIT) == 0 and b"upgraded" in out and b"upgrading" not in out
    while not seen.endswith(b"\x1b[K"):
        seen += os.read(ours, 4096)
    os.close(ours)


def test_the_version_loads_nothing() -> None:
    script = "import sys; from evh.cli import main; main(['--version']); print(*sorted(sys.modules), sep='\\n')"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment(), timeout=LIMIT, check=True
    )
    loaded = set(ran.stdout.decode().split())
    assert not loaded & {"argparse", "msgspec", "rich", "json", "evh.errors", "evh.protocol", "jsonschema_rs"}


@pytest.mark.parametrize("command_name", ["check", "show", "upgrade", "convert", "schema"])
def test_help_loads_no_codec(command_name: str) -> None:
    script = f"from evh.cli import main; main(['{command_name}', '--help'])"
    script = f"import sys; {script}; print('EXAMPLES END', *sys.modules, sep='\\n')"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment(), timeout=LIMIT, check=True
    )
    loaded = set(ran.stdout.decode().rpartition("EXAMPLES END")[2].split())
    assert "evh.cli" in loaded and not loaded & {
        "msgspec",
        "rich",
        "evh.protocol",
        "evh.protocol.codec",
        "jsonschema_rs",
    }


@pytest.mark.parametrize("arguments", [["schema"], ["--version"], ["show", str(EVAL)], ["nonsense"]])
def test_a_standard_output_that_was_closed_is_a_failure_in_words(arguments: list[str]) -> None:
    shell = f"'{sys.executable}' -m evh {' '.join(arguments)} >&-"
    ran = subprocess.run(shell, shell=True, stderr=subprocess.PIPE, env=environment(), timeout=LIMIT, check=False)
    assert ran.returncode == 1 and b"Traceback" not in ran.stderr


def test_the_list_of_schemas_fits_a_terminal() -> None:
    seen = on_terminal("schema", columns=80, NO_COLOR="1")
    assert max(len(line) for line in seen.splitlines()) <= 80 and "…" in seen and "RunManifest" in seen


def test_the_table_of_several_files_fits_a_terminal(tmp_path: Path) -> None:
    for name in ("first-run-of-march", "second-run-of-march"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "traces.jsonl").write_bytes(EVAL.read_bytes())
    for columns in (80, 120):
        lines = on_terminal("show", tmp_path, columns=columns, NO_COLOR="1").splitlines()
        assert lines[0].split()[-1] == "file" and max(map(len, lines)) <= columns
        assert lines[1].split()[-1].startswith("first-run") and lines[36].split()[-1].startswith("second-run")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [["schema"], ["schema", "--json"], ["catalog", "--json"], ["leaderboard", "-h"]])
def test_a_full_disk_behind_the_output_is_said(arguments: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            command(*arguments), stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(), timeout=LIMIT,
            check=False,
        )  # fmt: skip
    assert ran.returncode == 1 and b"No space left" in ran.stderr and b"Traceback" not in ran.stderr
