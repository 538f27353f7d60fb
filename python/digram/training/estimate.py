"""Estimate the distinct pretokens, memory, disk space and time of a training run.

The number of distinct pretokens follows from the size of the corpus (`heaps_law.py`), and the
memory and time of the merge loop from that number. `RATES` are the measured rates of a machine;
`python -m benches estimate_training` measures them and checks the estimate.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from digram._core import default_threads
from digram._util.progress import amount
from digram._util.validation import mapping, real_number, size_in_bytes, whole_number
from digram.corpus import Corpus, CorpusLike
from digram.errors import OptionError, several, show
from digram.pretokenizers.pretokenizer import Pretokenizer, Regex, resolve
from digram.training.heaps_law import GROWTH, KINDS, MEASURED_BYTES, Growth, fitted, points

__all__ = ["RATES", "Phase", "Rates", "TrainingEstimate", "estimate_training"]


class Rates(NamedTuple):
    """The measured rates of a machine, in bytes and seconds."""

    measured: str
    machine: str
    counted: float
    """Bytes of text that one thread reads and counts in a second."""
    second_thread: float
    """The speed that each further thread adds, as a share of that of the first."""
    count_memory: float
    """Memory for each distinct pretoken during counting, in addition to its bytes."""
    merge_memory: float
    """Memory of the merge loop for each byte of distinct pretokens."""
    merge_byte: float
    """Seconds of the merge loop for each byte of distinct pretokens."""
    merge_one: float
    """Seconds of the merge loop for each merge."""
    from_disk: float
    """The additional time of merging from disk, as a share of the time in memory, multiplied by
    the ratio of the memory needed to the memory available."""
    start: float
    """Memory that does not depend on the text."""
    disk: float
    """Bytes that a disk writes or reads in a second; assumed, not measured."""
    network: float
    """Bytes that a machine sends in a second; assumed, not measured."""


RATES = Rates(
    measured="2026-11-21",
    machine="2 shared cores of 2.5 GHz with AVX-512",
    counted=70.8e6,
    second_thread=0.34,
    count_memory=127.0,
    merge_memory=12.0,
    merge_byte=0.116e-6,
    merge_one=5.15e-6,
    from_disk=1.0,
    start=10.4e6,
    disk=300e6,
    network=100e6,
)

_CUTS = tuple(dict.fromkeys(cut for _, cut in GROWTH))
_LIKE = {
    "llama3": "cl100k",
    "qwen2": "cl100k",
}  # they split words in the same way; only digits differ
_ON_DISK = 16  # bytes in addition to the pretoken: its length and its count
_ROUND = 4  # bytes on disk for each byte of distinct pretokens, at the end of a round of merges
_MAX_IN_MEMORY = 1 << 32  # bytes of distinct pretokens that can be merged in memory


@dataclass(frozen=True, slots=True)
class Phase:
    """The time and memory of one phase of a run on each machine, in seconds and bytes.

    `spill` is the amount written to disk because memory is too small, `traffic` the amount sent to
    another machine.
    """

    seconds: float
    memory: int
    spill: int = 0
    traffic: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingEstimate:
    """The result of `digram.estimate_training`; sizes in bytes, times in seconds.

    `counting` runs on all machines and `merging` on one. `fits` says whether the merge loop fits
    into memory; if not, `merging` is the estimate for merging from disk, and `advice` names the
    options. `corpus_bytes` is the size of the corpus, `memory_limit` the memory of a machine.
    `beyond` is the ratio of the size of the text to that on which the laws were checked: the
    larger, the rougher the estimate.
    """

    corpus_bytes: int
    vocab_size: int
    kinds: dict[str, float]
    pretokenizer: str
    machines: int
    cores: int
    memory_limit: int
    distinct_pretokens: int
    distinct_bytes: int
    counting: Phase
    merging: Phase
    seconds: float
    fits: bool
    advice: str
    beyond: float
    measured: str

    def to_dict(self) -> dict[str, Any]:
        """The estimate as plain values, for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from digram.display.html import report_page

        return report_page(self)

    def __str__(self) -> str:
        kinds = ", ".join(
            kind if share == 1 else f"{share:.0%} {kind}" for kind, share in self.kinds.items()
        )
        one = self.machines == 1
        cores = f"{several(self.cores, 'core')}, {amount(self.memory_limit)} of memory"
        c, m = self.counting, self.merging
        spill = f", {amount(c.spill)} spilled to disk" if c.spill else ""
        traffic = f", {amount(c.traffic)} sent on" if c.traffic else ""
        rough = f"; {self.beyond:,.0f} times what the laws were checked on" * (self.beyond > 1)
        return "\n".join(
            [
                f"{amount(self.corpus_bytes)} of text ({kinds}), {self.vocab_size:,} tokens, "
                f"pretokenizer {self.pretokenizer}",
                f"on {'a machine' if one else f'{self.machines:,} machines'} of {cores}",
                "",
                f"distinct     {several(self.distinct_pretokens, 'pretoken')}, "
                f"{amount(self.distinct_bytes)}",
                f"counting     {_time(c.seconds)}, memory {amount(c.memory)}"
                f"{'' if one else ' a machine'}{spill}{traffic}",
                f"merging      {_time(m.seconds)}, memory {amount(m.memory)}"
                f"{'' if one else ' on one machine'}"
                f"{f', {amount(m.spill)} on disk' if m.spill else ''}",
                f"in all       {_time(self.seconds)}",
                *([] if self.fits else [f"from disk    {self.advice}"]),
                "",
                f"Expected, not promised: rates of {self.measured}{rough}.",
            ]
        )

    __repr__ = __str__


