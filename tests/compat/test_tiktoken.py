"""The drop-in beside tiktoken itself: each name and each method, also of published encodings."""

from __future__ import annotations

import copy
import hashlib
import inspect
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
import tiktoken.model
from oracles.published import encoding

import digram
import digram.compat.tiktoken as drop_in
import digram.compat.tiktoken.load
import digram.compat.tiktoken.model
import digram.compat.tiktoken.registry
from digram.analysis.verification import TextGenerator

PAGE = Path(__file__).parents[2] / "docs" / "tiktoken.md"
HOST = "https://openaipublic.blob.core.windows.net"
NAMES = ["small", "r50k_base", "cl100k_base", "o200k_base"]

SMALL = {
    "name": "small",
    "pat_str": r"'(?i:[sdmt]|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+"
    r"|\s+(?!\S)|\s+",
    "mergeable_ranks": {
        **{bytes([byte]): byte for byte in range(256)},
        **{
            token: 256 + i
            for i, token in enumerate(
                [b"lo", b"low", b" l", b" low", b"\xe4\xb8", b"\xe4\xb8\xad", b"  ", b"\n\n", b"12"]
            )
        },
    },
    "special_tokens": {"<|endoftext|>": 270, "<|user|>": 272, "<s>": 271},
}


class Both:
    """An encoding of the drop-in and the same of tiktoken."""

    def __init__(self, ours: drop_in.Encoding, theirs: tiktoken.Encoding) -> None:
        self.ours, self.theirs = ours, theirs
        self.generator = TextGenerator(theirs.special_tokens_set, theirs.token_byte_values())

    def same(self, call: Callable[[Any], Any]) -> Any:
        """The result of a call, which is that of tiktoken, or an error of the same kind."""
        mine, other = _outcome(call, self.ours), _outcome(call, self.theirs)
        assert mine == other
        return mine


def _outcome(call: Callable[[Any], Any], enc: Any) -> Any:
    try:
        value = call(enc)
    except Exception as error:
        kinds = (KeyError, UnicodeError, ValueError, TypeError)
        kind = next((one for one in kinds if isinstance(error, one)), type(error))
        # A UnicodeError is a ValueError; tiktoken raises it for surrogates, digram another one.
        return ValueError if kind is UnicodeError else kind
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.tolist()
    return value


@pytest.fixture(scope="module")
def cache(
    tmp_path_factory: pytest.TempPathFactory, data_folder: Path
) -> Iterator[pytest.MonkeyPatch]:
    """A folder as tiktoken keeps it, for the environment variable that names it."""
    folder = tmp_path_factory.mktemp("cache")
    for name in NAMES[1:]:
        key = hashlib.sha1(f"{HOST}/encodings/{name}.tiktoken".encode()).hexdigest()
        if (data_folder / "vocabs" / f"{name}.tiktoken").exists():
            (folder / key).symlink_to(data_folder / "vocabs" / f"{name}.tiktoken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        yield patch


@pytest.fixture(scope="module", params=NAMES)
def both(request: pytest.FixtureRequest, cache: Any) -> Both:
    if request.param == "small":
        return Both(drop_in.Encoding(**SMALL), tiktoken.Encoding(**SMALL))  # type: ignore[arg-type]
    shared_data = request.getfixturevalue("shared_data")
    theirs = encoding(request.param, shared_data)
    return Both(drop_in.get_encoding(request.param), theirs)


TEXTS = [
    *("", "hello world", " low lower", "it's 12345", "中文 naïve", "a\n\n", "   ", "\t\n x"),
    *(
        "<|endoftext|>",
        "a<|endoftext|> b",
        "<|user|><s>",
        "<|endof",
        "👍",
        "a\ud83d\udc4d",
        "\ud83d",
    ),
]
IDS: list[Any] = [[], [108, 256, 111], (256, 97), [228], [97, 228, 98], [257] * 3]
WRONG_IDS: list[Any] = [[10**6], [97, 10**6], ["a"], "a", None, 5]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"allowed_special": "all"},
    {"disallowed_special": ()},
    {"allowed_special": {"<|endoftext|>"}},
    {"allowed_special": {"<|endoftext|>", "none"}, "disallowed_special": {"<s>"}},
    {"allowed_special": {"<|endoftext|>"}, "disallowed_special": ()},
    {"disallowed_special": ["<|endoftext|>"]},
    {"disallowed_special": {"low", "a"}},
    {"allowed_special": set(), "disallowed_special": "all"},
]


