"""Limits of the memory in which encoding remembers what texts became."""

from __future__ import annotations

from digram import _core
from digram._util.validation import whole_number

__all__ = ["cache_bytes", "limit_cache"]


def limit_cache(total: int | None = None, *, per_thread: int | None = None) -> None:
    """Limit the memory in which encoding remembers words and their ids, for later texts and calls.

    >>> import digram
    >>> digram.limit_cache(64 << 20, per_thread=8 << 20)
    >>> tok = digram.train("low low lower", vocab_size=258)
    >>> tok.encode("lower")
    [257, 101, 114]
    >>> 0 < digram.cache_bytes() <= 64 << 20
    True
    >>> digram.limit_cache()  # the defaults again

    `total` is the number of bytes for all tokenizers and threads of the process together, those
    that work now and what is kept for later calls. The default is the value of the environment
    variable `DIGRAM_CACHE_BYTES` when a tokenizer is made, or else 256 MiB, or 16 MiB for each
    processor if that is more. `per_thread` limits each thread; no thread takes more than 81 MiB,
    nor more than its part of the total. A thread that encodes needs about 20 KiB in any case, even
    with 0.

    No limit changes ids. With less memory than the words and tokens of the text need (8 MiB for
    100,000 tokens), encoding takes longer. Memory that is kept beyond the limit is freed at once,
    the least recently used first; calls that run meanwhile keep what they have until they end.

    Raises `TypeError` for a value that is not a whole number, and `OptionError` for a negative one.
    """
    _core.limit_cache(
        None if total is None else whole_number("total", total, 0),
        None if per_thread is None else whole_number("per_thread", per_thread, 0),
    )


def cache_bytes() -> int:
    """The number of bytes that encoding takes now to remember words: see `limit_cache`.

    >>> import digram
    >>> digram.cache_bytes() >= 0
    True
    """
    return _core.cache_bytes()
