"""A writer to be killed: appends rows for ever and tells of each acknowledged one through standard output.

Arguments: the file, the fsync policy, the number of its first row.
"""

from __future__ import annotations

import itertools
import os
import sys

from evh.store import Journal


def main() -> None:
    path, policy, first = sys.argv[1:]
    journal = Journal(path, fsync=policy)  # type: ignore[arg-type]
    for number in itertools.count(int(first)):
        journal.append(b'{"n":%d,"text":"%s"}' % (number, b"x" * (number % 7 * 1000)))
        os.write(1, b"%d\n" % number)


if __name__ == "__main__":
    main()
