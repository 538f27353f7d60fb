"""The content of a `.model` file of SentencePiece: its pieces, and how they are used.

The file is a message `ModelProto`. Fields that have no effect on ids and texts are not kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple

from digram._util.warning import warn
from digram.errors import CorruptFileError, VocabError
from digram.formats._protobuf import Value, bytes_field, fields, float_field, number_field
from digram.formats._show import show

__all__ = ["USUAL", "Kind", "ModelFile", "Normalization", "Piece", "Type"]

USUAL: Mapping[str, str] = {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"}
"""The names of pieces with a role, where a file does not say others."""


class Type(IntEnum):
    """The type of a piece."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Kind(IntEnum):
    """The kind of a model."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHAR = 4


class Piece(NamedTuple):
    """A piece; its id is its index."""

    text: str
    score: float = 0.0
    type: Type = Type.NORMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalization:
    """The `NormalizerSpec` of a file."""

    name: str = ""
    charsmap: bytes = b""
    add_dummy_prefix: bool = True
    remove_extra_whitespaces: bool = True
    escape_whitespaces: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """What a file contains."""

    pieces: list[Piece] = field(repr=False)
    kind: Kind = Kind.UNIGRAM
    byte_fallback: bool = False
    whitespace_as_suffix: bool = False
    normalization: Normalization = Normalization()
    denormalization: Normalization = Normalization()
    names: Mapping[str, str] = field(default_factory=lambda: USUAL)
    """The names of the pieces with the roles of `USUAL`, whether there are such pieces or not."""

    @classmethod
    def loads(cls, data: bytes, path: str | None) -> ModelFile:
        """The content of the bytes of a file.

        Raises `CorruptFileError` for a damaged file, and `VocabError` for a kind that is not known.
        Warns if what stands behind the pieces is missing: SentencePiece reads such a file, too,
        with its defaults. Takes about 2 µs per piece.
        """
        pieces: list[Piece] = []
        parts = {2: b"", 3: b"", 5: b""}
        missing = {2: "trainer_spec", 3: "normalizer_spec"}
        for number, value in fields(data, "the file", path):
            if number == 1:
                where = f"piece {len(pieces)}"
                pieces.append(_piece(_expect(value, bytes, where, path), where, path))
            elif number in parts:
                # Of a message that occurs twice, later fields replace earlier ones.
                parts[number] += _expect(value, bytes, f"field {number}", path)
                missing.pop(number, None)
        if pieces and missing:
            warn(
                f"{path or 'the file'} has no {' and no '.join(missing.values())}, which "
                "SentencePiece writes behind the pieces, so it may be cut off. It is read with the "
                "defaults of SentencePiece; if it should have more, copy it again."
            )
        trainer = _values(parts[2], _TRAINER, "the trainer_spec", path)
        kind = trainer.get("model_type", Kind.UNIGRAM)
        if kind not in iter(Kind):
            raise VocabError(f"the model_type {kind} is not known.", path=path, value=kind)
        normalizers = (
            Normalization(**_values(parts[number], _NORMALIZER, where, path))
            for number, where in ((3, "the normalizer_spec"), (5, "the denormalizer_spec"))
        )
        normalization, denormalization = normalizers
        return cls(
            pieces=pieces,
            kind=Kind(kind),
            byte_fallback=trainer.get("byte_fallback", False),
            whitespace_as_suffix=trainer.get("treat_whitespace_as_suffix", False),
            normalization=normalization,
            denormalization=denormalization,
            names={role: trainer.get(role, usual) for role, usual in USUAL.items()},
        )

    def dumps(self) -> bytes:
        """The bytes of the file. They depend only on the content."""
        named = {piece.text: id for id, piece in enumerate(self.pieces)}
        unknown = [piece for piece in self.pieces if piece.type is Type.UNKNOWN]
        names = [self.names[role] for role in ("bos", "eos", "pad")]
        trainer = [
            number_field(3, self.kind),
            number_field(4, len(self.pieces)),
            number_field(24, self.whitespace_as_suffix),
            number_field(35, self.byte_fallback),
            *(number_field(40, named[piece.text]) for piece in unknown),
            *(number_field(41 + n, named.get(text, -1)) for n, text in enumerate(names)),
            *(bytes_field(45, piece.text.encode()) for piece in unknown),
            *(
                bytes_field(46 + n, text.encode())
                for n, (text, usual) in enumerate(zip(names, [*USUAL.values()][1:], strict=True))
                if text != usual
            ),
        ]
        normalization = self.normalization
        normalizer = [
            bytes_field(1, normalization.name.encode()),
            bytes_field(2, normalization.charsmap),
            number_field(3, normalization.add_dummy_prefix),
            number_field(4, normalization.remove_extra_whitespaces),
            number_field(5, normalization.escape_whitespaces),
        ]
        found = [
            *(bytes_field(1, _written(piece)) for piece in self.pieces),
            bytes_field(2, b"".join(trainer)),
            bytes_field(3, b"".join(normalizer)),
        ]
        return b"".join(found)


def _written(piece: Piece) -> bytes:
    kind = b"" if piece.type is Type.NORMAL else number_field(3, piece.type)
    return bytes_field(1, piece.text.encode()) + float_field(2, piece.score) + kind


def _expect(value: Value, kind: type, where: str, path: str | None) -> Any:
    if not isinstance(value, kind):
        raise CorruptFileError(f"{where} is of another type than it should be.", path=path)
    return value


def _text(value: Value, where: str, path: str | None) -> str:
    data: bytes = _expect(value, bytes, where, path)
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise CorruptFileError(f"{where}: {show(data)} is not UTF-8.", path=path) from None


def _flag(value: Value, where: str, path: str | None) -> bool:
    return bool(_expect(value, int, where, path))


_Reader = Callable[[Value, str, str | None], Any]
_TRAINER: Mapping[int, tuple[str, _Reader]] = {
    3: ("model_type", lambda value, where, path: _expect(value, int, where, path)),
    24: ("treat_whitespace_as_suffix", _flag),
    35: ("byte_fallback", _flag),
    **{45 + number: (role, _text) for number, role in enumerate(USUAL)},
}
_NORMALIZER: Mapping[int, tuple[str, _Reader]] = {
    1: ("name", _text),
    2: ("charsmap", lambda value, where, path: _expect(value, bytes, where, path)),
    3: ("add_dummy_prefix", _flag),
    4: ("remove_extra_whitespaces", _flag),
    5: ("escape_whitespaces", _flag),
}


def _values(
    data: bytes, readers: Mapping[int, tuple[str, _Reader]], where: str, path: str | None
) -> dict[str, Any]:
    """The values of the fields of a message that are read."""
    found = {}
    for number, value in fields(data, where, path):
        if number in readers:
            name, read = readers[number]
            found[name] = read(value, f"{where}: {name}", path)
    return found


def _piece(data: bytes, where: str, path: str | None) -> Piece:
    text, score, kind = "", 0.0, 1
    for number, value in fields(data, where, path):
        if number == 1:
            text = _text(value, where, path)
        elif number == 2:
            score = _expect(value, float, f"the score of {where}", path)
        elif number == 3:
            kind = _expect(value, int, f"the type of {where}", path)
    problem = None
    if not text or "\0" in text:
        problem = "is empty" if not text else "has a zero byte"
    elif not math.isfinite(score) and (score != -math.inf or len(text) > 1):
        problem = f"has the score {score}"
    elif not 1 <= kind <= len(Type):
        problem = f"has the type {kind}"
    if problem is not None:
        raise CorruptFileError(f"{where}, {show(text)}, {problem}.", path=path, value=text)
    return Piece(text, score, _TYPES[kind - 1])


_TYPES = tuple(Type)
