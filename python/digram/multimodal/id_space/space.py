"""`IdSpace`: named ranges of ids for one model, as an immutable value."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from digram._util.read_only import ReadOnly
from digram._util.validation import choice, instance, mapping
from digram.errors import OptionError, several, show
from digram.multimodal.id_space import files, parts
from digram.multimodal.id_space.lookup import Lookup, whole_numbers
from digram.multimodal.id_space.markers import Markers, marked, names
from digram.multimodal.id_space.parts import Content, Part
from digram.multimodal.id_space.placing import (
    check_overlap,
    check_replaced,
    placed_ranges,
    replacing,
    resized,
)
from digram.multimodal.id_space.ranges import MAX_IDS, Holding, IdRange, whole
from digram.multimodal.sequences import SequenceTokenizer
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.reserved_ids import PADDING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


__all__ = ["IdSpace", "Located"]


class Located(NamedTuple):
    """For each global id, the name of its range and its local id."""

    range: NDArray[Any]
    local: NDArray[np.int64]


class IdSpace:
    """One space of ids for text, images, audio, actions and control: a model's embedding rows.

    >>> import digram
    >>> tok = digram.train("a cat sat on a mat", vocab_size=260)
    >>> space = digram.IdSpace(
    ...     {"text": tok, "control": ["<image>", "</image>"], "image": 8192},
    ...     markers={"image": ("<image>", "</image>")},
    ... )
    >>> print(space)
    range      first   last    ids  spare
    text           0    259    260
    control      260    261      2         2 names
    image        262  8,453  8,192         <image> … </image>
    8,454 ids
    >>> ids = space.encode([("text", "a cat"), ("image", [7, 8191])])
    >>> ids.tolist()
    [97, 258, 256, 260, 269, 8453, 261]
    >>> space.decode(ids)
    [Part(range='text', content='a cat'), Part(range='image', content=array([   7, 8191]))]

        ranges: what each range contains, placed one after the other: a number of ids, a tokenizer
            (of text, or of numbers as from `digram.train_ids`), a list of names for ids (control
            tokens), or a `range` with fixed ids.
        markers: for a range the names of the ids before and after each part of it; the names are
            from a list of names, or special tokens of a tokenizer.
        align: each range begins at a multiple of this number, and `size` is a multiple of it.
        spare: for a range the number of ids to keep free after it, so that it can `grow`.
        codebooks: for a range the number of codebooks of equal size that share its ids; its parts
            are arrays of shape (frames, codebooks).
        replace: the names of ranges that take the ids of tokens in a text range. Without it a range
            may lie inside a tokenizer's range only at special tokens and unused ids.

    Each id is in at most one range, with one local id there. Immutable; two spaces are equal if all
    ids have the same meaning. Raises `OptionError` for ranges that overlap, and for names that are
    duplicated or unknown. The maximum is 2³¹ ids.
    """

    __slots__ = ("_align", "_lookup", "_names", "_ranges", "_size")

    def __init__(
        self,
        ranges: Mapping[str, Holding],
        *,
        markers: Markers | None = None,
        align: int = 1,
        spare: Mapping[str, int] | None = None,
        codebooks: Mapping[str, int] | None = None,
        replace: Collection[str] = (),
    ) -> None:
        mapping("ranges", ranges, "names and their content")
        if not ranges:
            raise OptionError(
                "a space needs at least one range.", hint='Pass one, as in {"text": tok}.'
            )
        align = whole("align", align, 1)
        found = placed_ranges(ranges, 0, align, _given(spare), _given(codebooks), replace)
        check_overlap(found)
        check_replaced(found, replace)
        self._set(marked([], found, _given(markers)), align)

    @classmethod
    def of(
        cls,
        tok: Tokenizer,
        *,
        markers: Markers | None = None,
        codebooks: Mapping[str, int] | None = None,
        text: str = "text",
    ) -> IdSpace:
        """The space of a tokenizer with reserved ids, in which each block of them is a range.

        >>> import digram
        >>> tok = digram.train(
        ...     "a cat", vocab_size=300, reserve={"image": 32}, special_tokens=["<img>", "</img>"]
        ... )
        >>> space = digram.IdSpace.of(tok, markers={"image": ("<img>", "</img>")})
        >>> space["image"].ids == tok.reserved["image"]
        True
        >>> tok.decode(space.encode([("image", [0, 31])]))
        '<img><|image_0|><|image_31|></img>'

        So every reader of the tokenizer's file has the same ids, and `tokenizer.json` carries the
        layout: `IdSpace.of(digram.load("tokenizer.json"), ...)`. `text` is the name of the range of
        all other ids. Padding ids ("unused") belong to the text range, which may grow into them.
        """
        instance("tok", tok, Tokenizer)
        blocks = {name: ids for name, ids in tok.reserved.items() if name != PADDING}
        if text in blocks:
            raise OptionError(
                f"{show(text)} is the name of a reserved block.",
                value=text,
                hint="Pass another text=.",
            )
        return cls({text: tok, **blocks}, markers=markers, codebooks=codebooks)

    @classmethod
    def _of(cls, ranges: Iterable[IdRange], align: int) -> IdSpace:
        space = cls.__new__(cls)
        space._set([*ranges], align)
        return space

    def _set(self, ranges: list[IdRange], align: int) -> None:
        check_overlap(ranges)
        self._names = names(ranges)
        self._ranges = {one.name: one for one in ranges}
        self._align = align
        last = max((one.stop + one.spare for one in ranges), default=0)
        self._size = last + -last % align
        self._lookup = Lookup(ranges)

    @property
    def ranges(self) -> ReadOnly[str, IdRange]:
        """The ranges by name, in the order in which they were given, in a read-only dictionary."""
        return ReadOnly(self._ranges, "call with_ranges")

    @property
    def size(self) -> int:
        """The number of rows of the model's embedding matrix: all ids, spare ones included."""
        return self._size

    @property
    def align(self) -> int:
        """The number whose multiples the ranges begin at."""
        return self._align

    def __getitem__(self, name: str) -> IdRange:
        if name not in self._ranges:
            known = ", ".join(map(repr, self._ranges)) or "none"
            raise OptionError(
                f"there is no range {show(name)}.", value=name, hint=f"Choose from {known}."
            )
        return self._ranges[name]

    def __iter__(self) -> Any:
        # With only `__getitem__`, Python would try to iterate by index.
        raise TypeError("an IdSpace is not iterable; look at its ranges")

    def token_to_id(self, name: str) -> int | None:
        """The global id of a name, from a list of names or the special tokens of text.

        None for an unknown name, and for a special token of two tokenizers.
        """
        return self._names.get(name)

    def to_global(self, range: str, local: ArrayLike) -> NDArray[np.int64]:
        """Convert local ids of a range to global ids.

        >>> import digram
        >>> space = digram.IdSpace({"text": 256, "audio": 2 * 1024}, codebooks={"audio": 2})
        >>> space.to_global("audio", [[5, 9], [0, 1023]]).tolist()  # two frames
        [261, 1289, 256, 2303]

        With several codebooks `local` has the shape (frames, codebooks), and the result is frame by
        frame: the flattening pattern of Copet et al. 2023, "Simple and Controllable Music
        Generation". Otherwise it has one dimension. Raises `TokenIdError` for an id outside of the
        range, and `TypeError` for values that are not whole numbers. Some 5 ns per id.
        """
        return parts.to_global(self[range], local, self._lookup)

    def to_local(self, ids: ArrayLike) -> Located:
        """Find the range and the local id of each global id.

        >>> import digram
        >>> space = digram.IdSpace({"text": 256, "image": 1024})
        >>> found = space.to_local([[97, 256], [1279, 98]])
        >>> found.range == "image"  # as for a mask of a loss
        array([[False,  True],
               [ True, False]])
        >>> found.local.tolist()
        [[97, 0], [1023, 98]]

        The results have the shape of `ids`. With codebooks the local id is `codebook * codes +
        code`. Raises `TokenIdError` for an id that is in no range, such as a spare id. Some 0.1 µs
        per id.
        """
        found = self._checked(ids)
        which = self._lookup.which(found)
        return Located(self._lookup.names[which], found - self._lookup.starts[which])

    def encode(self, parts: Iterable[tuple[str, Content]]) -> NDArray[np.int64]:
        """The global ids of interleaved parts, with their markers, in one array.

        A part is the name of a range and its content: text for a range with a tokenizer (`str`,
        `bytes`, or a list of these and `digram.SpecialToken`), a sequence of numbers for a range
        with a tokenizer of numbers, names for a range with names, and otherwise local ids as for
        `to_global`. The text of special tokens is encoded as ordinary text.

        >>> import digram
        >>> codes = digram.train_ids([[7, 7, 9, 7, 7, 9]], symbols=16, max_merges=2)
        >>> space = digram.IdSpace({"text": 256, "image": codes})
        >>> ids = space.encode([("text", [97]), ("image", [7, 7, 9, 3])])
        >>> ids.tolist(), space.decode(ids)[1].content.tolist()
        ([97, 273, 259], [7, 7, 9, 3])

        The result determines the parts: `split` returns the same local ids in the same parts. So a
        part cannot contain markers, and in a range without markers a part that is empty, or that
        follows another part of its range, is an `OptionError`. Raises `TokenIdError` for ids
        outside of the range, and for text with a token that another range replaces; and the
        errors of `Tokenizer.encode`. Errors name the part.
        """
        return _encode(self._ranges, self._lookup, parts)

    def split(self, ids: ArrayLike) -> list[Part]:
        """Split global ids into parts, each with its local ids.

        >>> import digram
        >>> tok = digram.train("a cat", max_merges=0, special_tokens=["<i>", "</i>"])
        >>> space = digram.IdSpace({"text": tok, "image": 64}, markers={"image": ("<i>", "</i>")})
        >>> space.split([97, 256, 257, 256, 258, 257])
        [Part(range='text', content=array([97])),
         Part(range='image', content=array([], dtype=int64)),
         Part(range='image', content=array([0]))]

        The exact inverse of `encode`: `encode(split(ids))` is `ids`. So a part of a range with a
        tokenizer of numbers is a `LocalPart`: its numbers are ids, and not a sequence. Arrays are
        int64, of shape (frames, codebooks) with codebooks. Raises `TokenIdError` for an id in no
        range, or in the wrong place: outside of its markers, inside those of another range, or of
        the wrong codebook. A part without an end, as at the length limit of a model, is an error
        too: `ids[: error.index]` are the ids before it.
        """
        return parts.split(self._ranges, self._lookup, self._checked(ids, flat=True))

    def decode(
        self, ids: ArrayLike, *, errors: Literal["replace", "strict"] = "replace"
    ) -> list[Part]:
        """Split global ids into parts, each with its decoded content.

        The content is text, a sequence of numbers, or names; for a range without a tokenizer and
        names, local ids. `errors` is as for `Tokenizer.decode`: invalid UTF-8 becomes U+FFFD, or
        raises. Special tokens of a tokenizer of numbers have no number, and are a `TokenIdError`.
        """
        choice("errors", errors, "replace", "strict")
        return parts.decode(self._ranges, self.split(ids), errors)

    def grow(self, name: str, holding: Holding) -> IdSpace:
        """A space in which one range has grown; all existing ids keep their meaning.

        >>> import digram
        >>> space = digram.IdSpace({"image": 8192, "action": 256}, spare={"image": 8192})
        >>> space.grow("image", 12_000)["action"] == space["action"]
        True
        >>> space.grow("image", 20_000)
        Traceback (most recent call last):
            ...
        digram.errors.OptionError: the range 'image' has 8,192 spare ids, and 11,808 are needed....

        `holding` is everything that the range then holds: a larger number, a longer list of names,
        or the extended tokenizer (`digram.extend`). The range grows into its spare ids; the last
        range needs none, and makes the space larger. Raises `OptionError` if there are too few
        spare ids, or if an id would change its meaning.
        """
        old = self[name]
        others = [one for one in self._ranges.values() if one is not old]
        last = not any(one.stop + one.spare > old.stop or one.holds(old) for one in others)
        new = resized(old, holding, None if last else old.spare)
        ranges = [new if one is old else one for one in self._ranges.values()]
        check_replaced(ranges, replacing([*self._ranges.values()]))
        return IdSpace._of(ranges, self._align)

    def with_ranges(
        self,
        ranges: Mapping[str, Holding],
        *,
        markers: Markers | None = None,
        spare: Mapping[str, int] | None = None,
        codebooks: Mapping[str, int] | None = None,
        replace: Collection[str] = (),
    ) -> IdSpace:
        """A space with more ranges at its end; all existing ids keep their meaning.

        >>> import digram
        >>> space = digram.IdSpace({"text": 256}).with_ranges({"image": 1024})
        >>> space["image"].ids
        range(256, 1280)

        The arguments are those of `IdSpace`, for the new ranges. Their markers may be names of
        older ranges, which parts of those ranges can then no longer contain. Only a `range` that is
        placed inside a text range takes existing ids, such as padding.
        """
        mapping("ranges", ranges, "names and their content")
        known = [name for name in self._ranges if name in ranges]
        if known:
            raise OptionError(
                f"there is already a range {show(known[0])}.",
                value=known[0],
                hint="Choose another name, or grow the range.",
            )
        new = placed_ranges(
            ranges, self._size, self._align, _given(spare), _given(codebooks), replace
        )
        found = [*self._ranges.values(), *new]
        check_overlap(found)
        check_replaced(found, {*replace, *self._ranges})
        ranges_now = marked([*self._ranges.values()], new, _given(markers))
        return IdSpace._of(ranges_now, self._align)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the layout as JSON, atomically: the file is always the old one or the new one.

        >>> import digram, pathlib, tempfile
        >>> tok = digram.train("a cat", max_merges=2)
        >>> space = digram.IdSpace({"text": tok, "image": 64})
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "space.json"
        >>> space.save(path)
        >>> digram.IdSpace.load(path, tokenizers={"text": tok}) == space
        True

        Tokenizers are saved separately; this file contains their digests.
        """
        files.save(self, path)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        tokenizers: Mapping[str, Tokenizer | SequenceTokenizer] | None = None,
    ) -> IdSpace:
        """Read what `save` wrote, with the tokenizers of its ranges.

        A range without its tokenizer takes and returns ids instead of text or numbers. Raises
        `ConfigMismatchError` for another tokenizer than the saved one, and `CorruptFileError` for a
        file that is damaged or not an id space.
        """
        return files.load(path, _given(tokenizers))

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of the meaning of all ids and the digests of tokenizers."""
        return files.digest(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdSpace):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        held = ", ".join(f"{one.name} {one.start}–{one.stop - 1}" for one in self._ranges.values())
        return f"<digram.IdSpace: {several(self.size, 'id')}; {held}>"

    def __str__(self) -> str:
        from digram.multimodal.id_space.table import table

        return table(self)

    def _checked(self, ids: ArrayLike, flat: bool = False) -> NDArray[np.int64]:
        hint = "Print the space to see its ids."
        found = whole_numbers("ids", ids, min(self._size, MAX_IDS), "an id of this space", hint)
        if flat and found.ndim != 1:
            raise OptionError(
                f"ids have the shape {found.shape}, and must be one sequence.",
                value=found.shape,
                hint="Pass the rows one by one.",
            )
        return found


_encode = parts.encode  # IdSpace.encode has a parameter `parts`


def _given(option: Mapping[str, Any] | None) -> Any:
    """The value of an option, or an empty mapping for None; not checked here."""
    return {} if option is None else option
