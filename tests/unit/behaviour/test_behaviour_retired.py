"""What left the Trace says where it went."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.mark.parametrize("name", ["run", "record_run"])
def test_a_member_that_moved_to_the_episode_says_so(make: Any, name: str) -> None:
    with pytest.raises(AttributeError, match=f"Episode.{name}"):
        getattr(make.trace(), name)
    assert not hasattr(make.trace(), name)
