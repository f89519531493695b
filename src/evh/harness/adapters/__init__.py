"""Adapters: how the harness calls a system and scores what it wrote. `docs/adapters.md` is the contract for users.

Promise: one interface, `Adapter`, whatever is behind it: a Python file, a command, a chat endpoint.
`call_chat` and `call_command` are the last two as functions, for a Python file to use.
"""

from __future__ import annotations

from evh.harness.adapters.adapter import Adapter
from evh.harness.adapters.chat import call_chat
from evh.harness.adapters.command import call_command
from evh.harness.adapters.errors import AdapterError, Stopped
from evh.harness.adapters.load import load_adapter

__all__ = ["Adapter", "AdapterError", "Stopped", "call_chat", "call_command", "load_adapter"]
