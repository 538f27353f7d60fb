"""A gigabyte of real text from Debian's packages: `python -m benches.corpus [--folder F]`.

Downloads documentation and sources with `apt-get download`, takes the text out of them, and writes
`big.txt`: UTF-8, documents joined by the separator of the other corpora, no document twice.
Composition and sizes are printed, and kept beside it. Packages that were downloaded are not
downloaded again; the same packages give the same bytes.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import hashlib
import json
import lzma
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from time import perf_counter
from typing import IO

from benches.data import MB, SEPARATOR, cache
from benches.html import text_of
from benches.tables import markdown, number

HTML = {".html", ".htm", ".xhtml", ".page"}
_PLAIN = """
    txt rst md tex texi adoc c h cc cpp hpp S py rs go el pl sh sql js dts dtsi yaml java hs ml erl
    hrl
"""
PLAIN = {f".{name}" for name in _PLAIN.split()}
WRAPPED = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
SHORTEST = 200  # bytes: less is a title, a redirection, a licence's name
LONGEST = 4 * MB  # more is a table or an index


@dataclass(frozen=True)
class Part:
    """Packages of one kind; `share` of their documents are taken, chosen by digest.

    `without` has parts of the names of what programs wrote, and of what is said elsewhere.
    """

    name: str
    packages: tuple[str, ...]
    share: float = 1.0
    without: tuple[str, ...] = ()


_LANGUAGES = "ca cs da de el es et eu fi fr hi hu id it ja km ko nl pl pt-br ru sl sv tr vi"
PARTS = (
    Part(
        "source code",
        ("linux-source-6.1", "golang-1.19-src", "rust-src", "emacs-el"),
        share=0.75,
        # Tables of registers; and what the documentation below says again.
        without=("/drivers/gpu/drm/amd/include/", "/Documentation/"),
    ),
    Part(
        "documentation",
        (
            *("rust-doc", "openjdk-17-doc", "erlang-doc", "libboost1.74-doc", "qtbase5-doc-html"),
            *("linux-doc-6.1", "llvm-14-doc", "postgresql-doc-15", "python3.11-doc"),
            *("python-django-doc", "sqlite3-doc", "vim-doc"),
        ),
        # The corpora again, in colour or as they were; whole books on one page.
        without=("/html/src/", "/_sources/", "/_modules/", "/print.html", ".rst.gz"),
    ),
    Part(
        "many languages",
        (
            *("debian-handbook", "gnome-user-docs", "installation-guide-amd64"),
            *(f"libreoffice-help-{one}" for one in (*_LANGUAGES.split(), "zh-cn", "zh-tw")),
        ),
        without=(".txt.gz",),  # what the pages say again
    ),
)


@dataclass
class Taken:
    """What was taken of a part."""

    part: str
    packages: int = 0
    documents: int = 0
    bytes: int = 0
    twice: int = 0
    not_text: int = 0


def make(folder: Path, parts: tuple[Part, ...] = PARTS) -> list[Taken]:
    """Write `big.txt` in a folder, from the packages that lie in `packages` there."""
    seen: set[bytes] = set()
    found = []
    half = folder / "big.txt.part"
    with half.open("wb") as out:
        for part in parts:
            taken = Taken(part.name, len(part.packages))
            for package in part.packages:
                before = taken.bytes
                for text in _chosen(_documents(_archive(folder, package), part, taken), part):
                    digest = hashlib.blake2b(text, digest_size=16).digest()
                    if digest in seen:
                        taken.twice += 1
                        continue
                    out.write(SEPARATOR.encode() * bool(seen) + text)
                    seen.add(digest)
                    taken.documents += 1
                    taken.bytes += len(text)
                print(f"{package}: {number((taken.bytes - before) / MB)} MB", file=sys.stderr)
            found.append(taken)
    half.replace(folder / "big.txt")
    return found


def download(folder: Path, parts: tuple[Part, ...] = PARTS) -> None:
    """Fetch the packages that are not there yet, in one call of the package manager."""
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    absent = [
        package
        for part in parts
        for package in part.packages
        if not list(packages.glob(f"{package}_*.deb"))
    ]
    if absent:
        subprocess.run(["apt-get", "download", "--quiet", *absent], cwd=packages, check=True)


def _archive(folder: Path, package: str) -> Path:
    found = sorted((folder / "packages").glob(f"{package}_*.deb"))
    if not found:
        raise SystemExit(f"{folder / 'packages'} holds no {package}_*.deb; download it first.")
    return found[-1]


def _documents(archive: Path, part: Part, taken: Taken) -> Iterator[bytes]:
    """The texts of a package's files, stripped."""
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield from _files(process.stdout, "r|", part, taken)
        process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{archive} cannot be unpacked; delete it, and download it again.")


def _files(stream: IO[bytes], mode: str, part: Part, taken: Taken) -> Iterator[bytes]:
    """The files of an archive, and of archives in it, in the order they come."""
    with tarfile.open(fileobj=stream, mode=mode) as archive:  # type: ignore[call-overload]
        for member in archive:
            path = PurePosixPath(member.name)
            if not member.isfile() or any(name in member.name for name in part.without):
                continue
            file = archive.extractfile(member)
            assert file is not None
            if path.name.endswith((".tar.xz", ".tar.bz2", ".tar.gz")):
                yield from _files(file, f"r|{path.suffix[1:]}", part, taken)
                continue
            unwrap = WRAPPED.get(path.suffix)
            suffix = PurePosixPath(path.stem).suffix if unwrap else path.suffix
            if suffix not in HTML and suffix not in PLAIN:
                continue
            if member.size > LONGEST:
                continue
            data = file.read()
            text = _text(unwrap(data) if unwrap else data, suffix)
            if text is None:
                taken.not_text += 1
            elif SHORTEST <= len(text) <= LONGEST:
                yield text


def _text(data: bytes, suffix: str) -> bytes | None:
    """What a person reads of a file, or None where it is not UTF-8."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text or SEPARATOR in text:
        return None
    return (text_of(text) if suffix in HTML else text).strip().encode()


def _chosen(documents: Iterator[bytes], part: Part) -> Iterator[bytes]:
    """A share of the documents that depends on nothing but each of them."""
    below = int(part.share * 2**32)
    for text in documents:
        if int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") < below:
            yield text


def main() -> None:
    """Download, take the text out, say what it is."""
    parser = argparse.ArgumentParser(prog="python -m benches.corpus", description=__doc__)
    parser.add_argument("--folder", type=Path, help="where to (DIGRAM_BIG, or the user's cache)")
    folder: Path = parser.parse_args().folder or cache()
    began = perf_counter()
    download(folder)
    fetched = perf_counter()
    taken = make(folder)
    (folder / "big.json").write_text(json.dumps([asdict(one) for one in taken], indent=1) + "\n")
    names = [name.replace("_", " ") for name in vars(taken[0])]
    rows = [
        [f"{cell:,}" if isinstance(cell, int) else cell for cell in vars(one).values()]
        for one in taken
    ]
    print(markdown(names, rows))
    size = (folder / "big.txt").stat().st_size
    print(
        f"\n{folder / 'big.txt'}: {size:,} bytes. Downloading took {number(fetched - began)} s, "
        f"the rest {number(perf_counter() - fetched)} s."
    )


if __name__ == "__main__":
    main()
