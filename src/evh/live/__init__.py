"""A run held open: every record on disk first, uploaded from there exactly once.

    import evh
    with evh.open_run(name="gsm8k-qwen3", environments=["gsm8k"], model="Qwen/Qwen3-8B") as run:
        run.log_episodes([episode])

Names are loaded on first use; nothing here needs an extra until a run goes online.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evh.live.config_upload import upload_view as upload_view
    from evh.live.joining import join_run as join_run
    from evh.live.losses import Lost as Lost
    from evh.live.opening import open_run as open_run
    from evh.live.run import LiveRun as LiveRun
    from evh.live.uploading import Progress as Progress

_HOMES = {
    "LiveRun": "evh.live.run",
    "Lost": "evh.live.losses",
    "Progress": "evh.live.uploading",
    "join_run": "evh.live.joining",
    "open_run": "evh.live.opening",
    "upload_view": "evh.live.config_upload",
}

__all__ = ["LiveRun", "Lost", "Progress", "join_run", "open_run", "upload_view"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        home = _HOMES.get(name)
        if home is None:
            raise AttributeError(f"module 'evh.live' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(home), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
