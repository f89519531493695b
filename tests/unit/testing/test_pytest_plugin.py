"""The pytest plugin, in a pytest of its own: fixtures, and uploads that stay on this machine."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from evh.errors import UsageError
from evh.platform import AsyncPlatform, Platform, capabilities, resolve, training
from evh.protocol.models import PresignedUpload

TESTS = """
import os
import pytest
import evh
from evh import AgentInfo, Episode, Trace, TraceTask

def episode():
    return Episode.of(Trace(task=TraceTask(type="t", data={"idx": 0}), agent=AgentInfo(name="a", config={})))

def test_a_real_key_in_the_environment_sends_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIME_API_KEY", "a-real-key")
    told = []
    with evh.open_run(name="a", environments=["gsm8k"], dir=tmp_path, notify=told.append) as run:
        run.log_episodes([episode()])
    assert run.mode == "offline" and "EVH_ONLY_LOOPBACK" in run.reason
    assert "a-real-key" not in repr(told)

def test_the_environment_is_cleared(monkeypatch):
    del os.environ["EVH_ONLY_LOOPBACK"]

def test_and_set_again(tmp_path):
    assert os.environ["EVH_ONLY_LOOPBACK"]

def test_fixtures(evh_server, evh_fault_proxy, tmp_path):
    url = evh_fault_proxy.url
    with evh.open_run(name="a", environments=["gsm8k"], mode="online", base_url=url, dir=tmp_path) as run:
        (logged,) = run.log_episodes([episode()])
    assert list(evh_server.documents()) == [logged.id]
    assert evh_fault_proxy.requests("POST", "/traces")
"""


def pytest_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PRIME_", "EVH_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words],
        cwd=folder, env={**clean, "HOME": str(folder)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_users_tests_get_the_fixtures_and_push_nowhere(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(TESTS)
    done = pytest_in(tmp_path)
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_the_guard_can_be_lifted_by_configuration_alone(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nevh_push_anywhere = true\n")
    (tmp_path / "test_theirs.py").write_text(
        "import os\n\ndef test_it():\n    assert 'EVH_ONLY_LOOPBACK' not in os.environ\n"
    )
    done = pytest_in(tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


ELSEWHERE = resolve({"api_key": "a-key", "base_url": "https://platform.example"}, environ={}, home=None)


def test_no_client_leaves_this_machine() -> None:
    """These tests run under the plugin themselves."""
    place = PresignedUpload(presignedUrl="https://storage.example/place?secret", s3Key="k")
    with Platform(ELSEWHERE) as platform:
        with pytest.raises(UsageError, match="not this machine"):
            platform.run(capabilities())
        with pytest.raises(UsageError, match="not this machine") as refused:
            platform.run(training.put_table(place, b"PAR1"))
        assert "secret" not in str(refused.value)

    async def asked() -> None:
        async with AsyncPlatform(ELSEWHERE) as platform:
            with pytest.raises(UsageError, match="not this machine"):
                await platform.run(capabilities())
            with pytest.raises(UsageError, match="not this machine"):
                await platform.run(training.put_table(place, b"PAR1"))

    asyncio.run(asked())


class Redirecting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(302)
        self.send_header("Location", "https://platform.example/api/v1/capabilities")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return


def test_a_redirect_does_not_leave_it_either() -> None:
    with HTTPServer(("127.0.0.1", 0), Redirecting) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        settings = resolve({"base_url": f"http://127.0.0.1:{server.server_address[1]}"}, environ={}, home=None)
        with Platform(settings) as platform, pytest.raises(UsageError, match=r"platform\.example"):
            platform.run(capabilities())
        thread.join()
