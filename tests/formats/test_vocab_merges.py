"""vocab.json and merges.txt: what is written, what others make of it, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import vocabularies
from tiktoken.load import data_gym_to_mergeable_bpe_ranks
from tokenizers import decoders, models, pre_tokenizers
from vocabularies import BYTES, PLAIN, SAMPLES, bpe, changed, of_bytes

import digram
from digram import CorruptFileError, DigramError, OptionError, Pretokenizer, VocabError
from digram.formats._letters import to_letters
from digram.formats.vocab_merges import dumps, loads, read, write

GOLDEN = Path(__file__).parents[2] / "testdata" / "formats" / "banana-gpt2"
OF_BYTES = [name for name, definition in SAMPLES.items() if definition.unit == "byte"]
CARRIED = [name for name in OF_BYTES if not bpe(SAMPLES[name]).ignore_merges]
VOCAB, MERGES = dumps(PLAIN)


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_written_is_read_again(name: str) -> None:
    definition = replace(SAMPLES[name], special_tokens={}, training=None)
    pair = dumps(definition)
    assert loads(*pair, pretokenizer=definition.pretokenizer) == definition
    assert dumps(SAMPLES[name], allow_loss=True) == pair


def test_golden_bytes() -> None:
    assert (GOLDEN / "vocab.json").read_bytes() == VOCAB
    assert (GOLDEN / "merges.txt").read_bytes() == MERGES
    assert read(GOLDEN, pretokenizer=None) == PLAIN


def test_both_names_are_read(tmp_path: Path) -> None:
    write(PLAIN, tmp_path / "new")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["merges.txt", "vocab.json"]
    assert read(tmp_path / "new", pretokenizer=None) == PLAIN
    old = tmp_path / "old"
    (tmp_path / "new").rename(old)
    (old / "vocab.json").rename(old / "encoder.json")
    (old / "merges.txt").rename(old / "vocab.bpe")
    assert read(old, pretokenizer=None) == PLAIN
    (old / "vocab.bpe").unlink()
    with pytest.raises(FileNotFoundError):
        read(old, pretokenizer=None)


@pytest.mark.parametrize("name", [name for name in CARRIED if not SAMPLES[name].special_tokens])
def test_hugging_face_gives_the_same_ids(name: str, tmp_path: Path) -> None:
    definition = replace(SAMPLES[name], pretokenizer=Pretokenizer("gpt2"))
    write(definition, tmp_path / "pair")
    model = models.BPE.from_file(
        str(tmp_path / "pair" / "vocab.json"), str(tmp_path / "pair" / "merges.txt")
    )
    theirs = tokenizers.Tokenizer(model)
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    ours = digram.Tokenizer(definition)
    for text in vocabularies.texts(200):
        assert theirs.encode(text).ids == ours.encode(text)
        assert theirs.decode(ours.encode(text)) == text


def test_tiktoken_reads_it(tmp_path: Path) -> None:
    definition = SAMPLES["qwen2"]  # with GPT-2's order of the bytes
    write(definition, tmp_path / "pair")
    ranks = data_gym_to_mergeable_bpe_ranks(
        str(tmp_path / "pair" / "merges.txt"), str(tmp_path / "pair" / "vocab.json")
    )
    assert ranks == {token: i for i, token in enumerate(definition.tokens)}


def test_gpt2_as_first_released(shared_data: Callable[[str], Path], tmp_path: Path) -> None:
    for name in ("encoder.json", "vocab.bpe"):
        (tmp_path / name).symlink_to(shared_data(f"vocabs/{name}"))
    definition = read(tmp_path, encoding="gpt2")
    whole = digram.formats.huggingface.read(shared_data("vocabs/gpt2_tokenizer.json"))
    assert definition == whole
    plain = read(tmp_path, pretokenizer="gpt2")  # the files do not say that it is special
    assert plain.tokens[50256] == b"<|endoftext|>"
    assert plain.special_tokens == {}


def test_what_would_be_lost_is_refused() -> None:
    with pytest.raises(VocabError, match=r"cannot store the 1 special token .*allow_loss"):
        dumps(replace(PLAIN, special_tokens={"<|end|>": 259}))
    whole = SAMPLES["whole pretokens"]
    with pytest.raises(VocabError, match=r"ignore_merges.*allow_loss"):
        dumps(whole)
    again = loads(*dumps(whole, allow_loss=True), pretokenizer="gpt2")
    assert again == changed(whole, ignore_merges=False)
    with pytest.raises(VocabError, match="character vocabulary"):
        dumps(SAMPLES["characters or bytes"], allow_loss=True)


def test_a_merge_that_looks_like_a_comment_is_refused() -> None:
    word = b"#version"
    merges = [(word[0], word[1]), *((255 + i, word[i + 1]) for i in range(1, 7))]
    definition = of_bytes(*merges, (262, ord(":")))
    assert definition.tokens[-2:] == [b"#version", b"#version:"]
    with pytest.raises(VocabError, match="merge 7, '#version :', looks like the first line"):
        dumps(definition)


def vocab(**changes: Any) -> bytes:
    """vocab.json with entries changed; None takes one out."""
    entries = json.loads(VOCAB) | changes
    kept = {key: value for key, value in entries.items() if value is not None}
    return json.dumps(kept, ensure_ascii=False).encode()


PLAIN_MERGES = b"#version: 0.2\na n\nan an\nb anan\n"
REFUSED: list[tuple[bytes, bytes, type[Exception], str]] = [
    (b"", PLAIN_MERGES, CorruptFileError, "^v: the file is empty"),
    (b"[]", PLAIN_MERGES, CorruptFileError, "^v: the file should be an object"),
    (VOCAB[:-9], PLAIN_MERGES, CorruptFileError, "^v, line 1: the file ends at byte"),
    (VOCAB[:-2] + b',"an":7}', PLAIN_MERGES, CorruptFileError, "the key 'an' occurs twice"),
    (vocab(an="256"), PLAIN_MERGES, CorruptFileError, "the id of 'an' should be a whole number"),
    (vocab(an=True), PLAIN_MERGES, CorruptFileError, "not True"),
    (vocab(an=2.5), PLAIN_MERGES, CorruptFileError, "not 2.5"),
    (vocab(an=[]), PLAIN_MERGES, CorruptFileError, r"not \[\]"),
    (vocab(an=-1), PLAIN_MERGES, VocabError, "^v: id -1 is out of range"),
    (vocab(an=1 << 33), PLAIN_MERGES, VocabError, "id 8589934592 is out of range"),
    (vocab(an=97), PLAIN_MERGES, VocabError, "id 97 is the id of b'a' and of b'an'"),
    (vocab(b=None), PLAIN_MERGES, VocabError, r"merge.* b.*anan.* needs token 'b'|^m, line 4"),
    (vocab(an=None), PLAIN_MERGES, VocabError, "^m, line 2: 'a' . 'n' needs token 'an', which is"),
    (vocab(z=None), PLAIN_MERGES, VocabError, "^v: 1 of the 256 bytes have no token: 0x7A"),
    (vocab(**{"<|é nd|>": 300}), PLAIN_MERGES, VocabError, "is not written in GPT-2's letters"),
    (VOCAB, b"", CorruptFileError, "^m: the file is empty"),
    (VOCAB, PLAIN_MERGES[:-1], CorruptFileError, "^m, line 4: the file ends inside the line"),
    (VOCAB, PLAIN_MERGES[:-3], CorruptFileError, "the file ends inside the line 'b an'"),
    (VOCAB, b"#version: 0.2", CorruptFileError, "^m, line 1: the file ends inside the line"),
    (VOCAB, b"\xef\xbb\xbf" + PLAIN_MERGES, CorruptFileError, "^m: .* a byte order mark"),
    (VOCAB, PLAIN_MERGES + b"a\xff\n", CorruptFileError, "^m, line 5: byte 32 is not UTF-8"),
    (VOCAB, PLAIN_MERGES + b"a\n", CorruptFileError, "^m, line 5: 'a' is not two tokens"),
    (VOCAB, PLAIN_MERGES + b"a b c\n", CorruptFileError, "line 5: 'a b c' is not two tokens"),
    (VOCAB, PLAIN_MERGES + b"a  b\n", CorruptFileError, "line 5"),
    (VOCAB, PLAIN_MERGES + b"a \n", CorruptFileError, "line 5: 'a ' is not two tokens"),
    (VOCAB, PLAIN_MERGES + b"\n", CorruptFileError, "line 5: '' is not two tokens"),
    (VOCAB, PLAIN_MERGES + b"a\tn\n", CorruptFileError, "line 5"),
    (VOCAB, PLAIN_MERGES + b"q z\n", VocabError, "^m, line 5: 'q' . 'z' needs token 'qz'"),
    (VOCAB, PLAIN_MERGES + "é x\n".encode(), VocabError, "line 5: .* needs token 'éx'"),
    (VOCAB, PLAIN_MERGES + "中 x\n".encode(), VocabError, "line 5: .* needs token '中'"),
    (VOCAB, PLAIN_MERGES + b"a n\n", VocabError, "^m, line 5: .* occurs twice"),
    (VOCAB, b"an an\na n\n", VocabError, "^m, line 1: .* is made by a later merge"),
    (VOCAB, b"#version: 0.2\nan an\na n\n", VocabError, "^m, line 2: .* by a later merge"),
]


@pytest.mark.parametrize(("first", "second", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(first: bytes, second: bytes, error: type[DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        loads(first, second, "v", "m", pretokenizer=None)
    assert caught.value.path in ("v", "m")


def test_files_of_two_saves_are_refused() -> None:
    other, other_merges = dumps(of_bytes((97, 110), (256, 256)))
    for pair in ((VOCAB, other_merges), (other, MERGES), (VOCAB, MERGES + b"a b\n")):
        with pytest.raises(CorruptFileError, match=r"^m, line 1: .*they are from different saves"):
            loads(*pair, "v", "m", pretokenizer=None)
    # A cut at the end of a line leaves well-formed files; the digest tells.
    cut = MERGES[: MERGES.rindex(b"b anan")]
    with pytest.raises(CorruptFileError, match="different saves"):
        loads(VOCAB, cut, "v", "m", pretokenizer=None)
    assert loads(VOCAB, PLAIN_MERGES, pretokenizer=None) == PLAIN


def test_ways_to_write_lines() -> None:
    for data in (MERGES, PLAIN_MERGES, PLAIN_MERGES.partition(b"\n")[2]):
        assert loads(VOCAB, data, pretokenizer=None) == PLAIN
        windows = data.replace(b"\n", b"\r\n")
        assert loads(VOCAB, windows, pretokenizer=None) == PLAIN
    assert loads(VOCAB.replace(b"\n", b"\r\n"), MERGES, pretokenizer=None) == PLAIN


def test_nothing_is_guessed(tmp_path: Path) -> None:
    write(PLAIN, tmp_path)
    with pytest.raises(OptionError, match="none was given"):
        read(tmp_path)
    with pytest.raises(VocabError, match="has 50,256 tokens, but this file holds 259"):
        read(tmp_path, encoding="gpt2")


def test_special_tokens_with_an_entry_of_their_own() -> None:
    entries = {to_letters(byte): i for i, byte in enumerate(BYTES)}
    entries |= {f"{i:05}": i for i in range(256, 50256)} | {"<|endoftext|>": 50256}
    definition = loads(json.dumps(entries).encode(), b"#version: 0.2\n", encoding="gpt2")
    assert definition.special_tokens == {"<|endoftext|>": 50256}
    assert len(definition.tokens) == 50256
    entries["<|endoftext|>"] = 50257
    with pytest.raises(VocabError, match="has 50,256 tokens, but this file holds 50,257"):
        loads(json.dumps(entries).encode(), b"#version: 0.2\n", encoding="gpt2")
