"""`python -m evh`: the command line."""

from __future__ import annotations

import sys

from evh.cli import main

if __name__ == "__main__":
    sys.exit(main())
