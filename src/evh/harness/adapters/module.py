"""A Python file as a module of its own.

Promise: the module is exactly the bytes whose digest is recorded. Its name depends on the file's whole path, so two
files called `adapter.py` live side by side. While it loads, its folder is importable for helper modules, which belong
to this adapter alone: another adapter with a `helpers.py` gets its own. Whatever goes wrong is a `SourceError` with
file and line.
Policy: the name of the module. Helpers are imported at the top of the adapter's file: later its folder is not on the
path. A helper never takes the place of a module of the standard library.
When it breaks: no adapter loads.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from evh.errors import SourceError, cut

__all__ = ["load_module", "short"]

SHOWN = 300


def load_module(path: Path) -> tuple[ModuleType, str]:
    """The module that a file makes, and the SHA-256 of its bytes. Raises SourceError when it can't be loaded."""
    try:
        path = path.resolve()
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"the adapter cannot be read: {error.strerror or error}", source=str(path)) from None
    try:
        code = compile(data, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise SourceError(f"the adapter is not Python: {error.msg}", source=str(path), line=error.lineno) from None
    except ValueError as error:
        raise SourceError(f"the adapter is not Python: {error}", source=str(path)) from None
    module = ModuleType("evh_adapter_" + hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16])
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle look their module up there
    try:
        with _own_helpers(path.parent):
            exec(code, module.__dict__)
    except (Exception, SystemExit) as error:
        sys.modules.pop(module.__name__, None)
        raise _failure(error, path) from error
    return module, hashlib.sha256(data).hexdigest()


@contextlib.contextmanager
def _own_helpers(folder: Path) -> Iterator[None]:
    """The folder importable, with modules of the names it holds set apart from everybody else's."""
    own = {each.stem for each in folder.iterdir() if each.suffix == ".py" or (each / "__init__.py").is_file()}
    own -= {*sys.stdlib_module_names, "evh"}

    def loaded() -> dict[str, ModuleType]:
        return {name: module for name, module in sys.modules.items() if name.partition(".")[0] in own}

    others = loaded()
    for name in others:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # the adapter may have changed the path itself
            sys.path.remove(str(folder))
        for name in loaded():
            del sys.modules[name]
        sys.modules.update(others)


def _failure(error: BaseException, path: Path) -> SourceError:
    """What the user needs to know of an import that failed: what, and in which line of their file."""
    if isinstance(error, SyntaxError) and error.filename:
        return SourceError(
            f"imported by the adapter, is not Python: {error.msg}", source=error.filename, line=error.lineno
        )
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), None)
    return SourceError(f"the adapter cannot be imported: {short(error)}", source=str(path), line=line)


def short(error: BaseException, limit: int = SHOWN) -> str:
    """`Type: text` of an exception that is not ours, cut short."""
    text = " ".join(str(error).split())
    shown = text if len(text) <= limit else cut(text, limit).strip("'\"")
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__
