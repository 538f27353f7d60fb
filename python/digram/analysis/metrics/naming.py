"""Sources with names, or one without: checked, and gone through one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from digram._util.progress import progress as progress_bar
from digram.corpus import Corpus, Source
from digram.errors import OptionError, placed, show

__all__ = ["check_names", "each_source", "named_corpora"]

Found = TypeVar("Found")


def named_corpora(
    source: Source | Mapping[str, Source],
    reference: str | None,
    separator: str | bytes | None,
) -> dict[str | None, Corpus]:
    """What a caller gives, by name, or one without; all files are looked up before one is read.

    Raises as `Corpus.of` does, with the name of the source; `OptionError` for a reference that is
    none of them, or no source at all.
    """
    if not isinstance(source, Mapping):
        if reference is None:
            return {None: Corpus.of(source, separator)}
        raise OptionError(
            f"reference={show(reference)} is for several sources, and names one of them.",
            value=reference,
            hint="Pass a dictionary, as in "
            'digram.evaluate(tok, {"en": ..., "sw": ...}, reference="en").',
        )
    check_names(source, reference)
    found: dict[str | None, Corpus] = {}
    for name, one in source.items():
        with _inside(name):
            found[name] = Corpus.of(one, separator)
    return found


def check_names(source: Mapping[str, Source], reference: str | None) -> None:
    """Refuses names that are not text, no source at all, and a reference that is none of them."""
    if not source:
        raise OptionError("the dictionary names no source.", value=source)
    for name in source:
        if not isinstance(name, str):
            raise TypeError(f"the names of sources are str, not {show(name)}")
    if reference is not None and reference not in source:
        raise OptionError(
            f"reference={show(reference)} is none of the sources.",
            value=reference,
            hint=f"Choose from {', '.join(map(repr, source))}.",
        )


def each_source(
    named: Mapping[str | None, Corpus],
    work: Callable[[Corpus, Callable[[int], object]], Found],
    title: str,
    *,
    progress: bool | None,
) -> dict[str | None, Found]:
    """What `work` finds in each corpus, by its name; it tells its second argument of bytes done."""
    sizes = [one.size for one in named.values()]
    whole = sum(filter(None, sizes)) if None not in sizes else None
    found: dict[str | None, Found] = {}
    with progress_bar(title, whole, "B", progress) as advance:
        for name, one in named.items():
            with _inside(name):
                found[name] = work(one, advance)
    return found


@contextlib.contextmanager
def _inside(name: str | None) -> Iterator[None]:
    """Says of an error which source it is about."""
    try:
        yield
    except Exception as error:
        if name is not None:
            placed(error, f"source[{name!r}]")
        raise
