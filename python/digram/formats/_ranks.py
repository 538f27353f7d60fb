"""Files without merges, in which the ranks of tokens determine them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram import _core
from digram.errors import VocabError
from digram.formats._show import show

if TYPE_CHECKING:
    from digram.vocab.bpe import BpeModel

__all__ = ["RANKS", "check_ranks"]

RANKS = "In such a file the parts of a token have lower ranks than the token."


def check_ranks(tokens: list[bytes | None], model: BpeModel, what: str) -> None:
    """Raises `VocabError` for merges that do not follow from the ranks."""
    merges = model.merges
    before = -1
    for rank, (left, right, made) in enumerate(merges):
        if made <= before or made < max(left, right):
            than = f"that of merge {rank - 1}" if made <= before else "one of its parts"
            raise VocabError(
                f"in {what} ids are in the order of merges, but merge {rank} makes "
                f"{show(tokens[made])} with id {made}, which is not above {than}.",
                value=made,
                hint='Save it with format="huggingface".',
            )
        before = made
    implied = _core.Model.from_ranks(_core.Ranks(tokens))
    found, unreachable = implied.merges(), implied.unmade()
    if unreachable and not model.ignore_merges:
        raise VocabError(
            f"no merge makes token {unreachable[0]}, {show(tokens[unreachable[0]])}, but readers "
            f"of {what} would use it for a pretoken with these bytes.",
            value=unreachable[0],
            hint='Save it with format="huggingface".',
        )
    wrong = sorted(set(found) ^ set(merges), key=lambda merge: merge[2])
    if wrong:
        made = wrong[0][2]
        raise VocabError(
            f"the merge of token {made}, {show(tokens[made])}, differs from the one that follows "
            "from the ranks.",
            value=made,
            hint='Save it with format="huggingface".',
        )
