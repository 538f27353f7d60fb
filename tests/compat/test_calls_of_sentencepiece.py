"""Each public name of SentencePieceProcessor, and what to call in digram instead.

After a change: PYTHONPATH=tests python tests/compat/test_calls_of_sentencepiece.py.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
import sentencepiece
from compat.calls import PAGE, Absent, Row, Same, public, same, section, table, written
from sentencepiece import SentencePieceProcessor

import digram
from digram.formats.sentencepiece import dumps, loads

CORPUS = ["the low lower lowest café naïve 12,345", "日本語 the slow résumé x y z", "a b  c"] * 9
TEXTS = [
    *("", " ", "the low lower", "  lowest   café ", "e\u0301 日本 한국어 é 🙂", "the<s>low</s>"),
    *("12,345 ﬁ ①", "line\nline\ttab", "<ctl> <ud>the", "▁the ▁"),
]


class Both(NamedTuple):
    """A model of SentencePiece, and what digram reads from it."""

    theirs: SentencePieceProcessor
    ours: digram.Tokenizer
    data: bytes


@functools.cache
def both(kind: str) -> Both:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS),
        model_writer=model,
        model_type=kind.removesuffix(" with bytes"),
        vocab_size=380 if kind.endswith("bytes") else 90,
        byte_fallback=kind.endswith("bytes"),
        hard_vocab_limit=False,
        control_symbols=["<ctl>"],
        user_defined_symbols=["<ud>"],
        minloglevel=2,
    )
    data = model.getvalue()
    theirs = SentencePieceProcessor(model_proto=data)
    return Both(theirs, digram.Tokenizer(loads(data)), data)


KINDS = ["unigram", "bpe", "unigram with bytes", "bpe with bytes"]


def each(call: Callable[[Any, str], Any]) -> Callable[[Both], Any]:
    return lambda one: [call(one.theirs, text) for text in TEXTS]


def here(call: Callable[[digram.Tokenizer, str], Any]) -> Callable[[Both], Any]:
    return lambda one: [call(one.ours, text) for text in TEXTS]


def spelled(token: bytes) -> str:
    """A token as SentencePiece writes it, but for single bytes."""
    return token.decode(errors="replace").replace(" ", "▁")


def pieces(tok: digram.Tokenizer, text: str) -> Any:
    ids = tok.encode(text)
    bytes_alone = {*(tok.definition.byte_ids or ())}
    plain = [id for id in ids if not (id in bytes_alone or _is_unknown(tok, id))]
    return [spelled(token) for token in tok.tokens(plain)]


def their_pieces(sp: SentencePieceProcessor, text: str) -> Any:
    """Unknown text and bytes have other names there."""
    ids = sp.encode(text)
    plain = [id for id in ids if not (sp.is_unknown(id) or sp.is_byte(id))]
    return [sp.id_to_piece(id) for id in plain]


IDS = (each(lambda sp, text: sp.encode(text)), here(lambda tok, text: tok.encode(text)))
BATCH = (lambda one: one.theirs.encode(TEXTS), lambda one: one.ours.encode_batch(TEXTS))
ROUND = (
    each(lambda sp, text: sp.decode(sp.encode(text)).replace(" ⁇ ", "<unk>")),
    here(lambda tok, text: tok.decode(tok.encode(text))),
)
UNKNOWN = "an unknown token is decoded as its text, and as ` ⁇ ` there"
NO_PROTO = "a protobuf message; `tok(text)` has ids, tokens and offsets"
RANDOM = "random; models of scores alone (Unigram) have it, and the seed is an argument"


def is_unigram(tok: digram.Tokenizer) -> bool:
    return isinstance(tok.definition.model, digram.UnigramModel)


def best_there(call: Callable[[Any, str], Any]) -> Callable[[Both], Any]:
    return lambda one: (
        [call(one.theirs, text) for text in TEXTS[2:4]] if is_unigram(one.ours) else []
    )


def best_here(one: Both) -> Any:
    if not is_unigram(one.ours):
        return []
    return [[ids for ids, _ in one.ours.encode_best(text, 3)] for text in TEXTS[2:4]]


def sampled(one: Both) -> Any:
    """Samples there, decoded: the text, as here."""
    if not is_unigram(one.ours):
        return []
    return [one.theirs.decode(one.theirs.sample_encode_as_ids("the low", -1, 0.5))]


def sampled_here(one: Both) -> Any:
    if not is_unigram(one.ours):
        return []
    return [one.ours.decode(one.ours.encode_sample("the low", alpha=0.5, seed=3))]


def flagged(name: str, ours: Callable[[digram.Tokenizer, int], bool]) -> tuple[Any, Any]:
    def there(one: Both) -> Any:
        return [id for id in range(one.theirs.vocab_size()) if getattr(one.theirs, name)(id)]

    return there, lambda one: [id for id in range(one.ours.vocab_size) if ours(one.ours, id)]


def _is_unknown(tok: digram.Tokenizer, id: int) -> bool:
    unknown = tok.on_unknown
    name = unknown.text if isinstance(unknown, digram.SpecialToken) else "<unk>"
    return tok.special_tokens.get(name) == id


def _is_control(tok: digram.Tokenizer, id: int) -> bool:
    matching = tok.matching
    names = [name for name, other in tok.special_tokens.items() if other == id]
    always = any(matching[name].always for name in names if name in matching)
    return bool(names) and not always and not _is_unknown(tok, id)


def _ids_of_pieces(one: Both) -> list[int]:
    """Ids whose text is that of no other one."""
    skipped = {*(one.ours.definition.byte_ids or ())}
    return [id for id in range(one.theirs.vocab_size()) if id not in skipped]


def _scored(tok: digram.Tokenizer) -> list[int]:
    """The ids with a score of the file; those of user-defined tokens follow from their length."""
    model: Any = tok.definition.model
    own = {*getattr(model, "user_defined", ())}
    return [id for id, score in enumerate(model.scores) if score is not None and id not in own]


def role(name: str, token: str) -> tuple[Any, Any]:
    return (
        lambda one: getattr(one.theirs, name)(),
        lambda one: one.ours.special_tokens.get(token, -1),
    )


PROCESSOR: dict[str, Row] = {
    "encode": same("tok.encode(text)", IDS, BATCH, note="several texts: `tok.encode_batch(texts)`"),
    "encode_as_ids": same("tok.encode(text)", IDS),
    "tokenize": same("tok.encode(text)", IDS),
    "encode_as_pieces": same(
        "tok.tokens(tok.encode(text))",
        (each(their_pieces), here(pieces)),
        note="bytes, with spaces for `▁`",
    ),
    "encode_as_numpy": same(
        'tok.encode_batch(texts, out="numpy").ids',
        (
            lambda one: one.theirs.encode_as_numpy(TEXTS[2]).tolist(),
            lambda one: one.ours.encode_batch([TEXTS[2]], out="numpy").ids.tolist(),
        ),
    ),
    "encode_as_offset_mapping": same(
        "tok(text).offsets",
        (
            each(lambda sp, text: sp.encode_as_offset_mapping(text)["ids"]),
            here(lambda tok, text: tok(text).ids),
        ),
        (
            lambda one: [list(x) for x in one.theirs.encode_as_offset_mapping(TEXTS[2])["offsets"]],
            lambda one: [list(x) for x in one.ours(TEXTS[2]).offsets],
        ),
    ),
    "encode_as_proto": Absent(NO_PROTO),
    "parallel_encode": same(
        "tok.encode_batch([text], threads=n)",
        (
            lambda one: one.theirs.parallel_encode("the low lower", chunk_len=100, num_threads=2),
            lambda one: one.ours.encode_batch(["the low lower"], threads=2)[0],
        ),
        note="the ids are those of `encode`; there they depend on `chunk_len`",
    ),
    **{
        f"parallel_encode_as_{form}": Absent(
            "as `encode_as_" + form + "`, which uses all cores for long texts"
        )
        for form in ("ids", "pieces", "numpy", "proto")
    },
    "nbest_encode": same(
        "tok.encode_best(text, n)",
        (
            best_there(lambda sp, text: sp.nbest_encode(text, nbest_size=3, out_type=int)),
            best_here,
        ),
        note="ids and the sum of scores of each; Unigram",
    ),
    "nbest_encode_as_ids": same(
        "tok.encode_best(text, n)",
        (best_there(lambda sp, text: sp.nbest_encode_as_ids(text, 3)), best_here),
    ),
    "nbest_encode_as_pieces": Absent("`tok.tokens(ids)` for each of `tok.encode_best(text, n)`"),
    "nbest_encode_as_numpy": Absent("`numpy.array(ids)` for each of `tok.encode_best(text, n)`"),
    "nbest_encode_as_proto": Absent(NO_PROTO),
    "sample_encode_as_ids": same(
        "tok.encode_sample(text, alpha=0.5, seed=n)", (sampled, sampled_here), note=RANDOM
    ),
    "sample_encode_as_pieces": Absent("`tok.tokens(tok.encode_sample(...))`"),
    "sample_encode_as_numpy": Absent("`numpy.array(tok.encode_sample(...))`"),
    "sample_encode_as_proto": Absent(NO_PROTO),
    "decode": same("tok.decode(ids)", ROUND, note=UNKNOWN),
    "decode_ids": same("tok.decode(ids)", ROUND),
    "detokenize": same("tok.decode(ids)", ROUND),
    "decode_pieces": Absent("`tok.decode([tok.token_to_id(token), ...])`"),
    "decode_ids_as_proto": Absent("a protobuf message"),
    "decode_pieces_as_proto": Absent("a protobuf message"),
    "normalize": same(
        '"".join(tok.pretokenize(text))',
        (
            each(lambda sp, text: sp.normalize(text).replace("▁", " ")),
            here(lambda tok, text: "".join(tok.pretokenize(text))),
        ),
    ),
    **{
        name: same(
            "tok.vocab_size",
            (lambda one, name=name: getattr(one.theirs, name)(), lambda one: one.ours.vocab_size),
        )
        for name in ("get_piece_size", "piece_size", "vocab_size")
    },
    "piece_to_id": same(
        "tok.token_to_id(token)",
        (
            lambda one: [
                one.theirs.piece_to_id(one.theirs.id_to_piece(id)) for id in _ids_of_pieces(one)
            ],
            lambda one: [
                one.ours.token_to_id(one.ours.id_to_token(id)) for id in _ids_of_pieces(one)
            ],
        ),
        note="None for an unknown token, where there is the id of `<unk>`",
    ),
    "id_to_piece": same(
        "tok.id_to_token(id)",
        (
            lambda one: [one.theirs.id_to_piece(id) for id in _ids_of_pieces(one)],
            lambda one: [spelled(one.ours.id_to_token(id)) for id in _ids_of_pieces(one)],
        ),
        note="bytes",
    ),
    "get_score": same(
        "tok.definition.model.scores[id]",
        (
            lambda one: [one.theirs.get_score(id) for id in _scored(one.ours)],
            lambda one: [one.ours.definition.model.scores[id] for id in _scored(one.ours)],
        ),
        note="None for special tokens and bytes; that of a user-defined one is what is used",
    ),
    "is_unknown": same("tok.on_unknown", flagged("is_unknown", _is_unknown)),
    "is_control": same("tok.special_tokens", flagged("is_control", _is_control)),
    "is_byte": same(
        "tok.definition.byte_ids",
        flagged("is_byte", lambda tok, number: number in (tok.definition.byte_ids or ())),
    ),
    "is_unused": same(
        "tok.definition.model.unused",
        flagged("is_unused", lambda tok, number: number in tok.definition.model.unused),  # type: ignore[attr-defined]
    ),
    "bos_id": same('tok.special_tokens["<s>"]', role("bos_id", "<s>")),
    "eos_id": same('tok.special_tokens["</s>"]', role("eos_id", "</s>")),
    "pad_id": same(
        'tok.special_tokens["<pad>"]', role("pad_id", "<pad>"), note="-1 for none there"
    ),
    "unk_id": same('tok.special_tokens["<unk>"]', role("unk_id", "<unk>")),
    **{
        name: Absent("`digram.load(path)` returns a tokenizer")
        for name in ("load", "load_from_file", "from_file")
    },
    **{
        name: same(
            "digram.formats.sentencepiece.loads(data)",
            (
                lambda one: SentencePieceProcessor(model_proto=one.data).encode(TEXTS[2]),
                lambda one: digram.Tokenizer(loads(one.data)).encode(TEXTS[2]),
            ),
            note="bytes to a `Definition`, for `digram.Tokenizer(definition)`",
        )
        for name in ("load_from_serialized_proto", "from_proto")
    },
    "serialized_model_proto": same(
        "digram.formats.sentencepiece.dumps(tok.definition)",
        (
            each(
                lambda sp, text: SentencePieceProcessor(
                    model_proto=sp.serialized_model_proto()
                ).encode(text)
            ),
            lambda one: [
                SentencePieceProcessor(model_proto=dumps(one.ours.definition)).encode(text)
                for text in TEXTS
            ],
        ),
    ),
}


def one_spelling(names: set[str]) -> set[str]:
    """The names without those that are another spelling: `EncodeAsIds` is `encode_as_ids`."""
    found = {name for name in names if name == name.lower()}
    known = {name.replace("_", "") for name in found}
    assert {name.lower().replace("_", "") for name in names} <= known
    return found


def test_no_name_is_missing() -> None:
    """So that a name of a later version is compared, or the page says why not."""
    assert {*PROCESSOR} == one_spelling(public(SentencePieceProcessor))
    page = PAGE.read_text(encoding="utf-8")
    assert section("SentencePieceProcessor", page) == table(PROCESSOR)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name, row in PROCESSOR.items() if isinstance(row, Same)])
def test_the_same_results(name: str, kind: str) -> None:
    row = PROCESSOR[name]
    assert isinstance(row, Same)
    for there, ours in row.pairs:
        expected, found = there(both(kind)), ours(both(kind))
        assert json.loads(json.dumps(found)) == json.loads(json.dumps(expected))


if __name__ == "__main__":
    written("SentencePieceProcessor", PROCESSOR)
