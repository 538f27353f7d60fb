"""Find a token in a corpus: batch by batch, in bounded memory."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from digram import _core
from digram._util.progress import progress as progress_bar
from digram._util.validation import check_threads, instance, utf8_bytes, whole_number
from digram._util.wording import said
from digram.analysis.explain.places import Places, Sample, Word
from digram.analysis.explain.tree import token_to_id
from digram.corpus import Corpus, CorpusLike, Files, Further, Pass, Unread
from digram.corpus.text import in_parts
from digram.errors import OptionError
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["find_token"]

_CONTEXT = 96
"""Bytes of context on each side of a sample; a terminal line shows fewer."""
_BATCH = 8 << 20  # bytes
_PER_TEXT = 64
_PRETOKENS_AT_ONCE = 1 << 16  # distinct pretokens
_MAX_WORDS = 1 << 16
"""The maximum number of words to keep; there may be millions, most of which occur once."""


def find_token(
    tok: Tokenizer,
    token: int | str | bytes,
    corpus: CorpusLike,
    *,
    samples: int = 10,
    threads: int | None = None,
    progress: bool | None = None,
) -> Places:
    """Find a token in a corpus: in which words it occurs, how often, and in what context.

    >>> import digram
    >>> texts = ["low low lower lowest", "the lowlands are low"]
    >>> tok = digram.train(texts, max_merges=3, pretokenizer="gpt2")
    >>> found = digram.find_token(tok, " low", texts)
    >>> found.times, found.words[:2]
    (5, [Word(word=b' low', count=2, times=1), Word(word=b' lower', count=1, times=1)])
    >>> found.samples[0].before, found.samples[0].after, found.samples[0].document
    (b'low', b' lower lowest', 0)

    `corpus` is what `digram.train` accepts: texts, files, or an iterator of texts; each text is a
    document. `words` are the pretokens whose encoding contains the token; a token that is always
    merged into a longer one occurs nowhere. `samples` is the maximum number of places to return, in
    as many different words as possible; words that are frequent in the text read so far are
    preferred. Each has its file, record and byte offset.

    Memory: 8 MiB of text or the longest part that cannot be split, and up to 65,536 words (see
    `Places.missed`).

    Raises `TokenIdError` or `VocabError` if there is no such token, and `OptionError` for a special
    token, and the errors of `encode`. Takes little more time than counting pretokens.
    """
    instance("tok", tok, Tokenizer)
    looking = _Looking(tok, token_to_id(tok, token), whole_number("samples", samples, 0), threads)
    documents = Corpus.of(corpus)
    with progress_bar("Looking", documents.size, "B", progress) as advance:
        skipped = looking.through(documents, advance)
    return looking.found(skipped)


class _Text(NamedTuple):
    """A text or a part of one, with its document and the offset at which it starts."""

    data: bytes
    document: int
    offset: int
    path: str | None
    record: int | None


class _Looking:
    """The state of the search over batches."""

    def __init__(self, tok: Tokenizer, id: int, samples: int, threads: int | None) -> None:
        self.tok, self.id, self.threads = tok, id, check_threads(threads)
        self.token = tok.id_to_token(id)
        if id in tok.special_tokens.values() and id != tok._unknown_id:
            raise OptionError(
                f"{self.token.decode()!r} is a special token, which ordinary text never becomes.",
                value=id,
                hint="Look for the tokens of its text, which "
                f"{said('digram.explain(tok, ...)', 'digram explain')} lists.",
            )
        self.within = b"" if id == tok._unknown_id else self.token
        """Bytes that occur in every word that contains the token."""
        self.splitter = tok.pretokenizer.splitter()
        # Words are encoded without a pretokenizer, which could split a single word differently.
        self.whole = tok._uncut()
        self.counts: Counter[bytes] = Counter()
        self.in_word: dict[bytes, int] = {}
        self.sampled: list[Sample] = []  # the first place of each word
        self.further: list[Sample] = []  # further places of the same words
        self.max_samples = samples
        self.times = self.documents = self.bytes = self.pretokens = self.missed = 0

    def through(self, corpus: Corpus, advance: Callable[[int], object]) -> int:
        """Search a corpus; returns the number of skipped records."""
        seen = Pass()
        if isinstance(corpus.source, Files):
            texts = _of_files(corpus.source, seen, self.splitter.last_border)
            self._batches(texts, lambda _: seen.done, advance)
            seen.tell()
            return seen.skipped
        reading = corpus.parts(self.splitter.last_border)
        with contextlib.closing(reading):
            self._batches(_numbered(reading), lambda size: reading.done or size, advance)
        return reading.skipped

    def found(self, skipped: int) -> Places:
        """The result."""
        order = sorted(self.counts.items(), key=lambda one: (-one[1], one[0]))
        words = [Word(word, count, self.in_word[word]) for word, count in order]
        samples = [*self.sampled, *self.further][: self.max_samples]
        samples.sort(key=lambda one: (one.document, one.offset))
        return Places(
            self.id, self.token, self.times, self.documents, self.bytes, self.pretokens, words,
            self.missed, samples, skipped,
        )  # fmt: skip

    def _batches(
        self,
        texts: Iterable[_Text],
        progress_of: Callable[[int], int],
        advance: Callable[[int], object],
    ) -> None:
        batch, held, done = list[_Text](), 0, 0

        def look() -> None:
            nonlocal done
            self._batch(batch)
            advance(progress_of(self.bytes) - done)
            done = progress_of(self.bytes)

        for text in texts:
            batch.append(text)
            held += len(text.data) + _PER_TEXT
            if held >= _BATCH:
                look()
                batch, held = [], 0
        if batch:
            look()

    def _batch(self, batch: Sequence[_Text]) -> None:
        counter = _core.Counter(self.splitter)
        data = [text.data for text in batch]
        counter.add(data, self.threads, len(data))
        pieces = counter.finish()
        self.documents += sum(text.offset == 0 for text in batch)
        self.bytes += sum(map(len, data))
        self.pretokens += pieces.pretokens
        with_token = Counter[bytes]()
        for start in range(0, len(pieces), _PRETOKENS_AT_ONCE):
            self._count(pieces.items(start, _PRETOKENS_AT_ONCE), with_token)
        self.counts.update(with_token)
        self._sample(batch, with_token)
        if len(self.counts) > _MAX_WORDS:
            self._prune()

    def _count(self, pieces: Iterable[tuple[bytes, int]], with_token: Counter[bytes]) -> None:
        """Count the pretokens that contain the token."""
        candidates = [(word, count) for word, count in pieces if self.within in word]
        new = [word for word, _ in candidates if word not in self.in_word]
        ids = self.whole._encode_batch(list[str | bytes](new), None, self.threads)
        found = {word: each.count(self.id) for word, each in zip(new, ids, strict=True)}
        for word, count in candidates:
            times = self.in_word.get(word) or found.get(word, 0)
            if times:
                self.in_word[word] = times
                self.times += times * count
                with_token[word] += count

    def _prune(self) -> None:
        """Keep the more frequent half of the words."""
        order = self.counts.most_common()
        kept = _MAX_WORDS // 2
        self.missed += order[kept][1]
        self.counts = Counter(dict(order[:kept]))
        self.in_word = {word: self.in_word[word] for word in self.counts}

    def _sample(self, batch: Sequence[_Text], words: Counter[bytes]) -> None:
        """Add a place of each frequent word that has none yet, and further places."""
        order = sorted(words.items(), key=lambda one: (-one[1], one[0]))
        likely = {word for word, _ in order[: self.max_samples]}
        have = {sample.word for sample in self.sampled}
        new = [word for word, _ in order if word not in have]
        wanted = {*new[: self.max_samples - len(self.sampled)]}
        for text in batch:
            if not wanted and len(self.further) == self.max_samples:
                return
            if any(word in text.data for word in wanted | likely):
                self._samples(text, wanted, likely)

    def _samples(self, text: _Text, wanted: set[bytes], likely: set[bytes]) -> None:
        """Add places of a text: the first of each wanted word, and more of likely words."""
        encoded = self.tok._encoded([text.data], None, "bytes", self.threads)
        number = encoded.bounds()[1]
        numbers = encoded.pretokens(0, number)
        for at, id in enumerate(encoded.ids(0, number)):
            if id != self.id:
                continue
            first, after = encoded.tokens_of_pretoken(0, number, numbers[at])
            spans = encoded.spans(first, after)
            word = text.data[spans[0][0] : spans[-1][1]]
            if word in wanted:
                wanted.discard(word)
                self.sampled.append(_at(text, spans[at - first], word))
            elif word in likely and len(self.further) < self.max_samples:
                self.further.append(_at(text, spans[at - first], word))
            if not wanted and len(self.further) == self.max_samples:
                return


def _at(text: _Text, span: tuple[int, int], word: bytes) -> Sample:
    start, end = span
    data = text.data
    return Sample(
        _from_character(data[max(0, start - _CONTEXT) : start]),
        data[start:end],
        _to_character(data[end : end + _CONTEXT]),
        word,
        text.document,
        text.offset + start,
        text.path,
        text.record,
    )


def _of_files(
    corpus: Files, seen: Pass, last_border: Callable[[bytes, int], int]
) -> Iterator[_Text]:
    """The texts of files, each with its file and record."""
    document = -1
    for path in corpus.paths:
        make = partial(_Text, path=str(path))
        for text in corpus.texts_of(path, seen):
            document += 1
            if not isinstance(text, Unread):
                yield make(text, document, 0, record=seen.record)
                continue
            offset = 0
            for part in in_parts(text, last_border, None):
                yield make(part, document, offset, record=None)
                offset += len(part)


def _numbered(texts: Iterable[str | bytes]) -> Iterator[_Text]:
    """Texts that are not from a file, with the numbers of their documents."""
    document, offset = -1, 0
    for text in texts:
        data = utf8_bytes(f"corpus[{document + 1}]", text)
        continues = isinstance(text, Further)
        document, offset = (document, offset) if continues else (document + 1, 0)
        yield _Text(data, document, offset, None, None)
        offset += len(data)


def _from_character(text: bytes) -> bytes:
    """The bytes from the first whole character on."""
    for start in range(min(4, len(text))):
        if text[start] & 0xC0 != 0x80:
            return text[start:]
    return text


def _to_character(text: bytes) -> bytes:
    """The bytes up to the end of the last whole character."""
    for size in range(1, min(4, len(text) + 1)):
        byte = text[-size]
        if byte >= 0xC0:
            needed = 2 + (byte >= 0xE0) + (byte >= 0xF0)
            return text[:-size] if size < needed else text
    return text