def estimate_training(
    corpus_size: int | float | str,
    vocab_size: int,
    *,
    kind: str | Mapping[str, float] = "english",
    sample: CorpusLike | None = None,
    pretokenizer: str | Regex | Pretokenizer | None = "o200k",
    memory_limit: int | float | str | None = None,
    cores: int | None = None,
    machines: int = 1,
    speed: float = 1.0,
) -> TrainingEstimate:
    """Estimate what training on a corpus of a given size needs, before any of it is read.

    >>> import digram
    >>> found = digram.estimate_training("1 TB", 64_000, memory_limit="64 GB", cores=16)
    >>> found.distinct_pretokens
    35031000
    >>> mixed = {"english": 0.7, "code": 0.2, "multilingual": 0.1}
    >>> found = digram.estimate_training("20 GB", 128_000, kind=mixed, memory_limit="1 GB", cores=8)
    >>> found.fits, found.counting.spill > 0, found.counting.memory < 1_000_000_000
    (False, True, True)

    `print` shows the estimate, with advice if memory is too small; `to_dict()` gives plain values.

    corpus_size: the size of the corpus, in bytes or as "500 GB" (decimal) or "2 GiB".
    kind: "english", "code" or "multilingual" (a third of it without spaces between words), or
        shares of them, as in {"english": 0.8, "code": 0.2}. Words that occur in several kinds are
        counted for each.
    sample: text of the corpus itself, in any form that `train` accepts, instead of a kind. Its
        documents, in random order, are read to measure the growth of distinct pretokens. A larger
        sample gives a better estimate.
    pretokenizer: "gpt2", "cl100k" or "o200k", or one that splits words in the same way ("llama3",
        "qwen2"); with a `sample` any other.
    memory_limit, cores: the memory and the cores of each machine; by default those of this one.
    machines: the corpus is counted in as many parts; one machine merges.
    speed: the speed of a core relative to the one that was measured (`RATES.machine`).

    Time depends mostly on the machine, and distinct pretokens on the text. `python -m benches
    estimate_training` measures the error of the estimate on your machine. Raises `OptionError` for
    invalid values.
    """
    text, room = (
        size_in_bytes("corpus_size", corpus_size),
        size_in_bytes("memory_limit", _memory() if memory_limit is None else memory_limit),
    )
    cores = default_threads() if cores is None else cores
    vocab_size = whole_number("vocab_size", vocab_size, 1)
    cores, machines = whole_number("cores", cores, 1), whole_number("machines", machines, 1)
    if real_number("speed", speed) <= 0:
        raise OptionError(f"speed={show(speed)} is not above 0.", value=speed)
    growth, shares, known = _growth(kind, sample, pretokenizer)
    whole, share = _Distinct.of(growth, text), _Distinct.of(growth, text / machines)

    runs = _runs(growth, text / machines, room)
    run = _Distinct.of(growth, text / machines / runs)
    spill = runs * run.stored if runs > 1 else 0
    traffic = share.stored if machines > 1 else 0
    threads = 1 + RATES.second_thread * (cores - 1)
    counting = Phase(
        seconds=text / machines / (RATES.counted * speed * threads)
        + 2 * spill / RATES.disk
        + traffic / RATES.network,
        memory=round(run.counting),
        spill=round(spill),
        traffic=round(traffic),
    )
    merging = Phase(
        seconds=(whole.bytes * RATES.merge_byte + vocab_size * RATES.merge_one) / speed,
        memory=round(whole.merging),
    )
    fits = whole.fits(room)
    advice = "" if fits else _advice(growth, text, merging, room)
    if not fits:
        within = min(room, whole.merging)
        merging = Phase(
            seconds=merging.seconds * (1 + RATES.from_disk * whole.merging / within),
            memory=int(within),
            spill=round(whole.stored + whole.bytes * _ROUND),
        )
    return TrainingEstimate(
        corpus_bytes=round(text),
        vocab_size=vocab_size,
        kinds=shares,
        pretokenizer=_name(pretokenizer),
        machines=machines,
        cores=cores,
        memory_limit=round(room),
        distinct_pretokens=_rounded(whole.pretokens),
        distinct_bytes=_rounded(whole.bytes),
        counting=counting,
        merging=merging,
        seconds=counting.seconds + merging.seconds,
        fits=fits,
        advice=advice,
        beyond=max(1.0, text * max(shares.values()) / known),
        measured=f"{RATES.measured}, {RATES.machine}",
    )


