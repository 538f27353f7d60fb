"""Which files a name, a folder or a pattern means, and of what kind each is."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from children import read_in_a_child

from digram.corpus import Corpus, Files, Kind, files, kind_of
from digram.errors import OptionError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/deep/d.txt", "sub/e.md", ".hidden/f.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    (tmp_path / ".g.txt").write_bytes(b"dot")
    return tmp_path


def names(found: Files, folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in found.paths]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("**", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("sub", ["sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("*.txt", ["a.txt", "b.txt"]),
        ("**/*.txt", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"]),
        ("**/**/*.txt", ["a.txt", "b.txt", "sub/c.txt", "sub/deep/d.txt"]),
        ("sub/**", ["sub/c.txt", "sub/deep/d.txt", "sub/e.md"]),
        ("sub/*/*.txt", ["sub/deep/d.txt"]),
        ("**/deep/*", ["sub/deep/d.txt"]),
        ("*/c.txt", ["sub/c.txt"]),
        ("[ab].txt", ["a.txt", "b.txt"]),
        ("[!a].txt", ["b.txt"]),
        ("?.txt", ["a.txt", "b.txt"]),
        (".*.txt", [".g.txt"]),
        (".hidden/*", [".hidden/f.txt"]),
        ("a.txt", ["a.txt"]),
    ],
)
def test_patterns(folder: Path, pattern: str, expected: list[str]) -> None:
    assert names(files(folder / pattern), folder) == expected
    assert names(files(str(folder / pattern)), folder) == expected


def test_several_patterns_keep_their_order_and_read_each_file_once(folder: Path) -> None:
    found = files(folder / "sub", folder / "b.txt", folder / "**/*.txt")
    assert names(found, folder) == [
        "sub/c.txt",
        "sub/deep/d.txt",
        "sub/e.md",
        "b.txt",
        "a.txt",
    ]


def test_an_existing_name_is_not_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "[ab].txt").write_bytes(b"brackets")
    (tmp_path / "a.txt").write_bytes(b"a")
    assert list(files(tmp_path / "[ab].txt")) == [b"brackets"]


def test_links_to_files_are_followed_and_loops_are_not(folder: Path) -> None:
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "sub" / "loop2").symlink_to(folder)
    (folder / "link.txt").symlink_to(folder / ".hidden" / "f.txt")
    assert names(files(folder / "**/*.txt"), folder) == [
        "a.txt",
        "b.txt",
        "link.txt",
        "sub/c.txt",
        "sub/deep/d.txt",
    ]
    assert names(files(folder / "sub/loop/a.txt"), folder) == ["sub/loop/a.txt"]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_file_of_several_names_is_read_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, link: Callable[[Path, Path], None]
) -> None:
    link(folder / "b.txt", folder / "a-link.txt")
    assert names(files(folder / "*.txt"), folder) == ["a-link.txt", "a.txt"]
    assert names(files(folder / "b.txt", folder), folder)[:2] == ["b.txt", "a.txt"]
    monkeypatch.chdir(folder)
    assert files("sub", folder / "sub", "./sub/../sub").paths == files("sub").paths


def test_a_link_that_leads_nowhere_is_told(folder: Path) -> None:
    """It may lead to a disk that is not mounted, and what is there would be left out."""
    broken = folder / "sub" / "broken.txt"
    broken.symlink_to("nowhere")
    named = ("", "sub", "**/*.txt", "sub/*", "*/broken.txt", "sub/broken.txt", "sub/broken.txt/*")
    for pattern in (*named, "sub/*/*.txt"):
        with pytest.raises(
            FileNotFoundError, match="points to 'nowhere', which does not exist"
        ) as caught:
            files(folder / pattern)
        assert caught.value.filename == str(broken)
    for pattern in ("*.txt", "**/*.md", "sub/c.txt"):
        assert len(files(folder / pattern).paths) <= 2
    broken.unlink()
    (folder / "sub" / ".broken").symlink_to("nowhere")  # as some editors make them
    assert len(files(folder).paths) == 5


def test_what_may_not_be_seen_is_not_said_to_be_absent(folder: Path) -> None:
    (folder / "sub").chmod(0o600)
    uid = 65534 if os.geteuid() == 0 else None
    folder.chmod(0o755)
    for name in ("sub/c.txt", "sub/deep/*.txt", "*/c.txt"):
        found = read_in_a_child(Path(name), cwd=folder, uid=uid)
        assert found.error is not None
        assert found.error.startswith("PermissionError: [Errno 13] Permission denied: ")
        assert "sub/" in found.error
    (folder / "sub").chmod(0o755)


@pytest.mark.parametrize("pattern", ["none.txt", "*.rst", "none/*.txt", "none/**", "a.txt/*"])
def test_no_match_is_an_error_that_names_the_pattern(folder: Path, pattern: str) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        files(folder / pattern)
    assert caught.value.filename == str(folder / pattern)
    assert caught.value.strerror


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file in this folder"):
        files(tmp_path)


def test_only_regular_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.bind(str(tmp_path / "s"))
        except OSError:
            pytest.skip("the temporary folder's name is too long for a socket")
        for odd in (tmp_path / "pipe.txt", tmp_path / "s", Path("/dev/null")):
            with pytest.raises(OSError, match="not a regular file"):
                files(odd)
        with pytest.raises(FileNotFoundError):
            files(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"a")
    assert names(files(tmp_path / "*"), tmp_path) == ["a.txt"]


def test_a_folder_that_may_not_be_read_is_not_skipped(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every folder")
    (folder / "sub").chmod(0)
    try:
        with pytest.raises(PermissionError):
            files(folder)
    finally:
        (folder / "sub").chmod(0o755)


@pytest.mark.parametrize("suffix", [".zip", ".tar", ".tgz", ".tar.gz", ".ZIP"])
def test_archives_are_refused_with_a_remedy(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"a")
    path = tmp_path / f"b{suffix}"
    path.write_bytes(b"...")
    for refused in (
        lambda: files(tmp_path),
        lambda: Corpus.of(path),
        lambda: Corpus.of([path]),
    ):
        with pytest.raises(OptionError, match="are archives") as caught:
            refused()
        assert caught.value.path == str(path)
        assert caught.value.hint is not None
    assert list(files(tmp_path / "*.txt")) == [b"a"]


@pytest.mark.parametrize("suffix", [".lz4", ".lzma", ".br", ".lz", ".Z", ".lz4.gz", ".jsonl.lz4"])
def test_what_is_packed_in_another_way_is_refused_with_a_remedy(
    tmp_path: Path, suffix: str
) -> None:
    (tmp_path / "a.txt").write_bytes(b"a")
    path = tmp_path / f"b{suffix}"
    path.write_bytes(b"...")
    with pytest.raises(OptionError, match=r"not supported.*or pack it as \.gz, \.zst") as it:
        files(tmp_path)
    assert it.value.path == str(path)


@pytest.mark.parametrize(
    ("name", "told", "expected"),
    [
        ("a.txt", None, Kind("text")),
        ("a", None, Kind("text")),
        (".gz", None, Kind("text")),
        ("a.md.gz", None, Kind("text", "gz")),
        ("a.GZ", None, Kind("text", "gz")),
        ("a.jsonl", None, Kind("jsonl")),
        ("a.ndjson.zst", None, Kind("jsonl", "zst")),
        ("a.jsonl.zstd", None, Kind("jsonl", "zst")),
        ("a.JSONL.XZ", None, Kind("jsonl", "xz")),
        ("a.parquet", None, Kind("parquet")),
        ("a.gz.parquet", None, Kind("parquet")),
        ("a.parquet.bz2", None, Kind("parquet", "bz2")),
        *((f"a.{end}", None, Kind("arrow")) for end in ("arrow", "feather", "ipc")),
        ("a.json.gz", "jsonl", Kind("jsonl", "gz")),
        ("a.jsonl.gz", "text", Kind("text", "gz")),
        ("a.data", "jsonl.zst", Kind("jsonl", "zst")),
        ("a.zip", "text", Kind("text")),
    ],
)
def test_kinds(name: str, told: str | None, expected: Kind) -> None:
    assert kind_of(name, told) == expected


@pytest.mark.parametrize("told", ["", "yaml", "jsonl.", "gz", "jsonl.zip", "text.gz.gz", "JSONL"])
def test_a_format_that_is_not_known(tmp_path: Path, told: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"a")
    with pytest.raises(OptionError, match="is unknown"):
        files(tmp_path, format=told)
    with pytest.raises(OptionError, match="on_error='ignore' is not known"):
        files(tmp_path, on_error="ignore")  # type: ignore[arg-type]
    for field in ("", "a.", [], [""]):
        with pytest.raises(OptionError, match="is not a name"):
            files(tmp_path, field=field)
    with pytest.raises(TypeError, match="field must be a name or a list of names"):
        files(tmp_path, field=[1])  # type: ignore[list-item]


@pytest.mark.parametrize("paths", [(["a.txt", "b.txt"],), ("a.txt", ("b.txt",)), (7,), (None,)])
def test_paths_are_passed_one_by_one(paths: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"one by one, as in .* digram\.files\(\*paths\); each"):
        files(*paths)


def test_what_files_are_told_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.data").write_bytes(b"")
    found = files(tmp_path, field="meta.text", format="jsonl.gz", on_error="skip", separator="-")
    told = "separator=b'-', field='meta.text', format='jsonl.gz', on_error='skip'"
    assert repr(found) == f"<digram.Files: {str(tmp_path / 'a.data')!r}, {told}>"
