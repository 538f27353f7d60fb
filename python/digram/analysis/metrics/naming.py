"""Named corpora, or one without a name: checked, and processed one by one."""

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
    corpus: CorpusLike | Mapping[str, CorpusLike], reference: str | None
) -> dict[str | None, Corpus]:
    """The caller's corpora by name, or one under None; checks that all files exist before reading
    any.

    Raises the errors of `Corpus.of`, with the name of the corpus, and `OptionError` if there is no
    corpus, or if `reference` is not the name of one.
    """
    if not isinstance(corpus, Mapping):
        if reference is None:
            return {None: Corpus.of(corpus)}
        raise OptionError(
            f"reference={show(reference)} must be the name of a corpus, and this one has no name.",
            value=reference,
            hint="Pass a dictionary, as in "
            'digram.evaluate(tok, {"en": ..., "sw": ...}, reference="en").',
        )
    check_names(corpus, reference)
    found: dict[str | None, Corpus] = {}
    for name, one in corpus.items():
        with _inside(name):
            found[name] = Corpus.of(one)
    return found


def check_names(corpus: Mapping[str, CorpusLike], reference: str | None) -> None:
    """Raise an error for names that are not str, no corpora, or a reference that is not a name."""
    if not corpus:
        raise OptionError("the dictionary names no corpus.", value=corpus)
    for name in corpus:
        if not isinstance(name, str):
            raise TypeError(f"the names of corpora must be str, not {show(name)}")
    if reference is not None and reference not in corpus:
        raise OptionError(
            f"reference={show(reference)} is not the name of a corpus.",
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
    """The result of `work` for each corpus, by name; `work` passes bytes to its second argument."""
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
    """Add the name of the corpus to an error."""
    try:
        yield
    except Exception as error:
        if name is not None:
            placed(error, f"corpus[{name!r}]")
        raise
