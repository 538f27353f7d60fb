"""A history: what was counted of a stream of text, and the tokenizers that were made on the way."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

from digram._util.validation import instance, path_name, whole_number
from digram.adapt import Change, extend, prune, replace_tokens
from digram.adapt.padding import unpadded
from digram.adapt.versions import files
from digram.adapt.versions.drift import Drift, drift
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
    from digram.vocab.definition import Unit

__all__ = ["VocabularyHistory"]


class VocabularyHistory(Holding):
    """What a growing body of text asks of a vocabulary, step by step. Immutable.

    >>> import digram
    >>> history = digram.VocabularyHistory(pretokenizer="whitespace").add("low low lower lowest")
    >>> history = history.next(vocab_size=260)
    >>> history = history.add("slow slow slower", name="news").next(add=2)
    >>> history.tokenizer.vocab_size, history.tokenizer.tokens(history.versions[1].change.added)
    (262, [b'slow', b' slow'])

    Text comes with `add`, under a name, and is counted; it may go again with `forget`, and matter
    less and less with `decay`. `next` makes the next tokenizer of all that is counted: the first
    one as `digram.train` does, later ones so that old ids stay (`extend`), or most of them (`swap`,
    `prune`). Each is a `VocabularyVersion`; `map` says what becomes of ids between any two, `drift`
    whether another one would pay, and `log` tells what was done.

    Each of these returns another history, and this one stays as it is, as everything in digram
    does. So an update that was tried and found wanting is just not kept, a history can be shared
    by threads, and what was saved is one state or another. They share what has not changed. Two
    are equal when they hold the same counts and versions; how they came to be plays no part.

    Memory: the distinct pretokens of what was added between two decays or versions, each for
    itself, but for those that have faded; and the versions. Never text.
    """

    __slots__ = ()

    def __new__(
        cls,
        *,
        pretokenizer: str | Regex | Pretokenizer | Sequence[Regex] | None = "o200k",
        unit: Unit = "byte",
    ) -> Self:
        """A history that has seen nothing, and how it will cut text."""
        return cls._of(resolve(pretokenizer), check_unit(unit))

    @classmethod
    def of(cls, tok: Tokenizer) -> Self:
        """A history whose first version is a tokenizer that is there already, published ones too.

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2)
        >>> digram.VocabularyHistory.of(tok).add("lower lower").next(add=1).map(1, 2)
        <digram.Change: 258 ids became 259, 1 token added, 0 removed>

        It knows nothing of the text that this one was made on. Where that is at hand, count it
        first, so that drift can be told: `VocabularyHistory(...).add(text).record(tok)`.
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
        """Make the next version of all that is counted.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258)
        >>> history = history.add("newest new news").next(add=2).next(swap=1)
        >>> [version.vocab_size for version in history.versions]
        [258, 260, 260]

            vocab_size: of the first version, which `digram.train` learns; of a later one the size
                (before padding) to which it is extended, or pruned. Ids that stay are the same but
                where it is pruned.
            add: how many tokens to add, by `digram.extend`. Every old id stays.
            swap: how many tokens to replace, by `digram.replace_tokens`. The size stays.
            remove: how many tokens to remove, by `digram.prune`.

        One of them. Other arguments are those of these calls (`special_tokens=` for the first,
        `min_frequency=`, `keep=`, ...); the tokenizer is the one that they give on `counts`. Raises
        `OptionError` where nothing was counted, and what they raise.
        """
        asked = {"vocab_size": vocab_size, "add": add, "swap": swap, "remove": remove}
        given = {name: value for name, value in asked.items() if value is not None}
        if len(given) != 1:
            raise OptionError(
                "next takes one of vocab_size=, add=, swap= and remove=.",
                hint="Say how large the vocabulary is to be, or how it is to change.",
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
        """The next tokenizer, and how it was made in words."""
        if not self._versions:
            if what != "vocab_size":
                raise OptionError(
                    f"{what}= changes a tokenizer, and there is none yet.",
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
                    f"vocab_size={size} is the size that the newest version has.", value=number
                )
            what, number = ("add", size - now) if size > now else ("remove", now - size)
        if what == "add":
            return extend(tok, counts, add=number, **options)[0], f"extend, add={number}"
        if what == "swap":
            return replace_tokens(tok, counts, number, **options)[0], f"swap, number={number}"
        return prune(tok, counts, remove=number, **options)[0], f"prune, remove={number}"

    def record(self, tok: Tokenizer) -> Self:
        """Take a tokenizer that was made elsewhere as the next version.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258)
        >>> chat = history.tokenizer.with_special_tokens(["<|user|>"])
        >>> history.record(chat).map(1, 2).added
        [258]

        All that was added so far is taken for what it was made on. Raises `ConfigMismatchError`
        where it cuts text otherwise than this history, or has another unit.
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
        """The newest version's; `OptionError` where there is none yet."""
        if not self._versions:
            raise OptionError(
                "there is no version yet.", hint="Make one with next(vocab_size=...)."
            )
        return self._versions[-1].tokenizer

    @property
    def versions(self) -> tuple[VocabularyVersion, ...]:
        """All tokenizers that were made, in order; number 1 is `versions[0]`."""
        return self._versions

    @property
    def log(self) -> tuple[Entry, ...]:
        """What was done, in order; `str` of an entry is a line."""
        return self._log

    def map(self, first: int, second: int) -> Change:
        """What becomes of the ids from one version to another, by their numbers.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("low low lower").next(vocab_size=258)
        >>> history = history.next(add=1).next(add=1)
        >>> print(history.map(1, 3))
        258 ids became 260, 2 tokens added, 0 removed
        >>> print(history.map(3, 1))
        260 ids became 258, 0 tokens added, 2 removed

        It goes through all versions between them: a token that went and came back is new, as its
        row in a model is. So forwards maps join, `map(a, b).then(map(b, c))` is `map(a, c)`, and
        backwards as well; there and back loses what the version on the way does not have. What has
        the bytes of what, whatever was between, says `digram.Change.of`. Raises `OptionError` for
        a version that there is not.
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
        """How far recent text is from what the newest version was made on, and what it would gain.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("the cat sat on the mat " * 9)
        >>> history = history.next(vocab_size=270)
        >>> found = history.add("chills and fever, fever and chills " * 9).drift(add=20)
        >>> found.unseen > 0.9, found.divergence > found.by_chance, found.pays
        (True, True, True)

            recent: by default what was added since the newest version; or a corpus, or counts. A
                dictionary of corpora is counted as one.
            add: how many tokens the update that is tried may have. It is learned by `extend` on the
                recent text, from pairs that stand there twice at least.
            on: other text of the kind, to measure the gain on. Without it that is the text that
                the update is learned from, which flatters it; the smaller the text, the more.
            parameters, width: of the model, the vocabulary left out, and of its embeddings (by
                default what is usual, as for `digram.advise`).
            horizon: how many tokens of such text the model will read or write before the next
                update, for each one that it is trained on because of this one.

        A token that is read takes 2 (N + V d) floating-point operations, where N are the
        parameters, V the vocabulary and d the width, and one of training three times that (Kaplan
        et al. 2020, "Scaling Laws for Neural Language Models"; attention left out, which gains from
        shorter texts too). How many tokens of training new rows need, no formula says: so what is
        said is how many must be read for each, and the verdict is yours by `horizon`.

        What the measures are stands at `digram.Drift`. Raises `OptionError` where there is no
        version, or no recent text. Cost: encoding the distinct pretokens of both, training on the
        recent ones.
        """
        tok = self.tokenizer
        options: dict[str, Any] = {"threads": threads, "progress": progress}
        counts = self.recent if recent is None else self._counted(recent, **options)
        if not len(counts):
            raise OptionError(
                "there is no recent text: nothing was added since the newest version."
                if recent is None
                else "there is no text in recent=.",
                hint="Add text, or pass it.",
            )
        return drift(
            tok,
            len(self._versions),
            counts,
            self.made_on,
            add=add,
            on=None if on is None else self._counted(on, **options),
            parameters=parameters,
            width=width,
            horizon=horizon,
            **options,
        )

    # --- files

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the history to a folder, so that a crash leaves the old one or the new one.

        >>> import digram
        >>> folder = getfixture("tmp_path") / "history"
        >>> history = digram.VocabularyHistory().add("low lower").next(vocab_size=258)
        >>> history.save(folder)
        >>> digram.VocabularyHistory.load(folder) == history
        True

        The folder is made if it is missing (its parent is not). Counts are files of
        `digram.Counts`, versions are `tokenizer.json`s, and `history.json` names them; what is
        there already is not written again, and what an earlier save left over is removed. Whoever
        saves last has saved: let one process at a time load a folder, add to it and save it again.
        Raises `CheckpointError` while another one saves to it, and OSError.
        """
        files.save(path_name(folder), self._state)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote.

        Raises `CorruptFileError`, with the file, for a folder that is damaged or none of a history,
        and OSError.
        """
        return cls._of(*files.load(path_name(folder)))

    # --- as any value

    @property
    def pretokenizer(self) -> Pretokenizer:
        """How text is cut before merging, in all versions."""
        return self._pretokenizer

    @property
    def unit(self) -> Unit:
        """What base tokens stand for, in all versions: "byte" or "char"."""
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
        """What two histories that are equal share: all but the log, and what is joined when."""
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
