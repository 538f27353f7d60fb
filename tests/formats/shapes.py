"""Shapes of published tokenizers, as the converters of transformers make them, with a vocabulary
that the library's own trainers learn of a small text.

`SHAPES` maps the names of families to functions that make one. The stages, the template, the
decoder, the flags of added tokens and their places in the vocabulary are those of the published
files; a template is written as the library writes it, with the type of each part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from formats.test_pipelines import RUNS, TRAINED_ON, level, plain, special, split
from formats.test_unigram import charsmap
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from digram.pretokenizers import NAMED

__all__ = ["SHAPES"]

QWEN35 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
TEKKEN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
KIMI = (
    rf"[\p{{Han}}]+|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}&&[^\p{{Han}}]]*[{LOWER}&&[^\p{{Han}}]]+{ENDINGS}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}&&[^\p{{Han}}]]+[{LOWER}&&[^\p{{Han}}]]*{ENDINGS}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SPACES = pre_tokenizers.Metaspace()
WORDS = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), SPACES])
QUOTES = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]


def filled(theirs: Tokenizer, trainer: Any, special_first: Sequence[AddedToken]) -> Tokenizer:
    """The tokenizer with what a trainer learns; these tokens have the first ids."""
    learned = Tokenizer.from_str(theirs.to_str())
    learned.train_from_iterator(TRAINED_ON * 3, trainer)
    model = json.loads(learned.to_str())["model"]
    file = json.loads(theirs.to_str())
    first = [token.content for token in special_first]
    if model["type"] == "Unigram":
        own = [piece for piece in model["vocab"] if piece[0] not in first]
        file["model"]["vocab"] = [*([name, 0.0] for name in first), *own]
    else:
        names = [*first, *sorted(model["vocab"], key=model["vocab"].__getitem__)]
        file["model"]["vocab"] = {name: id for id, name in enumerate(dict.fromkeys(names))}
        file["model"]["merges"] = model.get("merges")
    if model["type"] == "WordPiece":
        del file["model"]["merges"]
    made = Tokenizer.from_str(json.dumps(file))
    made.add_special_tokens([token for token in special_first if token.special])
    made.add_tokens([token for token in special_first if not token.special])
    return made


def with_template(theirs: Tokenizer, single: str, pair: str) -> Tokenizer:
    names = {part.partition(":")[0] for part in f"{single} {pair}".split()} - {"$A", "$B"}
    theirs.post_processor = processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(name, theirs.token_to_id(name)) for name in sorted(names)],
    )
    return theirs


@cache
def _charsmap() -> bytes:
    return charsmap()


def precompiled(*after: Any, before: Sequence[Any] = ()) -> Any:
    return normalizers.Sequence([*before, normalizers.Precompiled(_charsmap()), *after])


def joined(text: str) -> Any:
    return normalizers.Replace(Regex(" {2,}"), text)


def right() -> Any:
    return normalizers.Strip(left=False, right=True)


def unigram(
    normalizer: Any,
    cut: Any,
    names: Sequence[str | AddedToken],
    single: str,
    pair: str,
    unknown: str = "<unk>",
) -> Tokenizer:
    """As the converters of SentencePiece's Unigram files."""
    tokens = [special(name) if isinstance(name, str) else name for name in names]
    contents = [token.content for token in tokens]
    vocab = [(name, 0.0) for name in contents]
    theirs = Tokenizer(models.Unigram(vocab, contents.index(unknown), False))
    theirs.normalizer, theirs.pre_tokenizer = normalizer, cut
    theirs.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=200, show_progress=False, unk_token=unknown, special_tokens=[unknown]
    )
    return with_template(filled(theirs, trainer, tokens), single, pair)


def of_bytes(
    cut: Any,
    names: Sequence[str | AddedToken],
    single: str = "$A",
    pair: str = "$A $B:1",
    normalizer: Any = None,
    **flags: Any,
) -> Tokenizer:
    """BPE of bytes, whose special tokens come after the vocabulary."""
    theirs = Tokenizer(models.BPE(**flags))
    if normalizer is not None:
        theirs.normalizer = normalizer
    theirs.pre_tokenizer = cut
    theirs.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    theirs = filled(theirs, trainer, [])
    tokens = [special(name) if isinstance(name, str) else name for name in names]
    theirs.add_special_tokens([token for token in tokens if token.special])
    theirs.add_tokens([token for token in tokens if not token.special])
    if single == "$A":
        theirs.post_processor = processors.ByteLevel(trim_offsets=False)
        return theirs
    return with_template(theirs, single, pair)


