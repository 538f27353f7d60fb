"""Which tokens of a GGUF file are special, and where llama.cpp finds them in a text.

The file has a type for each token. llama.cpp changes some of them by the text of the token, and
knows of two models whose special tokens take white space into them; both is repeated here, since
otherwise ids would differ.
(github.com/ggml-org/llama.cpp, src/llama-vocab.cpp)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from digram.errors import VocabError
from digram.formats._show import show
from digram.vocab.special_tokens import Matching

__all__ = [
    "BYTE",
    "CONTROL",
    "ENDS",
    "NORMAL",
    "UNKNOWN",
    "UNUSED",
    "USER_DEFINED",
    "Special",
    "merge_parts",
    "padding",
    "special_of",
    "without",
]

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
"""The types of tokens."""
_UNDEFINED = 0

ENDS = {
    *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>"),
    *("<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]"),
    *("<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>"),
    *("<｜end▁of▁sentence｜>", "[e~["),
}
"""Tokens that end a text: they are found on request alone, whatever their type."""
_GAPS = {
    "fim_pre": (
        *("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>"),
        *("<|code_prefix|>", "<|prefix|>"),
    ),
    "fim_suf": (
        *("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>"),
        *("<|code_suffix|>", "<|suffix|>"),
    ),
    "fim_mid": (
        *("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>"),
        *("<|code_middle|>", "<|middle|>"),
    ),
    "fim_pad": ("<|fim_pad|>", "<fim-pad>", "<fim_pad>", "<PAD>", "[PAD]"),
    "fim_rep": ("<|fim_repo|>", "<|repo_name|>", "<fim-repo>", "<REPO>", "<reponame>"),
    "fim_sep": ("<|file_sep|>",),
}
"""Tokens for a gap in a text, by the key that names one of them; without it, as `ENDS`."""
_ALWAYS = ("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>")
"""Tokens that are found in all text, whatever their type."""
_PLAIN_IN_PHI3 = ("<unk>", "<s>", "<|endoftext|>")


class Special(NamedTuple):
    """The special tokens of a file: their ids, and how those are found that are not on request."""

    ids: dict[str, int]
    matching: dict[str, Matching]


def padding(token_id: int) -> str:
    """The name of the padding of a vocabulary at an id.

    >>> padding(50277)
    '[PAD50277]'
    """
    return f"[PAD{token_id}]"


def special_of(
    names: Sequence[str],
    types: Sequence[int],
    made: Collection[int],
    has_key: Callable[[str], bool],
    model_name: str,
    pre: str,
    path: str | None,
) -> Special:
    """The special tokens among tokens with these types, by their ids.

    `made` are the ids that merges make: such a token stays ordinary if its type says so. `has_key`
    says whether the file names a token for a purpose, such as "fim_pre".

    Raises `VocabError` for a type that is not known.
    """
    there = set(names)
    ended = ENDS - _exceptions(there)
    for key, group in _GAPS.items():
        if not has_key(key):
            ended |= set(next(([name] for name in group if name in there), []))
    always = {*_ALWAYS, *({"<|end|>"} & _exceptions(there))}
    found = Special({}, {})
    for token_id, (name, kind) in enumerate(zip(names, types, strict=True)):
        if not _UNDEFINED <= kind <= BYTE:
            raise VocabError(
                f"token {token_id}, {show(name)}, has the type {kind}, which is not known.",
                path=path,
                value=kind,
            )
        by_name = (name in ended or name in always) and token_id not in made
        if kind in (NORMAL, _UNDEFINED, BYTE) and not by_name:
            continue
        if kind == UNUSED and (token_id in made or name == padding(token_id)):
            continue
        found.ids[name] = token_id
        in_all = name in always or (kind == USER_DEFINED and name not in ended)
        lstrip, rstrip = _strips(name, kind, model_name, pre)
        if in_all or lstrip or rstrip:
            found.matching[name] = Matching(always=in_all, lstrip=lstrip, rstrip=rstrip)
    return found


def _exceptions(there: set[str]) -> set[str]:
    """The tokens of `ENDS` that do not end a text beside some others."""
    plain = {"</s>"} if there & {"<|tool_response>", "<|plamo:eos|>"} else set()
    calls = there & {"<|call|>", "<|calls|>"}
    if calls and there & {"<|return|>", "<|flush|>"}:
        plain |= {"<|end|>"}
    return plain


def _strips(name: str, kind: int, model_name: str, pre: str) -> tuple[bool, bool]:
    """Whether a token takes the white space before it, and that after it."""
    if any(one in pre for one in ("jina-v2-de", "jina-v2-es", "jina-v2-code")):
        return name == "<mask>", False
    model = model_name.lower()
    if "phi-3" in model or "phi3" in model:
        kinds = (CONTROL, USER_DEFINED, UNKNOWN)
        return False, name not in _PLAIN_IN_PHI3 and (kind in kinds or name == "</s>")
    if "modern-bert" in model:
        return name == "[MASK]", False
    return False, False


def merge_parts(merge: str) -> tuple[str, str]:
    """The two parts of a merge: the first may begin with a space.

    >>> merge_parts("Ġ t")
    ('Ġ', 't')
    """
    at = merge.find(" ", 1)
    return (merge, "") if at < 0 else (merge[:at], merge[at + 1 :])


def without(merges: list[str], results: set[str], special: Special, path: str | None) -> list[str]:
    """The merges without those of special tokens that are found in all text.

    What is left of a text does not contain them, so such merges are never applied. Raises
    `VocabError` for a merge of a special token that is found on request.
    """
    both = {name for name in special.ids if name in results or len(name) == 1}
    if not both:
        return merges
    kept = []
    for merge in merges:
        left, right = merge_parts(merge)
        of = both & {left, right, left + right}
        for name in of:
            if not (name in special.matching and special.matching[name].always):
                raise VocabError(
                    f"the merge {show(merge)} has the special token {show(name)}.",
                    path=path,
                    value=name,
                    hint="Then llama.cpp finds it in all text, although it is not to.",
                )
        if not of:
            kept.append(merge)
    return kept
