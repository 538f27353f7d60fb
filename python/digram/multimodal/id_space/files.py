"""An id space as JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from digram._util import json_files
from digram._util.storage import LARGEST, advise_on_full_disk, atomic_write, read_file
from digram._util.validation import instance, mapping
from digram.errors import ConfigMismatchError, CorruptFileError, DigramError, OptionError, show
from digram.multimodal.id_space.ranges import IdRange, Marker, whole
from digram.multimodal.sequences import SequenceTokenizer
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from digram.multimodal.id_space.space import IdSpace

__all__ = ["digest", "load", "save"]

VERSION = 1
"""The version of the format. Readers refuse later ones."""

_COPY = "Copy the file again, or save the space again."
_KEYS = {"name", "start", "size", "spare", "codebooks", "names", "tokenizer", "begin", "end"}


def save(space: IdSpace, path: str | PathLike[str]) -> None:
    """Write a file; see `IdSpace.save`."""
    content = {"digram_id_space": VERSION, "sha256": digest(space), **_content(space)}
    with advise_on_full_disk("Free some disk space, and save again."):
        atomic_write(
            path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode(), LARGEST
        )


def load(
    path: str | PathLike[str], tokenizers: Mapping[str, Tokenizer | SequenceTokenizer]
) -> IdSpace:
    """Read a file; see `IdSpace.load`."""
    try:
        return _parsed(read_file(path), tokenizers)
    except DigramError as error:
        error.path = str(path)
        raise


def digest(space: IdSpace) -> str:
    """SHA-256 of the content of a file of the space."""
    return json_files.digest(_content(space))


def _content(space: IdSpace) -> dict[str, Any]:
    return {
        "size": space.size,
        "align": space.align,
        "ranges": [_plain(one) for one in space.ranges.values()],
    }


def _plain(one: IdRange) -> dict[str, Any]:
    return {
        "name": one.name,
        "start": one.start,
        "size": one.size,
        "spare": one.spare,
        "codebooks": one.codebooks,
        "names": None if one.names is None else [*one.names],
        "tokenizer": one.digest,
        "begin": None if one.begin is None else [*one.begin],
        "end": None if one.end is None else [*one.end],
    }


def _parsed(data: bytes, tokenizers: Mapping[str, Tokenizer | SequenceTokenizer]) -> IdSpace:
    from digram.multimodal.id_space.space import IdSpace

    content, stated = json_files.unsealed(data, "digram_id_space", "an id space", VERSION, _COPY)
    try:
        if stated != json_files.digest(content):
            raise ValueError("its SHA-256 does not match")
        space = IdSpace._of(
            [_range(one) for one in content["ranges"]],
            whole("align", content["align"], 1),
        )
        _check(space, content["size"])
    except (DigramError, KeyError, TypeError, ValueError) as error:
        what = _reason(error)
        raise CorruptFileError(f"the id space is damaged: {what}.", hint=_COPY) from None
    return _with_tokenizers(space, tokenizers)


def _check(space: IdSpace, size: Any) -> None:
    """`ValueError` for ranges that `IdSpace` cannot have built."""
    if space.size != size:
        raise ValueError(f"its size is {size}, and its ranges end at {space.size}")
    ranges = space.ranges.values()
    markers = [one.id for of in ranges for one in (of.begin, of.end) if one is not None]
    space.to_local(markers)
    names = [one for one in ranges if one.names is not None]
    if (
        len(set(markers)) < len(markers)
        or any((one.begin is None) != (one.end is None) for one in ranges)
        or any(one.size != len(set(one.names or ())) for one in names)
        or any(one.size % one.codebooks for one in ranges)
        or len(space.ranges) < len(space._lookup.names)
    ):
        raise ValueError("its ranges contradict themselves")


def _reason(error: Exception) -> str:
    """The problem in words."""
    if isinstance(error, KeyError):
        return f"the key {error} is missing"
    return str(error).rstrip(".")


def _range(content: Any) -> IdRange:
    if not isinstance(content, dict) or content.keys() != _KEYS:
        raise ValueError(f"{show(content)} is not a range")
    names, wanted = content["names"], content["tokenizer"]
    if not isinstance(names, list | None):
        raise TypeError(f"{show(names)} is not a list of names")
    return IdRange(
        name=_text(content["name"]),
        start=whole("start", content["start"], 0),
        size=whole("size", content["size"], 1),
        spare=whole("spare", content["spare"], 0),
        codebooks=whole("codebooks", content["codebooks"], 1),
        names=None if names is None else tuple(map(_text, names)),
        wanted=None if wanted is None else _text(wanted),
        begin=_marker(content["begin"]),
        end=_marker(content["end"]),
    )


def _marker(content: Any) -> Marker | None:
    if content is None:
        return None
    if not isinstance(content, list) or len(content) != 2:
        raise ValueError(f"{show(content)} is not a marker")
    name, id = content
    return Marker(_text(name), whole("a marker", id, 0))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{show(value)} is not text")
    return value


def _with_tokenizers(
    space: IdSpace, tokenizers: Mapping[str, Tokenizer | SequenceTokenizer]
) -> IdSpace:
    from dataclasses import replace

    mapping("tokenizers", tokenizers, "ranges and their tokenizers")
    ranges = dict(space.ranges)
    for name, tok in tokenizers.items():
        if not isinstance(tok, SequenceTokenizer):
            instance(f"tokenizers[{show(name)}]", tok, Tokenizer)
        if name not in ranges or ranges[name].wanted is None:
            texts = ", ".join(repr(one.name) for one in ranges.values() if one.is_text) or "none"
            raise OptionError(
                f"tokenizers has the key {show(name)}, which is not a range with a tokenizer.",
                value=name,
                hint=f"Choose from {texts}.",
            )
        if tok.digest != ranges[name].wanted:
            raise ConfigMismatchError(
                f"the range {name!r} was saved with another tokenizer.",
                value=name,
                hint=f"Pass that tokenizer; its SHA-256 is {ranges[name].wanted}.",
            )
        ranges[name] = replace(ranges[name], tokenizer=tok, wanted=None)
    return type(space)._of(ranges.values(), space.align)
