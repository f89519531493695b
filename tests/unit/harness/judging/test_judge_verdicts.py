"""The replies of a judging pass on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from evh.errors import SourceError
from evh.harness.judging.verdicts import About, Verdict, Verdicts, holds_replies

ASKED = About("j", "a" * 64, "b" * 64, "c" * 64)


@pytest.mark.parametrize("reply", ["half \ud83d a pair", "\udc00", "\u2028\u2029\x85\x00\r\n", "\ufeff", "", "é😀"])
def test_any_reply_is_read_as_it_came(tmp_path: Path, reply: str) -> None:
    with Verdicts(tmp_path / "w", ASKED) as verdicts:
        verdicts.add(Verdict("i\udc80", reply, 0.5, "m", {"id": reply}))
        verdicts.add(Verdict("j", "after"))
        assert [each.reply for each in verdicts] == [reply, "after"]
    with Verdicts(tmp_path / "w", ASKED) as verdicts:
        [one, _] = verdicts
    assert one == Verdict("i\udc80", reply, 0.5, "m", {"id": reply})


@pytest.mark.parametrize(
    ("about", "said"),
    [
        (About("j", "x" * 64, "b" * 64, "c" * 64), "another prompt, model or setting"),
        (About("j", "a" * 64, "x" * 64, "c" * 64), "about other rows"),
        (About("j", "a" * 64, "b" * 64, "x" * 64), "with other references"),
    ],
)
def test_replies_to_something_else_are_not_taken_up_and_a_folder_without_any_is(
    tmp_path: Path, about: About, said: str
) -> None:
    folder = tmp_path / "w"
    with Verdicts(folder, about):
        pass
    assert not holds_replies(folder)
    with Verdicts(folder, ASKED) as verdicts:
        verdicts.add(Verdict("i", "r"))
    assert holds_replies(folder)
    with pytest.raises(SourceError, match=said):
        Verdicts(folder, about)
    with Verdicts(folder, ASKED) as verdicts:
        assert [each.item_id for each in verdicts] == ["i"]


def test_replies_of_which_nobody_knows_what_they_answer_are_refused(tmp_path: Path) -> None:
    with Verdicts(tmp_path / "w", ASKED) as verdicts:
        verdicts.add(Verdict("i", "r"))
    (tmp_path / "w" / "judge.json").unlink()
    with pytest.raises(SourceError, match=r"judge\.json"):
        Verdicts(tmp_path / "w", ASKED)