def of_characters(
    normalizer: Any,
    cut: Any,
    names: Sequence[str | AddedToken],
    decoder: Any,
    fallback: bool = True,
    unknown: str = "<unk>",
) -> Tokenizer:
    """BPE of characters, of SentencePiece's files."""
    tokens = [special(name) if isinstance(name, str) else name for name in names]
    theirs = Tokenizer(
        models.BPE({unknown: 0}, [], unk_token=unknown, fuse_unk=True, byte_fallback=fallback)
    )
    theirs.normalizer = normalizer
    if cut is not None:
        theirs.pre_tokenizer = cut
    theirs.decoder = decoder
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False)
    bytes = [plain(f"<0x{byte:02X}>") for byte in range(256)] if fallback else []
    made = filled(theirs, trainer, [*tokens, *bytes])
    # The bytes are ordinary entries of the vocabulary.
    file = json.loads(made.to_str())
    added = [one for one in file["added_tokens"] if not one["content"].startswith("<0x")]
    return Tokenizer.from_str(json.dumps(file | {"added_tokens": added}))


def wordpiece(
    names: Sequence[str | AddedToken], single: str, pair: str, unknown: str = "[UNK]"
) -> Tokenizer:
    """As the converters of BERT's vocab.txt."""
    tokens = [special(name) if isinstance(name, str) else name for name in names]
    vocab = {token.content: id for id, token in enumerate(tokens)}
    theirs = Tokenizer(models.WordPiece(vocab, unk_token=unknown))
    theirs.normalizer = normalizers.BertNormalizer(lowercase=True)
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    theirs.decoder = decoders.WordPiece("##", True)
    trainer = trainers.WordPieceTrainer(vocab_size=300, show_progress=False)
    return with_template(filled(theirs, trainer, tokens), single, pair)


def named(pattern: str) -> Any:
    """The patterns of that name, then the letters of bytes."""
    return pre_tokenizers.Sequence([*map(split, NAMED[pattern].patterns), level()])


BERT = ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
ROBERTA = ("<s> $A </s>", "<s> $A </s> </s> $B </s>")
MASK = special("<mask>", lstrip=True)
CODES = ["ar_AR", "en_XX", "fr_XX", "zh_CN"]


def xlnet() -> Tokenizer:
    names: list[str | AddedToken]
    names = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", MASK, "<eod>", "<eop>"]
    stages = [*QUOTES, normalizers.NFKD(), normalizers.StripAccents()]
    cut = precompiled(joined(" "), before=stages)
    end = ("$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2")
    return unigram(cut, WORDS, names, *end)


