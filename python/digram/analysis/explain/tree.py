"""The merge tree of a token: its two parts, their parts, down to bytes or characters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from digram._util.validation import instance
from digram._util.wording import said
from digram.analysis.explain.symbols import Rule, Symbols
from digram.errors import VocabError, show
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.bpe import picky, require_bpe, require_ranked

__all__ = ["Tree", "merge_tree", "token_to_id"]

Kind = Literal["merge", "byte", "character", "whole", "special"]


@dataclass(frozen=True, slots=True)
class Tree:
    """A token with the two tokens that merge into it; the result of `digram.merge_tree`.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
    >>> tree = digram.merge_tree(tok, "low")
    >>> tree.kind, tree.left.token, tree.right.token, tree.depth
    ('merge', b'lo', b'w', 2)

    `kind` is "merge" for a merge of `left` and `right`, "byte" or "character" for a base token,
    "whole" for a token that no merge makes, or "special". `rank` is the rank of the merge, and
    `count` the count of its pair in the training corpus, if known. Parts are created when you
    access them, so a tree may be as deep as its token is long.
    """

    id: int
    token: bytes
    kind: Kind
    rank: int | None
    count: int | None
    _rule: Rule | None = field(repr=False)
    _symbols: Symbols = field(repr=False, compare=False)

    @property
    def left(self) -> Tree | None:
        """The first part; None if there is no merge."""
        return None if self._rule is None else _node(self._rule.left, self._symbols)

    @property
    def right(self) -> Tree | None:
        """The second part; None if there is no merge."""
        return None if self._rule is None else _node(self._rule.right, self._symbols)

    @property
    def leaves(self) -> list[bytes]:
        """The tokens of the leaves, in order."""
        return [node.token for _, node in self.walk() if node._rule is None]

    @property
    def depth(self) -> int:
        """The number of merges above the deepest leaf."""
        return max(level for level, _ in self.walk())

    def walk(self) -> Iterator[tuple[int, Tree]]:
        """All nodes with their levels, each before its parts, the left part first."""
        waiting = [(0, self)]
        while waiting:
            level, node = waiting.pop()
            yield level, node
            if node._rule is not None:
                waiting += [
                    (level + 1, _node(node._rule.right, self._symbols)),
                    (level + 1, _node(node._rule.left, self._symbols)),
                ]

    def __str__(self) -> str:
        from digram.analysis.explain.lines.tree import tree_lines

        return "\n".join(tree_lines(self))

    def __repr__(self) -> str:
        made = "" if self._rule is None else f", rank={self.rank}, count={self.count}"
        return f"<digram.Tree: {self.token!r}, id={self.id}, kind={self.kind!r}{made}>"

    def _repr_html_(self) -> str:
        from digram.analysis.explain.pages import tree_page

        return tree_page(self)

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, ready for JSON: nodes as in `walk`, with their levels."""
        return {
            "id": self.id,
            "text": self.token.decode("utf-8", "replace"),
            "hex": self.token.hex(),
            # A flat list: the tree of a token of a thousand bytes may have a thousand levels, and
            # JSON parsers limit the depth of nesting.
            "nodes": [
                {
                    "level": level,
                    "id": node.id,
                    "hex": node.token.hex(),
                    "kind": node.kind,
                    "rank": node.rank,
                    "count": node.count,
                }
                for level, node in self.walk()
            ],
        }


def merge_tree(tok: Tokenizer, token: int | str | bytes, *, symbols: Symbols | None = None) -> Tree:
    """The merges that build a token, down to bytes or characters.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
    >>> print(digram.merge_tree(tok, " low"))
    [·low]  id 258, rank 2, count 3
    ├─ [·]  id 32
    └─ [low]  id 257, rank 1, count 4
       ├─ [lo]  id 256, rank 0, count 4
       │  ├─ [l]  id 108
       │  └─ [o]  id 111
       └─ [w]  id 119
    >>> digram.merge_tree(tok, 257).left.token, digram.merge_tree(tok, 257).leaves
    (b'lo', [b'l', b'o', b'w'])

    `token` is its id, its text or its bytes. If several merges make it, the tree shows the one that
    encodes its bytes; vocabularies that are defined by ranks (`.tiktoken`) have the merges that
    their order implies. Counts are known if the tokenizer was trained by digram. Raises
    `TokenIdError` or `VocabError` if there is no such token. Takes some 2 µs per token of the
    vocabulary.
    """
    instance("tok", tok, Tokenizer)
    if symbols is not None:
        instance("symbols", symbols, Symbols)
    kernel = require_bpe(tok._settings.kernel, "merge_tree")
    if picky(kernel) is not None:  # the parts of a token may have been dropped
        require_ranked(kernel, "merge_tree")
    return _node(token_to_id(tok, token), symbols or Symbols(tok))


def token_to_id(tok: Tokenizer, token: int | str | bytes) -> int:
    """The id of a token given by its id, its text or its bytes.

    Raises `TokenIdError` or `VocabError` if there is no such token.
    """
    if isinstance(token, bool) or not isinstance(token, int | str | bytes):
        raise TypeError(f"token must be an id, a str or bytes, not {show(token)}")
    if isinstance(token, int):
        tok.id_to_token(token)
        return token
    found = tok.token_to_id(token)
    if found is None:
        raise VocabError(
            f"{show(token)} is not a token of this vocabulary.",
            value=token,
            hint="See how it is encoded with "
            f"{said('digram.explain(tok, ...)', 'digram explain')}.{_as_id(token)}",
        )
    return found


def _node(id: int, symbols: Symbols) -> Tree:
    token = symbols.token(id)
    rule = None if id in symbols.special else symbols.making(id)
    if rule is not None:
        return Tree(id, token, "merge", rule.rank, rule.frequency, rule, symbols)
    kind: Kind = "whole"
    if id in symbols.special:
        kind = "special"
    elif symbols.is_first(id):
        kind = "byte" if symbols.unit == "byte" or symbols.is_fallback(id) else "character"
    return Tree(id, token, kind, None, None, None, symbols)


def _as_id(token: str | bytes) -> str:
    """What to do if a text of digits is meant as an id."""
    if not token.isdigit():
        return ""
    return f" If it is an id, pass {said('it as an int', '--by id')}."
