"""The merges on the page: explanations of texts, replays of training, and merge trees."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from digram.analysis.explain.explanation import Explanation, explain
from digram.analysis.explain.frames import replay
from digram.analysis.explain.tree import merge_tree
from digram.errors import LimitExceededError, OptionError
from digram.vocab.bpe import require_ranked

if TYPE_CHECKING:
    from digram.analysis.explain.symbols import Symbols
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["MOST_BYTES", "MOST_NODES", "MOST_STEPPED", "Seeing"]

MOST_BYTES = 4096
"""The maximum size of a text to explain or replay, in bytes."""

MOST_STEPPED = 256
"""The maximum size of a pretoken whose steps are shown, in bytes; they grow with its square."""

MOST_NODES = 2000
"""The maximum number of nodes of a tree; a token of 1,000 bytes has fewer."""


class Seeing:
    """Look-ups in one tokenizer, built once.

    >>> import digram
    >>> from digram.analysis.explain.symbols import Symbols
    >>> tok = digram.train("low low lower", max_merges=3)
    >>> seeing = Seeing(tok, Symbols(tok))
    >>> [one] = seeing.explained("slow", "text")["pretokens"]
    >>> one["size"], one["ids"], one["steps"]
    (4, [115, 257], 2)
    >>> [step["rank"] for step in seeing.steps("slow", "text", 0)["steps"]]
    [0, 1]
    >>> [frame["rank"] for frame in seeing.replayed("slow")["frames"]]
    [0, 1]
    >>> [(node["level"], node["hex"]) for node in seeing.nodes(256)]
    [(0, '6c6f'), (1, '6c'), (1, '6f')]

    Raises `LimitExceededError` for a text of more than 4,096 bytes, for the steps of a pretoken of
    more than 256 bytes, and for a tree of more than 2,000 nodes; otherwise what the tokenizer
    raises.
    """

    def __init__(self, tok: Tokenizer, symbols: Symbols) -> None:
        self._tok = tok
        self._symbols = symbols

    def explained(self, text: str, special: Any) -> dict[str, Any]:
        """The pretokens of a text: the offset of each, why it was cut out, its number of steps."""
        found = self._explained(text, special)
        return {
            "pretokenizer": found.pretokenizer,
            "most_stepped": MOST_STEPPED,
            "pretokens": [
                {
                    "start": one.start,
                    "size": len(one.pretoken),
                    "how": one.how,
                    "cut": one.cut.to_dict(),
                    "steps": len(one.steps),
                    "ids": one.ids,
                    "tokens": [token.hex() for token in one.tokens],
                }
                for one in found.pretokens
            ],
        }

    def steps(self, text: str, special: Any, number: int) -> dict[str, Any]:
        """The merges of one pretoken, by its number from 0."""
        pretokens = self._explained(text, special).pretokens
        if not 0 <= number < len(pretokens):
            raise OptionError(
                f"there is no pretoken {number} (0..{len(pretokens) - 1}).", value=number
            )
        one = pretokens[number]
        if len(one.pretoken) > MOST_STEPPED:
            raise LimitExceededError(
                f"this pretoken has {len(one.pretoken):,} bytes, and its steps are shown up to "
                f"{MOST_STEPPED}.",
                value=len(one.pretoken),
                hint="Use `digram explain`.",
            )
        return one.to_dict()

    def replayed(self, text: str) -> dict[str, Any]:
        """A replay of training on a text: all frames."""
        _check(text)
        return replay(self._tok, text, symbols=self._symbols).to_dict()

    def nodes(self, id: int) -> list[dict[str, Any]]:
        """The merge tree of a token: each node before its parts, with its level."""
        found = merge_tree(self._tok, id, symbols=self._symbols)
        if sum(1 for _ in islice(found.walk(), MOST_NODES + 1)) > MOST_NODES:
            raise LimitExceededError(
                f"the merge tree of token {id} has more than {MOST_NODES:,} nodes.",
                value=id,
                hint="Look at one of the tokens that it is merged from.",
            )
        nodes: list[dict[str, Any]] = found.to_dict()["nodes"]
        return nodes

    def _explained(self, text: str, special: Any) -> Explanation:
        _check(text)
        require_ranked(self._tok._settings.kernel, "this view")
        return explain(self._tok, text, special=special, symbols=self._symbols)


def _check(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))  # encoding reports lone surrogates
    if size > MOST_BYTES:
        raise LimitExceededError(
            f"this text has {size:,} bytes, and this view takes up to {MOST_BYTES:,}.",
            value=size,
            hint="Take a part of it; for longer ones there are `digram explain` and "
            "`digram replay`.",
        )
