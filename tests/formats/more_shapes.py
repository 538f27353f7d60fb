"""Shapes of published tokenizers whose stages other families do not have: special tokens with the
symbol of spaces, text that is left out, no merges, punctuation before Metaspace.

`MORE_SHAPES` maps the names of families to functions that make one, as `shapes.SHAPES` does.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable
from functools import partial
from typing import Any

from formats.shapes import (
    BERT,
    gemma_like,
    joined,
    of_characters,
    precompiled,
    right,
    unigram,
    with_template,
)
from formats.test_pipelines import S, level, made, spaced, special
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
)

__all__ = ["MARKER", "MORE_SHAPES", "code_llama", "deberta", "galactica", "nougat", "seamless"]

FIM = ("▁<PRE>", "▁<SUF>", "▁<MID>", "▁<EOT>")
MARKER = "SPL1T-TH1S-Pl3A5E"
"""What Galactica puts between the letters of a formula; the tokenizer leaves it out."""
NOUGAT = r"""[\(\)\[\]\{\}]|([!"\#\$%\&'\*\+,\-\./:;<=>\?\\\^_`\|\~])\1*"""
ESM_C = ["<cls>", "<pad>", "<eos>", "<unk>", *"LAGVSERTIDPKQNFYMHWCXBUZO.-|", "<mask>"]
REFERENCES = ["<s>", "<pad>", "</s>", "<unk>", "[START_REF]", "[END_REF]", "[IMAGE]"]


def code_llama(
    scheme: str | None = None,
    *,
    normalized: bool = False,
    in_vocabulary: bool = True,
    is_special: bool = True,
    strips: bool = True,
) -> Tokenizer:
    """With normalizers, or with a Metaspace of this scheme as transformers writes it now."""
    if scheme is None:
        stages = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
        theirs = spaced(normalizers.Sequence(stages), None, strips, *S)
    else:
        cut = pre_tokenizers.Metaspace("▁", prepend_scheme=scheme, split=False)
        theirs = spaced(None, cut, strips, *S)
    if in_vocabulary:
        file = json.loads(theirs.to_str())
        count = len(file["model"]["vocab"])
        file["model"]["vocab"] |= {name: count + at for at, name in enumerate(FIM)}
        theirs = Tokenizer.from_str(json.dumps(file))
    tokens = [AddedToken(name, special=is_special, normalized=normalized) for name in FIM]
    (theirs.add_special_tokens if is_special else theirs.add_tokens)(tokens)
    return with_template(theirs, "<s> $A", "<s> $A <s>:1 $B:1")


def galactica() -> Tokenizer:
    cut = [pre_tokenizers.Split(MARKER, "removed"), pre_tokenizers.Digits(True), level(True)]
    tokens = [special(name) for name in REFERENCES]
    return made(normalizers.NFKC(), pre_tokenizers.Sequence(cut), tokens, [])


def nougat() -> Tokenizer:
    """The file of 2023 pads and truncates, which is an argument of a call here."""
    cut = [
        pre_tokenizers.Split(MARKER, "removed"),
        pre_tokenizers.Digits(True),
        pre_tokenizers.Split(Regex(NOUGAT), "isolated"),
        pre_tokenizers.Split("\n", "isolated"),
        level(True),
    ]
    tokens = [special(name) for name in [*REFERENCES, " <Answer/>"]]
    theirs = made(normalizers.NFKC(), pre_tokenizers.Sequence(cut), tokens, [])
    return with_template(theirs, "<s> $A </s>", "$A $B:1")


def seamless(scheme: str = "first", *, strips: bool = False, nested: bool = False) -> Tokenizer:
    names: list[str | AddedToken]
    names = ["<pad>", "<unk>", "<s>", "</s>", "__eng__", "__fra__", "<MINED_DATA>"]
    stages = precompiled(
        *([right()] if strips else []),
        joined("▁"),
        before=[normalizers.Strip(right=False)] if nested else [],
    )
    cut = pre_tokenizers.Metaspace("▁", prepend_scheme=scheme)
    decoder = decoders.Metaspace("▁", prepend_scheme=scheme)
    whole = pre_tokenizers.Sequence([cut]) if nested else cut
    theirs = of_characters(stages, whole, names, decoder, fallback=False)
    return with_template(theirs, "</s> __eng__ $A </s>", "</s> __eng__ $A $B </s>")


def esm_c() -> Tokenizer:
    """Of letters alone; transformers makes the unknown token special when it saves the file."""
    vocab = {name: at for at, name in enumerate(ESM_C)}
    theirs = Tokenizer(models.BPE(vocab, merges=[], unk_token="<unk>"))
    theirs.add_special_tokens(["<cls>", "<pad>", "<mask>", "<eos>", "|", "<unk>"])
    return with_template(theirs, "<cls> $A <eos>", "<cls>:0 $A:0 <eos>:0 $B:1 <eos>:1")


def deberta(
    scheme: str = "always",
    *,
    lowercase: bool = False,
    by_punctuation: bool = False,
    split: bool = True,
) -> Tokenizer:
    """As transformers converts it, whose Metaspace is in a Sequence."""
    stages = [*([normalizers.Lowercase()] if lowercase else []), normalizers.Strip()]
    cuts = [
        *([pre_tokenizers.Punctuation("isolated")] if by_punctuation else []),
        pre_tokenizers.Metaspace("▁", prepend_scheme=scheme, split=split),
    ]
    names: list[str | AddedToken] = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"]
    theirs = unigram(
        precompiled(joined(" "), before=stages),
        pre_tokenizers.Sequence(cuts),
        names,
        *BERT,
        "[UNK]",
    )
    theirs.decoder = decoders.Metaspace("▁", prepend_scheme=scheme)
    return theirs


def without_punctuation() -> list[Any]:
    """As SigLIP cleans text."""
    marks = f"[{re.escape(string.punctuation)}]"
    return [
        normalizers.Lowercase(),
        normalizers.Replace(Regex(marks), ""),
        normalizers.Replace(Regex(r"\s+"), " "),
        normalizers.Strip(),
    ]


def siglip() -> Tokenizer:
    stages = precompiled(joined(" "), before=without_punctuation())
    end = ("$A </s>", "$A </s> $B </s>")
    return unigram(stages, pre_tokenizers.Metaspace(), ["</s>", "<pad>", "<unk>"], *end)


MORE_SHAPES: dict[str, Callable[[], Tokenizer]] = {
    "Code Llama": code_llama,
    "Code Llama, with Metaspace": partial(code_llama, "first"),
    "Galactica": galactica,
    "Nougat": nougat,
    "Seamless M4T": seamless,
    "ESM-C": esm_c,
    "DeBERTa 2 and 3, by transformers": deberta,
    "DeBERTa 2, `split_by_punct`": partial(deberta, lowercase=True, by_punctuation=True),
    "SigLIP": siglip,
    "SigLIP 2, TIPSv2, without punctuation": lambda: gemma_like(*without_punctuation()),
}
"""By the names of the table in docs/support.md."""
