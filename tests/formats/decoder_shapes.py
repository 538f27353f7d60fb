"""Tokenizers of `tokenizers` with decoders of any steps, and lists of ids to decode."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
ODD = [
    *("<pad>", "|", "##", "##a", "a##", "</w>", "a</w>", "</w>b", "▁", "▁▁", "▁a", "Ġ", "Ġa", "Ã"),
    *("©", "<0x4", "<0x+A>", "<0x-1>", "<0xZZ>", "<0xé>", "<0xc3>", " ", "  ", " .", " 's", "한"),
    *(" do not", "n't", "!", "'", "x", "xx", "yxy", "\n", "12", "1", "😀", "é", "a\u0301"),
]
"""Names of tokens, each of which some step changes."""


def named(*names: str) -> dict[str, int]:
    return {name: id for id, name in enumerate(dict.fromkeys(["<unk>", "<s>", *names, *ODD]))}


def finished(model: Any, cut: Any = None, normalizer: Any = None) -> Tokenizer:
    made = Tokenizer(model)
    if cut is not None:
        made.pre_tokenizer = cut
    if normalizer is not None:
        made.normalizer = normalizer
    made.add_special_tokens(["<unk>", "<s>"])
    made.add_tokens(["added é", "##x"])
    return made


def of_bytes() -> Tokenizer:
    letters = {letter: id for id, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merged = {"ab": 256, "Ã©": 257, "Ġa": 258, "##": 259, "<0": 260}
    merges = [("a", "b"), ("Ã", "©"), ("Ġ", "a"), ("#", "#"), ("<", "0")]
    cut = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return finished(models.BPE(letters | merged, merges), cut)


def characters() -> Tokenizer:
    return finished(models.BPE(named(*"ab"), [], unk_token="<unk>"))


def of_fallback() -> Tokenizer:
    vocab = named(*"ab", *BYTE_NAMES)
    return finished(models.BPE(vocab, [], unk_token="<unk>", byte_fallback=True))


def without_spaces(*names: str) -> dict[str, int]:
    kept = [name for name in named(*names) if " " not in name]
    return {name: id for id, name in enumerate(kept)}


def llama() -> Tokenizer:
    stages = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    vocab = without_spaces(*"ab", *BYTE_NAMES)
    model = models.BPE(vocab, [("▁", "a")], unk_token="<unk>", byte_fallback=True)
    return finished(model, normalizer=stages)


def of_metaspace() -> Tokenizer:
    model = models.BPE(without_spaces(*"ab"), [("▁", "a")], unk_token="<unk>")
    return finished(model, pre_tokenizers.Metaspace(split=True))


def unigram() -> Tokenizer:
    vocab = [(name, -float(id % 7) - 1) for name, id in without_spaces(*"ab").items()]
    cut = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    return finished(models.Unigram(vocab, 0, False), cut)


def word_piece() -> Tokenizer:
    names = [name for name in without_spaces(*"ab") if name not in ("##", "<unk>", "<s>")]
    vocab = {name: id for id, name in enumerate(["[UNK]", *names])}
    model = models.WordPiece(vocab, unk_token="[UNK]", continuing_subword_prefix="##")
    made = Tokenizer(model)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens(["[UNK]", "<s>"])
    return made


def word_level() -> Tokenizer:
    model = models.WordLevel(without_spaces(*"ab"), unk_token="<unk>")
    return finished(model, pre_tokenizers.WhitespaceSplit())


def with_suffix() -> Tokenizer:
    names = ["a", "b", "a</w>", "b</w>", "ab</w>", "é", "é</w>", "##", "|", "|</w>"]
    vocab = {name: id for id, name in enumerate(["<unk>", *names])}
    model = models.BPE(vocab, [("a", "b</w>")], unk_token="<unk>", end_of_word_suffix="</w>")
    made = Tokenizer(model)
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made.add_special_tokens(["<unk>", "<s>"])
    return made


FAMILIES = [
    *(of_bytes, characters, of_fallback, llama, of_metaspace, unigram, word_piece, word_level),
    with_suffix,
]
TEXTS = ["a b", "", "ab a  b", " a|b", "<s>a é b", "ab12 added é##x b", "a\nb é😀"]


def texts_of(rng: random.Random) -> str:
    return rng.choice(
        ["", "a", " ", "b", "x", "|", "##", "▁", "<pad>", "</w>", "é", "\ufffd", "aa", "Ġ"]
    )


def step(rng: random.Random, kind: str) -> dict[str, Any]:
    text, flag = texts_of, rng.random() < 0.5
    one: dict[str, Any] = {"type": kind}
    match kind:
        case "ByteLevel":
            one |= {"add_prefix_space": flag, "trim_offsets": True, "use_regex": not flag}
        case "WordPiece":
            one |= {"prefix": rng.choice(["##", "", "a", text(rng)]), "cleanup": flag}
        case "Metaspace":
            scheme = rng.choice(["always", "first", "never"])
            one |= {"replacement": rng.choice("▁ab "), "prepend_scheme": scheme, "split": flag}
        case "BPEDecoder":
            one |= {"suffix": rng.choice(["</w>", text(rng)])}
        case "Strip":
            start, stop = rng.choice([(1, 0), (0, 1), (2, 0), (0, 0), (1, 1), (1 << 20, 0)])
            one |= {"content": rng.choice(" a▁#x"), "start": start, "stop": stop}
        case "Replace":
            regexes = ["[0-9]+", r"\s+", "a|b", "[^a]", "", "(?i:a)b?", r"\p{L}"]
            pattern = {"Regex": rng.choice(regexes)} if flag else {"String": text(rng)}
            one |= {"pattern": pattern, "content": text(rng)}
        case "CTC":
            one |= {"pad_token": rng.choice(["<pad>", text(rng)])}
            one |= {"word_delimiter_token": rng.choice(["|", text(rng)]), "cleanup": flag}
    return one


KINDS = [
    *("ByteLevel", "WordPiece", "Metaspace", "BPEDecoder", "ByteFallback", "Fuse", "Strip"),
    *("Replace", "CTC"),
]


def decoder(rng: random.Random, in_letters: bool = False) -> dict[str, Any] | None:
    steps = [step(rng, rng.choice(KINDS)) for _ in range(rng.randrange(6))]
    if in_letters and rng.random() < 0.8:  # others are refused
        steps.insert(rng.randrange(len(steps) + 1), step(rng, "ByteLevel"))
        return {"type": "Sequence", "decoders": steps}
    if len(steps) == 1 and rng.random() < 0.5:
        return steps[0]
    if not steps and rng.random() < 0.5:
        return None
    if len(steps) > 2 and rng.random() < 0.2:
        steps = [{"type": "Sequence", "decoders": steps[:2]}, *steps[2:]]
    return {"type": "Sequence", "decoders": steps}


def with_decoder(family: Callable[[], Tokenizer], of: Any) -> bytes:
    return json.dumps(json.loads(family().to_str()) | {"decoder": of}).encode()


def theirs_of(peer: Tokenizer, ids: list[int], skip: bool) -> str | None:
    """The text of the library; None where it fails."""
    try:
        return str(peer.decode(ids, skip_special_tokens=skip))
    except BaseException as error:  # it panics
        if type(error).__name__ != "PanicException":
            raise
        return None


def lists_of(peer: Tokenizer, rng: random.Random) -> list[list[int]]:
    known = sorted(peer.get_vocab(with_added_tokens=True).values())
    lists = [rng.choices(known, k=rng.randrange(9)) for _ in range(27)]
    few = rng.sample(known, 3)
    lists += [rng.choices(few, k=rng.randrange(9)) for _ in range(6)]  # with repetitions
    return [*lists, *(peer.encode(text).ids for text in TEXTS)]
