"""A judge's file: which changes make another judge, and what it is asked with."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import SourceError
from evh.harness.judging import JudgeScorer, load_judge_scorer

TEXT = '''
from pathlib import Path

import wording

SCORER_ID = "j"
PARAMS = {"model": "m", "base_url": "http://127.0.0.1:9/v1"}
QUESTION = Path(__file__).with_name("question.txt").read_text()
LIMIT = 3
UNUSED = 1


def shortened(text):
    return text[:LIMIT]


def prompt(output, reference=None):
    """Ask."""
    return QUESTION + wording.polite(shortened(output))


def parse(reply):
    return {"grade": number(reply)} if reply else None


def number(text):
    return float(text)
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "j.py").write_text(TEXT, "utf-8")
    (tmp_path / "wording.py").write_text("def polite(text):\n    return 'Please: ' + text\n", "utf-8")
    (tmp_path / "question.txt").write_text("Good? ", "utf-8")
    return tmp_path


def digests(folder: Path) -> tuple[str, str, str, str]:
    with load_judge_scorer("j.py", root=folder, environ={}) as judge:
        return judge.prompt_sha256, judge.parser_sha256, judge.asked_sha256, judge.sha256


def changed(folder: Path, old: str, new: str, file: str = "j.py") -> list[bool]:
    """Which of the digests of prompt, parser, question and score a change of the file changes."""
    before = digests(folder)
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), "utf-8")
    return [one != other for one, other in zip(before, digests(folder), strict=True)]


@pytest.mark.parametrize(
    ("old", "new", "file", "expected"),
    [
        ("LIMIT = 3", "LIMIT = 4", "j.py", [True, False, True, True]),
        ("text[:LIMIT]", "text[LIMIT:]", "j.py", [True, False, True, True]),
        ("Good?", "Bad?", "question.txt", [True, False, True, True]),
        ("Please", "Now", "wording.py", [True, False, True, True]),
        ("return float(text)", "return float(text) / 2", "j.py", [False, True, False, True]),
        ('"model": "m"', '"model": "n"', "j.py", [False, False, True, True]),
        ('"model": "m"', '"model": "m", "temperature": 0', "j.py", [False, False, True, True]),
        ('"model": "m"', '"model": "m", "timeout_s": 5', "j.py", [False, False, False, False]),
        ('"model": "m"', '"model": "m", "api_key_env": "K"', "j.py", [False, False, False, False]),
        ("UNUSED = 1", "UNUSED = 2", "j.py", [False, False, False, False]),
        ("SCORER_ID =", "# a remark\nSCORER_ID =", "j.py", [False, False, False, False]),
    ],
)
def test_what_decides_a_score_is_in_the_digests_and_nothing_else(
    folder: Path, old: str, new: str, file: str, expected: list[bool]
) -> None:
    assert changed(folder, old, new, file) == expected


def test_the_digests_are_the_same_in_another_folder(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("j.py", "wording.py", "question.txt"):
        (other / name).write_bytes((folder / name).read_bytes())
    assert digests(folder) == digests(other)


def test_only_what_a_prompt_takes_is_given_and_async_functions_work(folder: Path) -> None:
    (folder / "k.py").write_text(
        'SCORER_ID = "k"\nPARAMS = {"model": "m"}\n'
        "async def prompt(output, source_text):\n    return output + source_text\n"
        "async def parse(reply):\n    return {'n': len(reply)}\n",
        "utf-8",
    )
    with load_judge_scorer("k.py", root=folder, environ={}) as judge:
        assert (judge.wants_reference, judge.needs_reference, judge.wants_source) == (False, False, True)
        assert judge.prompt("a", "never given", "b") == "ab"
        assert judge.read("abc", "i", frozenset()) == {"n": 3}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def parse(reply):", "def parse():", "parse is called with the reply alone"),
        ("def parse(reply):", "def parse(reply, row):", "parse is called with the reply alone"),
        ("def parse(reply):", "def parse(*, reply):", "parse is called with the reply alone"),
        ("def prompt(output, reference=None):", "prompt = str\n\n\ndef unused(output):", "define it with def"),
        ('"model": "m"', '"model": "m", "lock": __import__("threading").Lock()', "PARAMS is plain data"),
        ('SCORER_ID = "j"', 'SCORER_ID = "Con"', "a device's name"),
        ('SCORER_ID = "j"', 'SCORER_ID = "j."', "ends in a dot"),
    ],
)
def test_what_would_fail_after_the_first_reply_is_refused_at_load(folder: Path, old: str, new: str, said: str) -> None:
    text = (folder / "j.py").read_text("utf-8")
    assert old in text
    (folder / "j.py").write_text(text.replace(old, new), "utf-8")
    with pytest.raises(SourceError, match=said) as told:
        load_judge_scorer("j.py", root=folder, environ={})
    assert told.value.source == str(folder / "j.py")


@pytest.mark.parametrize("setting", ['"max_tokens": "9"', '"temprature": 0', '"base_url": "ftp://x"', '"headers": 3'])
def test_settings_that_make_no_sense_are_told_with_the_file_that_holds_them(folder: Path, setting: str) -> None:
    (folder / "k.py").write_text(
        f'SCORER_ID = "k"\nPARAMS = {{"model": "m", {setting}}}\n'
        "def prompt(output):\n    return output\n\n\ndef parse(reply):\n    return None\n",
        "utf-8",
    )
    with (
        load_judge_scorer("k.py", root=folder, environ={}) as judge,
        pytest.raises(SourceError, match="PARAMS") as told,
    ):
        judge.check()
    assert told.value.source == str(folder / "k.py")


@pytest.mark.parametrize("name", ["output_words", "judge_unparsed", "judge_cost_usd", "cost_usd", "_x", "total_x"])
def test_names_that_a_judge_may_not_give_are_told_with_its_file(folder: Path, name: str) -> None:
    text = (folder / "j.py").read_text("utf-8").replace('"grade"', f'"{name}"')
    (folder / "j.py").write_text(text, "utf-8")
    with load_judge_scorer("j.py", root=folder, environ={}) as judge, pytest.raises(SourceError, match=name) as told:
        judge.read("1", "i", frozenset())
    assert told.value.source == str(folder / "j.py")


def test_a_reply_without_metrics_is_unreadable_and_odd_ones_are_refused(folder: Path) -> None:
    with load_judge_scorer("j.py", root=folder, environ={}) as judge:
        assert judge.read("", "i", frozenset()) is None
        assert judge.read("0.5", "i", frozenset()) == {"grade": 0.5}
        for reply, said in (("nan", "finite"), ("x", "parse failed: ValueError")):
            with pytest.raises(Exception, match=said):
                judge.read(reply, "i", frozenset())
        with pytest.raises(SourceError, match="rename"):
            judge.read("1", "i", frozenset({"grade"}))


def test_money_is_the_bill_else_the_prices_else_unknown(folder: Path) -> None:
    from evh.harness.result import Result

    def cost(result: Result) -> float | None:
        with load_judge_scorer("j.py", root=folder, environ={}) as judge:
            assert isinstance(judge, JudgeScorer)
            return judge.cost(result)

    assert cost(Result("", cost_usd=0.5)) == 0.5
    assert cost(Result("", tokens_in=1_000_000, tokens_out=0)) is None
    text = (folder / "j.py").read_text("utf-8")
    (folder / "j.py").write_text(
        text.replace('"model": "m"', '"model": "m", "usd_per_mtok_in": 2, "usd_per_mtok_out": 4'), "utf-8"
    )
    assert cost(Result("", tokens_in=1_000_000, tokens_out=500_000)) == 4.0
    assert cost(Result("", tokens_in=1_000_000)) is None
