"""SentencePiece's `.model`: pieces with scores, and how a text is normalized.

Unigram models, BPE models, models of single characters and models of words are read and written. A
space stands as "▁" in the pieces of a file; here tokens have real spaces. The ids are those of
SentencePiece 0.2.3: scores are added in single precision (`UnigramModel`), BPE merges by score
(`ScoredModel`), and words are split before each space (`WordLevelModel`).

Control pieces become special tokens, whose text no text becomes; so does the piece for unknown
characters. User-defined pieces are found in all text: in Unigram models by their scores, in BPE as
added tokens (`digram.Matching`). In models of words they are words like others, which are not
normalized. The ids of `bos` and `eos` are not added to a text, as in SentencePiece itself.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import inf
from os import PathLike
from typing import TYPE_CHECKING, Literal

from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, OptionError, VocabError, several
from digram.formats._check import Place, check
from digram.formats._json import unsupported
from digram.formats._loss import refuse_input
from digram.formats._merged import scored
from digram.formats._sentencepiece_file import (
    USUAL,
    Kind,
    ModelFile,
    Normalization,
    Piece,
    Type,
)
from digram.formats._show import show
from digram.pretokenizers.normalizers import SentencePiece
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.vocab.definition import Definition
from digram.vocab.scores import ScoredModel, UnigramModel, in_single
from digram.vocab.settings import OnUnknown
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.special_tokens import Matching, SpecialToken
from digram.vocab.word_level import WordLevelModel

if TYPE_CHECKING:
    from digram.vocab.model import Model

__all__ = ["dumps", "load", "loads", "read", "write"]

_SPACE = "▁"
_BYTES = {f"<0x{byte:02X}>": byte for byte in range(256)}
_LONGEST = 8_000
"""SentencePiece refuses longer pieces, in bytes."""
_LARGEST_UNKNOWN = 3.4028234663852886e38
_FOUND = Matching(always=True, normalized=True)
"""How a user-defined piece is found."""
_UNKNOWN_PENALTY = 10.0

_KINDS = {
    UnigramModel.kind: Kind.UNIGRAM,
    ScoredModel.kind: Kind.BPE,
    WordLevelModel.kind: Kind.WORD,
}
"""The kind of a file for each kind of model."""

_unsupported = partial(unsupported, hint="Use SentencePiece itself for this model.")
_cannot_store = "a .model file cannot store"


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a `.model` file; see `loads`. Also raises OSError."""
    return loads(read_file(path), path_name(path))


def load(path: str, data: bytes, *_: object) -> Definition:
    """Load a file; it has no pretokenizer, so the other arguments are ignored."""
    return loads(data, path)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a `.model` file atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def loads(data: bytes, path: str | None = None) -> Definition:
    """The definition in the bytes of a `.model` file; `path` is for messages.

    Raises `CorruptFileError` for a damaged file, and `VocabError` for one that digram cannot
    reproduce: a denormalizer, spaces that are not written as "▁", models of words with a fallback
    to bytes. Takes some µs per piece.
    """
    file = ModelFile.loads(data, path)
    _check_support(file, path)
    _check_pieces(file, path)
    tokens: list[bytes | None] = [None] * len(file.pieces)
    scores: list[float | None] = [None] * len(file.pieces)
    special: dict[str, int] = {}
    matching: dict[str, Matching] = {}
    byte_ids = [0] * 256
    unknown: str | None = None
    merges = file.kind in (Kind.BPE, Kind.CHAR)
    for id, (text, score, kind) in enumerate(file.pieces):
        if kind in (Type.CONTROL, Type.UNKNOWN):
            special[text] = id
            unknown = text if kind is Type.UNKNOWN else unknown
        elif kind is Type.BYTE:
            byte_ids[_BYTES[text]] = id
            tokens[id] = bytes([_BYTES[text]])
        elif kind is Type.USER_DEFINED and merges:
            special[text.replace(_SPACE, " ")] = id
            matching[text.replace(_SPACE, " ")] = _FOUND
        else:
            tokens[id] = text.replace(_SPACE, " ").encode()
            # The trainer writes -0.0 for the first merge; adding zero makes both zeros the same.
            # In a model of characters it writes -inf for one that is not in its text.
            scores[id] = _user_score(text) if kind is Type.USER_DEFINED else score + 0.0
            if score == -inf:
                scores[id] = -_LARGEST_UNKNOWN
    while tokens and tokens[-1] is None:  # as in definitions from other files
        tokens.pop()
    del scores[len(tokens) :]
    on_unknown: OnUnknown = "bytes"
    if not file.byte_fallback:
        if unknown is None:
            problem = "no piece is for unknown characters."
            raise CorruptFileError(problem, path=path, hint="Copy the file again.")
        on_unknown = SpecialToken(unknown)
    of = file.normalization
    named = _roles(file, on_unknown)
    definition = Definition(
        tokens=tokens,
        model=_model(file, scores),
        pretokenizer=_pretokenizer(file, path),
        special_tokens=special,
        unit="char",
        on_unknown=on_unknown,
        byte_ids=byte_ids if file.byte_fallback else None,
        matching=matching,
        strip_first_space=of.add_dummy_prefix or of.remove_extra_whitespaces,
        pad_token=named.pop("pad", None),
        special_roles=SpecialRoles(**named),
    )
    return check(definition, Place(path))


