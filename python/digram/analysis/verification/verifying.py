"""`digram.verify`: compare two tokenizers on a corpus and on generated texts."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from digram._util.progress import progress as progress_bar
from digram._util.validation import check_threads, flag, whole_number, word
from digram.analysis.verification.comparing import Difference, Pair, Texts, batches, size_of
from digram.analysis.verification.generator import TextGenerator
from digram.analysis.verification.own import OwnSide
from digram.analysis.verification.peers import side_of
from digram.analysis.verification.shrinking import Shrinker
from digram.analysis.verification.sides import FACTS, Mode, Side, tokens_of
from digram.analysis.verification.value import Counterexample, Verification
from digram.corpus import Corpus, CorpusLike
from digram.errors import OptionError, show
from digram.tokenizer.load import load
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["verify"]

_SHRINKING = 30.0  # seconds
_STARTS = 6  # texts from which the shortest is searched
_BYTE_SHARE = 8  # one in eight generated texts is bytes, if both sides accept bytes


def verify(
    a: Any,
    b: Any,
    corpus: CorpusLike | None = None,
    *,
    fuzz: int = 10_000,
    seed: int = 0,
    offsets: bool = True,
    names: tuple[str | None, str | None] = (None, None),
    threads: int | None = None,
    progress: bool | None = None,
) -> Verification:
    """Compare two tokenizers on texts, and find the shortest text on which they differ.

    >>> import digram
    >>> tok = digram.train("low low lower", max_merges=3, pretokenizer="gpt2")
    >>> digram.verify(tok, tok, "a low text", fuzz=1000)
    <digram.Verification: equal, 1,001 texts>
    >>> other = digram.train("low low lower", max_merges=2, pretokenizer="gpt2")
    >>> found = digram.verify(tok, other, fuzz=1000)
    >>> found.counterexample.text, found.counterexample.a.ids, found.counterexample.b.ids
    (' low', (258,), (32, 257))

        a, b: each a `Tokenizer`, the path of a file or folder that `load` reads, or an object of
            another library: `tiktoken.Encoding`, `tokenizers.Tokenizer`, a tokenizer of
            transformers, `sentencepiece.SentencePieceProcessor`.
        corpus: texts to compare on, a corpus of any kind (docs/sources.md).
        fuzz: the number of texts to generate, from the vocabularies and special tokens of both
            sides; see `digram.analysis.verification.TextGenerator`.
        seed: another seed generates other texts.
        offsets: whether the places of tokens in the text are compared.
        names: names for the report, such as the paths of files.

    Ids, offsets, decoded text and text decoded without special tokens are compared as far as both
    sides tell them; with special tokens in the texts as plain text, and once more with them parsed.
    A text that only one side refuses, by any exception, is a difference. `print(found)` shows what
    was compared and what was not, and `found.counterexample` the difference.

    The comparison ends with the first batch in which texts differ; these are then shortened for up
    to 30 s. Raises `TypeError` for an object that is no such tokenizer, `OptionError` if there is
    nothing to compare or a tokenizer is random, and the errors of `load` and of reading a corpus.
    Time: that of both libraries, and about 10 µs for each generated text. Memory: a batch of texts,
    and the vocabularies as lists.
    """
    fuzz, seed = whole_number("fuzz", fuzz, 0), whole_number("seed", seed, 0)
    offsets = flag("offsets", offsets)
    threads = check_threads(threads)
    source = None if corpus is None else Corpus.of(corpus)
    if source is None and not fuzz:
        raise OptionError(
            "there is no text to compare on.",
            hint="Pass a corpus, or fuzz=10_000 for generated texts.",
        )
    titles = _checked(names)
    sides = [_side("a", a, titles[0], threads), _side("b", b, titles[1], threads)]
    own = [side for side in sides if isinstance(side, OwnSide)]
    if own:
        for side in sides:
            side.beside_digram(
                trims=all(one.trims for one in own), by_steps=all(one.by_steps for one in own)
            )
    run = _Run(Pair(sides[0], sides[1], bool(own), offsets), offsets)
    found = None if source is None else run.over_corpus(source, progress)
    if found is None and fuzz:
        found = run.over_generated(fuzz, seed, progress)
    return run.result(found, seed)


def _lacking(what: str, a: bool, b: bool, does: str) -> Iterator[str]:
    """What is not compared since one side, or neither, does this.

    >>> [*_lacking("offsets", True, False, "tell them"), *_lacking("it", True, True, "tell it")]
    ['offsets: a does not tell them', 'it: a and b do not tell it']
    """
    if a and b:
        yield f"{what}: a and b do not {does}"
    elif a or b:
        yield f"{what}: {'a' if a else 'b'} does not {does}"


def _differing(name: str, one: Any, other: Any) -> str:
    """A setting of which the sides have different values.

    >>> _differing("eos token", "</s>", None), _differing("chat templates", {"default": "a"}, {})
    ("eos token ('</s>' and none)", 'chat templates')
    """
    values = [one, other]
    if not all(isinstance(value, str | int | None) for value in values):
        return name
    told = ["none" if value is None else show(value) for value in values]
    return f"{name} ({' and '.join(told)})"


def _checked(names: object) -> tuple[str | None, str | None]:
    if not isinstance(names, tuple | list) or len(names) != 2:
        raise TypeError(f"names are two names, each a str or None, not {show(names)}")
    for name in names:
        if name is not None:
            word("a name of names", name)
    return names[0], names[1]


def _side(label: str, value: Any, name: str | None, threads: int | None) -> Side:
    if isinstance(value, str | os.PathLike):
        name = os.fspath(value) if name is None else name
        value = load(value)
    if isinstance(value, Tokenizer):
        return OwnSide(value, name, threads)
    side = side_of(value)
    if side is None:
        raise TypeError(
            f"{label} is a digram.Tokenizer, the path of one, or a tokenizer of tiktoken, "
            f"tokenizers, transformers or sentencepiece, not {type(value).__name__}"
        )
    side.name += "" if name is None else f", {name}"
    return side


class _Run:
    """The texts compared so far, and what was left out."""

    def __init__(self, pair: Pair, offsets: bool) -> None:
        self.pair, self.offsets = pair, offsets
        self.takes_bytes = all(side.takes_bytes for side in pair.sides)
        self.texts = self.bytes = 0
        self.not_utf8 = self.surrogates = 0
        self.started = time.monotonic()

    def over_corpus(self, corpus: Corpus, progress: bool | None) -> Counterexample | None:
        """The counterexample in a corpus."""
        reading, done = corpus.batches(), 0
        with (
            progress_bar("Comparing", corpus.size, "B", progress) as advance,
            contextlib.closing(reading),
        ):
            for read in reading:
                taken = [*map(self._text, read)]
                for kind in (str, bytes):
                    texts: list[Any] = [one for one in taken if type(one) is kind]
                    found = self._compared(iter(texts), lambda _texts: None)
                    if found is not None:
                        return found
                advance(reading.done - done if reading.done else sum(map(len, read)))
                done = reading.done
        return None

    def over_generated(self, count: int, seed: int, progress: bool | None) -> Counterexample | None:
        """The counterexample in generated texts."""
        sides = self.pair.sides
        generator = TextGenerator(
            chain.from_iterable(side.special_tokens for side in sides),
            chain.from_iterable(map(tokens_of, sides)),
        )
        of_bytes = count // _BYTE_SHARE if self.takes_bytes else 0
        with progress_bar("Comparing", count, "texts", progress) as advance:
            tell = lambda texts: advance(len(texts))  # noqa: E731
            found = self._compared(generator.texts(count - of_bytes, seed), tell)
            if found is None and of_bytes:
                found = self._compared(generator.byte_texts(of_bytes, seed), tell)
        return found

    def result(self, found: Counterexample | None, seed: int) -> Verification:
        """What is to be told."""
        a, b = self.pair.sides
        return Verification(
            (a.name, b.name),
            found,
            self.texts,
            self.bytes,
            time.monotonic() - self.started,
            {mode: self.pair.facts(mode) for mode in self.pair.modes},
            tuple(self._not_compared()),
            self.pair.refused,
            seed,
        )

    def _not_compared(self) -> Iterator[str]:
        a, b = self.pair.sides
        yield from dict.fromkeys([*a.notes, *b.notes])
        if self.pair.widens and self.offsets:
            empty, other = ("a", "b") if a.puts_empty_space else ("b", "a")
            yield (
                f"the range of the space put before a text: none for {empty}, as in "
                f"SentencePiece, that of the next character for {other}"
            )
        for fact, told in FACTS.items():
            if fact == "offsets" and not self.offsets:
                yield "offsets: left out on request"
                continue
            yield from _lacking(told, fact not in a.facts, fact not in b.facts, "tell it")
        yield from _lacking(
            "bytes that are not UTF-8", not a.takes_bytes, not b.takes_bytes, "take them"
        )
        differing = [
            _differing(name, one, b.settings[name])
            for name, one in a.settings.items()
            if b.settings.get(name, one) != one
        ]
        if differing:
            yield f"settings for a model, which differ: {', '.join(differing)}"
        undecoded = dict.fromkeys(side.undecoded_kind for side in (a, b) if side.undecoded)
        amounts: Iterable[tuple[int, str]] = (
            (self.not_utf8, "texts of the corpus that are not UTF-8"),
            (self.surrogates, "texts of the corpus with lone surrogates"),
            (self.pair.left_out, f"decoded texts with {' and '.join(undecoded)}"),
        )
        yield from (f"{number:,} {what}" for number, what in amounts if number)

    def _text(self, text: str | bytes) -> str | bytes | None:
        """A text of the corpus as both sides take it; None if they do not."""
        try:
            if isinstance(text, str):
                text.encode()
                return text
            return text.decode()
        except UnicodeEncodeError:
            self.surrogates += 1
        except UnicodeDecodeError:
            if self.takes_bytes:
                return text
            self.not_utf8 += 1
        return None

    def _compared(
        self, texts: Iterator[str] | Iterator[bytes], tell: Callable[[Texts], object]
    ) -> Counterexample | None:
        for batch in batches(texts):
            for mode in self.pair.modes:
                found = self.pair.differences(batch, mode, count=True)
                if found:
                    return self._shortest(batch, found, mode)
            self.texts += len(batch)
            self.bytes += size_of(batch)
            tell(batch)
        return None

    def _shortest(self, batch: Texts, found: list[Difference], mode: Mode) -> Counterexample:
        """The shortest text that differs, from those of a batch."""
        pair = self.pair
        pair.check_steadiness(batch, mode)
        self.texts += found[0].index + 1
        self.bytes += size_of(batch[: found[0].index + 1])

        def differing(texts: list[Any]) -> list[int]:
            return [each.index for each in pair.differences(texts, mode)]

        starts = sorted(found, key=lambda each: len(batch[each.index]))[:_STARTS]
        texts: list[Any] = [batch[each.index] for each in starts]
        places = [self._place(batch[each.index], each, mode) for each in starts]
        shrinker = Shrinker(differing, _SHRINKING)
        text = shrinker.shortest(texts, places)
        last = pair.differences([text], mode)[0]
        one, other = pair.outcomes(text, mode)
        first = batch[found[0].index]
        return Counterexample(
            text, mode, last.what, last.place, one, other, first, shrinker.in_time
        )

    def _place(self, text: str | bytes, difference: Difference, mode: Mode) -> int:
        """The position in a text near which two sides differ."""
        if len(text) < 64 or difference.what not in ("ids", "offsets"):
            return 0
        spans = (side.offsets for side in self.pair.outcomes(text, mode))
        known = next((one for one in spans if one), ())
        return known[min(difference.place, len(known) - 1)][0] if known else 0
