"""The choice among formats: by what a file holds when reading, by name when writing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from vocabularies import BANANA, PLAIN, SAMPLES

import digram
from digram import CorruptFileError, DigramError, OptionError, VocabError, formats
from digram.formats import MISSING, huggingface, read, seed_pair, tiktoken, vocab_merges, write
from digram.formats._registry import certain, starting


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with one tokenizer in each format."""
    huggingface.write(PLAIN, tmp_path / "tokenizer.json")
    tiktoken.write(PLAIN, tmp_path / "a.tiktoken")
    vocab_merges.write(PLAIN, tmp_path / "gpt2")
    seed_pair.write(PLAIN, tmp_path / "seed")
    return tmp_path


def test_each_format_is_recognised(files: Path) -> None:
    assert read(files / "tokenizer.json") == PLAIN
    assert read(str(files / "tokenizer.json")) == PLAIN
    assert read(files / "a.tiktoken", pretokenizer=None) == PLAIN
    assert read(files / "gpt2", pretokenizer=None) == PLAIN
    assert read(files / "seed") == PLAIN
    assert read(files / "seed", pretokenizer=None) == PLAIN  # which is what it means
    assert read(files) == PLAIN  # a folder with a tokenizer.json


def test_a_start_tells_one_format_alone(files: Path) -> None:
    """Then nothing else of the file is searched."""
    written = {
        "huggingface": (files / "tokenizer.json").read_bytes(),
        "tiktoken": (files / "a.tiktoken").read_bytes(),
    }
    for name, data in written.items():
        assert certain(data) == starting(data) == formats.FORMATS[name]
    others = [path.read_bytes() for path in files.rglob("*") if path.parent != files]
    others += [
        b'{"config": {}, "vocab": [{"token_bytes": "AA=="}], "version": "1.0"}',
        b'{"version": 1, "merges": 0}',
        b"A 0\nB 1</w>\n",
        b"#version: 0.2\nA== 0\nB== 1\n",
        b"AA== 1\nAB== 0\n",
    ]
    assert [certain(data) for data in others] == [None] * len(others)


def test_names_play_no_part_in_reading(files: Path) -> None:
    (files / "tokenizer.json").rename(files / "renamed.bin")
    (files / "a.tiktoken").rename(files / "ranks.txt")
    assert read(files / "renamed.bin") == PLAIN
    assert read(files / "ranks.txt", pretokenizer=None) == PLAIN


def test_a_folder_with_several_formats(files: Path) -> None:
    """A named pretokenizer says that the files without one are meant."""
    named = replace(PLAIN, pretokenizer=digram.Pretokenizer("gpt2"))
    huggingface.write(PLAIN, files / "gpt2" / "tokenizer.json")
    assert read(files / "gpt2") == PLAIN
    assert read(files / "gpt2", pretokenizer="gpt2") == named
    (files / "gpt2" / "tokenizer.json").unlink()
    seed_pair.write(PLAIN, files / "gpt2")
    with pytest.raises(VocabError, match=r"two vocabularies, vocab.json and vocabulary.json"):
        read(files / "gpt2")


def test_a_pretokenizer_is_asked_for_or_refused(files: Path) -> None:
    for name in ("a.tiktoken", "gpt2"):
        with pytest.raises(OptionError, match="none was given") as caught:
            read(files / name)
        assert str(files / name) in str(caught.value)
    for name in ("tokenizer.json", "seed"):
        for pretokenizer, encoding in (("gpt2", None), (MISSING, "gpt2")):
            with pytest.raises(OptionError, match="stores the pretokenizer itself"):
                read(files / name, pretokenizer=pretokenizer, encoding=encoding)


def test_which_describe_themselves(files: Path) -> None:
    huggingface.write(PLAIN, files / "gpt2" / "tokenizer.json")
    for name in ("tokenizer.json", "seed", ".", "gpt2"):
        assert formats.describes_itself(files / name)
        read(files / name)
    (files / "gpt2" / "tokenizer.json").unlink()
    for name in ("a.tiktoken", "gpt2"):
        assert not formats.describes_itself(str(files / name))
        with pytest.raises(OptionError):
            read(files / name)
    with pytest.raises(FileNotFoundError):
        formats.describes_itself(files / "none.json")