def _roles(file: ModelFile, on_unknown: OnUnknown) -> dict[str, str]:
    """The special tokens with a role, as far as they have other names than usual."""
    kinds = {text: kind for text, _, kind in file.pieces}
    found = {}
    for role, text in file.names.items():
        kind = Type.UNKNOWN if role == "unk" else Type.CONTROL
        # The token for unknown characters is known from its use, if it has one.
        is_known = role == "unk" and on_unknown != "bytes"
        if text != USUAL[role] and kinds.get(text) is kind and not is_known:
            found[role] = text
    return found


def _pretokenizer(file: ModelFile, path: str | None) -> Pretokenizer:
    of = file.normalization
    add_space: Literal["before", "behind"] = "behind" if file.whitespace_as_suffix else "before"
    symbols = (text for text, _, kind in file.pieces if kind is Type.USER_DEFINED)
    rules = SentencePiece(
        of.charsmap,
        add_space=add_space if of.add_dummy_prefix else None,
        remove_spaces=of.remove_extra_whitespaces,
        symbols=tuple(symbols),
    )
    try:
        return Pretokenizer(None, normalizer=[rules])
    except OptionError as error:
        raise CorruptFileError(error.message, path=path, hint="Copy the file again.") from None


def _model(file: ModelFile, scores: list[float | None]) -> Model:
    ids = range(len(file.pieces))
    if file.kind is Kind.WORD:
        return WordLevelModel(splits=True)
    unused = tuple(id for id in ids if file.pieces[id].type is Type.UNUSED)
    if file.kind is not Kind.UNIGRAM:
        return ScoredModel(scores, unused=unused)
    return UnigramModel(
        scores,
        unknown=_unknown_score(file.pieces),
        addition="single",
        user_defined=tuple(id for id in ids if file.pieces[id].type is Type.USER_DEFINED),
        unused=unused,
    )


def _user_score(text: str) -> float:
    """The score of a user-defined piece, which SentencePiece computes from its bytes."""
    return in_single(0.1 * (len(text.encode()) - 1))


def _unknown_score(pieces: list[Piece]) -> float:
    """The score of an unknown character: ten below the lowest one of a normal piece."""
    lowest = min((score for _, score, kind in pieces if kind is Type.NORMAL), default=None)
    if lowest is None:
        return _LARGEST_UNKNOWN
    try:
        return in_single(lowest - _UNKNOWN_PENALTY)
    except OverflowError:
        return -_LARGEST_UNKNOWN


def _check_support(file: ModelFile, path: str | None) -> None:
    if file.kind is Kind.WORD and file.byte_fallback:
        cause = "(the space before an unknown word becomes the three bytes of its symbol)"
        raise _unsupported(f"a model of words with byte_fallback {cause}", path)
    if file.kind is Kind.WORD and any(kind is Type.UNUSED for _, _, kind in file.pieces):
        raise _unsupported("a model of words with pieces that are not in use", path)
    if not file.normalization.escape_whitespaces:
        raise _unsupported("escape_whitespaces false", path)
    if file.denormalization.charsmap:
        raise _unsupported("a denormalizer, which changes decoded text,", path)
    if file.kind is Kind.UNIGRAM and not any(kind is Type.NORMAL for _, _, kind in file.pieces):
        raise _unsupported("a Unigram model without normal pieces", path)
    for id, (text, score, kind) in enumerate(file.pieces):
        is_text = kind in (Type.NORMAL, Type.USER_DEFINED, Type.UNUSED)
        if " " in text and is_text:
            cause = "(SentencePiece leaves its spaces in a text, where no piece has them)"
            raise _unsupported(f"piece {id}, {show(text)}, which has a real space {cause},", path)
        if score == -inf and file.kind is not Kind.CHAR:
            problem = f"piece {id}, {show(text)}, has the score {score}."
            raise CorruptFileError(problem, path=path, value=text)
        if file.kind is Kind.CHAR and kind is Type.NORMAL and len(text) > 1:
            raise _unsupported(
                f"piece {id}, {show(text)}, of several characters in a model of single characters",
                path,
            )
    if file.byte_fallback and not any(
        text == _SPACE and kind in (Type.NORMAL, Type.USER_DEFINED) for text, _, kind in file.pieces
    ):
        raise _unsupported(f"byte_fallback without the piece {show(_SPACE)}", path)


