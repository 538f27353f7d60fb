"""Vocabularies that become other ones: smaller, larger, for a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from digram.adapt import Change
    from digram.choices import Ties
    from digram.counts import Counts, Sources
    from digram.rules import Rules
    from digram.tokenizer import Merge, Tokenizer

__all__ = ["Changing"]


class Changing:
    """The part of a tokenizer that makes others of it."""

    __slots__ = ()

    def shrink(self, vocab_size: int) -> Tokenizer:
        """The tokenizer that training to a smaller size would have given; this one stays as it is.

        >>> import digram
        >>> text = "low low lower lowest"
        >>> tok = digram.train(text, vocab_size=264, special_tokens=["<|end|>"])
        >>> small = tok.shrink(260)
        >>> small == digram.train(text, vocab_size=260, special_tokens=["<|end|>"])
        True
        >>> small.merges == tok.merges[:3], small.special_tokens
        (True, {'<|end|>': 259})

        So one run gives every smaller vocabulary. The last tokens that merges make go away, and
        what has higher ids (special tokens, reserved blocks) moves down by as many, gaps kept. The
        record of training says what that of the smaller run would say, so the saved bytes are the
        same too; where the size was padded, the smaller one is padded to the same multiple.

        Loaded vocabularies can be shrunk where ids follow the order of merges, as in
        `.tiktoken` files. Raises `VocabError` where they do not, and where training in two stages
        (`superwords="two-stage"`) would have learned fewer words for the smaller size;
        `OptionError` for a size that is larger than this one's (before padding) or leaves no merge.
        Linear in the vocabulary.
        """
        from digram.sizes import shrunk

        tok = cast("Tokenizer", self)
        return type(tok)(shrunk(tok.definition, vocab_size))

    def extend(
        self,
        source: Sources | Counts,
        *,
        add: int,
        min_frequency: int = 1,
        max_token_length: int | None = None,
        whole_characters: bool | None = None,
        ties: Ties = "ids",
        separator: str | bytes | None = None,
        weights: Mapping[str, Any] | None = None,
        threads: int | None = None,
        memory_limit: int | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
        runners_up: int = 0,
        on_merge: Callable[[Merge], object] | None = None,
        progress: bool | None = None,
    ) -> tuple[Tokenizer, Change]:
        """Learn the next merges on another corpus; every token and every merge stays as it is.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
        >>> tok, change = tok.extend("slowly slower slow", add=2)
        >>> print(change)
        259 ids became 261, 2 tokens added, 0 removed
        >>> [(merge.left, merge.right) for merge in tok.merge_log[-2:]]
        [(b's', b'low'), (b' ', b'slow')]

        This is continued BPE: the corpus is split as this tokenizer splits it, and merging goes on
        from there, with new ids after the highest one. So what a text becomes afterwards is what
        it became before, with some neighbours joined, and no new token is unreachable, as tokens
        are that are only appended to a list. A merge that would make the bytes of a token that
        there is already is passed over. Ids that pad the size (`pad_to_multiple`) are used first,
        and the new size is padded again. `add` is how many tokens at most; fewer where no pair is
        left that occurs `min_frequency` times. `whole_characters` is as this tokenizer was trained
        where it is not given. The other arguments are those of `digram.train`.

        Works for published vocabularies too, and where rank and id are the same, as in `.tiktoken`
        files, they stay the same. Returns the new tokenizer, and a `Change` that says what became
        of the ids and how a model's embeddings begin. Raises what `train` raises, and what
        `encode` raises for text that this tokenizer has no tokens for. Cost: training on the
        corpus, and encoding its distinct pretokens.
        """
        from digram.adapt import extend

        return extend(
            cast("Tokenizer", self),
            source,
            add=add,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            whole_characters=whole_characters,
            ties=ties,
            separator=separator,
            weights=weights,
            threads=threads,
            memory_limit=memory_limit,
            checkpoint=checkpoint,
            runners_up=runners_up,
            on_merge=on_merge,
            progress=progress,
        )

    def prune(
        self,
        source: Sources | Counts,
        *,
        remove: int | None = None,
        vocab_size: int | None = None,
        keep: Iterable[str | bytes | int] = (),
        compact: bool = True,
        separator: str | bytes | None = None,
        threads: int | None = None,
    ) -> tuple[Tokenizer, Change]:
        """Take away the tokens that a corpus needs least.

        >>> import digram
        >>> tok = digram.train("low low low lower lowest slow", vocab_size=262)
        >>> small, change = tok.prune("low lower", remove=3)
        >>> tok.tokens(change.removed)
        [b' lowe', b' s', b'st']
        >>> small.count("low lower"), tok.count("low lower")
        (4, 3)

            source: text as for `evaluate`, or counts made with this pretokenizer.
            remove, vocab_size: how many tokens go, or how many ids there are to be. One of them.
            keep: tokens, or their ids, that stay whatever they are used for.
            compact: whether ids above close up; otherwise what goes leaves holes, and every other
                token keeps its id.

        Only leaves go, of which nothing else is made, so every token that stays can still be
        reached: one after the other the least used, whose uses become those of its parts; of equals
        the last learned. Single symbols and special tokens stay. What is used is counted once,
        under this tokenizer; a text whose token went may be cut at other places nearby, so measure
        the outcome (`change.compare`). Raises `OptionError` where not so many can go. Cost:
        encoding the corpus, and some µs a token.
        """
        from digram.adapt import prune

        return prune(
            cast("Tokenizer", self),
            source,
            remove=remove,
            vocab_size=vocab_size,
            keep=keep,
            compact=compact,
            separator=separator,
            threads=threads,
        )

    def swap(
        self,
        source: Sources | Counts,
        number: int,
        *,
        keep: Iterable[str | bytes | int] = (),
        min_frequency: int = 2,
        whole_characters: bool | None = None,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> tuple[Tokenizer, Change]:
        """Put the next merges that a corpus asks for in the place of the tokens it needs least.

        >>> import digram
        >>> tok = digram.train("the cat sat on the mat with the hat", vocab_size=268)
        >>> notes = "fever, chills, fever and chills"
        >>> after, change = tok.swap(notes, 6)
        >>> after.vocab_size, len(change.removed), len(change.added)
        (268, 6, 6)
        >>> tok.count(notes), after.count(notes)
        (29, 17)

        It is `prune`, then `extend`, and the new tokens take the ids of those that went, so a
        model's matrices keep their size, and rows of tokens that stay keep their place. Where the
        corpus asks for fewer tokens (`min_frequency`), ids stay free, and at the end are none. As
        the order of ids is no longer that of merges, what needs that refuses the result: `shrink`,
        and `.tiktoken` files. The corpus is counted once. The arguments are those of `prune` and
        `extend`.
        """
        from digram.adapt import swap

        return swap(
            cast("Tokenizer", self),
            source,
            number,
            keep=keep,
            min_frequency=min_frequency,
            whole_characters=whole_characters,
            separator=separator,
            threads=threads,
            progress=progress,
        )

    def merge(self, other: Tokenizer, *, add: int | None = None) -> tuple[Tokenizer, Change]:
        """Add the tokens of another tokenizer that this one does not have.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", max_merges=4)
        >>> both, change = tok.merge(digram.train("slow slow slower", max_merges=4))
        >>> both.tokens(change.added)
        [b'slo', b'slow', b' slow']

        They come in the order in which the other one learned them, at most `add` of them, each by
        one merge more at the end, so that old ids, old merges and old encodings stay as by
        `extend`. A token that no single merge makes of what this tokenizer has by then, or that
        its pretokenizer cuts, would be unreachable, and is left out, as is one that its rules
        forbid. The pretokenizer and the special tokens are this one's. Raises
        `ConfigMismatchError` for another unit. `extend` learns the better tokens wherever there is
        a text to learn from. Takes some µs for each token of the other.
        """
        from digram.adapt import merge

        return merge(cast("Tokenizer", self), other, add=add)

    def with_rules(self, rules: Rules | None) -> tuple[Tokenizer, Change]:
        """A tokenizer of the same tokens that obeys rules; this one stays as it is.

        >>> import digram
        >>> tok = digram.train("a dose of 5 mg", vocab_size=260, pretokenizer="gpt2")
        >>> ruled, change = tok.with_rules(digram.Rules(["metformin"], units=["mg"]))
        >>> ruled.tokens(change.added)
        [b'metformin', b' metformin', b'mg', b' mg']
        >>> ruled.tokens(ruled.encode("metformin 5mg 5-mg"))
        [b'metformin', b' 5', b'mg', b' 5', b'-', b'mg']

        Terms and units that are no tokens yet take new ids after the highest one; text is cut by
        the rules first, and a pretoken that is a token becomes it. So old ids keep their meaning,
        and a text becomes other ids where rules cut it, and where a whole pretoken is a token that
        no merge makes. Rules that it had are replaced, their tokens stay; None takes them away.
        What is to be forbidden is obeyed by `extend` from here on, while tokens that are there
        stay, and `prefer` is for training. `extend`, `prune` and `shrink` keep the tokens of rules.

        Works for published vocabularies too. Returns the new tokenizer and a `Change`. Raises
        `OptionError` for unit "char".
        """
        from digram.adapt import with_rules

        return with_rules(cast("Tokenizer", self), rules)
