"""A new vocabulary in the pipeline of a given tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from digram.decoders import Metaspace
from digram.errors import OptionError, show
from digram.pretokenizers.normalizers import SentencePiece
from digram.pretokenizers.pretokenizer import MISSING, Pretokenizer, pretokenize
from digram.pretokenizers.words import SPACE_BEFORE, SPACE_BEHIND
from digram.tokenizer.tokenizer import Tokenizer
from digram.training.affixed import Affixed
from digram.training.options import GPT2_BYTE_ORDER, ByteOrder
from digram.training.unigram import Unigram
from digram.training.wordpiece import WordPiece
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import PADDING, multiple_of, shrunk
from digram.vocab.scores import ScoredModel, UnigramModel
from digram.vocab.special_tokens import SpecialToken
from digram.vocab.wordpiece import WordPieceModel

__all__ = ["in_pipeline", "options_like"]

_LIMITS = ("vocab_size", "max_merges", "min_frequency")
_KINDS = {BpeModel: "bpe", ScoredModel: "bpe", WordPieceModel: "wordpiece", UnigramModel: "unigram"}


def options_like(like: Tokenizer, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `train` for a vocabulary like that of a tokenizer.

    `given` are options of the caller, None or MISSING if they are not given; they come before those
    of the tokenizer. Raises `OptionError` where they contradict it, and for a tokenizer whose
    vocabulary cannot be learned again.
    """
    definition = like.definition
    _check(definition)
    own: dict[str, Any] = {
        "model": _model(definition),
        "unit": definition.unit,
        "on_unknown": definition.on_unknown if definition.unit == "char" else None,
        "pretokenizer": _pretokenizer(definition),
        "special_first": _is_special_first(definition),
        "byte_order": _byte_order(definition),
        "reserve": {n: len(ids) for n, ids in definition.reserved.items() if n != PADDING} or None,
        "pad_to_multiple": multiple_of(definition),
    }
    if all(given.get(name) is None for name in _LIMITS):
        padding = definition.reserved.get(PADDING, range(0))
        own["vocab_size"] = like.vocab_size - len(padding)
    _check_given(given, definition)
    is_given = {name: value is not None and value is not MISSING for name, value in given.items()}
    if isinstance(own["model"], Affixed):
        is_given["model"] = False  # "bpe" says less
    options = {
        **own,
        **{name: value for name, value in given.items() if is_given[name]},
        "special_tokens": _special_tokens(definition, given.get("special_tokens")),
    }
    return {name: value for name, value in options.items() if value is not None}


def in_pipeline(like: Tokenizer, tok: Tokenizer, vocab_size: int | None) -> Tokenizer:
    """A trained tokenizer with what surrounds the vocabulary in another one.

    These are the template, the context size, roles, chat templates, the matching of added tokens,
    the dropout, how offsets are trimmed, truncation and padding with their sides, and how text is
    decoded.
    """
    of, made = like.definition, tok.definition
    shared = _shared(of)
    if shared:
        made = _with_shared(made, shared, of.space_symbol, vocab_size)
    definition = replace(
        made,
        model=_as_model(of, made),
        template=of.template,
        context_size=of.context_size,
        pad_token=of.pad_token,
        special_roles=of.special_roles,
        chat_templates=of.chat_templates,
        matching=of.matching,
        space_symbol=of.space_symbol,
        strip_first_space=of.strip_first_space,
        cleanup=of.cleanup,
        decoding=of.decoding,
        dropout=of.dropout,
        trim_offsets=of.trim_offsets,
        truncation=of.truncation,
        padding=of.padding,
        truncation_side=of.truncation_side,
        padding_side=of.padding_side,
    )
    if isinstance(of.model, ScoredModel):
        record = definition.training and replace(
            definition.training, counts=[], runners_up=None, languages=None
        )
        definition = replace(definition, pretokenizer=of.pretokenizer, training=record)
        definition = _one_kind(definition, shared)
    if _needs_no_steps(definition):
        definition = replace(definition, decoding=None, strip_first_space=True)
    return Tokenizer(definition)


def _needs_no_steps(of: Definition) -> bool:
    """Whether `Metaspace` as the step of decoding leaves out the space before a text alone.

    A file of such a vocabulary is read so; the other one has tokens with more spaces.
    """
    steps, symbol = () if of.decoding is None else of.decoding.steps, of.space_symbol
    if len(steps) != 1 or not isinstance(steps[0], Metaspace) or symbol is None:
        return False
    return (
        steps[0].symbol == symbol
        and steps[0].prepend_scheme != "never"
        and of.on_unknown != "bytes"
        and of.pretokenizer.patterns[:1] == (SPACE_BEFORE.pattern,)
        and not any(symbol in text or text.startswith(" ") for text in of.special_tokens)
        and not any(b" " in token[1:] for token in of.tokens if token is not None)
    )


