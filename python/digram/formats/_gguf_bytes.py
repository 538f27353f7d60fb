"""Tokenizers of bytes in GGUF: the kind "gpt2", with merges, and a split that `pre` names.

Ordinary tokens are written in GPT-2's letters (see `_letters`), special tokens as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from digram import _core
from digram._util.warning import warn
from digram.errors import VocabError
from digram.formats._alone import in_order
from digram.formats._byte_merges import core_model
from digram.formats._check import (
    Place,
    check,
    check_bytes,
    check_input,
    check_special,
    id_table,
    named_merges,
)
from digram.formats._gguf_fields import Defaults, Fields
from digram.formats._gguf_splits import DEFAULT, named, near, passes, split_of
from digram.formats._gguf_tokens import (
    NORMAL,
    UNUSED,
    USER_DEFINED,
    Special,
    merge_parts,
    padding,
    special_of,
    without,
)
from digram.formats._letters import LETTERS, from_letters, to_letters
from digram.formats._loss import refuse_ignore_merges
from digram.formats._show import show
from digram.pretokenizers.shell import said_of
from digram.vocab.bpe import BpeKernel, BpeModel
from digram.vocab.definition import Definition
from digram.vocab.packed import Compact
from digram.vocab.settings import Settings

__all__ = ["pre_of", "read_bytes", "written_bytes"]

_NOT_IN_TEXT = {0xC0, 0xC1, 0xF1, 0xF2, *range(0xF5, 0x100)}
"""Bytes that are in no UTF-8, or only in that of characters from U+40000 to U+BFFFF."""
_END_OF_GPT2 = 11
"""The id of the tokens around a text if a file does not name them."""


def read_bytes(fields: Fields) -> Definition | Compact:
    """The tokenizer of a file of the kind "gpt2"; in the core if the core can read it.

    Raises `VocabError` for an inconsistent vocabulary and for a split that is not supported.
    """
    path = fields.path
    pre = fields.text("pre")
    split = split_of(DEFAULT if pre is None else pre, path)
    names = fields.names()
    merges = fields.texts("merges")
    results = {merge.replace(" ", "", 1) for merge in merges}
    special, ordinary = _divided(fields, names, results, pre or DEFAULT)
    merges = without(merges, results, special, path)
    ordinary |= _late_bytes(ordinary, len(names), path)
    default_id = _END_OF_GPT2 if split.has_bos else None
    given = fields.input(names, special.ids, Defaults(default_id, _END_OF_GPT2, split.add_bos))
    kernel = BpeKernel(ignore_merges=split.ignore_merges)
    in_core = _core.Model.from_letters(ordinary, [], merges, LETTERS)
    if in_core is None:
        # Of equal merges the first counts.
        pairs = [merge_parts(merge) for merge in dict.fromkeys(merges)]
        in_core = core_model(ordinary, pairs, path)
    if in_core is None:
        found = named_merges(in_order(pairs, ordinary, path), ordinary, Place(path))
        model = BpeModel(found, ignore_merges=split.ignore_merges)
        definition = Definition(
            tokens=_tokens(ordinary, split.ignore_merges, path),
            model=model,
            pretokenizer=split.pretokenizer(),
            special_tokens=special.ids,
            matching=special.matching,
            **given._asdict(),
        )
        return check(definition, Place(path))
    check_special(special.ids, in_core.token, path)
    check_bytes(list(in_core.missing_bytes()), path)
    settings = Settings(
        split.pretokenizer(), kernel, matching=special.matching or None, **given._asdict()
    )
    check_input(settings, special.ids, path)
    return Compact(in_core, special.ids, settings)


def _divided(
    fields: Fields, names: list[str], results: set[str], pre: str
) -> tuple[Special, dict[str, int]]:
    """The special tokens, and the ids of the others; `results` are the tokens that merges make."""
    made = {token_id for token_id, name in enumerate(names) if name in results}
    types = fields.types(len(names))
    for token_id in made:
        # Its name is in letters, since merges make it. As a text that would be found nowhere, and
        # what it stands for is made by the merges.
        if types[token_id] == USER_DEFINED and not names[token_id].isascii():
            types[token_id] = NORMAL
    special = special_of(
        names,
        types,
        made,
        lambda key: fields.has(f"{key}_token_id"),
        fields.model_name(),
        pre,
        fields.path,
    )
    gaps = {i for i, kind in enumerate(types) if kind == UNUSED and names[i] == padding(i)}
    gaps -= made
    ordinary = {
        name: token_id
        for token_id, name in enumerate(names)
        if name not in special.ids and token_id not in gaps
    }
    return special, ordinary


def _late_bytes(ordinary: dict[str, int], size: int, path: str | None) -> dict[str, int]:
    """Ids above all others for bytes without a token that no text has, with a warning.

    digram has a token for each byte. llama.cpp leaves a byte out that has none.
    """
    missing = [byte for byte in range(256) if LETTERS[byte] not in ordinary]
    if not missing or not _NOT_IN_TEXT.issuperset(missing):
        return {}  # complete, or refused later
    warn(
        f"{path or 'the file'}: {len(missing)} of the 256 bytes have no token, such as "
        f"0x{missing[0]:02X}. They are in no UTF-8 of assigned characters; here they have the ids "
        f"from {size:,} to {size + len(missing) - 1:,}, which this model does not have."
    )
    return {LETTERS[byte]: size + n for n, byte in enumerate(missing)}


def _tokens(ordinary: dict[str, int], ignores: bool, path: str | None) -> list[bytes | None]:
    """The bytes of each token.

    A token with other characters than letters is never made. It is kept as its text, unless a
    pretoken with that text would become it.
    """
    tokens = []
    for name, token_id in ordinary.items():
        try:
            tokens += from_letters([name])
        except UnicodeEncodeError:
            if ignores:
                raise VocabError(
                    f"token {show(name)} (id {token_id}) is not written in GPT-2's letters.",
                    path=path,
                    value=name,
                    hint="If it is a special token, its type should be that of one.",
                ) from None
            tokens.append(name.encode())
    return id_table([*ordinary.values()], tokens, path)


def written_bytes(
    definition: Definition, model: BpeModel, pre: str, size: int
) -> tuple[list[str], list[int], dict[str, object]]:
    """The names of all ids, their types before special tokens, and the keys of this kind."""
    names = [padding(token_id) for token_id in range(size)]
    types = [UNUSED] * size
    for token_id, token in enumerate(definition.tokens):
        if token is not None:
            names[token_id], types[token_id] = to_letters(token), NORMAL
    letters: Sequence[str] = names
    merges = [f"{letters[left]} {letters[right]}".encode() for left, right, _ in model.merges]
    return names, types, {"pre": pre.encode(), "merges": merges}


def pre_of(definition: Definition, model: BpeModel, what: str, allow_loss: bool) -> str:
    """The value of `pre` with which llama.cpp splits as this tokenizer.

    Raises `VocabError` if there is none; with `allow_loss` a named pretokenizer may differ in
    details.
    """
    cut = definition.pretokenizer
    found = passes(cut)
    close = near(cut)
    if close is not None:
        found, difference = close
        if not allow_loss:
            name, split = next(iter(named(found)))
            call = f'pretokenizer=digram.formats.gguf.pretokenizer("{name}")'
            raise VocabError(
                f"{what} cannot store the pretokenizer {cut.name or 'of this tokenizer'} exactly: "
                f"{difference}.",
                value=cut,
                hint="Pass allow_loss=True if this does not matter, or train with the split of "
                f"llama.cpp, as in {said_of(split.pretokenizer(), call)}.",
            )
    fitting = [] if found is None else [*named(found)]
    same = [name for name, split in fitting if split.ignore_merges == model.ignore_merges]
    if same:
        return same[0]
    if fitting and model.ignore_merges:
        refuse_ignore_merges(model, f"{what} with this pretokenizer", allow_loss)
        return fitting[0][0]
    if fitting:
        raise VocabError(
            f"{what} with this pretokenizer means that pretokens that are tokens are not merged "
            "(ignore_merges), but this tokenizer merges them.",
            hint='Save it with format="huggingface". If each token encodes to itself, there is no '
            "difference: set ignore_merges in the model of its definition.",
        )
    raise VocabError(
        f"llama.cpp has no split that is this pretokenizer: {said_of(cut, repr(cut))}.",
        value=cut,
        hint='Save it with format="huggingface". Of the named pretokenizers llama.cpp has gpt2, '
        "deepseek-v3, and nearly llama3, cl100k, qwen2 and o200k; the splits that values of "
        "tokenizer.ggml.pre name are, in Python, those of digram.formats.gguf.pretokenizer(pre).",
    )
