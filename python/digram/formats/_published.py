"""Published encodings, and the pretokenizer of files that store none."""

from __future__ import annotations

from os.path import basename
from typing import NamedTuple

from digram.errors import OptionError, VocabError, show
from digram.formats._models import encoding_of_model, model_like
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
    "PublishedFile",
    "check_count",
    "encoding_of_file",
    "encoding_of_name",
    "file_of",
    "nearest",
    "pretokenizer_of",
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

_PLACE = "https://openaipublic.blob.core.windows.net/encodings"
_SHA256 = {
    "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""Of their files, from the same source."""
_SHARED = {"gpt2": "r50k_base", "p50k_edit": "p50k_base", "o200k_harmony": "o200k_base"}
"""The encodings whose file is that of another one."""


class PublishedFile(NamedTuple):
    """The file of a published encoding: its name, its address, and its SHA-256 in hexadecimal."""

    name: str
    address: str
    sha256: str


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
                hint='Name a published encoding, as in encoding="cl100k_base" '
                f'({names}), or the pretokenizer, as in pretokenizer="cl100k" '
                "(pretokenizer=None for none).",
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
        near = nearest(str(encoding), 0.5)
        meant = f"Did you mean {near!r}? " if near else ""
        raise OptionError(
            f"there is no published encoding named {show(encoding)}.",
            path=path,
            value=encoding,
            hint=f"{meant}Names: {names}.",
        )
    known = ENCODINGS[encoding]
    return resolve(known.pretokenizer), known


def nearest(name: str, similar: float) -> str | None:
    """The published encoding that a name may mean: one of a model, or one with a similar name.

    >>> nearest("GPT4", 0.8), nearest("cl100k", 0.8), nearest("qwen", 0.8)
    ('cl100k_base', 'cl100k_base', None)
    """
    import difflib

    of_model = encoding_of_model(model_like(name) or name)
    if of_model is not None:
        return of_model
    near = [one for one in ENCODINGS if len(name) >= 4 and one.startswith(name)]
    near = near or difflib.get_close_matches(name, ENCODINGS, n=1, cutoff=similar)
    return near[0] if near else None


def file_of(encoding: str) -> PublishedFile:
    """The file of a published encoding; some encodings share a file.

    >>> file_of("o200k_harmony").address
    'https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken'
    """
    file = _SHARED.get(encoding, encoding)
    name = f"{file}.tiktoken"
    return PublishedFile(name, f"{_PLACE}/{name}", _SHA256[file])


def encoding_of_file(data: bytes) -> str | None:
    """The published encoding whose file has these bytes; the plain one if several share the file.

    Takes about 1 ms per megabyte. None for any other file.
    """
    import hashlib

    digest = hashlib.sha256(data).hexdigest()
    return next((encoding for encoding, known in _SHA256.items() if known == digest), None)


def encoding_of_name(path: str | None) -> str | None:
    """The published encoding whose file has the name of this one.

    >>> encoding_of_name("vocabs/cl100k_base.tiktoken"), encoding_of_name("ranks.tiktoken")
    ('cl100k_base', None)
    """
    name = basename(path or "")
    return next((encoding for encoding in _SHA256 if file_of(encoding).name == name), None)


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