def _shared(definition: Definition) -> list[str]:
    """The tokens that are found in all text and have the id of a token that merges make, or may.

    Merges may make those that are a pretoken: learning does not cut them out of text, and a file
    has one id for each name.
    """
    if not isinstance(definition.model, BpeModel | ScoredModel):
        return []
    tokens, ids = definition.tokens, definition.special_tokens
    cut, of_characters = _pretokenizer(definition), definition.unit == "char"

    def is_shared(text: str) -> bool:
        if ids[text] < len(tokens) and tokens[ids[text]] is not None:
            return True
        is_name = of_characters or (text.isascii() and text.isprintable() and " " not in text)
        spelled = text.replace(definition.space_symbol or " ", " ")
        return is_name and len(pretokenize(spelled, cut)) == 1

    return [text for text, flags in definition.matching.items() if flags.always and is_shared(text)]


def _with_shared(
    made: Definition, texts: list[str], symbol: str | None, vocab_size: int | None
) -> Definition:
    """A definition with these added tokens, such as the runs of spaces of Gemma.

    They have the ids of the ordinary tokens that they are, if those were learned. Otherwise they
    come behind, in place of the last merges of `vocab_size`.
    """
    spelled = {
        text: (text if symbol is None else text.replace(symbol, " ")).encode() for text in texts
    }
    fallback = {*(made.byte_ids or ())}  # their ids stay in place
    while True:
        ids = {one: id for id, one in enumerate(made.tokens) if one and id not in fallback}
        late = [text for text in texts if spelled[text] not in ids]
        size = max(len(made.tokens) - 1, *made.special_tokens.values(), -1) + 1
        if vocab_size is None or size + len(late) <= vocab_size:
            break
        made = shrunk(made, vocab_size - len(late))
    special = {text: ids[spelled[text]] for text in texts if text not in late}
    special |= {text: size + number for number, text in enumerate(late)}
    return replace(made, special_tokens={**made.special_tokens, **special})


def _one_kind(made: Definition, texts: list[str]) -> Definition:
    """A definition with scores in which these special tokens are what they are in its file.

    In a `.model` they are no ordinary tokens. In a .gguf, those with spaces are both.
    """
    cut, ids, symbol = made.pretokenizer, made.special_tokens, made.space_symbol
    rules = cut.normalizer[0] if len(cut.normalizer) == 1 else None
    if isinstance(rules, SentencePiece):
        # The symbols of a file have the order of their ids.
        symbols = sorted(rules.symbols, key=lambda one: ids.get(one.replace("▁", " "), 0))
        cut, symbol = Pretokenizer(None, normalizer=replace(rules, symbols=tuple(symbols))), None
    assert isinstance(made.model, ScoredModel)
    both = {ids[text]: text for text in texts if symbol is not None and symbol in text}
    size = max([len(made.tokens) - 1, *both]) + 1
    tokens = [*made.tokens, *[None] * (size - len(made.tokens))]
    scores = [*made.model.scores, *[None] * (size - len(made.tokens))]
    lowest = min((score for score in scores if score is not None), default=0.0)
    for text in texts:
        if ids[text] in both and symbol is not None:
            tokens[ids[text]] = text.replace(symbol, " ").encode()
            if scores[ids[text]] is None:
                scores[ids[text]] = lowest - 1
        elif ids[text] < size:
            tokens[ids[text]] = scores[ids[text]] = None
    while tokens and tokens[-1] is None:
        tokens.pop()
    model = ScoredModel(scores[: len(tokens)])
    return replace(made, tokens=tokens, model=model, pretokenizer=cut)


def _check(definition: Definition) -> None:
    model = definition.model
    if isinstance(model, BpeModel) and model.scheme is not None:
        raise OptionError(
            f"like= is a tokenizer that applies merges differently ({model.scheme.kind}), and does "
            "not say how they were learned.",
            value=model.scheme.kind,
            hint="Train with its pretokenizer and with superwords= or picky= instead.",
        )
    if type(model) not in _KINDS:
        raise OptionError(
            f"like= is a tokenizer whose model is of the kind {show(model.kind)}, and train learns "
            f"only {', '.join(dict.fromkeys(_KINDS.values()))}.",
            value=model.kind,
            hint="Pass its pretokenizer and a model= in place of like=.",
        )
    if isinstance(model, ScoredModel) and not model.made(definition):
        raise OptionError(
            "like= is a tokenizer of single characters, and train would learn merges for it.",
            value=model.kind,
            hint='For characters alone, pass unit="char" and max_merges=0 in place of like=.',
        )