def _check_pieces(file: ModelFile, path: str | None) -> None:
    """Refuse what SentencePiece refuses."""
    seen: dict[tuple[str, bool], int] = {}
    unknown = None
    for id, (text, _, kind) in enumerate(file.pieces):
        problem = None
        is_text = kind in (Type.NORMAL, Type.USER_DEFINED, Type.UNUSED)
        other = seen.setdefault((text, is_text or file.kind is Kind.BPE), id)
        if other != id:
            problem = f"is piece {other} too"
        elif len(text) * 4 > _LONGEST and len(text.encode()) >= _LONGEST:
            problem = f"has more than {_LONGEST - 1:,} bytes"
        elif kind is Type.UNKNOWN and unknown is not None:
            problem = f"is a second piece for unknown characters, beside {unknown}"
        elif kind is Type.BYTE and (text not in _BYTES or not file.byte_fallback):
            problem = "is the piece of a byte, but there is no byte_fallback"
            problem = problem if text in _BYTES else "is not named as the piece of a byte"
        unknown = id if kind is Type.UNKNOWN else unknown
        if problem is not None:
            raise CorruptFileError(f"piece {id}, {show(text)}, {problem}.", path=path, value=text)
    found = sum(kind is Type.BYTE for _, _, kind in file.pieces)
    if file.byte_fallback and found != 256:
        raise CorruptFileError(
            f"byte_fallback needs 256 pieces of bytes, but there are {found}.", path=path
        )


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The bytes of a `.model` file. They depend only on the definition.

    It can store a `UnigramModel` that adds in single precision, a `ScoredModel`, or a
    `WordLevelModel` that splits text, with the normalizer `SentencePiece` and without a
    pretokenizer; and merges of characters that scores mean, with the normalizer of Llama 2 or
    Gemma. Raises `VocabError` for anything else, and for a template, a context size or a pad token
    unless `allow_loss` is true.
    """
    definition = scored(definition, "a .model file")
    rules = _rules(definition)
    names = _named_roles(definition)
    roles = definition.special_roles.to_dict()
    lost = replace(
        definition,
        pad_token=None if "pad" in names else definition.pad_token,
        special_roles=SpecialRoles(**{role: roles[role] for role in roles.keys() - names.keys()}),
    )
    refuse_input(lost, "a .model file", allow_loss)
    pieces = _pieces(definition)
    model = definition.model
    if isinstance(model, UnigramModel) and model.unknown != _unknown_score(pieces):
        raise VocabError(
            f"{_cannot_store} the score {model.unknown} of unknown characters: it would be "
            f"{_unknown_score(pieces)}, ten below the lowest score of a token.",
            value=model.unknown,
        )
    defined = {piece.text for piece in pieces if piece.type is Type.USER_DEFINED}
    if defined != set(rules.symbols):
        one = min(defined ^ set(rules.symbols))
        raise VocabError(
            f"{_cannot_store} {show(one)} as only one of a user-defined token and a symbol of "
            "the normalizer.",
            value=one,
        )
    file = ModelFile(
        pieces=pieces,
        kind=_KINDS[model.kind],
        byte_fallback=definition.on_unknown == "bytes",
        whitespace_as_suffix=rules.add_space == "behind",
        normalization=Normalization(
            charsmap=rules.charsmap,
            add_dummy_prefix=rules.add_space is not None,
            remove_extra_whitespaces=rules.remove_spaces,
        ),
        names={**USUAL, **names},
    )
    data = file.dumps()
    loads(data)  # raises for what SentencePiece would refuse
    return data


def _named_roles(definition: Definition) -> dict[str, str]:
    """The roles that a file can store: those with other names than usual; see `_roles`."""
    roles: dict[str, str | None] = {**definition.special_roles.to_dict()}
    roles["pad"] = definition.pad_token
    found = {}
    for role, usual in USUAL.items():
        text = roles.get(role)
        if text is not None and text != usual and text not in definition.matching:
            kind = _special(text, definition).type
            is_known = role == "unk" and definition.on_unknown != "bytes"
            if kind is (Type.UNKNOWN if role == "unk" else Type.CONTROL) and not is_known:
                found[role] = text
    return found


def _rules(definition: Definition) -> SentencePiece:
    """The normalizer; raises if a file could not store what surrounds the model."""
    model, cut = definition.model, definition.pretokenizer
    fits = isinstance(model, ScoredModel)
    fits |= isinstance(model, UnigramModel) and model.addition == "single" and not model.spelled
    fits |= isinstance(model, WordLevelModel) and model.splits
    if not fits:
        what = f"a model of the kind {show(model.kind)}"
        if isinstance(model, UnigramModel) and model.addition == "double":
            what = "scores that are added in double precision: SentencePiece adds in single"
        hint = "Save it as a tokenizer.json."
        raise VocabError(f"{_cannot_store} {what}.", value=model.kind, hint=hint)
    if definition.on_unknown == "error":
        raise VocabError(f"{_cannot_store} that unknown characters are an error.")
    if len(cut.normalizer) == 1 and not (cut.patterns or cut.digits or cut.rules):
        rules = cut.normalizer[0]
        if isinstance(rules, SentencePiece) and rules.add_space != "before word":
            strips = rules.add_space is not None or rules.remove_spaces
            if strips is definition.strip_first_space:
                return rules
    raise VocabError(
        f"{_cannot_store} {cut!r} with strip_first_space={definition.strip_first_space}.",
        value=cut,
        hint="It stores the normalizer SentencePiece alone.",
    )


def _pieces(definition: Definition) -> list[Piece]:
    model = definition.model
    scores: list[float | None] = getattr(model, "scores", [])
    user_defined = set(getattr(model, "user_defined", ()))
    if isinstance(model, WordLevelModel):
        symbols = {symbol.replace(_SPACE, " ").encode() for symbol in _rules(definition).symbols}
        user_defined = {id for id, token in enumerate(definition.tokens) if token in symbols}
        scores = [0.0] * len(definition.tokens)
    unused = set(getattr(model, "unused", ()))
    by_id: dict[int, Piece] = {}
    for byte, id in enumerate(definition.byte_ids or ()):
        by_id[id] = Piece(f"<0x{byte:02X}>", 0.0, Type.BYTE)
    for id, token in enumerate(definition.tokens):
        if token is not None and id not in by_id:
            kind = Type.USER_DEFINED if id in user_defined else Type.NORMAL
            kind = Type.UNUSED if id in unused else kind
            score = 0.0 if kind is Type.USER_DEFINED else scores[id] or 0.0
            if in_single(score) != score:
                raise VocabError(
                    f"{_cannot_store} the score {score} of token {show(token)}: it has 32 bits.",
                    value=score,
                )
            by_id[id] = Piece(_named(token.decode()), score, kind)
    for text, id in definition.special_tokens.items():
        by_id[id] = _special(text, definition)
    missing = next((id for id in range(len(by_id)) if id not in by_id), None)
    if missing is not None:
        raise VocabError(
            f"{_cannot_store} {several(len(by_id), 'token')} without the id {missing}: ids are "
            "consecutive.",
            value=missing,
        )
    return [by_id[id] for id in range(len(by_id))]


def _special(text: str, definition: Definition) -> Piece:
    flags = definition.matching.get(text, Matching())
    if flags == _FOUND and isinstance(definition.model, ScoredModel):
        return Piece(_named(text), 0.0, Type.USER_DEFINED)
    if flags != Matching():
        raise VocabError(
            f"{_cannot_store} the special token {show(text)} with {flags!r}.", value=text
        )
    is_unknown = definition.on_unknown == SpecialToken(text)
    if definition.on_unknown == "bytes" and text == (definition.special_roles.unk or "<unk>"):
        is_unknown = True
    return Piece(text, 0.0, Type.UNKNOWN if is_unknown else Type.CONTROL)


def _named(text: str) -> str:
    if _SPACE in text:
        raise VocabError(
            f"the token {show(text)} has the symbol that stands for a space in the file.",
            value=text,
        )
    return text.replace(" ", _SPACE)
