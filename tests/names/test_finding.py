"""Names: what they stand for, where they are found, and what is refused."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
import tiktoken
import tiktoken.load
import tiktoken.model
import tiktoken.registry
from names.conftest import Machine
from names.hub_server import COMMIT, git_digest, serving

import digram
from digram import CorruptFileError, OptionError
from digram.compat.transformers import AutoTokenizer
from digram.formats import ENCODINGS, _published
from digram.formats._models import MODELS, encoding_of_model
from digram.formats._published import encoding_of_file, file_of
from digram.formats._sentencepiece_file import ModelFile, Piece, Type
from digram.names import find, hub_cache, tiktoken_cache

Find = Callable[[str], Path]
AT = "https://openaipublic.blob.core.windows.net"


def put_in_hub(machine: Machine, name: str, files: dict[str, bytes]) -> Path:
    """Files as huggingface_hub keeps them: links to files named by their digests."""
    folder = machine.hub / f"models--{name.replace('/', '--')}"
    snapshot = folder / "snapshots" / COMMIT
    for path in (snapshot, folder / "blobs", folder / "refs"):
        path.mkdir(parents=True)
    (folder / "refs" / "main").write_text(COMMIT)
    for file, data in files.items():
        blob = folder / "blobs" / git_digest(data)
        blob.write_bytes(data)
        (snapshot / file).symlink_to(os.path.relpath(blob, snapshot))
    return snapshot


def saved(tok: digram.Tokenizer, folder: Path, **roles: str) -> dict[str, bytes]:
    tok.save_pretrained(folder, **roles)  # type: ignore[arg-type]
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_models_have_the_encodings_of_tiktoken() -> None:
    assert tiktoken.model.MODEL_TO_ENCODING == MODELS
    names = [*MODELS, *ENCODINGS, "gpt4", "GPT-4", "o1x", "llama", ""]
    for prefix in tiktoken.model.MODEL_PREFIX_TO_ENCODING:
        names += [prefix, prefix[:-1], f"{prefix}x", f"{prefix}2024-05-13", f"{prefix}:org::id"]
    for name in names:
        try:
            expected = tiktoken.model.encoding_name_for_model(name)
        except KeyError:
            expected = None
        assert encoding_of_model(name) == expected, name


def test_files_and_digests_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    public = pytest.importorskip("tiktoken_ext.openai_public")
    asked: dict[str, str] = {}

    def note(address: str, expected_hash: str) -> dict[bytes, int]:
        asked[address] = expected_hash
        return {}

    def note_both(**given: str) -> dict[bytes, int]:
        asked[given["vocab_bpe_file"]] = given["vocab_bpe_hash"]
        asked[given["encoder_json_file"]] = given["encoder_json_hash"]
        return {}

    monkeypatch.setattr(public, "load_tiktoken_bpe", note)
    monkeypatch.setattr(public, "data_gym_to_mergeable_bpe_ranks", note_both)
    for name, make in public.ENCODING_CONSTRUCTORS.items():
        asked.clear()
        make()
        if name == "gpt2":  # the same tokenizer in two files
            assert asked == dict(tiktoken_cache.GPT2_FILES)
        else:
            file = file_of(name)
            assert asked == {file.address: file.sha256}


@pytest.mark.parametrize("encoding", ["r50k_base", "cl100k_base", "o200k_base"])
def test_a_published_file_needs_no_encoding(encoding: str, shared_data: Find) -> None:
    path = shared_data(f"vocabs/{encoding}.tiktoken")
    assert digram.load(path) == digram.load(path, encoding=encoding)
    data = path.read_bytes()
    assert encoding_of_file(data) == encoding
    assert encoding_of_file(data[:-1]) is None


def test_the_other_encoding_of_a_file_can_be_named(shared_data: Find, tmp_path: Path) -> None:
    path = shared_data("vocabs/o200k_base.tiktoken")
    assert "<|call|>" not in digram.load(path).special_tokens
    assert "<|call|>" in digram.load(path, encoding="o200k_harmony").special_tokens
    changed = tmp_path / "a.tiktoken"
    changed.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(OptionError, match="none was given"):
        digram.load(changed)
    assert digram.load(changed, encoding="o200k_base") == digram.load(path)


def test_the_cache_of_tiktoken(machine: Machine, shared_data: Find) -> None:
    """tiktoken itself loads from the same files, without the network."""
    tiktoken.registry.ENCODINGS.clear()
    for name in ("cl100k_base", "o200k_base"):
        key = hashlib.sha1(f"{AT}/encodings/{name}.tiktoken".encode()).hexdigest()
        (machine.tiktoken / key).symlink_to(shared_data(f"vocabs/{name}.tiktoken"))
    for name in ("cl100k_base", "gpt-4", "o200k_base", "gpt-4o-mini", "gpt-oss-20b"):
        theirs = (
            tiktoken.get_encoding(name) if name in ENCODINGS else tiktoken.encoding_for_model(name)
        )
        ours = digram.load(name)
        text = "Byte-pair encoding, 日本 <|call|><|endoftext|>"
        assert ours.encode(text, special="parse") == theirs.encode(text, allowed_special="all")
    for name in ("encoder.json", "vocab.bpe"):
        key = hashlib.sha1(f"{AT}/gpt-2/encodings/main/{name}".encode()).hexdigest()
        (machine.tiktoken / key).symlink_to(shared_data(f"vocabs/{name}"))
    assert tiktoken.get_encoding("gpt2").n_vocab == 50257
    assert digram.load("gpt2") == digram.load(shared_data("vocabs/r50k_base.tiktoken"))
    with pytest.raises(FileNotFoundError, match="neither in"):
        digram.load("r50k_base")


def test_a_file_that_one_has_is_a_remedy(
    machine: Machine, shared_data: Find, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By its path, or as a copy in the own folder: what the error for a name proposes."""
    own = tmp_path / "files"
    monkeypatch.setenv("DIGRAM_TOKENIZERS", str(own))
    with pytest.raises(FileNotFoundError) as caught:
        digram.load("gpt-oss-20b")
    told = str(caught.value.strerror).partition(" sets. ")[2]
    assert told == (
        "If you have o200k_base.tiktoken, copy it there, or pass its path in place of "
        "'gpt-oss-20b' with encoding=\"o200k_harmony\""
    )
    file = shared_data("vocabs/o200k_base.tiktoken")
    by_path = digram.load(file, encoding="o200k_harmony")
    own.mkdir()
    shutil.copy(file, own)
    assert digram.load("gpt-oss-20b") == by_path
    with pytest.raises(FileNotFoundError, match="its path in place of 'gpt-4'"):
        digram.load("gpt-4")


