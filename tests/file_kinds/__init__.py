"""Small files of every kind that digram reads, how each is read, and what else tells what it says.

A kind whose files carry a checksum or a digest is `sealed`: a damaged one is refused, or it is read
as what was written, for not every byte counts. Of the others a reader that shares no code with
digram's tells what the bytes say now (`says`); where there is none, what is read has to hold
together, which `read` looks at itself.
"""

from __future__ import annotations

from file_kinds.counts import counts
from file_kinds.kind import Kind, put
from file_kinds.runs import runs
from file_kinds.sources import sources
from file_kinds.tables import tables
from file_kinds.token_files import token_files
from file_kinds.tokenizers import tokenizers

__all__ = ["Kind", "all_kinds", "put"]


def all_kinds() -> dict[str, Kind]:
    """Every kind by its name."""
    found = [*tokenizers(), *counts(), *sources(), *tables(), *token_files(), *runs()]
    return {kind.name: kind for kind in found}
