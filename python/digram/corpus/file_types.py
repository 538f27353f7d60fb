"""The kind of a file, by its name or by `format=`, which decides how it is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from digram._util.wording import said
from digram.errors import OptionError, show

__all__ = ["Form", "Kind", "Packing", "check_format", "files_with", "kind_of"]

Form = Literal["text", "jsonl", "json", "csv", "tsv", "parquet", "arrow"]
Packing = Literal["gz", "zst", "bz2", "xz"]

FORMS: tuple[Form, ...] = ("text", "jsonl", "json", "csv", "tsv", "parquet", "arrow")
PACKINGS: tuple[Packing, ...] = ("gz", "zst", "bz2", "xz")

_FORM_OF: dict[str, Form] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_PACKING_OF: dict[str, Packing] = {f".{packing}": packing for packing in PACKINGS}
_PACKING_OF[".zstd"] = "zst"
# Archives of several files; their bytes are not text.
_ARCHIVES = {".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar"}
# Unsupported compression; the packed bytes are not text either.
_UNREAD = {".lz4", ".lzma", ".lz", ".lzo", ".br", ".z", ".snappy", ".sz"}


@dataclass(frozen=True, slots=True)
class Kind:
    """The format of a file, and its compression."""

    form: Form
    packing: Packing | None = None


_TOLD = {form: Kind(form) for form in FORMS} | {
    f"{form}.{packing}": Kind(form, packing) for form in FORMS for packing in PACKINGS
}


def kind_of(path: str | os.PathLike[str], format: str | None = None) -> Kind:
    """The kind of a file, by the suffixes of its name or by `format`.

    >>> kind_of("a.jsonl.zst"), kind_of("notes.gz"), kind_of("c4.json.gz", "jsonl")
    (Kind(form='jsonl', packing='zst'), Kind(form='text', packing='gz'),
     Kind(form='jsonl', packing='gz'))

    Raises `OptionError` for an archive of several files, and for other kinds of compression.
    """
    name = PurePath(path)
    packing = _PACKING_OF.get(name.suffix.lower())
    if packing is not None:
        name = name.with_suffix("")
    if format is not None:
        named = check_format(format)
        return Kind(named.form, named.packing or packing)
    suffix = name.suffix.lower()
    if suffix in _ARCHIVES:
        raise OptionError(
            f"{suffix} files are archives, and their bytes are not text.",
            path=path,
            value=suffix,
            hint="Unpack it into a folder first, or leave it out with a pattern like "
            "'folder/**/*.txt'.",
        )
    if suffix in _UNREAD:
        raise OptionError(
            f"the compression of {suffix} files is not supported.",
            path=path,
            value=suffix,
            hint=f"Unpack it first, or pack it as .{', .'.join(PACKINGS[:-1])} or .{PACKINGS[-1]}; "
            "or leave it out with a pattern like 'folder/**/*.txt'.",
        )
    return Kind(_FORM_OF.get(suffix, "text"), packing)


def check_format(format: str) -> Kind:
    """The kind for a value of `format=`, with its compression.

    >>> check_format("jsonl.zst")
    Kind(form='jsonl', packing='zst')
    """
    if format in _TOLD:
        return _TOLD[format]
    raise OptionError(
        f"format={show(format)} is unknown.",
        value=format,
        hint=f"Choose from {', '.join(FORMS)}, with .{' or .'.join(PACKINGS)} after it if the "
        "file is packed but its name does not say so.",
    )


def files_with(argument: str) -> str:
    """How a message says that files are read with an argument.

    >>> files_with('format="text"')
    'digram.files(path, format="text")'
    """
    # The option --format is that of the output.
    shell = f"source_{argument}" if argument.startswith("format=") else argument
    return said(f"digram.files(path, {argument})", shell)