@pytest.mark.parametrize(
    ("name", "data", "error", "message"),
    [
        ("a.json", b"", CorruptFileError, "the file is empty"),
        ("a", b" \n", CorruptFileError, "the file is empty"),
        ("a", b"hello, world", VocabError, "not a tokenizer that digram knows"),
        ("a", b"GGUF\x03\x00\x00\x00", CorruptFileError, "the number of tensors should have 8"),
        ("a.gguf", b"GGML" + bytes(99), CorruptFileError, "the file does not start with GGUF"),
        ("a.gz", b"\x1f\x8b\x08\x00", CorruptFileError, "compressed data ends too early"),
        ("a.model", b"\n\x0e\n\x05<unk>", CorruptFileError, "the file ends inside a field"),
        ("a.vocab", b"\x02\x01\x00" + bytes(99), VocabError, "TokenMonster, which marks capitals"),
        ("a.bin", b"\x00\x0e", VocabError, "digram reads tokenizer.json, .tiktoken"),
        ("a.json", b"hello", CorruptFileError, "not JSON at byte 0"),
        ("a.txt", b'{"version"', CorruptFileError, "truncated"),
        ("a", b"[1]", CorruptFileError, "is no tokenizer.json: the file should be an object"),
        (
            "a",
            b'  {"a": {}}',
            CorruptFileError,
            "tokenizer.json: it has no .model.*digram reads",
        ),
        (
            "a",
            b'  {"a": 1}',
            VocabError,
            "a vocabulary, 1 token with their ids.*merges and the pre",
        ),
        ("a", b"\xef\xbb\xbf{}", CorruptFileError, "byte order mark"),
        ("a", b"\xff\xfe{\x00}\x00", CorruptFileError, "byte order mark"),
        ("a.tiktoken", b"hello, world", CorruptFileError, "line 1"),
        ("vocab.json", b'{"a": 1}', VocabError, "one of two files.*merges.txt is missing here"),
        ("encoder.json", b'{"a": 1}', VocabError, "one of two files.*encoder.json and vocab.bpe"),
        ("merges.txt", b"#version: 0.2\na b\n", VocabError, "one of two files"),
        ("vocab.bpe", b"#version: 0.2\na b\n", VocabError, "one of two files"),
        ("vocabulary.json", b'{"0": {}}', VocabError, "one of two files"),
        ("merges.json", b'{"merges": []}', VocabError, "one of two files"),
    ],
)
def test_what_is_no_tokenizer(
    tmp_path: Path, name: str, data: bytes, error: type[DigramError], message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=message) as caught:
        read(tmp_path / name, pretokenizer="gpt2" if name.endswith("tiktoken") else MISSING)
    assert caught.value.path == str(tmp_path / name)


@pytest.mark.parametrize("named", ["here/", ""])
def test_one_file_of_a_pair_says_how_both_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    folder = tmp_path / named
    tok = digram.train("low lower lowest", vocab_size=259, pretokenizer="gpt2")
    tok.save(folder, format="vocab_merges")
    (folder / "vocab.json").rename(folder / "encoder.json")
    (folder / "merges.txt").rename(folder / "vocab.bpe")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VocabError) as caught:
        digram.load(f"{named}encoder.json")
    assert str(caught.value) == (
        f"{named}encoder.json: this is one of two files that are read together, encoder.json and "
        f"vocab.bpe. Pass their folder instead, {named.rstrip('/') or '.'!r}. They do not store "
        'the pretokenizer: for GPT-2 itself also pass encoding="gpt2", for others their '
        'pretokenizer, as in pretokenizer="gpt2".'
    )
    assert digram.load(named.rstrip("/") or ".", pretokenizer="gpt2") == tok
    seed = folder / "vocabulary.json"
    seed.write_text("{}")
    with pytest.raises(VocabError) as caught:
        digram.load(seed)
    assert caught.value.message.endswith(
        "read together, vocabulary.json and merges.json, of which merges.json is missing here."
    )
    folder_name = repr(str(folder.absolute()))
    assert caught.value.hint == f"Copy it into the folder {folder_name}, and pass that."
    (folder / "merges.json").write_text("{}")
    with pytest.raises(VocabError) as caught:
        digram.load(seed)
    assert caught.value.message.endswith("read together, vocabulary.json and merges.json.")
    assert caught.value.hint == f"Pass their folder instead, {folder_name}."


def test_half_a_pair(files: Path) -> None:
    (files / "gpt2" / "vocab.json").unlink()
    with pytest.raises(
        VocabError, match=r"contains merges.txt, but not the vocab.json that belongs to it"
    ):
        read(files / "gpt2", pretokenizer="gpt2")
    (files / "seed" / "merges.json").unlink()
    with pytest.raises(
        VocabError, match=r"vocabulary.json, but not the merges.json that belongs to it"
    ):
        read(files / "seed")
    (files / "empty").mkdir()
    with pytest.raises(VocabError, match="the folder contains no tokenizer"):
        read(files / "empty")
    with pytest.raises(FileNotFoundError):
        read(files / "missing.json")