def deepseek_coder() -> Tokenizer:
    cuts = [
        *map(split, ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")),
        pre_tokenizers.Digits(individual_digits=True),
    ]
    names: list[str | AddedToken]
    names = ["<｜begin▁of▁sentence｜>", plain("<|EOT|>"), plain("<｜fim▁hole｜>")]
    return of_bytes(pre_tokenizers.Sequence([*cuts, level()]), names)


def viking() -> Tokenizer:
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = split(r" ?[^(\s|[.,!?…。，、।۔،])]+")
    return of_bytes(pre_tokenizers.Sequence([words, digits, level()]), ["<s>", "</s>", "<pad>"])


def gemma_like(*stages: Any) -> Tokenizer:
    cut = pre_tokenizers.Split(" ", "merged_with_previous")
    decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    names = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    normalizer = normalizers.Sequence([*stages, normalizers.Replace(" ", "▁")])
    return with_template(
        of_characters(normalizer, cut, names, decoder), "<bos> $A", "<bos> $A <bos>:1 $B:1"
    )


def nllb() -> Tokenizer:
    names: list[str | AddedToken]
    names = ["<s>", "<pad>", "</s>", "<unk>", "ace_Arab", "eng_Latn", "zul_Latn", MASK]
    stages = precompiled(right(), joined("▁"))
    theirs = of_characters(stages, SPACES, names, decoders.Metaspace(), fallback=False)
    return with_template(theirs, "eng_Latn $A </s>", "eng_Latn $A $B </s>")


def reformer() -> Tokenizer:
    stages = precompiled(right(), joined("▁"))
    theirs = of_characters(
        stages, SPACES, ["<unk>", "<s>", "</s>"], decoders.Metaspace(), fallback=False
    )
    return with_template(theirs, "$A", "$A $B:1")


SHAPES: dict[str, Callable[[], Tokenizer]] = {
    "ALBERT, FNet": lambda: unigram(
        precompiled(
            joined(" "),
            before=[
                *QUOTES,
                normalizers.NFKD(),
                normalizers.StripAccents(),
                normalizers.Lowercase(),
            ],
        ),
        WORDS,
        ["<pad>", "<unk>", "[CLS]", "[SEP]", special("[MASK]", lstrip=True)],
        *BERT,
    ),
    "XLNet": xlnet,
    "RemBERT": lambda: unigram(
        precompiled(joined(" "), before=QUOTES),
        SPACES,
        ["[PAD]", "<unk>", "[CLS]", "[SEP]", special("[MASK]", lstrip=True)],
        *BERT,
    ),
    "CamemBERT": lambda: unigram(
        precompiled(right(), joined("▁")),
        WORDS,
        ["<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>", MASK],
        *ROBERTA,
    ),
    "BigBird": lambda: unigram(
        precompiled(right(), joined("▁")),
        SPACES,
        ["<pad>", "</s>", "<s>", "<unk>", "[CLS]", "[SEP]", special("[MASK]", lstrip=True)],
        *BERT,
    ),
    "BARThez": lambda: unigram(
        normalizers.Sequence(
            [normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(), right()]
        ),
        SPACES,
        ["<s>", "<pad>", "</s>", "<unk>", MASK],
        *ROBERTA,
    ),
    "DeBERTa 2 and 3": lambda: unigram(
        precompiled(joined(" "), before=[normalizers.Strip()]),
        SPACES,
        ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"],
        *BERT,
        "[UNK]",
    ),
    "mBART": lambda: unigram(
        precompiled(right(), joined("▁")),
        SPACES,
        ["<s>", "<pad>", "</s>", "<unk>", *CODES, MASK],
        "en_XX $A </s>",
        "en_XX $A $B </s>",
    ),
    "T5 1.1, UL2, FLAN": lambda: unigram(
        precompiled(right(), joined("▁")),
        SPACES,
        ["<pad>", "</s>", "<unk>", *(f"<extra_id_{at}>" for at in range(19, -1, -1))],
        "$A </s>",
        "$A </s> $B </s>",
    ),
    "BGE-M3, E5 multilingual, Jina 3": lambda: unigram(
        precompiled(right(), joined("▁")),
        SPACES,
        ["<s>", "<pad>", "</s>", "<unk>", MASK],
        *ROBERTA,
    ),
    "NLLB": nllb,
    "Reformer": reformer,
    "ELECTRA, LayoutLM, Nomic": lambda: wordpiece(
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], *BERT
    ),
    "MPNet": lambda: wordpiece(
        [*("<s>", "<pad>", "</s>", "[UNK]", "<unk>"), special("<mask>", lstrip=True)], *ROBERTA
    ),
    "Funnel": lambda: wordpiece(
        ["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"],
        "<cls>:2 $A <sep>",
        "<cls>:2 $A <sep> $B:1 <sep>:1",
        "<unk>",
    ),
    "OPT": lambda: of_bytes(
        level(True),
        [special(name, normalized=True) for name in ("<pad>", "</s>", "<unk>")],
        "</s> $A",
        "</s> $A </s>:1 $B:1",
    ),
    "Phi-2": lambda: of_bytes(
        level(True), ["<|endoftext|>", *RUNS, plain("\t\t", normalized=True)]
    ),
    "Phi-4": lambda: of_bytes(
        named("cl100k"),
        [
            special(name, lstrip=True, rstrip=True)
            for name in ("<|endoftext|>", "<|im_start|>", "<|im_sep|>", "<|im_end|>")
        ],
    ),
    "OLMo 2, DBRX": lambda: of_bytes(named("cl100k"), ["<|endoftext|>", "<|pad|>"]),
    "ModernBERT": lambda: of_bytes(
        level(True),
        [*RUNS, "[UNK]", "[CLS]", "[SEP]", "[PAD]", special("[MASK]", lstrip=True)],
        "[CLS] $A [SEP]",
        "[CLS] $A [SEP] $B [SEP]",
        normalizer=normalizers.NFC(),
    ),
    "Llama 4, MiniMax M2": lambda: of_bytes(
        named("o200k"),
        ["<|begin_of_text|>", "<|end_of_text|>", "<|eot|>"],
        "<|begin_of_text|> $A",
        "<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
    ),
    "Mistral Nemo, Pixtral": lambda: of_bytes(
        pre_tokenizers.Sequence([split(TEKKEN), level()]),
        ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", *(f"<SPECIAL_{at}>" for at in range(9))],
        "<s> $A",
        "<s> $A <s>:1 $B:1",
        ignore_merges=True,
    ),
    "GLM-4": lambda: of_bytes(
        named("cl100k"),
        ["<|endoftext|>", "[gMASK]", "<sop>", "<|user|>"],
        "[gMASK] <sop> $A",
        "[gMASK] <sop> $A $B:1",
        ignore_merges=True,
    ),
    "Qwen 3.5": lambda: of_bytes(
        pre_tokenizers.Sequence([split(QWEN35), level()]),
        ["<|endoftext|>", "<|im_start|>", plain("<tool_call>"), plain("<think>")],
        normalizer=normalizers.NFC(),
    ),
    "Kimi K2": lambda: of_bytes(
        pre_tokenizers.Sequence([split(KIMI), level()]), ["[BOS]", "[EOS]", "<|im_end|>"]
    ),
    "DeepSeek-Coder": deepseek_coder,
    "Viking, Poro": viking,
    "SigLIP 2": partial(gemma_like, normalizers.Lowercase()),
}
"""By the names of the table in docs/support.md."""
