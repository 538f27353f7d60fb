"""Drift: how recent text differs from the training text, and whether an update pays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from digram._util.validation import real_number, whole_number
from digram.adapt import Change, uses
from digram.analysis.metrics import jensen_shannon, renyi_efficiency
from digram.analysis.metrics.scaling import number_of, width_of
from digram.analysis.metrics.table import aligned, share
from digram.errors import OptionError, several
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.counts import Counts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Drift", "Gain", "Reader", "Use", "drift"]

_TRAINING = 3
"""The arithmetic of training on a token, as a multiple of that of reading it."""


@dataclass(frozen=True, eq=False)
class Use:
    """The tokens of counted text: `times[id]` is the count of each id."""

    times: NDArray[np.uint64] = field(repr=False)
    bytes: int
    known: int
    """The number of tokens that text can be encoded to."""

    @classmethod
    def of(cls, tok: Tokenizer, counts: Counts, threads: int | None) -> Use:
        """Encode the pretokens, each once."""
        return cls(uses(tok, counts, threads=threads), counts.bytes, _known(tok))

    @cached_property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.times.sum())

    @property
    def bytes_per_token(self) -> float:
        """`bytes` / `tokens`, the compression; 0 for no text."""
        return self.bytes / self.tokens if self.tokens else 0.0

    @cached_property
    def renyi_efficiency(self) -> float:
        """The efficiency of order 2.5, as in `digram.analysis.metrics.renyi_efficiency`."""
        return renyi_efficiency(self.times, self.known)

    @property
    def vocabulary_used(self) -> float:
        """The share of the vocabulary that occurs in the text."""
        return int((self.times > 0).sum()) / self.known if self.known else 0.0


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of an update: the tokens of the same text before and after it.

    `held_out` is whether that text is other text than that of the update; otherwise `saved` is more
    than other text of the kind will show.
    """

    added: int
    before: int
    after: int
    held_out: bool

    @property
    def saved(self) -> float:
        """The share of tokens that the update saves."""
        return 1 - self.after / self.before if self.before else 0.0


@dataclass(frozen=True, eq=False)
class Drift:
    """The result of `VocabularyHistory.drift`; `print` shows it.

    >>> import digram
    >>> history = digram.VocabularyHistory().add("the cat sat on the mat " * 9).next(vocab_size=270)
    >>> found = history.drift("fever and chills, chills and fever " * 9, add=20)
    >>> found.base.tokens, found.recent.tokens, found.gain.after
    (55, 297, 64)
    >>> round(found.divergence, 2), round(found.pays_after)
    (0.96, 4)

    `recent` and `base` are the measures of the newest version on recent text, and on the text that
    it was made on (None if a history has none of it). `divergence` is the Jensen-Shannon divergence
    of their token frequencies, and `by_chance` that of a sample of `base` of the same size as
    `recent`; `unseen` is the share of recent pretokens that `base` does not have.

    `trial` is the update that was tried, and `gain` what it saves. `pays_after` is the number of
    tokens of such text (counted by the newest version) that a model must read, per token that it is
    trained on with the new vocabulary, until the update has saved the arithmetic that it cost:
    infinity if it never does. The update `pays` if that is at most `horizon`.
    """

    version: int
    recent: Use
    base: Use | None
    divergence: float | None
    by_chance: float | None
    unseen: float | None
    trial: Change = field(repr=False)
    gain: Gain
    parameters: float
    width: int
    horizon: float

    @property
    def pays_after(self) -> float:
        """Tokens read per token of training, by the arithmetic of Kaplan et al. 2020."""
        sizes = self.trial.before.vocab_size, self.trial.after.vocab_size
        now, then = (self.parameters + self.width * size for size in sizes)
        if not self.gain.before:
            return math.inf
        saved = now - then * self.gain.after / self.gain.before
        return _TRAINING * then / saved if saved > 0 else math.inf

    @property
    def pays(self) -> bool:
        """Whether `pays_after` is at most `horizon`."""
        return self.pays_after <= self.horizon

    def to_dict(self) -> dict[str, Any]:
        """The numbers by name, ready for JSON; unknown numbers are None."""
        kinds = ("tokens", "bytes", "bytes_per_token", "renyi_efficiency", "vocabulary_used")
        after = self.pays_after
        return {
            "version": self.version,
            **{
                name: None if of is None else {kind: getattr(of, kind) for kind in kinds}
                for name, of in (("recent", self.recent), ("base", self.base))
            },
            "divergence": self.divergence,
            "by_chance": self.by_chance,
            "unseen": self.unseen,
            "added": self.gain.added,
            "before": self.gain.before,
            "after": self.gain.after,
            "saved": self.gain.saved,
            "held_out": self.gain.held_out,
            "pays_after": None if math.isinf(after) else after,
            "pays": self.pays,
        }

    def __str__(self) -> str:
        return "\n".join([*_measures(self), "", *_verdict(self)])

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)