def test_what_tiktoken_fetches_is_found(machine: Machine) -> None:
    with serving({"a.tiktoken": b"content"}) as (address, _):
        tiktoken.load.read_file_cached(f"{address}/a.tiktoken")
    path = tiktoken_cache.cached(f"{address}/a.tiktoken")
    assert path is not None
    assert Path(path).read_bytes() == b"content"
    assert Path(path).parent == machine.tiktoken


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"TIKTOKEN_CACHE_DIR": "/a", "DATA_GYM_CACHE_DIR": "/b"}, "/a"),
        ({"DATA_GYM_CACHE_DIR": "/b"}, "/b"),
        ({"TIKTOKEN_CACHE_DIR": "", "DATA_GYM_CACHE_DIR": "/b"}, None),
        ({}, os.path.join(__import__("tempfile").gettempdir(), "data-gym-cache")),
    ],
)
def test_the_folder_of_tiktoken(
    variables: dict[str, str], folder: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert tiktoken_cache.cache_folder() == folder


HOMES: list[dict[str, str]] = [
    {},
    {"HF_HOME": "~/hf"},
    {"XDG_CACHE_HOME": "/xdg"},
    {"HF_HOME": "/hf", "XDG_CACHE_HOME": "/xdg", "HUGGINGFACE_HUB_CACHE": "/old"},
    {"HF_HUB_CACHE": "$HOME/hub", "HF_HOME": "/hf"},
]


@pytest.mark.parametrize("variables", HOMES)
def test_the_folder_of_hugging_face(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As huggingface_hub, which reads the variables when it is imported."""
    pytest.importorskip("huggingface_hub")
    for name in ("HF_HOME", "XDG_CACHE_HOME", "HUGGINGFACE_HUB_CACHE", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    script = "from huggingface_hub import constants; print(constants.HF_HUB_CACHE)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert hub_cache.cache_folder() == run.stdout.strip()


def test_a_repository_in_the_cache(machine: Machine, tok: digram.Tokenizer, tmp_path: Path) -> None:
    """huggingface_hub finds the same files there."""
    hub = pytest.importorskip("huggingface_hub")
    snapshot = put_in_hub(machine, "org/name", saved(tok, tmp_path / "a", eos="<|end|>"))
    found = digram.load("org/name")
    assert found.encode("lower") == tok.encode("lower")
    assert found.eos_token == "<|end|>"
    theirs = hub.try_to_load_from_cache("org/name", "tokenizer.json", cache_dir=machine.hub)
    assert theirs == str(snapshot / "tokenizer.json")
    assert find("org/name").path == str(snapshot)
    put_in_hub(machine, "short", {"tokenizer.json": (tmp_path / "a/tokenizer.json").read_bytes()})
    assert digram.load("short").encode("lower") == tok.encode("lower")


def test_a_repository_in_the_cache_has_its_sides(
    machine: Machine, tok: digram.Tokenizer, tmp_path: Path
) -> None:
    """The interface of transformers reads the configuration of a model that is found by name."""
    files = saved(tok, tmp_path / "a", eos="<|end|>")
    config = json.loads(files["tokenizer_config.json"])
    config |= {"padding_side": "left", "truncation_side": "left"}
    files["tokenizer_config.json"] = json.dumps(config).encode()
    put_in_hub(machine, "org/name", files)
    found = AutoTokenizer.from_pretrained("org/name")
    assert (found.padding_side, found.truncation_side) == ("left", "left")
    assert found.name_or_path == "org/name"


def test_a_damaged_cache_is_refused(
    machine: Machine, tok: digram.Tokenizer, tmp_path: Path
) -> None:
    snapshot = put_in_hub(machine, "org/name", saved(tok, tmp_path / "a"))
    blob = (snapshot / "tokenizer.json").resolve()
    whole = blob.read_bytes()
    blob.write_bytes(whole.replace(b"low", b"law"))
    with pytest.raises(CorruptFileError, match="does not have the digest"):
        digram.load("org/name")
    blob.unlink()
    (snapshot / "tokenizer.json").unlink()
    large = blob.parent / hashlib.sha256(whole).hexdigest()
    (snapshot / "tokenizer.json").symlink_to(large)
    large.write_bytes(whole)
    assert digram.load("org/name") == tok
    large.write_bytes(whole + b" ")
    with pytest.raises(CorruptFileError, match="does not have the digest"):
        digram.load("org/name")
    (machine.hub / "models--org--name/refs/main").write_text("../../elsewhere")
    with pytest.raises(CorruptFileError, match="not the number of a commit"):
        digram.load("org/name")
    key = hashlib.sha1(f"{AT}/encodings/cl100k_base.tiktoken".encode()).hexdigest()
    (machine.tiktoken / key).write_bytes(b"AA== 0\n")
    for name in ("cl100k_base", "gpt-4"):
        with pytest.raises(CorruptFileError, match="not the published file, whose SHA-256"):
            digram.load(name)


def test_pieces_in_the_cache(machine: Machine) -> None:
    """A repository with SentencePiece's file alone, under the name that T5 gives it."""
    pieces = [Piece("<unk>", 0.0, Type.UNKNOWN), Piece("▁", -1.0), Piece("a", -2.0)]
    files = {"spiece.model": ModelFile(pieces=pieces).dumps(), "config.json": b"{}"}
    snapshot = put_in_hub(machine, "org/pieces", files)
    assert find("org/pieces").path == str(snapshot)
    assert digram.load("org/pieces").encode("a") == [1, 2]
    changed = (snapshot / "config.json").resolve()
    changed.chmod(0o644)
    changed.write_bytes(b'{"model_type": "t5"}')
    with pytest.raises(CorruptFileError, match="does not have the digest"):
        digram.load("org/pieces")


def test_a_model_without_a_tokenizer(machine: Machine) -> None:
    put_in_hub(machine, "org/name", {"config.json": b"{}"})
    with pytest.raises(FileNotFoundError, match="pass download=True"):
        digram.load("org/name")


def test_a_class_that_is_a_program(machine: Machine) -> None:
    config = json.dumps({"tokenizer_class": "ByT5Tokenizer"}).encode()
    put_in_hub(machine, "google/byt5-small", {"tokenizer_config.json": config})
    with pytest.raises(digram.VocabError, match=r"class ByT5Tokenizer.* is a program in Python"):
        digram.load("google/byt5-small")


def test_a_folder_of_ones_own(machine: Machine, tok: digram.Tokenizer, shared_data: Find) -> None:
    tok.save(machine.own / "mine.json")
    (machine.own / "org").mkdir()
    tok.save_pretrained(machine.own / "org" / "name")
    for name in ("mine", "org/name"):
        assert digram.load(name) == tok
    with pytest.raises(FileNotFoundError):
        digram.load("org")
    (machine.own / "r50k_base.tiktoken").symlink_to(shared_data("vocabs/r50k_base.tiktoken"))
    assert digram.load("gpt2") == digram.load("r50k_base")
    tok.save(machine.own / "gpt-4.json")  # wins over the model of that name
    assert digram.load("gpt-4") == tok
    shutil.copytree(machine.own / "org/name", machine.own / "mine")
    with pytest.raises(OptionError, match="two tokenizers with this name"):
        digram.load("mine")


def test_a_path_wins_over_a_name(machine: Machine, tok: digram.Tokenizer) -> None:
    other = digram.train("a b", max_merges=0)
    other.save(machine.own / "gpt-4.json")
    assert digram.load("gpt-4") == other
    tok.save("gpt-4", format="huggingface")
    assert digram.load("gpt-4") == tok
    Path("gpt-4").unlink()
    Path("gpt-4").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match="this link points to 'nowhere', which does not"):
        digram.load("gpt-4")
    assert digram.load(f"{machine.own}/gpt-4.json") == other
    with pytest.raises(FileNotFoundError):  # only a text is a name
        digram.load(Path("gpt-4o"))


def test_an_option_that_contradicts_a_name(machine: Machine, shared_data: Find) -> None:
    (machine.own / "o200k_base.tiktoken").symlink_to(shared_data("vocabs/o200k_base.tiktoken"))
    assert digram.load("gpt-4o", encoding="o200k_base") == digram.load("o200k_base")
    for options in ({"encoding": "o200k_harmony"}, {"pretokenizer": "gpt2"}):
        with pytest.raises(OptionError, match="stands for the encoding o200k_base"):
            digram.load("gpt-4o", **options)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="download is True or False"):
        digram.load("gpt-4o", download="yes")  # type: ignore[arg-type]