def of(method: str, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
    """A call of a method."""
    return lambda enc: getattr(enc, method)(*arguments, **options)


def completing(text: Any, **options: Any) -> Callable[[Any], Any]:
    """A call of `encode_with_unstable`, whose completions have no order in tiktoken."""

    def call(enc: Any) -> Any:
        kept, completions = enc.encode_with_unstable(text, **options)
        return kept, set(map(tuple, completions))

    return call


def each(method: str, arguments: list[Any], **options: Any) -> list[Callable[[Any], Any]]:
    """Calls of a method with each argument."""
    return [of(method, argument, **options) for argument in arguments]


def with_options(method: str, arguments: list[Any]) -> list[Callable[[Any], Any]]:
    return [call for options in OPTIONS for call in each(method, arguments, **options)]


# Each public name of `tiktoken.Encoding`, with calls that give the same.
CALLS: dict[str, list[Callable[[Any], Any]]] = {
    "encode_ordinary": each("encode_ordinary", [*TEXTS, b"a", None, 5]),
    "encode": with_options("encode", [*TEXTS, b"a", None, 5]),
    "encode_batch": with_options("encode_batch", [TEXTS, TEXTS[:8], [], ["a", 5], None]),
    "encode_ordinary_batch": [
        *each("encode_ordinary_batch", [TEXTS, [], ["a", 5], None]),
        *each("encode_ordinary_batch", [TEXTS], num_threads=1),
        *each("encode_ordinary_batch", [TEXTS], num_threads=0),
    ],
    "encode_to_numpy": with_options("encode_to_numpy", [*TEXTS, None]),
    "encode_with_unstable": [
        *(completing(text) for text in [*TEXTS, "lo\n \n", "  \t", "l", "<s> l", None]),
        *(completing("a<|endoftext|><s>low", **options) for options in OPTIONS),
    ],
    "encode_single_token": each(
        "encode_single_token",
        ["a", b"a", "low", b"\xe4", "<|endoftext|>", b"<|endoftext|>", "no token", "", b"", None],
    ),
    "decode": [
        *each("decode", [*IDS, *WRONG_IDS]),
        *each("decode", IDS, errors="ignore"),
        *each("decode", IDS, errors="strict"),
        *each("decode", IDS, errors="no such name"),
    ],
    "decode_bytes": each("decode_bytes", [*IDS, *WRONG_IDS]),
    "decode_single_token_bytes": each("decode_single_token_bytes", [97, 256, 10**6, "a", None]),
    "decode_tokens_bytes": each("decode_tokens_bytes", [*IDS, *WRONG_IDS]),
    "decode_with_offsets": each("decode_with_offsets", [*IDS, [10**6]]),
    "decode_batch": [
        *each("decode_batch", [IDS, [], [[10**6]]]),
        *each("decode_batch", [IDS], errors="strict", num_threads=2),
        *each("decode_batch", [IDS], num_threads=0),
    ],
    "decode_bytes_batch": each("decode_bytes_batch", [IDS, [], [[10**6]]]),
    "token_byte_values": [lambda enc: enc.token_byte_values()],
    "eot_token": [lambda enc: enc.eot_token],
    "special_tokens_set": [lambda enc: enc.special_tokens_set],
    "is_special_token": each("is_special_token", [0, 270, 271, 50_256, 100_257, 199_999, -1]),
    "n_vocab": [lambda enc: enc.n_vocab],
}
# Attributes of objects, which the class does not have.
ATTRIBUTES: dict[str, list[Callable[[Any], Any]]] = {
    "name": [lambda enc: enc.name],
    "max_token_value": [lambda enc: enc.max_token_value],
}
# What the README of tiktoken reads to extend an encoding, and its tests.
PRIVATE: dict[str, list[Callable[[Any], Any]]] = {
    "_special_tokens": [lambda enc: enc._special_tokens],
    "_mergeable_ranks": [lambda enc: enc._mergeable_ranks],
    "_encode_bytes": each("_encode_bytes", [b"", b"low", b"\x80" * 9, b"lo\xe4\xb8", b" \n\xff a"]),
    "_encode_single_piece": each("_encode_single_piece", ["low", b"low", " low low", b"\xff"]),
}


def public(kind: Any) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_no_method_is_missing() -> None:
    """So that a method of a later tiktoken is compared, or the page says why not."""
    assert set(CALLS) == public(tiktoken.Encoding)
    assert public(drop_in.Encoding) == public(tiktoken.Encoding)
    modules = {"core", "load", "model", "registry"}
    functions = {name for name in public(tiktoken) if not inspect.ismodule(getattr(tiktoken, name))}
    assert functions <= public(drop_in)
    listed = re.findall(r"^\| `([^`]+)` \| (equal|refused)", PAGE.read_text("utf-8"), re.MULTILINE)
    expected = {*CALLS, *ATTRIBUTES, *PRIVATE, "_pat_str", "Encoding", *functions}
    assert {name for name, _ in listed} - modules == expected
    assert len(listed) == len(dict(listed))


@pytest.mark.parametrize("name", CALLS)
def test_the_same_signature(name: str) -> None:
    ours, theirs = (getattr(kind.Encoding, name) for kind in (drop_in, tiktoken))
    if not callable(theirs):
        assert type(ours).__name__ == type(theirs).__name__
        return

    def plain(function: Any) -> list[Any]:
        found = inspect.signature(function).parameters.values()
        return [
            (one.name, one.kind, set() if one.default == set() else one.default) for one in found
        ]

    assert plain(ours) == plain(theirs)


@pytest.mark.parametrize("name", [*CALLS, *ATTRIBUTES, *PRIVATE])
def test_the_same_results(both: Both, name: str) -> None:
    results = [both.same(call) for call in (CALLS | ATTRIBUTES | PRIVATE)[name]]
    assert any(not isinstance(one, type) for one in results)


def test_generated_texts(both: Both) -> None:
    found = digram.verify(both.ours, both.theirs, fuzz=1500)
    assert found.equal, str(found)
    assert found.names[0].startswith("digram.compat.tiktoken")
    assert set(found.compared) == {"text", "parse"}
    for text in both.generator.texts(20, seed=4):
        both.same(completing(text[:40], allowed_special="all"))
    for data in both.generator.byte_texts(200, seed=4):
        ids = both.same(of("_encode_bytes", data))
        assert both.ours.decode_bytes(ids) == data


def test_completions_complete(both: Both) -> None:
    """What tiktoken promises for `encode_with_unstable`."""
    for text in both.generator.texts(20, seed=9):
        data = text[:30].encode()
        kept, completions = both.ours.encode_with_unstable(text[:30], disallowed_special=())
        assert data.startswith(both.ours.decode_bytes(kept))
        for ids in completions[:200]:
            assert both.ours.decode_bytes(kept + ids).startswith(data)


def test_a_long_end_is_refused(cache: Any, shared_data: Any) -> None:
    """Its completions would be as long, and as many as there are tokens."""
    both = Both(drop_in.get_encoding("r50k_base"), encoding("r50k_base", shared_data))
    with pytest.raises(digram.LimitExceededError, match="bytes that may change"):
        both.ours.encode_with_unstable("low" + " " * 1_000_000)
    both.same(completing("x" * 300))


# --- what the tests of tiktoken check


def test_each_token_decodes_and_encodes(both: Both) -> None:
    for id in range(0, 10_000):
        token = both.same(of("decode_single_token_bytes", id))
        if token is not KeyError:
            assert both.ours.encode_single_token(token) == id


@pytest.mark.parametrize("part", ["^", "0", "a", "'s", " ", "\n"])
def test_repetitions(both: Both, part: str) -> None:
    many = part * 3000
    for text in (many, f" {many}", f"{many}\n"):
        ids = both.same(of("encode", text))
        assert both.ours.decode(ids) == text
    assert both.ours.decode(both.ours.encode(part * 1_000_000)) == part * 1_000_000


def test_surrogates(both: Both) -> None:
    for text in ("👍", "\ud83d\udc4d", "\ud83d", "a\udc4d b"):
        both.same(of("encode", text))
    assert both.ours.encode("\ud83d\udc4d") == both.ours.encode("👍")
    assert both.ours.encode("\ud83d") == both.ours.encode("\ufffd")


def test_special_tokens_in_texts(both: Both) -> None:
    end = both.ours.eot_token
    assert both.ours.encode("<|endoftext|>", allowed_special={"<|endoftext|>"}) == [end]
    assert end not in both.ours.encode("<|endoftext|>", disallowed_special=())
    none: Any = None  # as for an empty set
    for one in (both.ours, both.theirs):
        assert end not in one.encode("<|endoftext|>", disallowed_special=none)
    with pytest.raises(digram.SpecialTokenError, match="allowed_special") as refused:
        both.ours.encode("a <|endoftext|>")
    assert isinstance(refused.value, ValueError)
    assert both.ours.encode_ordinary("<|endoftext|>") == both.ours.encode(
        "<|endoftext|>", disallowed_special=()
    )


def test_copies_and_pickles(both: Both) -> None:
    assert repr(both.ours) == repr(both.theirs)
    for made in (
        pickle.loads(pickle.dumps(both.ours)),
        copy.copy(both.ours),
        copy.deepcopy(both.ours),
    ):
        again = Both(made, both.theirs)
        again.same(lambda enc: enc.encode("low <|endoftext|> naïve", allowed_special="all"))
        again.same(lambda enc: (enc.n_vocab, enc.name, enc.special_tokens_set))


def test_an_encoding_is_extended(both: Both) -> None:
    """As the README of tiktoken describes it; each with its own parts."""

    def extended(library: Any, enc: Any) -> Any:
        return library.Encoding(
            name="extended",
            pat_str=enc._pat_str,
            mergeable_ranks=enc._mergeable_ranks,
            special_tokens={**enc._special_tokens, "<|im_start|>": 300_264},
        )

    ours, theirs = extended(drop_in, both.ours), extended(tiktoken, both.theirs)
    again = Both(pickle.loads(pickle.dumps(ours)), theirs)
    again.same(lambda enc: enc.encode("<|im_start|>low it's", allowed_special="all"))
    again.same(lambda enc: (enc.n_vocab, enc.name, sorted(enc._special_tokens)))


# --- the functions of the module


def test_names_of_encodings_and_models() -> None:
    assert drop_in.list_encoding_names() == tiktoken.list_encoding_names()
    ours, theirs = digram.compat.tiktoken.model, tiktoken.model
    assert ours.MODEL_TO_ENCODING == theirs.MODEL_TO_ENCODING
    assert ours.MODEL_PREFIX_TO_ENCODING == theirs.MODEL_PREFIX_TO_ENCODING
    prefixes = [prefix + "x" for prefix in theirs.MODEL_PREFIX_TO_ENCODING]
    for model in [*theirs.MODEL_TO_ENCODING, *prefixes]:
        assert drop_in.encoding_name_for_model(model) == tiktoken.encoding_name_for_model(model)
    for model in ("", "gpt2-x", "GPT-4"):
        with pytest.raises(KeyError, match=r"no encoding is known"):
            drop_in.encoding_name_for_model(model)
        with pytest.raises(drop_in.UnknownModelError):
            drop_in.encoding_for_model(model)
    with pytest.raises(TypeError):
        drop_in.encoding_name_for_model(5)  # type: ignore[arg-type]


def test_models(cache: Any, shared_data: Any) -> None:
    shared_data("vocabs/cl100k_base.tiktoken")
    enc = drop_in.encoding_for_model("gpt-4")
    assert enc is drop_in.get_encoding("cl100k_base")
    assert enc.encode("hello world") == [15339, 1917]
    assert pickle.loads(pickle.dumps(enc)) is enc


def test_second_texts_of_special_tokens(cache: Any, shared_data: Any) -> None:
    """In o200k_harmony two texts have one id; digram's own tokenizers have one text for an id."""
    theirs = _harmony(shared_data)
    both = Both(drop_in.get_encoding("o200k_harmony"), theirs)
    both.same(lambda enc: enc.special_tokens_set)
    both.same(lambda enc: enc._special_tokens)
    both.same(lambda enc: enc.n_vocab)
    text = "<|reserved_200018|>a<|endofprompt|><|start|>"
    for options in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        both.same(of("encode", text, **options))
        both.same(of("encode_batch", [text], **options))
        both.same(of("encode_to_numpy", text, **options))
        both.same(completing(text, **options))
    both.same(lambda enc: enc.encode_single_token("<|reserved_200018|>"))
    both.same(lambda enc: enc.decode_bytes([enc.n_vocab]))
    again = pickle.loads(pickle.dumps(both.ours))
    assert again.special_tokens_set == theirs.special_tokens_set


def _harmony(shared_data: Any) -> tiktoken.Encoding:
    from digram.analysis.verification import peers

    path = str(shared_data("vocabs/o200k_base.tiktoken"))
    made: tiktoken.Encoding = peers.load(path, "tiktoken", "o200k_harmony")
    return made


def test_gpt2_from_its_two_files(
    tmp_path: Path, shared_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in ("vocab.bpe", "encoder.json"):
        key = hashlib.sha1(f"{HOST}/gpt-2/encodings/main/{file}".encode()).hexdigest()
        (tmp_path / key).symlink_to(shared_data(f"vocabs/{file}"))
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(tmp_path))
    enc = digram.compat.tiktoken.registry._load("gpt2")
    assert enc._mergeable_ranks == encoding("r50k_base", shared_data)._mergeable_ranks
    assert enc.encode("hello world<|endoftext|>", allowed_special="all") == [31373, 995, 50256]


def test_files_in_the_folder_of_names(
    tmp_path: Path, shared_data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`digram.load` finds them there by the same names."""
    (tmp_path / "r50k_base.tiktoken").symlink_to(shared_data("vocabs/r50k_base.tiktoken"))
    monkeypatch.setenv("DIGRAM_TOKENIZERS", str(tmp_path))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "none"))
    ids = digram.compat.tiktoken.registry._load("r50k_base").encode("hello world")
    assert ids == digram.load("r50k_base").encode("hello world")


def test_files_that_are_missing_or_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DIGRAM_TOKENIZERS", str(tmp_path / "own"))
    load = digram.compat.tiktoken.registry._load
    address = f"{HOST}/encodings/p50k_base.tiktoken"
    path = tmp_path / hashlib.sha1(address.encode()).hexdigest()
    with pytest.raises(FileNotFoundError, match="downloads nothing") as missing:
        load("p50k_edit")
    assert address in str(missing.value)
    assert str(path) in str(missing.value)
    assert f", or as {tmp_path / 'own' / 'p50k_base.tiktoken'}" in str(missing.value)
    with pytest.raises(FileNotFoundError):
        load("gpt2")
    path.write_bytes(b"YQ== 0\n")
    with pytest.raises(digram.CorruptFileError, match="not the published file"):
        load("p50k_base")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(FileNotFoundError, match="name its folder in TIKTOKEN_CACHE_DIR"):
        load("p50k_base")
    for name in ("no such", 5, None):
        with pytest.raises(ValueError, match="there is no encoding named"):
            drop_in.get_encoding(name)  # type: ignore[arg-type]


def test_files_of_ones_own(tmp_path: Path) -> None:
    module = digram.compat.tiktoken.load
    path = str(tmp_path / "a.tiktoken")
    ranks: Any = SMALL["mergeable_ranks"]
    module.dump_tiktoken_bpe(ranks, path)
    assert module.load_tiktoken_bpe(path) == ranks
    assert tiktoken.load.load_tiktoken_bpe(path) == ranks  # type: ignore[attr-defined]
    expected = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    assert module.load_tiktoken_bpe(path, expected) == ranks
    with pytest.raises(digram.CorruptFileError):
        module.load_tiktoken_bpe(path, "0" * 64)


def test_counts_of_tokens() -> None:
    made = {**SMALL, "special_tokens": {"<|endoftext|>": 265}}
    Both(
        drop_in.Encoding(**made, explicit_n_vocab=266),  # type: ignore[arg-type]
        tiktoken.Encoding(**made, explicit_n_vocab=266),  # type: ignore[arg-type]
    ).same(lambda enc: enc.n_vocab)
    for kind, error in ((drop_in, digram.VocabError), (tiktoken, AssertionError)):
        with pytest.raises(error):
            kind.Encoding(**made, explicit_n_vocab=267)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"mergeable_ranks": {b"a": 0}}, digram.VocabError),
        ({"mergeable_ranks": {**SMALL["mergeable_ranks"], b"x": 256}}, digram.VocabError),  # type: ignore[dict-item]
        ({"mergeable_ranks": {"a": 0}}, TypeError),
        ({"mergeable_ranks": {b"a": "0"}}, TypeError),
        ({"mergeable_ranks": {b"a": 1 << 40}}, digram.VocabError),
        ({"mergeable_ranks": []}, TypeError),
        ({"special_tokens": {"<s>": 97}}, digram.VocabError),
        ({"special_tokens": {"<s>": -1}}, digram.VocabError),
        ({"special_tokens": {b"<s>": 999}}, TypeError),
        ({"pat_str": "(a)\\1"}, digram.PatternError),
        ({"pat_str": "("}, digram.PatternError),
        ({"pat_str": None}, TypeError),
        ({"name": None}, TypeError),
    ],
)
def test_refused(changes: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        drop_in.Encoding(**{**SMALL, **changes})


def test_errors_of_both_kinds() -> None:
    enc = drop_in.Encoding(**SMALL)  # type: ignore[arg-type]
    for call in (
        lambda: enc.decode([999]),
        lambda: enc.decode_bytes([-1]),
        lambda: enc.decode_single_token_bytes(1 << 70),
        lambda: enc.encode_single_token("nothing"),
    ):
        with pytest.raises(KeyError) as refused:
            call()
        assert isinstance(refused.value, digram.TokenIdError)
    with pytest.raises(digram.OptionError, match="allowed_special='al' is not known"):
        enc.encode("a", allowed_special="al")  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        _ = drop_in.Encoding(**{**SMALL, "special_tokens": {}}).eot_token  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        enc.is_special_token("a")  # type: ignore[arg-type]


def test_a_program_with_another_import() -> None:
    """A process of its own, in which `tiktoken` is the drop-in."""
    code = """if True:
        import sys
        import digram.compat.tiktoken as tiktoken
        assert "tiktoken" not in sys.modules
        ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256}
        enc = tiktoken.Encoding("x", pat_str=".", mergeable_ranks=ranks, special_tokens={})
        print(enc.encode("lo"), tiktoken.core.Encoding is tiktoken.Encoding)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[108, 111] True\n", "")
