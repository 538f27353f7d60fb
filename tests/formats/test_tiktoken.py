""".tiktoken: what is written, what tiktoken makes of it, and what is refused."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import tiktoken
import vocabularies
from tiktoken.load import load_tiktoken_bpe
from vocabularies import BYTES, PLAIN, SAMPLES, bpe, changed, of_bytes

import digram
from digram import CorruptFileError, DigramError, OptionError, Pretokenizer, VocabError
from digram.formats.tiktoken import dumps, loads, read, write

GOLDEN = Path(__file__).parents[2] / "testdata" / "formats"
PATTERNS = {None: "(?s:.+)"} | {
    name: named.patterns[0]
    for name, named in digram.pretokenizers.NAMED.items()
    if len(named.patterns) == 1
}
CARRIED = [
    name
    for name, definition in SAMPLES.items()
    if definition.unit == "byte" and name not in ("unreachable token", "two merges make one token")
]


def lines(*tokens: bytes) -> bytes:
    return b"".join(b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(tokens))


ALL = [*BYTES, b"an", b"anan", b"banan"]
GOOD = lines(*ALL)


@pytest.mark.parametrize("name", CARRIED)
def test_what_is_written_is_read_again(name: str) -> None:
    definition = replace(SAMPLES[name], special_tokens={}, training=None)
    data = dumps(definition)
    assert loads(data, pretokenizer=definition.pretokenizer) == definition
    assert dumps(SAMPLES[name], allow_loss=True) == data


def test_golden_bytes() -> None:
    assert dumps(PLAIN) == GOOD == (GOLDEN / "banana.tiktoken").read_bytes()
    assert read(GOLDEN / "banana.tiktoken", pretokenizer=None) == PLAIN


def test_it_is_written_whole(tmp_path: Path) -> None:
    write(PLAIN, tmp_path / "a.tiktoken")
    assert read(tmp_path / "a.tiktoken", pretokenizer=None) == PLAIN
    assert [path.name for path in tmp_path.iterdir()] == ["a.tiktoken"]


@pytest.mark.parametrize("name", CARRIED)
def test_tiktoken_gives_the_same_ids(name: str, tmp_path: Path) -> None:
    definition = replace(SAMPLES[name], special_tokens={})
    cut = definition.pretokenizer
    if cut != Pretokenizer(cut.name) or cut.name not in PATTERNS:
        definition = replace(definition, pretokenizer=Pretokenizer("o200k"))
    path = tmp_path / "a.tiktoken"
    write(definition, path)
    theirs = tiktoken.Encoding(
        name,
        pat_str=PATTERNS[definition.pretokenizer.name],
        mergeable_ranks=load_tiktoken_bpe(str(path)),
        special_tokens=SAMPLES[name].special_tokens,
    )
    ours = digram.Tokenizer(definition)
    again = digram.load(path, pretokenizer=definition.pretokenizer)
    assert again == ours
    again = again.with_special_tokens(SAMPLES[name].special_tokens)
    for text in vocabularies.texts(1000):
        assert ours.encode(text) == theirs.encode_ordinary(text)
        ids = again.encode(text, special="parse")
        if name != "cl100k":  # tiktoken takes a shorter special token where a longer one stands
            assert ids == theirs.encode(text, allowed_special="all")
        assert theirs.decode(ids) == text


def test_a_part_of_a_published_file_is_told_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "cl100k_base.tiktoken"
    path.write_bytes(GOOD)
    with pytest.raises(OptionError, match="the name of that of the encoding cl100k_base, but"):
        digram.load(path)
    with pytest.warns(digram.DigramWarning, match="Is it complete"):
        assert digram.load(path, pretokenizer="cl100k").encode("banan") == [258]
    with pytest.raises(VocabError, match="100,256 tokens, but this file holds 259"):
        digram.load(path, encoding="cl100k_base")
    path.write_bytes(GOOD[:-5])  # what is wrong with a line comes first
    with pytest.raises(CorruptFileError, match="ends inside the line"):
        digram.load(path)
    other = path.rename(tmp_path / "ranks.tiktoken")
    with pytest.raises(CorruptFileError, match="ends inside the line"):
        digram.load(other)


PUBLISHED = {"r50k_base": (50256, 1), "cl100k_base": (100256, 5), "o200k_base": (199998, 2)}


@pytest.mark.parametrize("encoding", PUBLISHED)
def test_published_encodings(shared_data: Callable[[str], Path], encoding: str) -> None:
    path = shared_data(f"vocabs/{encoding}.tiktoken")
    definition = read(path, encoding=encoding)
    tokens, special = PUBLISHED[encoding]
    assert len(definition.tokens) - definition.tokens.count(None) == tokens
    assert len(bpe(definition).merges) == tokens - 256
    assert len(definition.special_tokens) == special
    assert dumps(definition, allow_loss=True) == path.read_bytes()
    name = {"r50k_base": "gpt2"}.get(encoding, encoding.removesuffix("_base"))
    assert definition == replace(
        read(path, pretokenizer=name), special_tokens=definition.special_tokens
    )


def test_special_tokens_that_would_be_lost_are_refused() -> None:
    with pytest.raises(VocabError, match=r"cannot store the 1 special token .*allow_loss=True"):
        dumps(replace(PLAIN, special_tokens={"<|end|>": 259}))
    with pytest.raises(VocabError, match=r"cannot store the 4 special tokens .*, \.\.\."):
        dumps(replace(PLAIN, special_tokens={f"<{i}>": 259 + i for i in range(4)}))


def test_what_ranks_cannot_say_is_refused() -> None:
    with pytest.raises(VocabError, match="character vocabulary"):
        dumps(SAMPLES["characters or bytes"])
    swapped = changed(
        PLAIN,
        tokens=[*BYTES, b"anan", b"an", b"banan"],
        merges=[(97, 110, 257), (257, 257, 256), (98, 256, 258)],
    )
    with pytest.raises(VocabError, match=r"merge 1 makes b'anan' with id 256, which is not above"):
        dumps(swapped)
    late_byte = changed(PLAIN, tokens=[*BYTES[:-1], b"a\xff", b"\xff"], merges=[(97, 256, 255)])
    with pytest.raises(VocabError, match="not above one of its parts"):
        dumps(late_byte)
    with pytest.raises(VocabError, match="no merge makes token 259, b'xyzzy'"):
        dumps(SAMPLES["unreachable token"])
    with pytest.raises(VocabError, match="merge 3 makes b'aab' with id 258"):
        dumps(SAMPLES["two merges make one token"])
    # From the ranks, `abc` comes from `ab` and `c`.
    other = of_bytes((97, 98), (98, 99), (97, 257))
    with pytest.raises(VocabError, match="the merge of token 258, b'abc', differs"):
        dumps(other)
    # ... and `anan` is reached, so leaving its merge out is not a tokenizer that ranks can say.
    merges = bpe(PLAIN).merges
    missing = changed(PLAIN, merges=[merges[0], merges[2]], ignore_merges=True)
    with pytest.raises(VocabError, match="the merge of token 257, b'anan', differs"):
        dumps(missing)


def test_unreachable_tokens_are_kept_and_make_whole_pretokens_count() -> None:
    definition = loads(GOOD + b64encode(b"xyzzy") + b" 259\n", pretokenizer="gpt2")
    assert definition.tokens[259] == b"xyzzy"
    assert bpe(definition).ignore_merges
    assert digram.Tokenizer(definition).encode("xyzzy xyzzy")[0] == 259
    assert not bpe(loads(GOOD, pretokenizer="gpt2")).ignore_merges


def test_ways_to_write_lines() -> None:
    expected = loads(GOOD, pretokenizer=None)
    for data in (
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.removesuffix(b"\n"),
        GOOD + b"\n\n",
        b"".join(reversed(GOOD.splitlines(keepends=True))),
        GOOD.replace(b" ", b"\t"),
    ):
        assert loads(data, pretokenizer=None) == expected
    holes = GOOD.replace(b"YmFuYW4= 258", b"YmFuYW4= 300")
    assert loads(holes, pretokenizer=None).tokens[256:] == [b"an", b"anan", *[None] * 42, b"banan"]


A_LINE = "A line is a token in base64, a space and a rank"
REFUSED: list[tuple[bytes, type[Exception], str]] = [
    (b"", CorruptFileError, "^t: the file is empty"),
    (b"\n \r\n", CorruptFileError, "^t: the file is empty"),
    (GOOD + b"YWI=", CorruptFileError, "line 260: the file ends inside the line b'YWI='"),
    (GOOD + b"YWI= ", CorruptFileError, "line 260: the file ends inside the line"),
    (GOOD[:-1] + b" 7\n", CorruptFileError, f"line 259: .* is not a token and a rank. {A_LINE}"),
    (GOOD.replace(b"YW4= 256", b"YW4= -256"), CorruptFileError, "line 257: .* is not a token and"),
    (GOOD.replace(b"YW4= 256", b"YW4= +256"), CorruptFileError, "line 257"),
    (GOOD.replace(b"YW4= 256", b"YW4= 2_56"), CorruptFileError, "line 257"),
    (GOOD.replace(b"YW4= 256", b"YW4= 256.0"), CorruptFileError, "line 257"),
    (GOOD.replace(b"YW4= 256", b"YW4= x"), CorruptFileError, "line 257"),
    (GOOD.replace(b"YW4= 256", "YW4= ٢".encode()), CorruptFileError, "line 257"),
    (GOOD.replace(b"YW4= 256", b"YW4="), CorruptFileError, "line 257: b'YW4=' is not a token and"),
    (GOOD.replace(b"YW4= 256\n", b"\n"), CorruptFileError, "line 257: the line is empty"),
    (GOOD.replace(b"YW4= 256", b"YW4 256"), CorruptFileError, "b'YW4' is not base64"),
    (GOOD.replace(b"YW4= 256", b"YW4== 256"), CorruptFileError, "is not base64"),
    (GOOD.replace(b"YW4= 256", b"YW4=YQ== 256"), CorruptFileError, "is not base64"),
    (GOOD.replace(b"YW4= 256", b"Y*4= 256"), CorruptFileError, "is not base64"),
    (GOOD.replace(b"YW4= 256", b"Y-_= 256"), CorruptFileError, "is not base64"),
    (GOOD.replace(b"YW4= 256", b"=YW4 256"), CorruptFileError, "is not base64"),
    (GOOD.replace(b"YW4= 256", b"==== 256"), CorruptFileError, "line 257"),
    (GOOD.replace(b"YW4= 256", b"\x00 256"), CorruptFileError, "is not base64"),
    (GOOD.replace(b"YW4= 256", b"YW4= 99999999999"), CorruptFileError, "line 257"),
    (GOOD.replace(b"YW4= 256", b"YW4= 4294967296"), VocabError, "id 4294967296 is out of range"),
    (
        GOOD.replace(b"YW4= 256", b"YW4= 258"),
        VocabError,
        "line 259: rank 258 also occurs in line 257",
    ),
    (
        GOOD.replace(b"YmFuYW4= 258", b"YW4= 258"),
        VocabError,
        "line 259: token b'an' also occurs in",
    ),
    (GOOD.replace(b"IQ== 33\n", b""), VocabError, "1 of the 256 bytes have no token: 0x21"),
    (lines(b"ab"), VocabError, "256 of the 256 bytes have no token: 0x00, .*, ..."),
    (b"hello world\n", CorruptFileError, "line 1: b'hello world' is not a token and a rank"),
    (b'{"a": 1}', CorruptFileError, "line 1"),
    (b"\xef\xbb\xbf" + GOOD, CorruptFileError, "^t: the file starts with a byte order mark"),
]


@pytest.mark.parametrize(("data", "error", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refused(data: bytes, error: type[DigramError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        loads(data, "t", pretokenizer=None)
    assert caught.value.path == "t"


def test_parts_that_come_later_are_refused() -> None:
    tokens = [*BYTES[:-1], b"a\xff", b"\xff"]
    with pytest.raises(VocabError, match=r"^t: .*higher rank.*lower ranks than the token"):
        loads(lines(*tokens), "t", pretokenizer=None)


def test_nothing_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    path.write_bytes(GOOD)
    with pytest.raises(OptionError, match=r'none was given.*pretokenizer="cl100k"'):
        read(path)
    with pytest.raises(OptionError, match="both given"):
        read(path, pretokenizer="gpt2", encoding="gpt2")
    with pytest.raises(OptionError, match=r"no published encoding.*Did you mean 'cl100k_base'"):
        read(path, encoding="cl100k")
    with pytest.raises(digram.PatternError, match="no pretokenizer named"):
        read(path, pretokenizer="gpt5")


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt4", "cl100k_base"),
        ("gpt-4", "cl100k_base"),
        ("GPT-4", "cl100k_base"),
        ("gpt-3.5", "cl100k_base"),
        ("gpt4o", "o200k_base"),
        ("gpt-4o", "o200k_base"),
        ("gpt-5", "o200k_base"),
        ("gpt3", "gpt2"),
    ],
)
def test_the_name_of_a_model_gets_its_encoding_as_a_hint(
    tmp_path: Path, model: str, encoding: str
) -> None:
    path = tmp_path / "a.tiktoken"
    path.write_bytes(GOOD)
    with pytest.raises(OptionError, match=f"Did you mean '{encoding}'"):
        read(path, encoding=model)


def test_another_file_than_the_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tiktoken"
    path.write_bytes(GOOD)
    with pytest.raises(VocabError, match=r"has 100,256 tokens, but this file holds 259"):
        read(path, encoding="cl100k_base")


def test_a_published_file_cut_at_a_line_is_refused(shared_data: Callable[[str], Path]) -> None:
    data = shared_data("vocabs/r50k_base.tiktoken").read_bytes()
    whole_lines = data[: data.index(b"\n", 400_000) + 1]
    with pytest.raises(VocabError, match=r"has 50,256 tokens.*complete"):
        loads(whole_lines, encoding="r50k_base")
