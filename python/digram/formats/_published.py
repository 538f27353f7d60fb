"""Options that files without a pattern need: a pretokenizer, or the name of an encoding."""

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
    """A published encoding: its pretokenizer, how many ordinary tokens it has, special tokens."""

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
# `<|reserved_200018|>` is published too, as a second name of `<|endofprompt|>`; a token has one.
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
"""Facts from github.com/openai/tiktoken, tiktoken_ext/openai_public.py."""


def pretokenizer_of(
    pretokenizer: PretokenizerLike, encoding: str | None, path: str | None
) -> tuple[Pretokenizer, Encoding | None]:
    """What the caller says of a file that carries no pattern; nothing is guessed.

    >>> pretokenizer_of("gpt4", None, None)
    (Pretokenizer('cl100k'), None)
    >>> pretokenizer_of(MISSING, "r50k_base", None)[1].special_tokens
    {'<|endoftext|>': 50256}

    Raises `OptionError` if both or neither are said, or the encoding is not known, and
    `PatternError` for a pretokenizer that is not.
    """
    names = ", ".join(ENCODINGS)
    if encoding is None:
        if pretokenizer is MISSING:
            raise OptionError(
                "this kind of file does not say how text is cut before it is encoded, and nothing "
                "is guessed.",
                path=path,
                hint='Name the pretokenizer, as in pretokenizer="cl100k" (pretokenizer=None for no '
                f'cut), or a published encoding, as in encoding="cl100k_base" ({names}).',
            )
        return resolve(pretokenizer), None
    if pretokenizer is not MISSING:
        raise OptionError(
            f"pretokenizer= and encoding={show(encoding)} are both given, and an encoding brings "
            "its own pretokenizer.",
            path=path,
            hint="Leave one of them out.",
        )
    if encoding not in ENCODINGS:
        import difflib

        near = difflib.get_close_matches(str(encoding), ENCODINGS, n=1, cutoff=0.5)
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
    """Where the file of a published encoding is; some share one.

    >>> published_at("o200k_harmony")
    'https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken'
    """
    shared = {"gpt2": "r50k_base", "p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}
    file = shared.get(encoding, encoding)
    return f"https://openaipublic.blob.core.windows.net/encodings/{file}.tiktoken"


def check_count(encoding: str, tokens: int, path: str | None) -> None:
    """Refuses a file that is not the published one: another vocabulary, or one cut short."""
    expected = ENCODINGS[encoding].tokens
    if tokens != expected:
        raise VocabError(
            f"encoding {show(encoding)} has {expected:,} tokens, but this file holds {tokens:,}.",
            path=path,
            value=tokens,
            hint="Is it the right file, and all of it? For a vocabulary of your own name the "
            'pretokenizer instead, as in pretokenizer="cl100k".',
        )
