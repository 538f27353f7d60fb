"""The counts of a history: the part of it that adds and removes text."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

from digram._util.validation import fraction
from digram.adapt.versions.batches import Batch, decayed, forgotten, joined, total
from digram.adapt.versions.version import CLOSING, Entry, VocabularyVersion
from digram.errors import OptionError, show
from digram.training.counts import Counts, check_made, count_pretokens

if TYPE_CHECKING:
    from digram.pretokenizers.pretokenizer import Pretokenizer
    from digram.training.counts import CorporaLike
    from digram.vocab.settings import Unit

__all__ = ["Holding"]


class Holding:
    """The part of a history that counts."""

    __slots__ = ("_batches", "_log", "_pretokenizer", "_unit", "_versions")

    _batches: tuple[Batch, ...]
    _log: tuple[Entry, ...]
    _pretokenizer: Pretokenizer
    _unit: Unit
    _versions: tuple[VocabularyVersion, ...]

    @classmethod
    def _of(
        cls,
        pretokenizer: Pretokenizer,
        unit: Unit,
        batches: tuple[Batch, ...] = (),
        versions: tuple[VocabularyVersion, ...] = (),
        log: tuple[Entry, ...] = (),
    ) -> Self:
        made = object.__new__(cls)
        for name, value in (
            ("_pretokenizer", pretokenizer),
            ("_unit", unit),
            ("_batches", batches),
            ("_versions", versions),
            ("_log", log),
        ):
            object.__setattr__(made, name, value)
        return made

    def __setattr__(self, name: str, _value: object) -> NoReturn:
        raise AttributeError(f"a history is immutable, and {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a history is immutable, and {name} cannot be deleted")

    def _with(self, batches: tuple[Batch, ...], entry: Entry) -> Self:
        log = (*self._log, entry)
        return self._of(self._pretokenizer, self._unit, batches, self._versions, log)

    def add(
        self,
        corpus: CorporaLike | Counts,
        *,
        name: str = "text",
        weight: Any = 1,
        threads: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
    ) -> Self:
        """Count a corpus and add it.

        >>> import digram
        >>> history = digram.VocabularyHistory().add(["low", "lower"], name="2024")
        >>> history = history.add("low", weight=3)
        >>> history.counts["low"], [*history.parts]
        (4, ['2024', 'text'])

        `corpus` is what `digram.train` accepts: text, files, tables, an iterator, of which at most
        a batch is held in memory, or `Counts` made with this pretokenizer and unit. The corpora of
        a dictionary are added under their own names. `forget` removes what was added by its `name`.
        `weight` multiplies the counts (as `Counts.scale`, with its rounding).

        The order of additions does not matter. So first occurrences are not recorded, and `next`
        refuses `ties="first_seen"`. Raises the errors of `digram.count_pretokens`.
        """
        options: dict[str, Any] = {
            "threads": threads,
            "memory_limit": memory_limit,
            "progress": progress,
        }
        if isinstance(corpus, Mapping):
            if name != "text":
                raise OptionError(
                    "the corpora of a dictionary are added under their own names.",
                    value=name,
                    hint="Leave out name=.",
                )
            added = self
            for each, one in corpus.items():
                added = added.add(one, name=each, weight=weight, **options)
            return added
        times = Fraction(*fraction(weight, "weight"))
        _check_name(name)
        counts = self._counted(corpus, **options)
        batches = joined(self._batches, Batch(name, counts, times, self._epoch))
        return self._with(batches, _entry("add", name, counts, times))

    def forget(
        self,
        corpus: CorporaLike | Counts | None = None,
        *,
        name: str | None = None,
        threads: int | None = None,
        progress: bool | None = None,
    ) -> Self:
        """Remove text that was added: all of a name, or a part of it.

        >>> import digram
        >>> history = digram.VocabularyHistory().add(["low", "lower"], name="2024")
        >>> history = history.add("low", name="2025")
        >>> history.forget(name="2024").counts == digram.count_pretokens("low").without_first()
        True
        >>> history.forget("lower", name="2024").counts["lower"]
        0

        With a corpus, that text is counted and removed from what was added under `name` (by default
        "text"), as it was before weights and decay. All of it must have been added under that name
        between two decays or versions; if several such batches contain it, it is removed from the
        last. Tokens that were learned from it stay in the versions. Raises `OptionError` for an
        unknown name, and for text that was not added or is already forgotten. If everything under a
        name has decayed to 0, nothing is removed, whatever the text, and the log records that.
        """
        if corpus is None and name is None:
            raise OptionError(
                "forget takes a corpus, a name, or both.",
                hint="Pass what to forget.",
            )
        name = "text" if name is None else name
        added = dict.fromkeys(entry.name for entry in self._log if entry.event == "add")
        if name not in added:
            raise OptionError(
                f"nothing was added under the name {show(name)}.",
                value=name,
                hint=f"Choose from {', '.join(map(repr, added)) or 'none'}.",
            )
        if corpus is not None:
            counts = self._counted(corpus, threads, None, progress)
            rest = forgotten(self._batches, name, counts)
            if len(counts) and not any(batch.name == name for batch in self._batches):
                self._check_faded(name)
                counts = self._empty  # recorded in the log
        else:
            gone = [batch.counts for batch in self._batches if batch.name == name]
            counts = Counts.merge([self._empty, *gone])
            rest = tuple(batch for batch in self._batches if batch.name != name)
        return self._with(rest, _entry("forget", name, counts))

    def _check_faded(self, name: str) -> None:
        """Raise `OptionError` if nothing of a name is left for another reason than decay."""
        events = [
            entry.event for entry in self._log if entry.name == name or entry.event == "decay"
        ]
        last_add = max(at for at, event in enumerate(events) if event == "add")
        if "decay" not in events[last_add:]:
            raise OptionError(
                f"nothing of {show(name)} is left: all of it was forgotten already.", value=name
            )

    def decay(self, factor: Any) -> Self:
        """Multiply the weight of all that was added by `factor`, above 0 and at most 1.

        >>> import digram
        >>> history = digram.VocabularyHistory().add("low low low lower").decay(0.5).add("new")
        >>> dict(history.counts.items())
        {b' low': 1, b'new': 1}

        Weights are exact, so two decays equal one by their product, and each count is rounded once,
        when counts are used: to the nearest whole number, a half to the even one. Counts that round
        to 0 are dropped for good, and take no memory. Later additions have their own weight. A
        weight whose numerator or denominator would have more than 64 bits becomes the nearest one
        with fewer. Takes time linear in the distinct pretokens.
        """
        share = Fraction(*fraction(factor, "factor"))
        if share > 1:
            raise OptionError(
                f"factor={factor} is above 1.",
                value=factor,
                hint="Pass the remaining share, as in decay(0.9).",
            )
        return self._with(decayed(self._batches, share), Entry("decay", weight=share))

    @property
    def counts(self) -> Counts:
        """The current counts: the rounded, weighted counts of each batch. Takes linear time."""
        return total(self._batches, self._empty)

    @property
    def parts(self) -> dict[str, Counts]:
        """The current counts by name, sorted; their sum is `counts`."""
        names = sorted({batch.name for batch in self._batches})
        return {
            name: total((batch for batch in self._batches if batch.name == name), self._empty)
            for name in names
        }

    @property
    def recent(self) -> Counts:
        """The part of `counts` that was added since the newest version."""
        made = self._made_before
        return total((batch for batch in self._batches if batch.epoch >= made), self._empty)

    @property
    def made_on(self) -> Counts:
        """The other part of `counts`: the text of the newest version, with its current weight."""
        made = self._made_before
        return total((batch for batch in self._batches if batch.epoch < made), self._empty)

    @property
    def _made_before(self) -> int:
        """The first epoch whose batches were added after the newest version."""
        return self._versions[-1].epoch if self._versions else 0

    @property
    def _epoch(self) -> int:
        return sum(entry.event in CLOSING for entry in self._log)

    @property
    def _empty(self) -> Counts:
        return Counts({}, pretokenizer=self._pretokenizer, unit=self._unit)

    def _counted(
        self,
        corpus: CorporaLike | Counts,
        threads: int | None = None,
        memory_limit: int | str | None = None,
        progress: bool | None = None,
    ) -> Counts:
        """The counts of a corpus, without first occurrences."""
        if isinstance(corpus, Counts):
            check_made(
                (corpus.pretokenizer, corpus.unit),
                (self._pretokenizer, self._unit),
                "these counts",
                "the history counts with",
            )
            return corpus.without_first()
        counts = count_pretokens(
            corpus,
            pretokenizer=self._pretokenizer,
            unit=self._unit,
            threads=threads,
            memory_limit=memory_limit,
            progress=progress,
        )
        return counts.without_first()


def _check_name(name: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if not name:
        raise OptionError("a name must have at least one character.", value=name)


def _entry(
    event: Literal["add", "forget"], name: str, counts: Counts, weight: Fraction | None = None
) -> Entry:
    """The log entry of counts."""
    return Entry(
        event,
        name,
        weight,
        documents=counts.documents,
        bytes=counts.bytes,
        pretokens=counts.pretokens,
        digest=counts._held.digest(),
    )