MISSING = [
    ("cl100k_base", r"fetch cl100k_base.tiktoken from https://openaipublic\S+ into the first fold"),
    ("gpt-4o", r"gpt-4o \(the encoding o200k_base\).*download=True"),
    ("org/name", r"https://huggingface.co/org/name is meant, pass download=True"),
    ("gpt4", "the most similar one is 'gpt-4'"),
    ("gpt-4oo", r"of OpenAI's models is 'gpt-4o'\. If https://huggingface.co/gpt-4oo is meant"),
    ("cl100k_base.tiktoken", "is loaded by its name, 'cl100k_base'"),
    ("https://example.org/a.tiktoken", r"`curl -O https://example\.org/a\.tiktoken`"),
    ("missing.json", r"missing\.json: there is no such .* folder; relative paths start at /.*\.$"),
    ("a/b/c", "no such file or folder; 'a' does not exist, and relative paths start at /"),
    ("org/..", "no such file"),
    ("../own/mine", "no such file"),
    ("", "'': there is no such file"),
    ("x" * 300, "no such file|too long"),
]


@pytest.mark.parametrize(("name", "message"), MISSING)
def test_a_missing_name_says_how_to_get_it(machine: Machine, name: str, message: str) -> None:
    with pytest.raises(OSError, match=message):
        digram.load(name)


