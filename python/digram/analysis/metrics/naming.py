"""Named corpora, or one without: checked, and gone through one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from digram._util.progress import progress as progress_bar
from digram.corpus import Corpus, CorpusLike
from digram.errors import OptionError, placed, show

__all__ = ["check_names", "each_source", "named_corpora"]

Found = TypeVar("Found")


def named_corpora(
    corpus: CorpusLike | Mapping[str, CorpusLike],
    reference: str | None,
    separator: str | bytes | None,
) -> dict[str | None, Corpus]:
    """What a caller gives, by name, or one without; all files are looked up before one is read.

    Raises as `Corpus.of` does, with the name of the corpus; `OptionError` for a reference that is
    none of them, or no corpus at all.
    """
    if not isinstance(corpus, Mapping):
        if reference is None:
            return {None: Corpus.of(corpus, separator)}
        raise OptionError(
            f"reference={show(reference)} is for several corpora, and names one of them.",
            value=reference,
            hint="Pass a dictionary, as in "
            'digram.evaluate(tok, {"en": ..., "sw": ...}, reference="en").',
        )
    check_names(corpus, reference)
    found: dict[str | None, Corpus] = {}
    for name, one in corpus.items():
        with _inside(name):
            found[name] = Corpus.of(one, separator)
    return found


def check_names(corpus: Mapping[str, CorpusLike], reference: str | None) -> None:
    """Refuses names that are not text, no corpus at all, and a reference that is none of them."""
    if not corpus:
        raise OptionError("the dictionary names no corpus.", value=corpus)
    for name in corpus:
        if not isinstance(name, str):
            raise TypeError(f"the names of corpora are str, not {show(name)}")
    if reference is not None and reference not in corpus:
        raise OptionError(
            f"reference={show(reference)} is none of the corpora.",
            value=reference,
            hint=f"Choose from {', '.join(map(repr, corpus))}.",
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
    """Says of an error which corpus it is about."""
    try:
        yield
    except Exception as error:
        if name is not None:
            placed(error, f"corpus[{name!r}]")
        raise
