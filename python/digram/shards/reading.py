"""Read token files: find them, and determine their format."""

from __future__ import annotations

import errno
import os
from dataclasses import replace
from pathlib import Path

from digram._util.system_errors import no_such_file, system_error
from digram._util.validation import path_name, whole_number
from digram.errors import CorruptFileError, OptionError, show
from digram.shards.formats import FORMATS, Format, named
from digram.shards.manifest import NAME, Manifest, Shard
from digram.shards.token_files import TokenFiles

__all__ = ["TokenFiles", "read_tokens"]


def read_tokens(
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    end_of_text: int | None = None,
) -> TokenFiles:
    """Read the documents of a token file, or of a folder of token files.

    >>> import digram, pathlib, tempfile
    >>> tok = digram.train("low lower", max_merges=2, special_tokens=["<|endoftext|>"])
    >>> folder = pathlib.Path(tempfile.mkdtemp()) / "out"
    >>> _ = digram.encode_files(tok, ["low", "lower"], folder, format="megatron")
    >>> found = digram.read_tokens(folder)
    >>> found
    <digram.TokenFiles: 2 documents, 6 tokens, format='megatron', dtype=uint16, 1 shard>
    >>> found[0].tolist(), [tok.decode(ids) for ids in found]
    ([257, 258], ['low<|endoftext|>', 'lower<|endoftext|>'])

    The manifest of a folder of `encode_files` describes its content. For other files the format is
    inferred from suffixes and first bytes; files without either need `format`. nanoGPT,
    llm.c and NumPy files do not store the ends of documents: `end_of_text` is the id that ends
    them (see `tok.special_tokens`), by default that of the manifest. With this default, the number
    of documents must be that of the manifest: it is an error if texts contain the id.

    Raises FileNotFoundError for a missing file, `OptionError` if the format is not known,
    `CorruptFileError` for a damaged file and for an unfinished run. Memory: see `TokenFiles`.
    """
    if isinstance(end_of_text, str):
        raise TypeError(
            f"end_of_text is an id here, since no tokenizer is known: "
            f"pass tok.special_tokens[{end_of_text!r}]"
        )
    end = None if end_of_text is None else whole_number("end_of_text", end_of_text, 0)
    given = Path(path_name(path))
    if not given.exists():
        raise no_such_file(str(given))
    manifest = _manifest_of(given, format)
    if manifest is not None:
        return _of_manifest(given, manifest, format, end)
    chosen = None if format is None else named(format)
    paths = [given] if given.is_file() else _shards(given, chosen)
    chosen = chosen or _recognized_format(paths)
    chosen.needs()
    return TokenFiles([chosen.read(one) for one in paths], chosen, end)


def _of_manifest(given: Path, manifest: Manifest, asked: str | None, end: int | None) -> TokenFiles:
    folder = given if given.is_dir() else given.parent
    format, usual = _named_format(manifest, folder / NAME)
    if asked is not None and not (isinstance(asked, str) and asked == format.name):
        raise OptionError(
            f"format={show(asked)}, but the manifest of these files says {format.name!r}.",
            path=given,
            value=asked,
            hint="Leave out format=.",
        )
    shards = manifest.shards
    if given.is_file():
        shards = [one for one in shards if given.name in {file.name for file in one.files}]
        manifest = replace(manifest, shards=shards)
    elif not manifest.done:
        raise CorruptFileError(
            f"the run in this folder is unfinished: {len(shards):,} shards are done.",
            path=given,
            hint="Resume it with resume=True, or read its files one by one.",
        )
    manifest.check_files(folder, digests=False)
    format.needs()
    names = [_holds_ids(shard, format, folder / NAME) for shard in shards]
    stored = [format.read(folder / name) for name in names]
    return TokenFiles(stored, format, usual if end is None else end, manifest, cut=end is not None)


def _named_format(manifest: Manifest, path: Path) -> tuple[Format, int | None]:
    """The format that a manifest names, and the id that ends documents."""
    name, end = manifest.options.get("format"), manifest.options.get("end_of_text")
    if not isinstance(name, str) or name not in FORMATS:
        raise _unlike(
            path, f"it names the format {name!r}, which is not one of {', '.join(FORMATS)}."
        )
    if end is None:
        return FORMATS[name], None
    id = end.get("id") if isinstance(end, dict) else None
    if type(id) is not int or id < 0:
        raise _unlike(path, f"it says that documents end with {end!r}, which has no id.")
    return FORMATS[name], id


def _holds_ids(shard: Shard, format: Format, path: Path) -> str:
    """The name of the file with the ids of a shard."""
    for file in shard.files:
        if file.name.endswith(format.suffix):
            return file.name
    names = ", ".join(file.name for file in shard.files) or "no files"
    raise _unlike(
        path, f"a shard of {format.name} has a {format.suffix}, but one here has {names}."
    )


def _unlike(path: Path, message: str) -> CorruptFileError:
    """An error about a manifest with valid types but invalid values."""
    return CorruptFileError(
        message,
        path=path,
        hint="It is damaged, or from another program. Copy the folder again.",
    )


def _manifest_of(given: Path, format: str | None) -> Manifest | None:
    """The manifest of a folder, or the manifest beside a file, if it lists the file.

    A manifest that cannot be read may be from another program; it is ignored if not needed.
    """
    try:
        found = Manifest.load(given if given.is_dir() else given.parent)
    except CorruptFileError:
        if given.is_dir() and format is None:
            raise
        return None
    if found is None or given.is_dir():
        return found
    names = {file.name for shard in found.shards for file in shard.files}
    return found if given.name in names else None


def _shards(folder: Path, format: Format | None) -> list[Path]:
    """The files with ids in a folder, sorted by name."""
    suffixes = {one.suffix for one in ([format] if format else FORMATS.values())}
    found = sorted(path for path in folder.iterdir() if path.suffix in suffixes and path.is_file())
    if not found:
        raise system_error(
            errno.ENOENT, f"there is no file of tokens ({', '.join(sorted(suffixes))})", str(folder)
        )
    return found


def _recognized_format(paths: list[Path]) -> Format:
    """The format of all files, if it can be recognised."""
    formats = []
    for path in paths:
        known = [format for format in FORMATS.values() if format.recognizes(path)]
        if not known:
            raise OptionError(
                "the format of this token file cannot be recognised.",
                path=path,
                hint=f"Pass format=, one of {', '.join(FORMATS)}; bare ids of 16 bits are nanogpt.",
            )
        formats.append(known[0])
    if len({format.name for format in formats}) > 1:
        other = next(n for n, format in enumerate(formats) if format is not formats[0])
        raise OptionError(
            f"this file is of format {formats[other].name!r}, and {paths[0].name} of "
            f"{formats[0].name!r}.",
            path=paths[other],
            hint="Pass format= to read those of one format, or name a file.",
        )
    return formats[0]