def test_a_missing_file_and_a_similar_name(machine: Machine, tok: digram.Tokenizer) -> None:
    tok.save("tokenizer.json")
    Path("notes").mkdir()
    for missing, near in [
        ("tokeniser.json", "tokenizer.json"),
        ("Tokenizer.model", "tokenizer.json"),
        ("./nots", "notes"),
        (os.path.abspath("tokenizer.jsn"), "tokenizer.json"),
    ]:
        for verified in (False, True):
            with pytest.raises(FileNotFoundError) as caught:
                _ = digram.verify(tok, missing) if verified else digram.load(missing)
            assert str(caught.value).endswith(
                f"{missing}: there is no such file or folder; the most similar name there is "
                f"{near!r}."
            )
            assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, missing)
    with pytest.raises(FileNotFoundError, match="there is 'notes', and no tokenizer has"):
        digram.load("note")
    with pytest.raises(FileNotFoundError, match="'notes/a' does not exist, and relative paths"):
        digram.load("notes/a/b/c.json")
    with pytest.raises(FileNotFoundError, match=r"'tokenizer\.json' is not a folder, and"):
        digram.load("tokenizer.json/c.json")
    with pytest.raises(FileNotFoundError, match="folder; check the path") as caught:
        digram.load(os.path.abspath("zzz.json"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, FileNotFoundError)
    assert str(again) == str(caught.value)


def test_nothing_connects_unless_asked(machine: Machine, tok: digram.Tokenizer) -> None:
    """Neither for names that are found nor for those that are not."""
    tok.save(machine.own / "mine.json")
    script = """
import sys

def hook(event, args):
    if event.startswith(("socket.", "urllib.")):
        print("network:", event)

sys.addaudithook(hook)
import digram
for name in ("mine", "gpt-4o", "org/name", "cl100k", "https://example.org/a.tiktoken"):
    try:
        digram.load(name)
        print("loaded", name)
    except FileNotFoundError:
        print("missing", name)
print([name for name in ("huggingface_hub", "urllib.request") if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == [
        *("loaded mine", "missing gpt-4o", "missing org/name", "missing cl100k"),
        *("missing https://example.org/a.tiktoken", "[]"),
    ]


def test_a_published_file_is_fetched(
    machine: Machine, shared_data: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = shared_data("vocabs/r50k_base.tiktoken").read_bytes()
    with serving({"encodings/r50k_base.tiktoken": data}) as (address, asked):
        monkeypatch.setattr(_published, "_PLACE", f"{address}/encodings")
        first = digram.load("davinci", download=True)
        again = digram.load("gpt2", download=True)
        by_hand = re.escape(f"save it as {machine.own / 'cl100k_base.tiktoken'}")
        with pytest.raises(OSError, match=f"the download failed: HTTP Error 404.*{by_hand}"):
            digram.load("gpt-4", download=True)
    assert asked == ["/encodings/r50k_base.tiktoken", "/encodings/cl100k_base.tiktoken"]
    assert first == again == digram.load(machine.own / "r50k_base.tiktoken")
    assert first == digram.load("r50k_base")
    with pytest.raises(OSError, match="the download failed") as gone:  # no server is there now
        digram.load("gpt-4", download=True)
    told = "".join(traceback.format_exception(gone.value))
    assert told.count("Traceback") == 1  # the last line has the cause
    end = rf"{address}/\S+: the download failed: .*refused\. Fetch .*\.tiktoken\.\n$"
    assert re.search(rf"\nOSError: \[Errno \d+\] {end}", told)
    assert [path.name for path in machine.own.iterdir()] == ["r50k_base.tiktoken"]


def test_without_the_library_files_are_copied_by_hand(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("digram.names.download.has_hub", lambda: False)
    folder = machine.own / "org" / "name"
    by_hand = re.escape(f"save them in the folder {folder}, where 'org/name' is found.")
    with pytest.raises(OptionError, match=rf"pip install \"digram\[hub\]\".*{by_hand}$"):
        digram.load("org/name", download=True)
    folder.mkdir(parents=True)
    tok = digram.train("low low", max_merges=1)
    tok.save(folder / "tokenizer.json")
    assert digram.load("org/name") == tok


def test_another_answer_is_refused(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving({"cl100k_base.tiktoken": b"<html>log in first</html>"}) as (address, _):
        monkeypatch.setattr(_published, "_PLACE", address)
        with pytest.raises(CorruptFileError, match="not the published file: its SHA-256 differs"):
            digram.load("gpt-4", download=True)
    assert [*machine.own.iterdir()] == []


def test_a_repository_is_fetched(machine: Machine, tok: digram.Tokenizer, tmp_path: Path) -> None:
    """By huggingface_hub itself, from a server on this machine."""
    pytest.importorskip("huggingface_hub")
    files = saved(tok, tmp_path / "a", eos="<|end|>") | {"model.safetensors": b"not read"}
    text = tmp_path / "text.txt"
    text.write_text("lower")

    def count(name: str, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "digram", "count", "-t", name, "--json", *options]
        environment = {**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", **variables}
        return subprocess.run(
            [*command, str(text)], env=environment, capture_output=True, text=True, check=False
        )

    with serving(files, "org/name") as (address, asked):
        missing = count("org/name", HF_ENDPOINT=address)
        assert missing.returncode == 4
        assert f"If {address}/org/name is meant, pass --download to fetch" in missing.stderr
        assert asked == []
        fetched = count("org/name", "--download", HF_ENDPOINT=address)
        assert fetched.returncode == 0, fetched.stderr
        assert json.loads(fetched.stdout)["total"]["tokens"] == tok.count("lower")
        assert not any("safetensors" in path for path in asked)
        other = count("org/other", "--download", HF_ENDPOINT=address)
        assert other.returncode == 4
        assert "the download failed" in other.stderr
        assert "Traceback" not in other.stderr
    offline = count("org/more", "--download", HF_HUB_OFFLINE="1")
    assert offline.returncode == 4
    assert "the download failed" in offline.stderr
    assert f"and save them in the folder {machine.own / 'org' / 'more'}, where" in offline.stderr
    assert digram.load("org/name").eos_token == "<|end|>"
    assert json.loads(count("org/name").stdout)["total"]["tokens"] == tok.count("lower")
