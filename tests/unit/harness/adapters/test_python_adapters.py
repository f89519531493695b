"""Adapters that are Python files: how they are loaded, called, scored with and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evh import Episode
from evh.errors import EvhError, RecordError, SourceError, UsageError
from evh.harness.adapters import Adapter, AdapterError, Stopped, load_adapter
from evh.harness.adapters import background as background_module
from evh.harness.result import Result

ECHO = "def call_system(text, params):\n    return text\n"
Load = Callable[..., Adapter]


@pytest.fixture
def load(tmp_path: Path) -> Iterator[Load]:
    """Loads an adapter from its source and closes it after the test."""
    loaded: list[Adapter] = []

    def from_source(source: str, name: str = "adapter.py") -> Adapter:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), "utf-8")
        loaded.append(load_adapter(name, config_dir=tmp_path, root=tmp_path))
        return loaded[-1]

    yield from_source
    for adapter in loaded:
        adapter.close()


# --- loading ---------------------------------------------------------------------------------------------------------


def test_two_files_of_one_name_do_not_shadow_each_other(load: Load) -> None:
    first = load("def call_system(text, params):\n    return 'first'\n", "a/adapter.py")
    second = load("def call_system(text, params):\n    return 'second'\n", "b/adapter.py")
    outputs = [each.call("x", {}).output for each in (first, second)]  # type: ignore[union-attr]
    assert outputs == ["first", "second"]


def test_helper_modules_belong_to_their_adapter(load: Load, tmp_path: Path) -> None:
    source = "from helpers import NAME\ndef call_system(text, params):\n    return NAME\n"
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helpers.py").write_text(f"NAME = {folder!r}\n")
    path, modules = list(sys.path), set(sys.modules)
    adapters = [load(source, f"{folder}/adapter.py") for folder in ("a", "b")]
    assert [each.call("", {}).output for each in adapters] == ["a", "b"]  # type: ignore[union-attr]
    assert sys.path == path
    assert {name for name in set(sys.modules) - modules if not name.startswith("evh_adapter_")} == set()


def test_a_helper_never_replaces_a_loaded_module_for_others(load: Load, tmp_path: Path) -> None:
    (tmp_path / "httpx.py").write_text("NAME = 'own'\n")
    (tmp_path / "json.py").write_text("raise RuntimeError\n")
    import httpx

    adapter = load("import json, httpx\ndef call_system(text, params):\n    return httpx.NAME + json.dumps(1)\n")
    assert adapter.call("", {}).output == "own1"  # type: ignore[union-attr]
    assert sys.modules["httpx"] is httpx


def test_dataclasses_and_postponed_annotations_work(load: Load) -> None:
    adapter = load(
        """
        from __future__ import annotations
        from dataclasses import dataclass
        @dataclass
        class Answer:
            text: str
        def call_system(text, params):
            return Answer(text).text
        """
    )
    assert adapter.call("x", {}) == Result("x")


def test_the_config_folder_comes_before_the_root(tmp_path: Path) -> None:
    for folder in ("root", "root/configs"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(f"def call_system(text, params):\n    return {folder!r}\n")
    root = tmp_path / "root"
    with load_adapter("a.py", config_dir=root / "configs", root=root) as adapter:
        assert adapter.call("", {}) == Result("root/configs")
        assert adapter.id == "configs/a.py"
        assert adapter.sha256 == hashlib.sha256((root / "configs" / "a.py").read_bytes()).hexdigest()
    (root / "configs" / "a.py").unlink()
    with load_adapter("a.py", config_dir=root / "configs", root=root) as adapter:
        assert (adapter.call("", {}), adapter.id) == (Result("root"), "a.py")
    with load_adapter(str(root / "a.py"), config_dir=tmp_path, root=root / "configs") as adapter:
        assert adapter.id == "a.py"  # outside of the root: no folder of this machine is told


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("x = 1\ndef f(:\n", 2, "is not Python"),
        ("x = 1\n\nimport no_such_module_at_all\n", 3, "ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("def f():\n    raise ValueError('bad')\nf()\n", 2, "ValueError: bad"),
        ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
        ("x = '\0'\n", None, "is not Python"),
    ],
)
def test_a_file_that_does_not_load_is_told_with_its_line(load: Load, source: str, line: int | None, said: str) -> None:
    before = set(sys.modules)
    with pytest.raises(SourceError, match=said) as raised:
        load(source)
    assert raised.value.source is not None and raised.value.source.endswith("adapter.py")
    assert line is None or raised.value.line == line
    assert set(sys.modules) == before


def test_a_helper_that_does_not_load_is_told_with_its_own_line(load: Load, tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("\n\nx = (\n")
    with pytest.raises(SourceError) as raised:
        load("import helpers\n")
    assert (Path(raised.value.source or "").name, raised.value.line) == ("helpers.py", 3)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.py", "no adapter file 'nowhere.py' in"),
        ("/nowhere/a.py", "no adapter file '/nowhere/a.py' there"),
        (".", "no adapter file"),
        ("a\0b", "no adapter file"),
        ("x" * 5000, "no adapter file"),
        ("evh:chatt", r"no adapter 'evh:chatt': expected evh:chat or evh:command"),
        ("evh:", "expected evh:chat or evh:command"),
    ],
)
def test_a_name_of_no_adapter_is_refused(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(SourceError, match=said):
        load_adapter(name, config_dir=tmp_path, root=tmp_path)


def test_a_file_without_functions_is_refused_with_what_is_expected(load: Load) -> None:
    with pytest.raises(SourceError, match=r"call_system\(text, params\), score\(output, reference\), or both"):
        load("x = 1\n")


def test_no_name_at_all_is_the_chat_adapter(tmp_path: Path) -> None:
    with load_adapter(None, config_dir=tmp_path, root=tmp_path) as adapter:
        assert (adapter.id, adapter.path, len(adapter.sha256)) == ("evh:chat", None, 64)
        assert adapter.primary_metric == "exact_match" and adapter.warmup is None


def test_functions_of_the_wrong_shape_are_refused_when_loaded(load: Load) -> None:
    for source, said in (
        ("def call_system(text):\n    pass\n", r"call_system\(text\) is called with 2 positional arguments"),
        ("call_system = 3\n", "call_system is to be a function, not 3"),
        (ECHO + "def score(output):\n    pass\n", r"score\(output\) is called with 2"),
        (ECHO + "def score(a, b, c, d):\n    pass\n", "is called with 3"),
        (ECHO + "def warmup():\n    pass\n", r"warmup\(\) is called with 1 positional argument"),
        (ECHO + "def fingerprint(a, b):\n    pass\n", "fingerprint"),
        (ECHO + "def scorer_id(a):\n    pass\n", "scorer_id"),
        (ECHO + "score = {}\n", "score is to be a function"),
    ):
        with pytest.raises(SourceError, match=said) as raised:
            load(source)
        assert raised.value.source is not None


# --- declarations ----------------------------------------------------------------------------------------------------


def test_declarations_are_taken_as_they_are(load: Load) -> None:
    adapter = load(
        ECHO
        + textwrap.dedent(
            """
            PRIMARY_METRIC = "f1"
            METRIC_KINDS = {"f1": "quality", "latency_ms": "speed", "total_cost_usd": "cost"}
            METRIC_DIRECTIONS = {"f1": "higher", "lines": "none"}
            METRIC_DESCRIPTIONS = {"f1": "overlap"}
            TRANSIENT_MARKERS = ["warming up"]
            """
        )
    )
    assert adapter.primary_metric == "f1" and adapter.metric_descriptions == {"f1": "overlap"}
    assert adapter.metric_kinds == {"f1": "quality", "latency_ms": "speed", "total_cost_usd": "cost"}
    assert adapter.metric_directions == {"f1": "higher", "lines": "none"}
    assert adapter.transient_markers == ("warming up",)
    bare = load(ECHO, "bare.py")
    assert (bare.primary_metric, bare.metric_kinds, bare.metric_directions) == (None, {}, {})
    assert (bare.metric_descriptions, bare.transient_markers) == ({}, ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("PRIMARY_METRIC = 3", "PRIMARY_METRIC is the name of a metric, not 3"),
        ("METRIC_KINDS = ['f1']", "METRIC_KINDS is a mapping"),
        (
            "METRIC_KINDS = {'f1': 'good'}",
            r"METRIC_KINDS\['f1'\] is one of quality, .*, not 'good'",
        ),
        ("METRIC_DIRECTIONS = {'f1': 'up'}", r"METRIC_DIRECTIONS\['f1'\] is one of higher, lower, none"),
        ("METRIC_DIRECTIONS = {'item_id': 'higher'}", "'item_id' can't be the name of a metric"),
        ("METRIC_DESCRIPTIONS = {'f1': 1}", r"METRIC_DESCRIPTIONS\['f1'\] is a text"),
        ("METRIC_DESCRIPTIONS = {1: 'x'}", "1 can't be the name of a metric"),
        ("TRANSIENT_MARKERS = 'busy'", "TRANSIENT_MARKERS is a list of texts"),
        ("TRANSIENT_MARKERS = ['busy', '']", "not ''"),
    ],
)
def test_bad_declarations_are_refused_by_file_and_name(load: Load, line: str, said: str) -> None:
    with pytest.raises(SourceError, match=said) as raised:
        load(ECHO + line + "\n")
    assert raised.value.source is not None and raised.value.source.endswith("adapter.py")


# --- calling ---------------------------------------------------------------------------------------------------------


def test_what_the_system_raises_comes_out_as_it_is_and_exits_are_failures(load: Load) -> None:
    adapter = load(
        """
        import sys
        def call_system(text, params):
            if text == "exit":
                sys.exit("rate limit")
            raise TimeoutError(text)
        """
    )
    with pytest.raises(TimeoutError, match="late"):
        adapter.call("late", {})
    with pytest.raises(AdapterError, match=r"adapter.py: call_system ended with sys.exit\(rate limit\)") as raised:
        adapter.call("exit", {})
    assert raised.value.transient is False


def test_a_bad_result_is_told_with_the_item_and_the_adapter(load: Load) -> None:
    adapter = load("def call_system(text, params):\n    return 3\n")
    with pytest.raises(RecordError, match=r"^adapter.py: item 'i7': the adapter returned"):
        adapter.call("x", {}, item_id="i7")


def test_params_are_a_copy_for_every_call(load: Load) -> None:
    adapter = load(
        """
        def call_system(text, params):
            params["headers"]["Authorization"] = "secret"
            params.clear()
            return text
        warmup = fingerprint = lambda params: params["headers"].clear() or {}
        """
    )
    params: dict[str, Any] = {"headers": {"a": "b"}}
    adapter.call("x", params)
    assert adapter.warmup is not None
    adapter.warmup(params)
    adapter.fingerprint(params)
    assert params == {"headers": {"a": "b"}}


def test_an_adapter_may_return_an_episode(load: Load) -> None:
    adapter = load(
        """
        from evh import Episode
        def call_system(text, params):
            return Episode(task={"type": "T", "data": {}}, traces=[])
        def score_episode(episode, reference):
            return {"n": len(episode.traces)}
        """
    )
    episode = adapter.call("x", {})
    assert isinstance(episode, Episode) and adapter.has_score_episode and not adapter.has_score
    assert adapter.score_episode(episode, None) == {"n": 0}


def test_a_file_that_only_scores_can_not_be_called(load: Load) -> None:
    adapter = load("def score(output, reference):\n    return {'same': output == reference}\n")
    assert not adapter.can_call and adapter.has_score
    assert adapter.score("a", "a") == {"same": True}
    for call in (lambda: adapter.call("x", {}), lambda: adapter.check({})):
        with pytest.raises(UsageError, match="it can only score"):
            call()


# --- scoring and hooks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "wants"),
    [
        ("output, reference", False),
        ("output, reference, source_text", True),
        ("output, reference, source=None", True),
        ("output, reference, *, strict=True", False),
        ("*args", True),
        ("output, reference, *rest", True),
        ("output, reference, **more", False),
    ],
)
def test_the_source_is_passed_to_scorers_of_three_arguments(load: Load, parameters: str, wants: bool) -> None:
    adapter = load(f"def score({parameters}):\n    return dict(n=len([v for v in locals().values()]))\n")
    assert adapter.wants_source is wants
    assert adapter.score("o", "r", "s") is not None


def test_no_score_is_no_metric(load: Load) -> None:
    assert load(ECHO).score("a", "b") is None
    assert load(ECHO + "def score(o, r):\n    return None\n", "b.py").score("a", "b") is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1 / 0", r"adapter.py:4: score failed: ZeroDivisionError: division by zero"),
        ("return 0.5", "score returns a mapping of metrics to numbers, or None, not 0.5"),
        ("raise SystemExit(2)", "score failed: SystemExit: 2"),
    ],
)
def test_a_failing_scorer_is_told_with_its_line_and_not_tried_again(load: Load, body: str, said: str) -> None:
    adapter = load(ECHO + f"def score(output, reference):\n    {body}\n")
    with pytest.raises(AdapterError, match=said) as raised:
        adapter.score("a", "b")
    assert raised.value.transient is False


def test_a_failing_warm_up_is_told(load: Load) -> None:
    adapter = load(ECHO + "def warmup(params):\n    raise OSError('no index')\n")
    assert adapter.warmup is not None
    with pytest.raises(AdapterError, match=r"adapter.py:4: warmup failed: OSError: no index"):
        adapter.warmup({})


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return {}['model']", "KeyError: 'model'"),
        ("return 'gpt'", "fingerprint returned 'gpt', not a mapping"),
        ("raise SystemExit(1)", "SystemExit: 1"),
        ("return {'a': object()}", "/a: "),
        ("return {'revision': 3}", "fingerprint: revision is a text or None, not 3"),
    ],
)
def test_a_failing_fingerprint_never_fails_the_run(load: Load, body: str, error: str) -> None:
    adapter = load(ECHO + f"def fingerprint(params):\n    {body}\n")
    found = adapter.fingerprint({})
    assert found.pop("error").startswith(error)
    assert found == {"identity_declared": False, "revision": None, "revision_source": "unavailable"}


def test_a_fingerprint_says_what_the_hook_says(load: Load) -> None:
    plain = load(ECHO)
    assert plain.fingerprint({}) == {"identity_declared": False, "revision": None, "revision_source": "unavailable"}
    said = load(ECHO + "def fingerprint(params):\n    return {'model': params['m'], 'error': None}\n", "b.py")
    assert said.fingerprint({"m": "x"}) == {
        "model": "x", "identity_declared": True, "revision": None, "revision_source": "unavailable",
    }  # fmt: skip
    known = load(ECHO + "def fingerprint(params):\n    return {'revision': 'abc'}\n", "c.py")
    assert known.fingerprint({}) == {"identity_declared": True, "revision": "abc", "revision_source": "adapter"}


def test_scorer_ids_are_digests(load: Load) -> None:
    digest = "0" * 64
    assert load(ECHO).scorer_id() == {}
    good = load(ECHO + f"def scorer_id():\n    return {{'parser': '{digest}'}}\n", "good.py")
    assert good.scorer_id() == {"parser": digest}
    for number, body in enumerate(("{'parser': 'abc'}", f"{{'parser': '{'A' * 64}'}}", "['x']", f"{{1: '{digest}'}}")):
        with pytest.raises(SourceError, match="scorer_id"):
            load(ECHO + f"def scorer_id():\n    return {body}\n", f"bad{number}.py").scorer_id()
    with pytest.raises(AdapterError, match="scorer_id failed: ZeroDivisionError"):
        load(ECHO + "def scorer_id():\n    return 1 / 0\n", "raises.py").scorer_id()


# --- async functions -------------------------------------------------------------------------------------------------

ASYNC = """
    import asyncio
    waiting = 0
    both = asyncio.Event()
    cleaned = []
    async def call_system(text, params):
        global waiting
        if text == "forever":
            try:
                started.release()
                await asyncio.Event().wait()
            finally:
                cleaned.append(text)
        if text == "exit":
            raise SystemExit(5)
        if text == "cancel":
            raise asyncio.CancelledError
        if text == "meet":
            waiting += 1
            if waiting == 2:
                both.set()
            await both.wait()
        return text
    import threading
    started = threading.Semaphore(0)
    async def score(output, reference, source):
        await asyncio.sleep(0)
        return {"same": output == reference == source}
    async def warmup(params):
        await asyncio.sleep(0)
    async def fingerprint(params):
        return {"model": "m"}
