"""Published encodings, and the pretokenizer of files that store none."""

from __future__ import annotations

from typing import NamedTuple

from digram.errors import OptionError, VocabError, show
from digram.pretokenizers.pretokenizer import (
    MISSING,
    Missing,
    Pretokenizer,
    PretokenizerLike,
    resolve,
)

__all__ = [
    "ENCODINGS",
    "MISSING",
    "Encoding",
    "Missing",
    "PretokenizerLike",
    "check_count",
    "pretokenizer_of",
    "published_at",
]


class Encoding(NamedTuple):
    """A published encoding: its pretokenizer, its number of ordinary tokens, its special tokens."""

    pretokenizer: str
    tokens: int
    special_tokens: dict[str, int]


_GPT2 = Encoding("gpt2", 50_256, {"<|endoftext|>": 50_256})
_FIM = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")
_O200K = {"<|endoftext|>": 199_999, "<|endofprompt|>": 200_018}
_HARMONY = {
    "<|startoftext|>": 199_998,
    "<|endoftext|>": 199_999,
    "<|return|>": 200_002,
    "<|constrain|>": 200_003,
    "<|channel|>": 200_005,
    "<|start|>": 200_006,
    "<|end|>": 200_007,
    "<|message|>": 200_008,
    "<|call|>": 200_012,
}
# `<|reserved_200018|>` is published as a second name of `<|endofprompt|>`, and left out here.
_RESERVED = {200_000, 200_001, 200_004, *range(200_009, 200_012), *range(200_013, 201_088)}
_RESERVED -= {200_018}

ENCODINGS: dict[str, Encoding] = {
    "gpt2": _GPT2,
    "r50k_base": _GPT2,
    "p50k_base": Encoding("gpt2", 50_280, _GPT2.special_tokens),
    "p50k_edit": Encoding(
        "gpt2",
        50_280,
        _GPT2.special_tokens | {text: 50_281 + i for i, text in enumerate(_FIM)},
    ),
    "cl100k_base": Encoding(
        "cl100k",
        100_256,
        {"<|endoftext|>": 100_257}
        | {text: 100_258 + i for i, text in enumerate(_FIM)}
        | {"<|endofprompt|>": 100_276},
    ),
    "o200k_base": Encoding("o200k", 199_998, _O200K),
    "o200k_harmony": Encoding(
        "o200k", 199_998, _O200K | _HARMONY | {f"<|reserved_{i}|>": i for i in sorted(_RESERVED)}
    ),
}
"""From github.com/openai/tiktoken, tiktoken_ext/openai_public.py."""

_OF_MODELS = {
    "gpt3.5": "cl100k_base",
    "gpt4": "cl100k_base",
    "gpt4o": "o200k_base",
    "gpt4.1": "o200k_base",
    "gpt5": "o200k_base",
}
"""The encodings of models, for error messages: the most similar name would be `gpt2`. From
github.com/openai/tiktoken, tiktoken/model.py, without hyphens."""


def pretokenizer_of(
    pretokenizer: PretokenizerLike, encoding: str | None, path: str | None
) -> tuple[Pretokenizer, Encoding | None]:
    """The pretokenizer and the encoding for a file that stores no pattern; nothing is guessed.

    >>> pretokenizer_of("gpt4", None, None)
    (Pretokenizer('cl100k'), None)
    >>> pretokenizer_of(MISSING, "r50k_base", None)[1].special_tokens
    {'<|endoftext|>': 50256}

    Raises `OptionError` if both or neither are given, or the encoding is unknown, and
    `PatternError` for an unknown pretokenizer.
    """
    names = ", ".join(ENCODINGS)
    if encoding is None:
        if pretokenizer is MISSING:
            raise OptionError(
                "this format does not store the pretokenizer, and none was given.",
                path=path,
                hint='Name the pretokenizer, as in pretokenizer="cl100k" (pretokenizer=None for '
                'none), or a published encoding, as in encoding="cl100k_base" '
                f"({names}).",
            )
        return resolve(pretokenizer), None
    if pretokenizer is not MISSING:
        raise OptionError(
            f"pretokenizer= and encoding={show(encoding)} are both given, but an encoding has its "
            "own pretokenizer.",
            path=path,
            hint="Leave one of them out.",
        )
    if encoding not in ENCODINGS:
        import difflib

        of_model = _OF_MODELS.get(str(encoding).lower().replace("-", ""))
        near = difflib.get_close_matches(str(encoding), ENCODINGS, n=1, cutoff=0.5)
        near = near if of_model is None else [of_model]
        nearest = f"Did you mean {near[0]!r}? " if near else ""
        raise OptionError(
            f"there is no published encoding named {show(encoding)}.",
            path=path,
            value=encoding,
            hint=f"{nearest}Names: {names}.",
        )
    known = ENCODINGS[encoding]
    return resolve(known.pretokenizer), known


def published_at(encoding: str) -> str:
    """The address of the file of a published encoding; some encodings share a file.

    >>> published_at("o200k_harmony")
    'https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken'
    """
    shared = {"gpt2": "r50k_base", "p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}
    file = shared.get(encoding, encoding)
    return f"https://openaipublic.blob.core.windows.net/encodings/{file}.tiktoken"


def check_count(encoding: str, tokens: int, path: str | None) -> None:
    """Raises `VocabError` if the number of tokens is not that of the published encoding."""
    expected = ENCODINGS[encoding].tokens
    if tokens != expected:
        raise VocabError(
            f"encoding {show(encoding)} has {expected:,} tokens, but this file holds {tokens:,}.",
            path=path,
            value=tokens,
            hint="Is it the right file, and complete? For a vocabulary of your own pass the "
            'pretokenizer instead, as in pretokenizer="cl100k".',
        )
