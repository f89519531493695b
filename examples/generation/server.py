#!/usr/bin/env python3
"""A chat endpoint that answers by script, for as long as a command runs. Needs nothing but Python.

    python3 server.py -- evh run --config data/configs/chat.yaml

Promise: the server listens on this machine alone, on a free port (or --port N). Before the command begins, the config
`chat.yaml` beside this file is written to `data/configs/chat.yaml` with that port in place of its port 0. The exit code
is the command's; the server ends with it. Ctrl-C and SIGTERM are the command's to answer.
Policy: `script.json` has the replies by question. They are given in order, the last one again and again: a question
that is refused at first is answered when it is asked again. Tokens are counted as words; the bill is made up.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONFIG = Path("data", "configs", "chat.yaml")
ANY_PORT = "http://127.0.0.1:0/"
USD_PER_TOKEN = 0.00001

Script = dict[str, list[dict[str, Any]]]


class ScriptedServer(ThreadingHTTPServer):
    """The endpoint; how often each question was asked is counted here."""

    daemon_threads = True

    def __init__(self, script: Script, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self._script = script
        self._asked: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def reply(self, question: str) -> dict[str, Any] | None:
        """What the script has for a question this time; None when it does not know it."""
        replies = self._script.get(question)
        if replies is None:
            return None
        with self._lock:
            count = self._asked.get(question, 0)
            self._asked[question] = count + 1
        return replies[min(count, len(replies) - 1)]


class Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data)
            prompt = body["messages"][-1]["content"].strip()
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            return self.send(400, {"error": {"message": "expected a chat request with messages"}})
        scripted = self.server.reply(prompt.splitlines()[-1] if prompt else "")
        if self.path != "/v1/chat/completions" or scripted is None:
            return self.send(404, {"error": {"message": f"the script has no answer to {prompt[:80]!r} at {self.path}"}})
        if scripted.get("status", 200) != 200:
            later = {"Retry-After": str(scripted.get("retry_after", 0))}
            return self.send(scripted["status"], {"error": {"message": "too many requests, try later"}}, later)
        content = scripted["content"]
        tokens_in, tokens_out = len(prompt.split()), len(content.split())
        self.send(
            200,
            {
                "id": f"reply-to-{tokens_in}-words",
                "object": "chat.completion",
                "model": body.get("model"),
                "provider": "the scripted kitchen",
                "choices": [
                    {
                        "index": 0,
                        "message": {"role": "assistant", "content": content},
                        "finish_reason": scripted.get("finish_reason", "stop"),
                    }
                ],
                "usage": {
                    "prompt_tokens": tokens_in,
                    "completion_tokens": tokens_out,
                    "total_tokens": tokens_in + tokens_out,
                    "cost": round((tokens_in + tokens_out) * USD_PER_TOKEN, 8),
                },
            },
        )

    def send(self, status: int, value: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        try:
            self.send_response(status)
            for name, text in (headers or {}).items():
                self.send_header(name, text)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            pass  # a client that was stopped does not wait for its answer

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not worth a line each."""


def main() -> int:
    parser = argparse.ArgumentParser(description="A scripted chat endpoint on this machine while a command runs.")
    parser.add_argument("--port", type=int, default=0, help="the port (a free one)")
    parser.add_argument("--to", type=Path, default=CONFIG, help=f"where the config goes ({CONFIG})")
    parser.add_argument("command", nargs="+", help="the command, after --")
    options = parser.parse_args()
    script = json.loads((HERE / "script.json").read_text("utf-8"))
    config = (HERE / "chat.yaml").read_text("utf-8")
    try:
        server = ScriptedServer(script, options.port)
    except OSError as error:
        print(f"server.py: port {options.port} cannot be had: {error.strerror}", file=sys.stderr)
        return 1
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            options.to.parent.mkdir(parents=True, exist_ok=True)
            options.to.write_text(config.replace(ANY_PORT, f"http://127.0.0.1:{server.port}/"), "utf-8")
            return run(options.command)
        except OSError as error:
            print(f"server.py: {error}", file=sys.stderr)
            return 1
        finally:
            server.shutdown()
            thread.join()


def run(command: list[str]) -> int:
    """The command's exit code, as a shell has it. Signals reach the command, which knows how to stop."""
    signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends it to the command too
    child = subprocess.Popen(command)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    status = child.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