"""


def test_async_functions_share_one_loop_and_run_at_a_time(load: Load) -> None:
    adapter = load(ASYNC)
    with ThreadPoolExecutor(2) as pool:
        # Each waits for the other, so this ends only when both run at once on the same loop.
        assert list(pool.map(lambda text: adapter.call(text, {}), ["meet", "meet"])) == [Result("meet")] * 2
    assert adapter.score("a", "a", "a") == {"same": True}
    assert adapter.warmup is not None
    adapter.warmup({})
    assert adapter.fingerprint({})["model"] == "m"


def test_an_exit_in_a_coroutine_fails_its_call_and_not_the_loop(load: Load) -> None:
    adapter = load(ASYNC)
    with pytest.raises(AdapterError, match=r"raised SystemExit\(5\)") as raised:
        adapter.call("exit", {})
    assert raised.value.transient is False
    with pytest.raises(AdapterError, match="coroutine was cancelled"):
        adapter.call("cancel", {})
    assert adapter.call("still there", {}) == Result("still there")


def test_cancel_ends_coroutines_lets_them_clean_up_and_refuses_more(load: Load) -> None:
    adapter = load(ASYNC)
    names = vars(sys.modules[_module_of(adapter)])
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(adapter.call, "forever", {})
        assert names["started"].acquire(timeout=10)
        adapter.cancel()
        with pytest.raises(Stopped):
            future.result(10)
    assert names["cleaned"] == ["forever"]
    with pytest.raises(Stopped):
        adapter.call("x", {})


def test_close_ends_the_thread_and_may_be_called_again(load: Load) -> None:
    adapter = load(ASYNC)
    adapter.call("x", {})
    assert "evh-adapter" in {each.name for each in threading.enumerate()}
    adapter.close()
    adapter.close()
    assert "evh-adapter" not in {each.name for each in threading.enumerate()}


def test_a_coroutine_that_ignores_being_cancelled_is_told_by_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_module, "CLOSING_SECONDS", 0.05)
    blocked, go_on = threading.Event(), threading.Event()

    async def block() -> None:
        blocked.set()
        go_on.wait(10)

    background = background_module.Background()
    caller = threading.Thread(target=lambda: _quiet(lambda: background.run(block())))
    caller.start()
    assert blocked.wait(10)
    thread = next(each for each in threading.enumerate() if each.name == "evh-adapter")
    with pytest.raises(AdapterError, match="blocks its event loop or ignores the cancellation"):
        background.close()
    go_on.set()
    caller.join(10)
    thread.join(10)
    assert not thread.is_alive()


def test_the_loop_survives_a_task_of_the_adapter_that_exits() -> None:
    background = background_module.Background()

    async def start_one() -> None:
        asyncio.get_running_loop().call_soon(sys.exit)
        await asyncio.sleep(0)

    async def hello() -> str:
        return "hello"

    background.run(start_one())
    assert background.run(hello()) == "hello"
    background.close()


def test_a_plain_function_that_returns_a_coroutine_is_awaited(load: Load) -> None:
    adapter = load(
        """
        async def later(text):
            return text + "!"
        call_system = lambda text, params: later(text)
        """
    )
    assert adapter.call("x", {}) == Result("x!")


def _module_of(adapter: Adapter) -> str:
    return next(name for name, each in sys.modules.items() if getattr(each, "__file__", None) == str(adapter.path))


def _quiet(action: Callable[[], object]) -> None:
    with contextlib.suppress(EvhError):
        action()
