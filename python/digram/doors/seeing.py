"""What a tokenizer does with text, to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from digram.special import OnSpecial

if TYPE_CHECKING:
    from digram.seeing import Explanation, Places, Replay, Tree
    from digram.sources import Source
    from digram.tokenizer import Tokenizer

__all__ = ["Seeing"]


class Seeing:
    """The part of a tokenizer that shows what it does and why."""

    __slots__ = ()

    def show(
        self,
        text: str | bytes,
        *,
        ids: bool = False,
        color: bool | None = None,
        special: OnSpecial = "text",
    ) -> None:
        r"""Print the tokens of a text: neighbours in different colours, or in brackets.

        >>> import digram
        >>> tok = digram.train("low lower lowest", max_merges=3, pretokenizer="gpt2")
        >>> tok.show("low é", ids=True)
        [low] [·] [⟨C3…⟩] [⟨…A9=é⟩]
        257   32  195     169

        With `ids` each id stands below its token, in lines as wide as the terminal. White space
        and what cannot be seen have signs, and a character that is spread over several tokens shows
        in each which bytes of it these are (docs/seeing.md). `color` is for a terminal that is not
        known as one, or against colours; by default they are used on a terminal, unless `NO_COLOR`
        is set. Raises as `encode`.
        """
        import shutil
        import sys

        from digram.terminal import shown, use_color

        tok = cast("Tokenizer", self)
        found = tok.encode(text, special=special)
        sys.stdout.writelines(
            shown(
                tok.tokens(found),
                found if ids else None,
                color=use_color(sys.stdout) if color is None else color,
                width=shutil.get_terminal_size().columns,
            )
        )

    def explain(self, text: str | bytes, *, special: OnSpecial = "text") -> Explanation:
        r"""Why a text becomes its tokens: where it is cut, and each merge in the order of applying.

        >>> import digram
        >>> tok = digram.train("low low lower lowest newer", max_merges=5, pretokenizer="gpt2")
        >>> print(tok.explain(" lower"))
        6 bytes, 1 pretoken, 2 tokens
        <BLANKLINE>
        [·lower]  bytes 0 to 5, cut out by part 8 of gpt2
          [·][l][o][w][e][r]
            rank 0, count 4: [l] + [o]; not yet rank 3 [e] + [r]
          [·][lo][w][e][r]
            rank 1, count 4: [lo] + [w]; not yet rank 3 [e] + [r]
          [·][low][e][r]
            rank 2, count 3: [·] + [low]; not yet rank 3 [e] + [r]
          [·low][e][r]
            rank 3, count 2: [e] + [r]
          [·low][er] 258 259
            No two neighbours are left that have a merge.
        <BLANKLINE>
        part 8 of gpt2   ?\p{L}+
        >>> step = tok.explain("lower").pretokens[0].steps[0]
        >>> step.merge.token, step.merge.rank, step.merge.count, step.after
        (b'lo', 0, 4, [b'lo', b'w', b'e', b'r'])

        Each step has the merges that could have been applied (`candidates`), of which the one of
        the lowest rank was, at the leftmost of its places; and the tokens before and after. The
        last tokens are what `encode` gives. What is not merged says so: special tokens (`special`
        as for `encode`), and pretokens that a vocabulary takes whole (`ignore_merges`).

        Raises as `encode`. Takes some 1.5 µs for each token of the vocabulary, and time in
        proportion to n log n for a pretoken of n bytes; printing shows the first steps of each.
        """
        from digram.seeing import explain

        return explain(cast("Tokenizer", self), text, special=special)

    def replay(self, text: str | bytes, *, pairs: int = 8, special: OnSpecial = "text") -> Replay:
        """Play training again on a text: merge by merge, with what each does to it.

        >>> import digram
        >>> text = "low low lower lowest"
        >>> tok = digram.train(text, max_merges=3, pretokenizer="gpt2", runners_up=1)
        >>> found = tok.replay(text)
        >>> frame = found.frames[1]
        >>> frame.merge.token, frame.merge.count, frame.merge.runners_up
        (b'low', 4, (RunnerUp(left=b' ', right=b'lo', count=3),))
        >>> frame.count, frame.pairs[1], frame.vocab_size
        (4, PairCount(left=b' ', right=b'lo', count=3, rank=None), 258)
        >>> found.tokens(1)[:4], found.tokens() == tok.tokens(tok.encode(text))
        ([b'low', b' ', b'low', b' '], True)

        The frames are the merges that the text has a place for, in the order in which they were
        learned. Each has its count in the training corpus and what came next there, from the
        record of training (`train(runners_up=...)` keeps what came next), and beside them the
        `pairs` most frequent pairs of this text at that moment. After a frame the text stands as
        the smaller tokenizer with the merges so far would encode it (`shrink`), for vocabularies
        from elsewhere too. Special tokens and pretokens that are taken whole stay as they are.

        Raises as `encode`. Meant for texts that one reads: time grows with the frames and with the
        different pairs of the text; some 1.5 µs more for each token of the vocabulary.
        """
        from digram.seeing import replay

        return replay(cast("Tokenizer", self), text, pairs=pairs, special=special)

    def tree(self, token: int | str | bytes) -> Tree:
        """What a token was merged of, down to bytes or characters.

        >>> import digram
        >>> tok = digram.train("low low lower lowest", max_merges=4, pretokenizer="gpt2")
        >>> print(tok.tree(" low"))
        [·low]  id 258, rank 2, count 3
        ├─ [·]  id 32
        └─ [low]  id 257, rank 1, count 4
           ├─ [lo]  id 256, rank 0, count 4
           │  ├─ [l]  id 108
           │  └─ [o]  id 111
           └─ [w]  id 119
        >>> tok.tree(257).left.token, tok.tree(257).leaves
        (b'lo', [b'l', b'o', b'w'])

        `token` is its id, its text or its bytes. Where several merges make it, the tree has the one
        that its bytes are encoded by; vocabularies that are told by ranks (`.tiktoken`) have the
        merges that their order implies. Counts are there where the tokenizer was trained here.
        Raises `TokenIdError` or `VocabError` for what is no token. Takes some 2 µs for each token
        of the vocabulary.
        """
        from digram.seeing import tree

        return tree(cast("Tokenizer", self), token)

    def where(
        self,
        token: int | str | bytes,
        source: Source,
        *,
        samples: int = 10,
        separator: str | bytes | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Places:
        """Where a token stands in a corpus: in which words, how often, and in what context.

        >>> import digram
        >>> texts = ["low low lower lowest", "the lowlands are low"]
        >>> tok = digram.train(texts, max_merges=3, pretokenizer="gpt2")
        >>> found = tok.where(" low", texts)
        >>> found.times, found.words[:2]
        (5, [Word(word=b' low', count=2, times=1), Word(word=b' lower', count=1, times=1)])
        >>> found.samples[0].before, found.samples[0].after, found.samples[0].document
        (b'low', b' lower lowest', 0)

        What comes in is what `digram.train` takes: texts, files, or an iterator of texts; each text
        is a document, and `separator` cuts them. `words` are the pretokens that have the token
        among theirs when they are encoded: a token of which all words are merged further stands
        nowhere. `samples` are at most so many places, in as many different words as can be, the
        most frequent first as far as was read; they tell the file, the record and the byte.
        Memory: 8 MiB of text or the longest part that cannot be cut, and up to 65,536 words (see
        `Places.missed`).

        Raises `TokenIdError` or `VocabError` for what is no token, `OptionError` for a special one,
        else as `encode`. Takes little more time than counting pretokens does.
        """
        from digram.seeing import where

        return where(
            cast("Tokenizer", self),
            token,
            source,
            samples=samples,
            separator=separator,
            threads=threads,
            progress=progress,
        )