class _Distinct(NamedTuple):
    """The estimated distinct pretokens of a text of some size."""

    pretokens: float
    bytes: float
    once: float

    @classmethod
    def of(cls, growth: list[tuple[float, Growth]], text: float) -> _Distinct:
        parts = [(g, min(g.pretokens(text * s), text * s), text * s) for s, g in growth]
        return cls(
            sum(pretokens for _, pretokens, _ in parts),
            sum(min(g.bytes(size), size) for g, _, size in parts),
            sum(min(g.bytes(size), size) * g.once for g, _, size in parts),
        )

    @property
    def counting(self) -> float:
        """Memory for the pretokens with their counts."""
        return RATES.start + self.bytes + self.pretokens * RATES.count_memory

    @property
    def merging(self) -> float:
        """Memory of the merge loop over them."""
        return self.counting + self.bytes * RATES.merge_memory

    def fits(self, room: float) -> bool:
        """Whether they can be merged within this much memory."""
        return self.merging <= room and self.bytes < _MAX_IN_MEMORY

    def without_rare(self) -> _Distinct:
        """Those that occur more than once; their share is assumed to be the same as for bytes."""
        share = 1 - self.once / self.bytes
        return _Distinct(self.pretokens * share, self.bytes * share, 0.0)

    @property
    def stored(self) -> float:
        """Their size on disk, or when sent to another machine."""
        return self.bytes + self.pretokens * _ON_DISK


def _runs(growth: list[tuple[float, Growth]], text: float, room: float) -> int:
    """The number of parts of the text such that the counts of each fit in memory."""
    runs = 1
    while _Distinct.of(growth, text / runs).counting > room and runs < 1 << 40:
        runs += max(1, runs // 16)
    return runs


def _advice(growth: list[tuple[float, Growth]], text: float, in_memory: Phase, room: float) -> str:
    """Advice for a corpus that does not fit into memory: the options, and what would fit."""
    option = f'memory_limit="{amount(room)}" gives the same merges'
    whole = _Distinct.of(growth, text)
    if whole.bytes < _MAX_IN_MEMORY:
        kept = whole.without_rare()
        often = f" ({amount(kept.merging)} without pretokens that occur once)" * kept.fits(room)
        more = f"{amount(in_memory.memory)} of memory{often}"
        return f"{option}; with {more} it takes {_time(in_memory.seconds)}"
    low, high = 0.0, text
    for _ in range(60):
        middle = (low + high) / 2
        fits = _Distinct.of(growth, middle).fits(room)
        low, high = (middle, high) if fits else (low, middle)
    return f"{option}; in memory this machine merges a sample of {amount(low)}"


def _growth(
    kind: str | Mapping[str, float],
    sample: CorpusLike | None,
    pretokenizer: str | Regex | Pretokenizer | None,
) -> tuple[list[tuple[float, Growth]], dict[str, float], float]:
    """The laws with their shares of the text; the shares by name; the size of measured text."""
    if sample is not None:
        measured = list(points(Corpus.of(sample).documents(), resolve(pretokenizer)))
        return [(1.0, fitted(measured[-4:]))], {"as the sample": 1.0}, measured[-1].text
    shares = _shares(kind)
    name = _name(pretokenizer)
    cut = _LIKE.get(name, name)
    if cut not in _CUTS:
        raise OptionError(
            f"there is no law for the pretokenizer {name}.",
            value=pretokenizer,
            hint=f"There are laws for {', '.join(_CUTS)}: pass the most similar one, or a "
            "sample= of the text.",
        )
    return [(share, GROWTH[one, cut]) for one, share in shares.items()], shares, MEASURED_BYTES


def _name(pretokenizer: str | Regex | Pretokenizer | None) -> str:
    cut = resolve(pretokenizer)
    if cut.digits is not None or cut.rules is not None or cut.normalizer or cut.byte_patterns:
        return repr(cut)
    return cut.name or ("a regex" if cut.patterns else "none")


def _shares(kind: str | Mapping[str, float]) -> dict[str, float]:
    if not isinstance(kind, str):
        mapping("kind", kind, "kinds of text and their shares")
    shares = {kind: 1.0} if isinstance(kind, str) else dict(kind)
    for name, share in shares.items():
        if name not in KINDS:
            raise OptionError(
                f"there is no law for text of the kind {show(name)}.",
                value=name,
                hint=f"Kinds: {', '.join(KINDS)}.",
            )
        shares[name] = real_number(f"kind[{name!r}]", share)
        if shares[name] < 0:
            raise OptionError(f"kind: a share of {show(share)} {name} is below 0.", value=share)
    total = sum(shares.values())
    if not total > 0:
        raise OptionError("kind: the shares sum to 0.", value=kind)
    return {name: share / total for name, share in shares.items() if share}


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _rounded(number: float) -> int:
    """Round to five digits, since the estimate is not more precise."""
    return int(float(f"{number:.4e}"))


def _time(seconds: float) -> str:
    """A time for people.

    >>> [_time(seconds) for seconds in (0.25, 12.3, 200, 9000, 400_000)]
    ['0.2 s', '12 s', '3 min', '2 h 30 min', '4 d 15 h']
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"