def test_the_name_says_what_to_write(tmp_path: Path) -> None:
    for name, format in (
        ("a.json", None),
        ("A.JSON", None),
        ("b.tiktoken", None),
        ("c", "huggingface"),
        ("d.json", "tiktoken"),
        ("e", "vocab_merges"),
        ("f", "seed_pair"),
    ):
        write(PLAIN, tmp_path / name, format=format)
        fits = (format or name).endswith(("tiktoken", "vocab_merges"))
        assert read(tmp_path / name, pretokenizer=None if fits else MISSING) == PLAIN
    assert (tmp_path / "a.json").read_bytes() == huggingface.dumps(PLAIN)


def test_the_name_of_another_program_s_file_is_never_digram_s_own(tmp_path: Path) -> None:
    picky = digram.train("low low lower", max_merges=3, picky=0.9).definition
    write(picky, tmp_path / "a.json")
    assert read(tmp_path / "a.json") == picky
    with pytest.raises(VocabError, match=r'tokenizer.json implies.*format="digram"'):
        write(picky, tmp_path / "tokenizer.json")
    write(picky, tmp_path / "tokenizer.json", format="digram")
    assert read(tmp_path) == picky


def test_what_the_name_does_not_say_is_asked_for(tmp_path: Path) -> None:
    for name in ("folder", "a.bin", "vocab.json", "merges.json", "vocabulary.json", "encoder.json"):
        with pytest.raises(OptionError, match=r'which format to write.*format="vocab_merges"'):
            write(PLAIN, tmp_path / name)
    with pytest.raises(OptionError, match=r"format='json' is not known.*huggingface"):
        write(PLAIN, tmp_path / "a.json", format="json")
    assert list(tmp_path.iterdir()) == []


def test_a_refused_save_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    write(PLAIN, path)
    with pytest.raises(VocabError, match="special token"):
        write(BANANA, path)
    assert read(path, pretokenizer=None) == PLAIN
    write(BANANA, path, allow_loss=True)
    assert read(path, pretokenizer=None) == PLAIN


def test_unreachable_tokens_are_kept_with_one_warning(tmp_path: Path) -> None:
    definition = SAMPLES["unreachable token"]
    write(definition, tmp_path / "a.json")
    with pytest.warns(
        UserWarning, match=r"a.json: 1 of the tokens are unreachable.*\(259 b'xyzzy'\)"
    ) as caught:
        assert read(tmp_path / "a.json") == definition
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="unreachable") as caught:
        assert digram.load(tmp_path / "a.json").unreachable() == [259]
    assert [warning.filename for warning in caught] == [__file__]


