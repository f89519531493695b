"""Imports: a measured run made out of what another tool wrote. `docs/import.md` is the page for users.

Promise: `import_run` makes a whole run directory or none, and says in `imported.lossy` what did not fit.
"""

from __future__ import annotations

from evh.harness.importing.imported import Imported, import_run
from evh.harness.importing.source import KINDS, Kind

__all__ = ["KINDS", "Imported", "Kind", "import_run"]