class Reader(NamedTuple):
    """The model that reads the text; the fields are those of `Drift`."""

    parameters: float
    width: int
    horizon: float

    @classmethod
    def of(cls, parameters: float | str, width: int | None, horizon: float) -> Reader:
        """Check the arguments of `VocabularyHistory.drift` with these names."""
        horizon = real_number("horizon", horizon)
        if horizon <= 0:
            raise OptionError(f"horizon={horizon} is not greater than 0.", value=horizon)
        model = number_of(parameters)
        wide = width_of(model) if width is None else whole_number("width", width, 1)
        return cls(model, wide, horizon)


def drift(
    number: int,
    recent: Counts,
    base: Counts,
    trial: Change,
    reader: Reader,
    *,
    on: Counts | None,
    threads: int | None,
) -> Drift:
    """Compare recent counts with those of a version; see `VocabularyHistory.drift`.

    `trial` is an update of the version by the recent counts.
    """
    tok = trial.before
    now = Use.of(tok, recent, threads)
    measured = now if on is None else Use.of(tok, on, threads)
    left = Use.of(trial.after, recent if on is None else on, threads)
    before = Use.of(tok, base, threads) if len(base) else None
    apart = chance = unseen = None
    if before is not None:
        apart = jensen_shannon(now.times, before.times)
        chance = _by_chance(now, before)
        unseen = _unseen(recent, base)
    return Drift(
        version=number,
        recent=now,
        base=before,
        divergence=apart,
        by_chance=chance,
        unseen=unseen,
        trial=trial,
        gain=Gain(len(trial.added), measured.tokens, left.tokens, on is not None),
        **reader._asdict(),
    )


def _known(tok: Tokenizer) -> int:
    """The number of tokens that text can be encoded to."""
    from digram.analysis.metrics.vocabulary import vocabulary

    return vocabulary(tok).size


def _by_chance(now: Use, before: Use) -> float:
    """The divergence of a sample of the base, as large as the recent text, from the base.

    A text of few tokens never has the frequencies of a large one. Real text varies more than a
    sample, so a divergence slightly above this one may be chance too. The sample is the same in
    each call.
    """
    import numpy as np

    if not before.tokens:
        return 0.0
    shares = before.times / before.tokens
    sample = np.random.default_rng(0).multinomial(now.tokens, shares / shares.sum())
    return jensen_shannon(sample, before.times)


def _unseen(recent: Counts, base: Counts) -> float:
    """The share of the recent pretokens that the base does not have."""
    new = sum(count for piece, count in recent.items() if piece not in base)
    return new / recent.pretokens if recent.pretokens else 0.0


def _measures(found: Drift) -> list[str]:
    now, before = found.recent, found.base
    of = [now] if before is None else [before, now]
    titles = ["recent text"] if before is None else ["made on", "recent text"]
    rows = [
        (f"version {found.version}", *titles),
        ("bytes", *(f"{one.bytes:,}" for one in of)),
        ("tokens", *(f"{one.tokens:,}" for one in of)),
        ("bytes per token", *(f"{one.bytes_per_token:.3f}" for one in of)),
        ("Rényi efficiency", *(f"{one.renyi_efficiency:.3f}" for one in of)),
        ("vocabulary used", *(share(one.vocabulary_used) for one in of)),
    ]
    lines = aligned(rows, "<" + ">" * len(of)).splitlines()
    if found.divergence is None or found.unseen is None or found.by_chance is None:
        return lines
    return [
        *lines,
        "",
        f"Divergence of token frequencies {found.divergence:.3f} bits, "
        f"by chance {found.by_chance:.3f}.",
        f"{share(found.unseen)} of the recent pretokens were unseen.",
    ]


def _verdict(found: Drift) -> list[str]:
    gain, after = found.gain, found.pays_after
    text = "held-out text" if gain.held_out else "the text that they were learned from"
    saved = f"With {several(gain.added, 'token')} more, {text} has {share(gain.saved)} fewer."
    if math.isinf(after):
        return [saved, "Reading would take no less arithmetic, so an update does not pay."]
    verdict = "pays" if found.pays else "does not pay"
    return [
        saved,
        f"Reading {after:,.0f} tokens then makes up for training on one: "
        f"within {found.horizon:,.0f} an update {verdict}.",
    ]