def test_whole_pretokens_are_reachable(tmp_path: Path) -> None:
    """With ignore_merges only what the pretokenizer cuts is out of reach."""
    write(SAMPLES["whole pretokens"], tmp_path / "a.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path / "a.json")
    cut = replace(SAMPLES["whole pretokens"], tokens=[*PLAIN.tokens, b"x y", b" xyz"])
    write(cut, tmp_path / "a.json")
    with pytest.warns(UserWarning, match=r"1 of the tokens are unreachable.*\(259 b'x y'\)"):
        read(tmp_path / "a.json")


@pytest.mark.parametrize("name", SAMPLES)
def test_tokenizers_survive_saving_and_loading(name: str, tmp_path: Path) -> None:
    tok = digram.Tokenizer(SAMPLES[name])
    tok.save(tmp_path / "tokenizer.json", allow_loss=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = digram.load(tmp_path / "tokenizer.json")
    assert again == tok
    assert again.definition == tok.definition
    assert again.training == tok.training
    assert again.merge_log == tok.merge_log


def test_saved_bytes_depend_on_the_tokenizer_alone(tmp_path: Path) -> None:
    for name in ("a", "b"):
        digram.train("low lower lowest", vocab_size=258).save(tmp_path / f"{name}.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_encodings_are_as_published() -> None:
    """Names, special tokens and patterns of tiktoken's own table."""
    public = pytest.importorskip("tiktoken_ext.openai_public")
    names = {"gpt2": "gpt2", "r50k_base": "gpt2", "p50k_base": "gpt2", "p50k_edit": "gpt2"}
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})
        monkeypatch.setattr(public, "data_gym_to_mergeable_bpe_ranks", lambda **_: {})
        published = {name: make() for name, make in public.ENCODING_CONSTRUCTORS.items()}
    assert formats.ENCODINGS.keys() == published.keys()
    for name, encoding in formats.ENCODINGS.items():
        special = published[name]["special_tokens"]
        if name == "o200k_harmony":  # one id has two names there
            assert special.pop("<|reserved_200018|>") == special["<|endofprompt|>"]
        assert encoding.special_tokens == special
        assert encoding.pretokenizer == names.get(
            name, name.partition("_")[0].removesuffix("_base")
        )
        total = published[name].get("explicit_n_vocab")
        if total is not None:
            assert total == encoding.tokens + len(special)


def test_gpt2_is_one_tokenizer_in_all_its_files(
    shared_data: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in ("encoder.json", "vocab.bpe"):
        (tmp_path / name).symlink_to(shared_data(f"vocabs/{name}"))
    found = [
        digram.load(shared_data("vocabs/gpt2_tokenizer.json")),
        digram.load(shared_data("vocabs/r50k_base.tiktoken"), encoding="r50k_base"),
        digram.load(tmp_path, encoding="gpt2"),
    ]
    assert found[0] == found[1] == found[2]


def test_importing_formats_is_light() -> None:
    """Neither NumPy nor rich: a command that only reads a file should start at once."""
    script = (
        "import json, sys; from digram import formats;"
        "print(json.dumps([name for name in ('numpy', 'rich', 'tiktoken') if name in sys.modules]))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []


def test_a_vocabulary_with_a_token_named_model(tmp_path: Path) -> None:
    """As GPT-2's own, which is not a damaged tokenizer.json."""
    tok = digram.train("model model", max_merges=4, pretokenizer="gpt2")
    assert b"model" in tok.definition.tokens
    for first, second in (("encoder.json", "vocab.bpe"), ("vocab.json", "merges.txt")):
        folder = tmp_path / first
        tok.save(folder, format="vocab_merges")
        (folder / "vocab.json").rename(folder / first)
        (folder / "merges.txt").rename(folder / second)
        assert digram.load(folder, pretokenizer="gpt2").merges == tok.merges
        options: list[dict[str, Any]] = [{}, {"encoding": "gpt2"}, {"pretokenizer": "gpt2"}]
        for told in options:
            for name in (first, second):
                with pytest.raises(VocabError, match=f"{first} and {second}.*Pass their folder"):
                    digram.load(folder / name, **told)
    (folder / "vocab.json").rename(tmp_path / "gpt2-vocab.json")
    with pytest.raises(VocabError, match="Put both into a folder, under these names"):
        digram.load(tmp_path / "gpt2-vocab.json", encoding="gpt2")
    whole = digram.train("model", max_merges=1)
    whole.save(tmp_path / "t.json")
    (tmp_path / "t.json").rename(folder / "vocab.json")  # by whatever name
    assert digram.load(folder / "vocab.json") == whole


def test_a_vocabulary_is_no_damaged_tokenizer_json(tmp_path: Path) -> None:
    """A vocabulary may have a token "model", as that of GPT-2 does, whatever the file is named."""
    tok = digram.train("model version", max_merges=20, pretokenizer="gpt2")
    tok.save(tmp_path, format="vocab_merges")
    assert b'"model":' in (tmp_path / "vocab.json").read_bytes()
    (tmp_path / "merges.txt").unlink()
    with pytest.raises(VocabError, match=r"vocab.json and merges.txt, of which merges.txt is miss"):
        digram.load(tmp_path / "vocab.json")
    (tmp_path / "vocab.json").rename(tmp_path / "tokenizer.json")
    with pytest.raises(VocabError, match="Put both into a folder, under these names"):
        digram.load(tmp_path / "tokenizer.json")
    for load in (
        lambda: digram.load(tmp_path),
        lambda: huggingface.read(tmp_path / "tokenizer.json"),
    ):
        with pytest.raises(
            VocabError, match=r"\d+ tokens .*the merges and the pretokenizer are miss"
        ):
            load()


def test_gpt2s_own_encoder(shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    data = shared_data("vocabs/encoder.json").read_bytes()
    for name, message in (
        ("encoder.json", "of which vocab.bpe is missing"),
        ("x.json", "Put both"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(VocabError, match=message):
            digram.load(tmp_path / name)
    with pytest.raises(VocabError, match="50,257 tokens with their ids"):
        huggingface.loads(data)


def test_the_page_of_formats_has_a_row_for_each() -> None:
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = re.findall(r'^\| `"(\w+)"` \|', page, re.MULTILINE)
    assert sorted(rows) == sorted(formats.FORMATS)


def test_only_no_pretokenizer_is_what_a_seed_pair_says(files: Path) -> None:
    """An encoding beside it brings a pretokenizer, and was passed over in silence."""
    with pytest.raises(OptionError, match="stores the pretokenizer itself"):
        read(files / "seed", pretokenizer=None, encoding="gpt2")


def test_each_format_has_its_module() -> None:
    for name, format in formats.FORMATS.items():
        assert format.name == name
        assert callable(format.module.write)
        assert callable(format.module.load)
