"""A history: the counts of a stream of text, and the tokenizers that were made from them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from digram._util.validation import instance, path_name, whole_number
from digram.adapt import Change, extend, prune, replace_tokens
from digram.adapt.padding import unpadded
from digram.adapt.versions import files
from digram.adapt.versions.drift import Drift, Reader, drift
from digram.adapt.versions.holding import Holding
from digram.adapt.versions.version import Entry, VocabularyVersion, mapped
from digram.errors import OptionError, several
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex, resolve
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counts, check_made, check_unit, fingerprint
from digram.training.counts.settings import spelled
from digram.training.train import train

if TYPE_CHECKING:
    from digram.training.counts import CorporaLike
    from digram.vocab.settings import Unit

__all__ = ["VocabularyHistory"]


class VocabularyHistory(Holding):
    """The vocabularies of a growing body of text, version by version. Immutable.

    >>> import digram
    >>> history = digram.VocabularyHistory(pretokenizer="whitespace").add("low low lower lowest")
    >>> history = history.next(vocab_size=260)
    >>> history = history.add("slow slow slower", name="news").next(add=2)
    >>> history.tokenizer.vocab_size, history.tokenizer.tokens(history.versions[1].change.added)
    (262, [b'slow', b' slow'])

    `add` counts text under a name; `forget` removes it again, and `decay` lowers its weight. `next`
    makes the next tokenizer from the current counts: the first one as `digram.train` does, later
    ones so that old ids stay (`extend`), or most of them (`replace_tokens`, `prune`). Each is a
    `VocabularyVersion`; `map` is the change of ids between any two, `drift` measures whether
    another update would pay, and `log` lists the steps.

    Each of these methods returns another history, and this one does not change. So you can try an
    update and discard it, share a history between threads, and save it in a consistent state.
    Histories share unchanged parts. Two are equal if they have the same counts and versions; the
    steps that led to them do not matter.

    Memory: the distinct pretokens added between two decays or versions, separately for each,
    without those that have decayed to 0; and the versions. Texts are not kept.
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
        unit: Unit = "byte",
    ) -> Self:
        """An empty history with the pretokenizer and unit of its text."""
        return cls._of(resolve(pretokenizer), check_unit(unit))

    @classmethod
    def of(cls, tok: Tokenizer) -> Self:
        """A history whose first version is an existing tokenizer, such as a published one.

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2)
        >>> digram.VocabularyHistory.of(tok).add("lower lower").next(add=1).map(1, 2)
        <digram.Change: 258 ids became 259, 1 token added, 0 removed>

        The text of this tokenizer is unknown to the history. If you have it, count it first, so
        that drift can be measured: `VocabularyHistory(...).add(text).record(tok)`.
        """
        instance("tok", tok, Tokenizer)
        return cls(pretokenizer=tok.pretokenizer, unit=tok.unit).record(tok)

    # --- versions

    def next(
        self,
        *,
        vocab_size: int | None = None,
        add: int | None = None,
        swap: int | None = None,
        remove: int | None = None,
        **options: Any,
    ) -> Self:
        """Make the next version from the current counts.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258)
        >>> history = history.add("newest new news").next(add=2).next(swap=1)
        >>> [version.vocab_size for version in history.versions]
        [258, 260, 260]

            vocab_size: for the first version, the size that `digram.train` learns; for a later one
                the size (before padding) to which it is extended or pruned. Pruning changes ids.
            add: the number of tokens to add, by `digram.extend`. Every old id stays.
            swap: the number of tokens to replace, by `digram.replace_tokens`. The size stays.
            remove: the number of tokens to remove, by `digram.prune`.

        Pass one of them. Other arguments are those of these functions (`special_tokens=` for the
        first version, `min_frequency=`, `keep=`, ...); the tokenizer is their result on `counts`.
        Raises `OptionError` if nothing was counted, and what they raise.
        """
        asked = {"vocab_size": vocab_size, "add": add, "swap": swap, "remove": remove}
        given = {name: value for name, value in asked.items() if value is not None}
        if len(given) != 1:
            raise OptionError(
                "next takes one of vocab_size=, add=, swap= and remove=.",
                hint="Pass the size of the vocabulary, or how to change it.",
            )
        ((what, number),) = given.items()
        counts = self.counts
        if not len(counts):
            raise OptionError(
                "nothing was counted, so there is nothing to learn from.", hint="Add text first."
            )
        tok, how = self._made(what, number, counts, options)
        return self._recorded(tok, how)

    def _made(
        self, what: str, number: int, counts: Counts, options: dict[str, Any]
    ) -> tuple[Tokenizer, str]:
        """The next tokenizer, and how it was made, in words."""
        if not self._versions:
            if what != "vocab_size":
                raise OptionError(
                    f"{what}= changes a tokenizer, and the history has none yet.",
                    value=number,
                    hint="Pass vocab_size= for the first version, or begin with "
                    "VocabularyHistory.of(tok).",
                )
            return train(counts, vocab_size=number, **options), f"train, vocab_size={number}"
        tok = self.tokenizer
        if what == "vocab_size":
            size = whole_number("vocab_size", number, 1)
            now = unpadded(tok)[0].vocab_size
            if size == now:
                raise OptionError(
                    f"vocab_size={size} is already the size of the newest version.", value=number
                )
            what, number = ("add", size - now) if size > now else ("remove", now - size)
        if what == "add":
            return extend(tok, counts, add=number, **options)[0], f"extend, add={number}"
        if what == "swap":
            return replace_tokens(tok, counts, number, **options)[0], f"swap, number={number}"
        return prune(tok, counts, remove=number, **options)[0], f"prune, remove={number}"

    def record(self, tok: Tokenizer) -> Self:
        """Record a tokenizer that was made elsewhere as the next version.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258)
        >>> chat = history.tokenizer.with_special_tokens(["<|user|>"])
        >>> history.record(chat).map(1, 2).added
        [258]

        The history treats all text added so far as the text that it was made on. Raises
        `ConfigMismatchError` if it has another pretokenizer or unit than this history.
        """
        instance("tok", tok, Tokenizer)
        check_made(
            (tok.pretokenizer, tok.unit),
            (self._pretokenizer, self._unit),
            "the tokens",
            "the history counts with",
        )
        return self._recorded(tok, "record")

    def _recorded(self, tok: Tokenizer, how: str) -> Self:
        number, place = len(self._versions) + 1, len(self._log)
        change = Change.of(self._versions[-1].tokenizer, tok) if self._versions else None
        entry = Entry("version", digest=tok.digest, number=number, how=how)
        version = VocabularyVersion(number, tok, change, place, self._epoch + 1)
        return self._of(
            self._pretokenizer,
            self._unit,
            self._batches,
            (*self._versions, version),
            (*self._log, entry),
        )

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the newest version; `OptionError` if there is none yet."""
        if not self._versions:
            raise OptionError(
                "there is no version yet.", hint="Make one with next(vocab_size=...)."
            )
        return self._versions[-1].tokenizer

    @property
    def versions(self) -> tuple[VocabularyVersion, ...]:
        """All versions, in order; number 1 is `versions[0]`."""
        return self._versions

    @property
    def log(self) -> tuple[Entry, ...]:
        """The steps, in order; `str` of an entry is one line."""
        return self._log

    def map(self, first: int, second: int) -> Change:
        """The change of ids from one version to another, by their numbers.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258)
        >>> history = history.next(add=1).next(add=1)
        >>> print(history.map(1, 3))
        258 ids became 260, 2 tokens added, 0 removed
        >>> print(history.map(3, 1))
        260 ids became 258, 0 tokens added, 2 removed

        It composes the changes of all versions between them: a token that was removed and added
        again is new, as its row in a model is. So forward maps compose, `map(a, b).then(map(b, c))`
        is `map(a, c)`, and backward maps too; going there and back loses the tokens that the
        version in between does not have. `digram.Change.of` compares tokens by bytes, whatever was
        in between. Raises `OptionError` for an unknown version.
        """
        return mapped(self._versions, first, second)

    def drift(
        self,
        recent: CorporaLike | Counts | None = None,
        *,
        add: int = 1_000,
        on: CorporaLike | Counts | None = None,
        parameters: float | str = "7B",
        width: int | None = None,
        horizon: float = 100,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Drift:
        """Measure the drift of recent text from the newest version, and the gain of an update.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("the cat sat on the mat " * 9)
        >>> history = history.next(vocab_size=270)
        >>> found = history.add("chills and fever, fever and chills " * 9).drift(add=20)
        >>> found.unseen > 0.9, found.divergence > found.by_chance, found.pays
        (True, True, True)

            recent: by default the text added since the newest version; or a corpus, or counts. A
                dictionary of corpora is counted as one.
            add: the maximum number of tokens of the update that is tried. `extend` learns it from
                the recent text, from pairs that occur at least twice.
            on: other text of the kind, to measure the gain on. By default it is measured on the
                text of the update itself, which overestimates it, the more the smaller the text.
            parameters, width: those of the model without the vocabulary, and of its embeddings (by
                default the usual ones, as for `digram.advise`).
            horizon: the number of tokens of such text that the model will read or write before the
                next update, per token that it is trained on because of this one.

        Reading a token takes 2 (N + V d) floating-point operations, where N are the parameters, V
        the vocabulary and d the width, and training on one three times that (Kaplan et al. 2020,
        "Scaling Laws for Neural Language Models"; without attention, which gains from shorter texts
        too). No formula gives the number of tokens of training that new rows need, so the result is
        the number of tokens to read for each, and `horizon` decides the verdict.

        `digram.Drift` describes the measures. Raises `OptionError` if there is no version or no
        recent text. Takes as long as encoding the distinct pretokens of both texts and training on
        the recent ones.
        """
        tok = self.tokenizer
        options: dict[str, Any] = {"threads": threads, "progress": progress}
        counts = self.recent if recent is None else self._counted(recent, **options)
        if not len(counts):
            raise OptionError(
                "there is no recent text: nothing was added since the newest version."
                if recent is None
                else "recent= contains no text.",
                hint="Add text, or pass it.",
            )
        base = self.made_on
        held_out = None if on is None else self._counted(on, **options)
        reader = Reader.of(parameters, width, horizon)
        _, trial = extend(tok, counts, add=add, min_frequency=2, **options)
        number = len(self._versions)
        return drift(number, counts, base, trial, reader, on=held_out, threads=threads)

    # --- files

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the history to a folder atomically: it always holds the old history or the new one.

        >>> import digram, pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp()) / "history"
        >>> history = digram.VocabularyHistory().add("low lower").next(vocab_size=258)
        >>> history.save(folder)
        >>> digram.VocabularyHistory.load(folder) == history
        True

        The folder is created if it is missing (its parent is not). Counts are files of
        `digram.Counts`, versions are `tokenizer.json`s, and `history.json` names them; existing
        files are not written again, and files of an earlier save that are no longer needed are
        removed. The last save wins: let one process at a time load a folder, add to it and save it
        again. Raises `CheckpointError` while another process saves to it, and OSError.
        """
        files.save(path_name(folder, "folder"), self._state)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read a folder written by `save`.

        Raises `CorruptFileError`, with the file, for a folder that is damaged or not a history, and
        OSError.
        """
        return cls._of(*files.load(path_name(folder, "folder")))

    # --- as any value

    @property
    def pretokenizer(self) -> Pretokenizer:
        """The pretokenizer of all versions."""
        return self._pretokenizer

    @property
    def unit(self) -> Unit:
        """The meaning of base tokens in all versions: "byte" or "char"."""
        return self._unit

    @property
    def _state(self) -> files.State:
        return self._pretokenizer, self._unit, self._batches, self._versions, self._log

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, VocabularyHistory):
            return NotImplemented
        return self is other or self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((fingerprint(self._pretokenizer, self._unit), self._compared()[-1]))

    def _compared(self) -> tuple[Any, ...]:
        """The values that equal histories share: not the log, nor when batches were joined."""
        made = tuple((one.digest, one.epoch) for one in self._versions)
        return self._pretokenizer, self._unit, self._epoch, self._batches, made

    def __repr__(self) -> str:
        names = {batch.name for batch in self._batches}
        return (
            f"<digram.VocabularyHistory: {several(len(self._versions), 'version')}, "
            f"{several(len(names), 'name')}, {several(len(self._log), 'step')}, "
            f"pretokenizer={spelled(self._pretokenizer)}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return VocabularyHistory._of, self._state
