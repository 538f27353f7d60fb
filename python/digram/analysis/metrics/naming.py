"""Sources with names, or one without: checked, and gone through one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from digram._util.progress import progress as progress_bar
from digram.corpus import Source, settled, total_bytes
from digram.errors import OptionError, placed, show

__all__ = ["each_source", "named_sources"]

Found = TypeVar("Found")


def named_sources(
    source: Source | Mapping[str, Source], reference: str | None
) -> Mapping[str, Source] | dict[None, Source]:
    """Sources by name, or one without; refuses a reference that is none of them."""
    if not isinstance(source, Mapping):
        if reference is None:
            return {None: source}
        raise OptionError(
            f"reference={show(reference)} is for several sources, and names one of them.",
            value=reference,
            hint="Pass a dictionary, as in "
            'digram.evaluate(tok, {"en": ..., "sw": ...}, reference="en").',
        )
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
    return source


def each_source(
    named: Mapping[Any, Source],
    work: Callable[[Source, Callable[[int], object]], Found],
    title: str,
    *,
    separator: str | bytes | None,
    progress: bool | None,
) -> dict[str | None, Found]:
    """What `work` finds in each source, by its name; it tells its second argument of bytes done."""
    sources: dict[str | None, Source] = {}
    for name, one in named.items():
        with _inside(name):  # all files are looked up before the first is read
            sources[name] = settled(one, separator)
    sizes = [total_bytes(one) for one in sources.values()]
    whole = sum(filter(None, sizes)) if None not in sizes else None
    found: dict[str | None, Found] = {}
    with progress_bar(title, whole, "B", progress) as advance:
        for name, one in sources.items():
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
