r"""CLIP's `bpe_simple_vocab_16e6.txt.gz`: a line that readers skip, and a merge on each line.

The ids are not in the file. They are those of the bytes in the order of their letters (see
`_letters`), the printable ones first; of the bytes at the end of a word; of the merges; and of two
special tokens. The published file has more merges than CLIP uses, which are left out here too.

The text is that of Hugging Face's CLIP: `NFC`, white space as spaces, lower case of each character.
OpenAI's own program also repairs text with ftfy and decodes HTML, so it gives other ids for such
text as `&amp;` and `don’t`.
(github.com/openai/CLIP, clip/simple_tokenizer.py)
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import fields
from os import PathLike

from digram._util.storage import LARGEST, atomic_write, read_file
from digram._util.validation import path_name
from digram.errors import CorruptFileError, LimitExceededError, VocabError
from digram.formats._check import Place, check, id_table, named_merges
from digram.formats._json import decoded
from digram.formats._letters import LETTERS, PRINTED, from_letters, to_letters
from digram.formats._loss import LEFT_OUT, ranked
from digram.formats._show import show
from digram.pretokenizers.normalizers import NFC, Lowercase, Replace, Words
from digram.pretokenizers.pretokenizer import NAMED, Pretokenizer, Regex
from digram.pretokenizers.words import WHITE_SPACE, WHITE_SPACE_RUN
from digram.vocab.bpe import BpeModel
from digram.vocab.definition import Definition
from digram.vocab.special_roles import SpecialRoles
from digram.vocab.template import Template

__all__ = ["dumps", "load", "loads", "read", "write"]

_WHAT = "a file of CLIP"
_HEAD = '"bpe_simple_vocab_16e6.txt#version: 0.2'
_SUFFIX = "</w>"
_MOST_MERGES = 49152 - 256 - 2
"""The number of merges that CLIP uses; the published file has 262,145 lines."""
_MOST_BYTES = 1 << 26
_START, _END = "<|startoftext|>", "<|endoftext|>"
_PIECES = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
_GZIP = 31  # the `wbits` of zlib for a gzip file

PIPELINE = Pretokenizer(
    None,
    normalizer=[
        NFC(),
        Replace(WHITE_SPACE_RUN, " "),
        Lowercase(),
        Words(
            (Regex(_PIECES), *map(Regex, NAMED["gpt2"].patterns)),
            removed=WHITE_SPACE,
            suffix=" ",
        ),
    ],
)
"""What happens to text."""


def read(path: str | PathLike[str]) -> Definition:
    """Read the definition in a file of CLIP; see `loads`. Also raises OSError."""
    return loads(read_file(path), path_name(path))


def load(path: str, data: bytes, *_: object) -> Definition:
    """Load a file, which implies the pretokenizer, so the other arguments are ignored."""
    return loads(data, path)


def write(definition: Definition, path: str | PathLike[str], *, allow_loss: bool = False) -> None:
    """Write a file of CLIP atomically; see `dumps`. Also raises OSError."""
    atomic_write(path, dumps(definition, allow_loss=allow_loss), LARGEST)


def loads(data: bytes, path: str | None = None) -> Definition:
    r"""The definition in the bytes of a file of CLIP, compressed or not; `path` is for messages.

    >>> found = loads(b'"bpe_simple_vocab_16e6.txt#version: 0.2\nl o\nlo w</w>\n')
    >>> found.tokens[512:514], found.special_tokens["<|endoftext|>"]
    ([b'lo', b'low '], 515)

    Raises `CorruptFileError` with the line for a damaged file, `VocabError` for an inconsistent
    vocabulary, and `LimitExceededError` for one of more than 64 MiB.
    """
    if data.startswith(b"\x1f\x8b"):
        data = _decompressed(data, path)
    pairs = _pairs(data, path)
    base = [(letter, letter) for letter in PRINTED]
    ends = [(letter + _SUFFIX, letter + LETTERS[ord(" ")]) for letter in PRINTED]
    names = dict([*base, *ends])
    texts = set(names.values())
    place = Place(path, None, 2)
    for rank, pair in enumerate(pairs):
        for part in pair:
            if part not in names:
                problem = f"{show(part)} is no token yet."
                hint = "A merge is a line of two tokens that come before it."
                raise place.bad_merge(rank, problem, part, hint)
        if names[pair[0]].endswith(LETTERS[ord(" ")]):
            problem = f"{show(pair[0])} is the end of a word, so nothing follows it."
            raise place.bad_merge(rank, problem, pair[0], "Remove the merge.")
        made, text = "".join(pair), names[pair[0]] + names[pair[1]]
        if made in names or text in texts:
            problem = f"{show(made)} is a token already."
            raise place.bad_merge(rank, problem, made, "Remove the merge.")
        names[made] = text
        texts.add(text)
    ids = {name: id for id, name in enumerate(names.values())}
    spaced = [[letter, LETTERS[ord(" ")]] for letter in LETTERS]
    spaced += [[names[left], names[right]] for left, right in pairs]
    definition = Definition(
        tokens=id_table([*ids.values()], from_letters(ids), path),
        model=BpeModel(named_merges(spaced, ids, place), suffix=_SUFFIX),
        pretokenizer=PIPELINE,
        special_tokens={_START: len(ids), _END: len(ids) + 1},
        template=Template(f"{_START} $A {_END}", pair=f"{_START} $A {_END} {_END} $B {_END}"),
        context_size=77,
        pad_token=_END,
        special_roles=SpecialRoles(bos=_START, eos=_END, unk=_END),
    )
    return check(definition, Place(path))


def dumps(definition: Definition, *, allow_loss: bool = False) -> bytes:
    """The compressed bytes of a file of CLIP. They depend only on the definition.

    The file implies everything but the merges. Raises `VocabError`, naming what differs, for a
    tokenizer that would not be read again as it is; `allow_loss` changes nothing.
    """
    model = ranked(definition, _WHAT, affixes=True)
    names = [None if token is None else to_letters(token) for token in definition.tokens]

    def name(token_id: int) -> str:
        letters = names[token_id] or ""
        is_end = len(letters) > 1 and letters.endswith(LETTERS[ord(" ")])
        return letters[:-1] + _SUFFIX if is_end else letters

    merges = [f"{name(left)} {name(right)}\n" for left, right, _ in model.merges[256:]]
    if len(merges) > _MOST_MERGES:
        raise _unstored(f"more than {_MOST_MERGES:,} merges", len(merges))
    data = f"{_HEAD}\n{''.join(merges)}".encode()
    try:
        again = loads(data)
    except (CorruptFileError, VocabError) as error:
        raise _unstored("these merges", error.message) from None
    for field in fields(Definition):
        mine = getattr(definition, field.name)
        if field.name not in LEFT_OUT and mine != getattr(again, field.name):
            what = field.name.replace("_", " ")
            raise _unstored(f"{'these' if what.endswith('s') else 'this'} {what}", mine)
    return gzip.compress(data, mtime=0)


def _unstored(what: str, value: object) -> VocabError:
    return VocabError(
        f"{_WHAT} cannot store {what}, since it implies CLIP's own.",
        value=value,
        hint='Save it with format="huggingface".',
    )


def _decompressed(data: bytes, path: str | None) -> bytes:
    stream = zlib.decompressobj(_GZIP)
    try:
        found = stream.decompress(data, _MOST_BYTES)
    except zlib.error as error:
        raise CorruptFileError(
            f"the compressed data is damaged ({error}).", path=path, hint="Copy it again."
        ) from None
    if stream.unconsumed_tail:
        raise LimitExceededError(
            f"the file holds more than {_MOST_BYTES:,} bytes, so it is none of CLIP.",
            path=path,
            value=_MOST_BYTES,
            hint="Decompress it, if it holds a tokenizer of another format.",
        )
    if not stream.eof:
        raise CorruptFileError(
            "the compressed data ends too early.", path=path, hint="Copy it again."
        )
    return found


def _pairs(data: bytes, path: str | None) -> list[list[str]]:
    """The merges that CLIP uses."""
    head, _, rest = data.partition(b"\n")
    if b"#version: 0.2" not in head[:200]:
        raise CorruptFileError(
            'the first line has no "#version: 0.2".',
            path=path,
            line=1,
            hint="Of compressed files only the vocabulary of CLIP is read; decompress others.",
        )
    lines = decoded(rest, path).split("\n") if rest else []
    if lines and not lines[-1]:
        lines.pop()
    pairs = [line.split() for line in lines[:_MOST_MERGES]]
    for rank, pair in enumerate(pairs):
        if len(pair) != 2:
            raise CorruptFileError(
                f"{show(lines[rank])} is not two tokens with a space between them.",
                path=path,
                line=2 + rank,
                value=lines[rank],
                hint="A merge is a line like: t h",
            )
    return pairs