def _check_given(given: Mapping[str, Any], of: Definition) -> None:
    """Raises `OptionError` for another model or unit than that of the tokenizer."""
    kind, model = _KINDS[type(of.model)], given.get("model")
    named = {WordPiece: "wordpiece", Unigram: "unigram"}.get(type(model), model)
    for name, value, expected in (("model", named, kind), ("unit", given.get("unit"), of.unit)):
        if value is not None and value != expected:
            raise OptionError(
                f"{name}={show(value)} contradicts like=, whose {name} is {expected!r}.",
                value=value,
                hint=f"Leave out {name}=, or like=.",
            )


def _model(definition: Definition) -> str | WordPiece | Unigram | Affixed:
    """The options of the model, with those of the training record if it has them."""
    model, record = definition.model, definition.training
    noted = {} if record is None else record.options.get("model") or {}
    noted = noted if isinstance(noted, Mapping) else {}
    noted = {name: value for name, value in noted.items() if name != "kind"}
    if isinstance(model, WordPieceModel):
        return WordPiece(max_word_chars=model.max_word_chars, prefix=model.prefix, **noted)
    if isinstance(model, BpeModel) and (model.prefix or model.suffix):
        return Affixed(model.prefix, model.suffix)
    return Unigram(**noted) if isinstance(model, UnigramModel) else "bpe"


def _pretokenizer(definition: Definition) -> Pretokenizer:
    """How text is cut for learning: for BPE of SentencePiece at spaces, as for its Unigram."""
    cut = definition.pretokenizer
    stage = cut.normalizer[-1] if cut.normalizer else None
    if isinstance(definition.model, ScoredModel) and isinstance(stage, SentencePiece):
        pattern = SPACE_BEHIND if stage.add_space == "behind" else SPACE_BEFORE
        return Pretokenizer(pattern, normalizer=cut.normalizer)
    return cut


def _special_tokens(definition: Definition, more: Any) -> list[str]:
    """The special tokens in the order of their ids, without those of reserved ids, and others."""
    reserved = {id for ids in definition.reserved.values() for id in ids}
    in_order = sorted(definition.special_tokens.items(), key=lambda pair: pair[1])
    shared = {*_shared(definition)}
    own = [text for text, id in in_order if id not in reserved and text not in shared]
    if isinstance(more, str):
        raise TypeError("special_tokens is a list of texts; put a single one in a list")
    return own + [text for text in more or () if text not in definition.special_tokens]


def _is_special_first(definition: Definition) -> bool:
    """Whether the first id is that of a special token."""
    return bool(definition.tokens) and definition.tokens[0] is None


def _byte_order(definition: Definition) -> ByteOrder | None:
    """The order of the single bytes."""
    if definition.unit != "byte":
        return None
    order = bytes(token[0] for token in definition.tokens if token is not None and len(token) == 1)
    return "gpt2" if order == GPT2_BYTE_ORDER else "value"


def _as_model(of: Definition, made: Definition) -> Any:
    """The trained model, with the settings of the other one that training does not have."""
    if isinstance(of.model, BpeModel) and isinstance(made.model, BpeModel):
        fuses = of.model.fuse_unknown and isinstance(made.on_unknown, SpecialToken)
        return replace(made.model, ignore_merges=of.model.ignore_merges, fuse_unknown=fuses)
    if isinstance(of.model, ScoredModel) and isinstance(made.model, BpeModel):
        return _scored(made)
    return made.model


def _scored(made: Definition) -> ScoredModel:
    """Scores for merges, as SentencePiece's trainer gives them: 0, -1, -2, then the characters."""
    assert isinstance(made.model, BpeModel)
    ranks = {id: -rank for rank, (_, _, id) in enumerate(made.model.merges)}
    fallback, lowest = {*(made.byte_ids or ())}, -len(ranks)
    scores: list[float | None] = [None] * len(made.tokens)
    for id, token in enumerate(made.tokens):
        if token is not None and id not in fallback:
            if id not in ranks:
                lowest, ranks[id] = lowest - 1, lowest
            scores[id] = float(ranks[id])
    return ScoredModel(scores)
