"""`evh:chat` against a scripted endpoint on the loopback: what is sent, what is kept, what is said when it fails."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evh.errors import EvhError, SourceError, UsageError
from evh.harness.adapters import Adapter, AdapterError, Stopped, call_chat, load_adapter
from evh.harness.adapters import chat as chat_module
from evh.harness.adapters.chat_settings import ChatSettings
from evh.harness.adapters.workplace import Workplace
from evh.harness.result import Result
from evh.harness.retry import GaveUp, RetryPolicy, is_transient
from tests.support.chat_server import ChatServer, Reply, answer

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def adapter(tmp_path: Path) -> Iterator[Adapter]:
    (tmp_path / "configs").mkdir()
    with load_adapter(None, config_dir=tmp_path / "configs", root=tmp_path) as loaded:
        yield loaded


def params(server: ChatServer, **more: Any) -> dict[str, Any]:
    return {"model": "m", "base_url": server.url, **more}


# --- what is sent ----------------------------------------------------------------------------------------------------


def test_the_text_alone_is_the_prompt(adapter: Adapter, server: ChatServer) -> None:
    assert adapter.call("hello", params(server)).output == "hello"  # type: ignore[union-attr]
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == {"model": "m", "messages": [{"role": "user", "content": "hello"}]}
    assert "Authorization" not in request.headers


def test_settings_become_members_of_the_request(
    adapter: Adapter, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    given = params(
        server, api_key_env="MY_KEY", system="Be brief.", prompt='Sum up {"a": 1}: {text}', temperature=0, max_tokens=5,
        seed=3, reasoning={"effort": "low"}, headers={"X-Title": "evh"}, extra_body={"top_p": 0.5, "stream": False},
        timeout_s=30, usd_per_mtok_in=1, usd_per_mtok_out=2, family="f", provider="p",
    )  # fmt: skip
    adapter.call("{text} it", given)
    adapter.call("x", params(server, reasoning="high", temperature=None))
    first, second = server.requests
    assert first.body == {
        "model": "m", "temperature": 0, "max_tokens": 5, "seed": 3, "reasoning": {"effort": "low"}, "top_p": 0.5,
        "stream": False,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": 'Sum up {"a": 1}: {text} it'},
        ],
    }  # fmt: skip
    assert first.headers["Authorization"] == f"Bearer {KEY}" and first.headers["X-Title"] == "evh"
    assert second.body["reasoning_effort"] == "high" and "temperature" not in second.body


def test_a_prompt_file_is_read_once_and_its_digest_is_in_the_fingerprint(
    adapter: Adapter, server: ChatServer, tmp_path: Path
) -> None:
    file = tmp_path / "configs" / "prompt.txt"
    file.write_text("Read: {text}")
    (tmp_path / "prompt.txt").write_text("the other one {text}")
    given = params(server, prompt_file="prompt.txt")
    before = adapter.fingerprint(given)
    assert before["model"] == "m" and before["endpoint"].endswith("/v1/chat/completions")
    assert before["identity_declared"] is True and before["revision"] is None
    file.write_text("Edited: {text}")
    assert adapter.call("x", given).output == "Read: x"  # type: ignore[union-attr]
    with load_adapter(None, config_dir=tmp_path / "configs", root=tmp_path) as later:
        assert later.fingerprint(given)["prompt_sha256"] != before["prompt_sha256"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"model": None}, "model is a text that is not empty"),
        ({"modle": "x"}, "no setting 'modle': did you mean model?"),
        ({"zzz": "x"}, "no setting 'zzz': known are model"),
        ({"prompt": "no place"}, "prompt: the prompt has no {text}"),
        ({"prompt": "{text}", "prompt_file": "p"}, "both given"),
        ({"prompt_file": "none.txt"}, "prompt_file: no file 'none.txt' in the config's folder or the project's root"),
        ({"temperature": "0"}, "temperature is a number, not '0'"),
        ({"max_tokens": 0}, "max_tokens is 1 or more"),
        ({"max_tokens": 1.5}, "max_tokens is a whole number"),
        ({"seed": True}, "seed is a whole number"),
        ({"timeout_s": 0}, "timeout_s is over 0"),
        ({"reasoning": 3}, "reasoning is an effort"),
        ({"headers": {"X Y": "a"}}, "'X Y' is no name of a header"),
        ({"headers": {"X": "a\nb"}}, "the value of 'X' is to be a text of plain characters"),
        ({"extra_body": {"model": "x"}}, "extra_body: 'model' is set by a setting of its own"),
        ({"extra_body": {"stream": True}}, "extra_body: stream would give something else"),
        ({"base_url": "ftp://x"}, "base_url is an http or https address"),
        ({"base_url": "http://u:secret@localhost/v1"}, "base_url holds a user or password"),
        ({"base_url": "http://localhost:99999/"}, "base_url"),
        ({"api_key_env": "sk-abc-def"}, "api_key_env is the name of a variable"),
        ({"base_url": None}, "no key for api.openai.com: set the variable OPENAI_API_KEY"),
        ({"base_url": "http://198.51.100.7/v1", "api_key_env": "NO_SUCH"}, "198.51.100.7: set the variable NO_SUCH"),
        ({"base_url": "http://198.51.100.7/v1", "api_key_env": "skabcdef"}, "set the variable that api_key_env names"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused_before_anything_is_sent(
    adapter: Adapter, server: ChatServer, more: dict[str, Any], said: str
) -> None:
    for refuse in (adapter.check, lambda given: adapter.call("x", given)):
        with pytest.raises(UsageError) as raised:
            refuse(params(server, **more))
        assert said in str(raised.value) and "secret" not in str(raised.value) and "skabc" not in str(raised.value)
    assert server.requests == []


def test_settings_that_make_sense_pass_the_check(adapter: Adapter, server: ChatServer) -> None:
    adapter.check(params(server))
    assert server.requests == []


def test_a_prompt_file_that_is_no_text_is_refused(adapter: Adapter, server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes(b"\xff{text}")
    with pytest.raises(SourceError, match="is not UTF-8 at byte 0"):
        adapter.check(params(server, prompt_file="p.txt"))


# --- what is kept ----------------------------------------------------------------------------------------------------


def test_usage_bill_and_the_provider_are_kept_as_they_came(adapter: Adapter, server: ChatServer) -> None:
    usage = {
        "prompt_tokens": 7, "completion_tokens": 2, "cost": 0.00125, "cost_details": {"upstream": None},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }  # fmt: skip
    server.says(answer("hi", usage=usage, provider="Somewhere", system_fingerprint="fp_1"))
    assert adapter.call("x", params(server)) == Result(
        "hi",
        tokens_in=7,
        tokens_out=2,
        cost_usd=0.00125,
        extra={"truncated": 0.0, "reasoning_tokens": 1},
        meta={
            "usage": usage, "finish_reason": "stop", "provider": "Somewhere", "model": "scripted-1", "id": "reply-1",
            "system_fingerprint": "fp_1",
        },
    )  # fmt: skip


def test_without_usage_nothing_is_invented_and_the_host_is_the_provider(adapter: Adapter, server: ChatServer) -> None:
    server.says(answer(None, finish="length"))
    found = adapter.call("x", params(server))
    assert isinstance(found, Result)
    assert (found.output, found.tokens_in, found.tokens_out, found.cost_usd) == ("", None, None, None)
    assert found.extra == {"truncated": 1.0}
    assert found.meta["provider"] == "127.0.0.1" and "usage" not in found.meta


def test_text_parts_are_joined(adapter: Adapter, server: ChatServer) -> None:
    server.says(answer([{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]))
    assert adapter.call("x", params(server)).output == "ab"  # type: ignore[union-attr]


def test_lone_surrogates_of_a_reply_are_kept(adapter: Adapter, server: ChatServer) -> None:
    server.says(answer("ok \udc00 tail"))
    assert adapter.call("x", params(server)).output == "ok \udc00 tail"  # type: ignore[union-attr]


# --- what is said when it fails --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "status", "said", "transient"),
    [
        (Reply(429, {"error": {"message": "Slow down", "code": "rate_limited"}}, {"Retry-After": "7"}), 429,
         "answered 429: Slow down rate_limited", True),
        (Reply(500, b"<html>oops</html>"), 500, "answered 500: <html>oops</html>", True),
        (Reply(503), 503, "answered 503", True),
        (Reply(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}}), 401, "provided: [hidden].", False),
        (Reply(404, {"detail": "no such model"}), 404, "no such model", False),
        (Reply(400, {"error": "maximum context length is 5"}), 400, "maximum context length", False),
        (Reply(302, headers={"Location": "http://localhost:1/"}), 302, "answered 302", False),
        (Reply(200, b'{"choices": [{"mess'), None, "not JSON", True),
        (Reply(200, b""), None, "not JSON", True),
        (Reply(200, {"choices": []}), None, "without a message", True),
        (Reply(200, {"error": {"message": "upstream is busy", "code": 502}}), 502, "upstream is busy", True),
        (Reply(200, {"error": {"message": "bad model", "code": 400}}), 400, "bad model", False),
        (Reply(200, b'{"choices": [', promised=1000), None, "broke off", True),
        (answer(3), None, "can't be kept: /output", False),
        (answer("x", usage={"prompt_tokens": -1}), None, "tokens_in", False),
        (answer("x", usage={"cost": "free"}), None, "cost_usd", False),
    ],
    ids=lambda value: None,
)  # fmt: skip
def test_failures_carry_status_and_the_endpoint_s_words(
    adapter: Adapter, server: ChatServer, monkeypatch: pytest.MonkeyPatch, reply: Reply, status: int | None, said: str,
    transient: bool,
) -> None:  # fmt: skip
    monkeypatch.setenv("MY_KEY", KEY)
    server.says(reply)
    with pytest.raises(AdapterError) as raised:
        adapter.call("x", params(server, api_key_env="MY_KEY"))
    assert said in str(raised.value) and KEY not in "".join(traceback.format_exception(raised.value))
    assert raised.value.status == status
    assert is_transient(raised.value) is transient
    assert raised.value.retry_after == (7.0 if "Retry-After" in reply.headers else None)


def test_long_words_of_an_endpoint_are_cut(adapter: Adapter, server: ChatServer) -> None:
    server.says(Reply(500, {"error": {"message": "é" * 10000}}), Reply(500, b"x" * 10000))
    for _ in range(2):
        with pytest.raises(AdapterError) as raised:
            adapter.call("x", params(server))
        assert len(str(raised.value)) < 560


def test_a_slow_endpoint_is_given_up_after_its_time(adapter: Adapter, server: ChatServer) -> None:
    server.says(Reply(hangs=True))
    with pytest.raises(AdapterError, match=r"did not answer within 0.1 s") as raised:
        adapter.call("x", params(server, timeout_s=0.1))
    assert is_transient(raised.value)
    server.release()


def test_an_endpoint_that_is_not_there_is_transient(adapter: Adapter) -> None:
    with ChatServer() as server:
        given = params(server)
    with pytest.raises(AdapterError, match="can't be reached") as raised:
        adapter.call("x", given)
    assert is_transient(raised.value)


def test_e42_a_reply_that_is_too_large_is_refused(
    adapter: Adapter, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_module, "LARGEST_REPLY", 1 << 20)
    server.says(answer("x" * (3 << 20)))
    with pytest.raises(AdapterError, match="more than 1 MiB for one reply"):
        adapter.call("x", params(server))


def test_b046_the_key_is_in_no_message_settings_or_log(
    adapter: Adapter, server: ChatServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY)
    given = params(server, api_key_env="MY_KEY", headers={"X-Team": "team-canary"})
    server.says(Reply(400, f"you sent Bearer {KEY} and team-canary".encode()))
    with pytest.raises(AdapterError) as raised:
        adapter.call("x", given)
    shown = "".join(traceback.format_exception(raised.value)) + repr(raised.value) + repr(vars(raised.value))
    shown += repr(ChatSettings(given, Workplace(Path(), Path()))) + repr(given) + caplog.text
    shown += repr(adapter.fingerprint(given))
    assert KEY not in shown
    assert "you sent [hidden] and [hidden]" in str(raised.value)
    server.says(Reply(400, b"x" * 490 + KEY.encode()))
    with pytest.raises(AdapterError) as raised:
        adapter.call("x", given)
    assert KEY[:6] not in str(raised.value)
    monkeypatch.setenv("MY_KEY", KEY + "\né")
    with pytest.raises(UsageError, match="the variable MY_KEY holds characters that no key has") as refused:
        adapter.call("x", given)
    assert KEY not in "".join(traceback.format_exception(refused.value))


def test_the_default_key_is_not_sent_to_this_machine(
    adapter: Adapter, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    adapter.call("x", params(server))
    assert "Authorization" not in server.requests[0].headers


# --- in a run --------------------------------------------------------------------------------------------------------


def test_retries_wait_as_long_as_the_endpoint_says(adapter: Adapter, server: ChatServer) -> None:
    server.says(Reply(429, headers={"Retry-After": "7"}), Reply(503), answer("at last"))
    waits: list[float] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return False

    result = RetryPolicy().run(lambda: adapter.call("x", params(server)), wait=wait, jitter=lambda: 0.0)
    assert result.output == "at last" and waits == [7.0, 2.0]  # type: ignore[union-attr]
    server.says(Reply(401))
    with pytest.raises(GaveUp):
        RetryPolicy().run(lambda: adapter.call("x", params(server)), wait=wait)


def test_threads_share_one_client(adapter: Adapter, server: ChatServer) -> None:
    texts = [str(number) for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda text: adapter.call(text, params(server)), texts))
    assert [each.output for each in results] == texts  # type: ignore[union-attr]


def test_cancel_ends_a_call_that_waits_and_refuses_more(adapter: Adapter, server: ChatServer) -> None:
    server.says(Reply(hangs=True))
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(adapter.call, "x", params(server, timeout_s=60))
        assert server.arrived.acquire(timeout=10)
        adapter.cancel()
        with pytest.raises(Stopped):
            future.result(10)
    server.release()
    with pytest.raises(Stopped):
        adapter.call("x", params(server))
    assert len(server.requests) == 1


def test_a_python_file_can_use_the_same_call(server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Read: {text}")
    (tmp_path / "plain.py").write_text("from evh.harness.adapters import call_chat as call_system\n")
    (tmp_path / "later.py").write_text(
        "import asyncio\nfrom evh.harness.adapters import call_chat\n"
        "async def call_system(text, params):\n    return await asyncio.to_thread(call_chat, text, params)\n"
    )
    for name in ("plain.py", "later.py"):
        with load_adapter(name, config_dir=tmp_path, root=tmp_path) as adapter:
            found = adapter.call("x", params(server, prompt_file="prompt.txt"))
            assert found.output == "Read: x"  # type: ignore[union-attr]


def test_the_function_works_outside_of_an_adapter(server: ChatServer) -> None:
    assert call_chat("x", params(server)).output == "x"


def test_messages_go_out_as_they_are_after_the_system_of_the_settings(server: ChatServer) -> None:
    asked = [
        {"role": "user", "content": [{"type": "text", "text": "a"}], "name": "n"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    assert call_chat(asked, params(server, system="s", temperature=0)).output == "c"
    [request] = server.requests
    assert request.body == {"model": "m", "temperature": 0, "messages": [{"role": "system", "content": "s"}, *asked]}
    with pytest.raises(UsageError, match="template for one text"):
        call_chat(asked, params(server, prompt="Say: {text}"))
    assert len(server.requests) == 1
    with pytest.raises(EvhError):
        call_chat("x", {})
