"""The generation example: a scripted endpoint, and a run over it that is stopped and goes on."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from example_modules import EXAMPLES, example_modules

from evh.harness.dataset import create_dataset
from evh.harness.launch import Options, measure, resume
from evh.harness.project import Project
from evh.harness.references import create_references
from evh.store.run_dir import open_run_dir

(server_module,) = example_modules("generation", "server")
SCRIPT = json.loads((EXAMPLES / "generation" / "script.json").read_text("utf-8"))
SERVER = [sys.executable, "-B", "server.py"]


@pytest.fixture
def server() -> Iterator[Any]:
    with server_module.ScriptedServer(SCRIPT) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found
        finally:
            found.shutdown()
            thread.join()


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    shutil.copytree(EXAMPLES / "generation", root, ignore=shutil.ignore_patterns("__pycache__"))
    found = Project(root)
    frozen = create_dataset(found, root / "questions", "sums").dataset
    create_references(found, frozen, "gold", root / "answers")
    return found


def asked(port: int, body: bytes) -> tuple[int, dict[str, Any], Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", data=body, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return reply.status, json.load(reply), reply.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error), error.headers


def question(text: str) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]}).encode()


def test_every_question_has_its_replies_and_its_answer() -> None:
    folder = EXAMPLES / "generation"
    questions = {path.stem: path.read_text("utf-8").strip() for path in (folder / "questions").iterdir()}
    assert set(questions.values()) == SCRIPT.keys()
    assert questions.keys() == {path.stem for path in (folder / "answers").iterdir()}


def test_a_refusal_comes_once_with_the_time_to_wait(server: Any) -> None:
    rice = next(text for text in SCRIPT if text.startswith("Rice"))
    status, said, headers = asked(server.port, question(rice))
    assert (status, headers["Retry-After"]) == (429, "1") and "later" in said["error"]["message"]
    for _ in range(2):
        status, said, _ = asked(server.port, question(f"Answer with the number alone.\n\n{rice}\n"))
        assert status == 200 and said["choices"][0]["message"]["content"] == "6"


def test_a_reply_names_its_provider_its_tokens_and_its_bill(server: Any) -> None:
    brine = next(text for text in SCRIPT if text.startswith("A brine"))
    _, said, _ = asked(server.port, question(brine))
    assert said["choices"][0]["finish_reason"] == "length" and said["provider"]
    assert said["usage"]["cost"] == pytest.approx(said["usage"]["total_tokens"] * 1e-5)


@pytest.mark.parametrize(("body", "status"), [(question("Who are you?"), 404), (b"no json", 400), (b"[]", 400)])
def test_what_is_not_in_the_script_is_refused(server: Any, body: bytes, status: int) -> None:
    found, said, _ = asked(server.port, body)
    assert found == status and said["error"]["message"]


def test_a_run_stops_at_the_cap_and_goes_on(server: Any, project: Project) -> None:
    config = project.configs / "chat.yaml"
    text = (project.root / "chat.yaml").read_text("utf-8")
    config.write_text(text.replace(server_module.ANY_PORT, f"http://127.0.0.1:{server.port}/"), "utf-8")
    capped = Options(concurrency=1, max_cost_usd=0.0008)
    (stopped,) = measure(project, config, run_id="sums", options=capped, environ={"EVAL_RETRY_MAX_DELAY": "0"})
    assert (stopped.stop, stopped.done, stopped.record) == ("cap", 3, None)
    (finished,) = resume(project, environ={})
    record = finished.record
    assert record is not None and record.resume is not None and record.resume.resumed_items == 3
    assert record.providers_seen == {"the scripted kitchen": 8}
    assert (record.scores["exact_match"], record.scores["truncated"]) == (0.625, 0.25)
    rows = [each.row for each in open_run_dir(finished.directory).rows()]
    assert len(rows) == 8
    assert sorted(row.item_id for row in rows if row.extra and row.extra["truncated"]) == ["brine", "ovens"]


def test_a_program_is_an_arm_too(project: Project) -> None:
    (finished,) = measure(project, project.configs / "last_number.yaml", environ={})
    assert finished.record is not None and finished.record.scores["exact_match"] == 0.125


@pytest.mark.parametrize("status", [0, 3])
def test_the_exit_code_is_the_commands_and_the_server_ends_with_it(project: Project, status: int) -> None:
    look = f"import pathlib; print(pathlib.Path('data/configs/chat.yaml').read_text()); raise SystemExit({status})"
    done = subprocess.run(
        [*SERVER, "--", sys.executable, "-c", look], cwd=project.root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (status, "")
    port = int(done.stdout.partition("http://127.0.0.1:")[2].partition("/")[0])
    assert port > 0
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_that_is_taken_and_a_command_that_is_not_there_are_told(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [*SERVER, "--port", port, "--", "true"], cwd=project.root, capture_output=True, text=True, check=False
        )
    assert done.returncode == 1 and f"port {port} cannot be had" in done.stderr
    done = subprocess.run(
        [*SERVER, "--", "./no-such-command"], cwd=project.root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "no-such-command" in done.stderr and "Traceback" not in done.stderr
