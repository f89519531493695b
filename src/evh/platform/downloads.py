"""A file in the making: its bytes go to a file beside it, which takes the name when all of them are there.

Promise: whatever fails, what stood under the name still stands there, and nothing half is left behind. A file that is
there already is replaced only with `force`, even when it came while the download ran.
When it breaks: `WriteError` with the system's words.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import IO, Self

from evh.errors import WriteError

__all__ = ["Download"]


class Download:
    """Use it in a `with`; `keep` gives the file its name, and without it nothing stays."""

    def __init__(self, path: str | PathLike[str], *, force: bool) -> None:
        self.path = Path(path)
        self._force = force
        self._file: IO[bytes] | None = None
        self._size = 0

    def __enter__(self) -> Self:
        if not self._force and os.path.lexists(self.path):
            raise self._taken()
        try:
            self._file = tempfile.NamedTemporaryFile(
                dir=self.path.parent, prefix=f".{self.path.name[:80]}-", suffix=".partial", delete=False
            )
        except OSError as error:
            raise self._failed(error) from error
        return self

    def restart(self) -> None:
        """Forget what was written: the download begins anew."""
        assert self._file is not None
        try:
            self._file.seek(0)
            self._file.truncate()
        except OSError as error:
            raise self._failed(error) from error
        self._size = 0

    def write(self, data: bytes) -> None:
        assert self._file is not None
        try:
            self._file.write(data)
        except OSError as error:
            raise self._failed(error) from error
        self._size += len(data)

    def keep(self) -> int:
        """Give the file its name, durably; gives its size."""
        assert self._file is not None
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            if self._force:
                Path(self._file.name).replace(self.path)
            else:
                self._take_free_name(Path(self._file.name))
        except FileExistsError as error:
            raise self._taken() from error
        except OSError as error:
            raise self._failed(error) from error
        return self._size

    def _take_free_name(self, made: Path) -> None:
        try:
            self.path.hardlink_to(made)
        except FileExistsError:
            raise
        except OSError:  # a file system without links: the name is taken by an empty file first
            self.path.touch(0o600, exist_ok=False)
            made.replace(self.path)

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            with suppress(OSError):
                Path(self._file.name).unlink()

    def _taken(self) -> WriteError:
        return WriteError(
            "there is a file already: give another name, or force=True to replace it", source=str(self.path)
        )

    def _failed(self, error: OSError) -> WriteError:
        return WriteError(f"the download was not written: {error.strerror or error}", source=str(self.path))
