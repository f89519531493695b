"""What differs between two versions of the schemas, and whom each difference breaks.

    from codegen.compat import compare, released, tree
    for finding in compare(released(), tree()):
        print(finding.place, finding.breaks, finding.what, finding.why)

Promise: a difference breaks *writers* when something that was valid is so no more: a program that goes on writing as
it did is refused. It breaks *readers* when something is valid now that a reader of the old schemas cannot take: that
reader keeps members that it does not know (as every lenient reader here does) and refuses everything else that its
schema refuses; and when a member that is left out means another value than it did. Everything else is safe. A test
makes 200 edits and asks the reference validator, both ways, whether it agrees.
Policy: what is not decided counts as a break: two different patterns, of which one might admit all that the other does.
When it breaks: a release surprises its consumers, or refuses a harmless change.
"""

from __future__ import annotations

from .findings import READERS, WRITERS, Finding
from .versions import Version, at_reference, in_folder, released, tree
from .walk import compare

__all__ = ["READERS", "WRITERS", "Finding", "Version", "at_reference", "compare", "in_folder", "released", "tree"]
