"""What listings of traces and episodes share: their parameters, and the words of an order."""

from __future__ import annotations

from evh.server.interfaces import Order
from evh.server.parameters import Param

__all__ = ["CREATED", "EPISODE_FILTERS", "MOST", "ORDERS", "PAGING", "SORT", "STEPS", "TRACE_FILTERS"]

MOST = 100
ORDERS: tuple[Order, ...] = ("-created_at", "created_at", "-ingested_at", "ingested_at")
SORT = Param("sort", choices=ORDERS, about="Newest (-) or oldest first, by creation or arrival.")
PAGING = (
    Param("limit", "integer", least=1, most=MOST, about="Items of a page at most; 50 without it."),
    Param("cursor", about="`next_cursor` of the page before; with the same filters only."),
)
CREATED = (
    Param("created_after", "instant", "created_us", "ge", about="Not before this time."),
    Param("created_before", "instant", "created_us", "le", about="Not after this time."),
)
STEPS = (
    Param("run_step", "integer", "step", about="Training step."),
    Param("step_min", "integer", "step", "ge", about="First training step."),
    Param("step_max", "integer", "step", "le", about="Last training step."),
)
TRACE_FILTERS = (
    Param("run_id", field="run_id"),
    Param("environment_id", field="environment_id"),
    Param("model_id", field="model_id"),
    Param("model_provider", field="model_provider"),
    Param("task_id", field="task_id"),
    Param("reward_min", "number", "reward", "ge"),
    Param("reward_max", "number", "reward", "le"),
    Param("outcome", field="outcome"),
    Param("has_error", "flag", "has_error"),
    Param("is_truncated", "flag", "is_truncated"),
    *CREATED,
)
EPISODE_FILTERS = (
    Param("run_id", field="run_id"),
    Param("upload_id", field="upload_id", op="in", many=True),
    Param("environment_id", field="environment_id"),
    Param("outcome", field="outcome"),
    Param("has_error", "flag", "has_error"),
    *STEPS,
    *CREATED,
)
