"""BPE whose tokens are named by where in a word they are: files with `</w>` or `##`.

A file writes a suffix at the end of tokens that end a word, and a prefix before tokens that do not
begin one. Here tokens have a space instead: at the end if they end a word, and at the start if they
begin one, as the words of the pretokenizer do. The letter of a byte alphabet for the space is "Ġ".

In a byte alphabet the space is a symbol of its own, so the first merges join it with each byte.
That needs words without spaces, and a suffix only. With a prefix, or where words have spaces,
tokens are letters instead: words are written in the letters of bytes, of which none is a space.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from digram.errors import VocabError
from digram.formats._json import expect, kind_of, unsupported
from digram.formats._letters import LETTERS, to_letters
from digram.formats._show import show
from digram.vocab.bpe import BpeKernel, BpeModel
from digram.vocab.definition import Definition
from digram.vocab.merges import Merges
from digram.vocab.settings import Unit

__all__ = [
    "Affixes",
    "affixes_of",
    "are_letters",
    "check_affixes",
    "decoder_of",
    "is_cleaned",
    "name_of",
    "spaced",
    "unspaced",
]

_SPACES: dict[Unit, str] = {"byte": LETTERS[ord(" ")], "char": " "}


class Affixes(NamedTuple):
    """The prefix and the suffix of a file; "" where there is none."""

    prefix: str
    suffix: str

    def named(self) -> str:
        """Both for messages.

        >>> Affixes("##", "</w>").named()
        "the prefix '##' and the suffix '</w>'"
        """
        return BpeKernel(prefix=self.prefix, suffix=self.suffix).affixes

    def spelled(self, name: str, space: str) -> str:
        """A token of a file with spaces.

        >>> [Affixes("", "</w>").spelled(name, " ") for name in ("lo", "w</w>", "</w>")]
        ['lo', 'w ', '</w>']
        >>> [Affixes("##", "</w>").spelled(name, " ") for name in ("lo", "##w</w>", "a</w>", "##")]
        [' lo', 'w ', ' a ', ' ##']
        """
        prefix, suffix = self
        begins = not (prefix and name.startswith(prefix) and len(name) > len(prefix))
        body = name if begins else name[len(prefix) :]
        if not begins and body == suffix:
            begins, body = True, name
        ends = bool(suffix) and body.endswith(suffix) and len(body) > len(suffix)
        body = body[: len(body) - len(suffix)] if ends else body
        if space in body and len(body) > 1:
            raise unsupported(f"the token {show(name)}, which has a space,", None)
        return space * (bool(prefix) and begins) + body + space * ends

    def letters(self, name: str, space: str) -> set[str]:
        """What a name is with spaces, for each way in which it is one character of a word."""
        prefix, suffix = self
        if len(name) > len(prefix) + 1 + len(suffix):
            return set()
        forms = {(0, 0), (0, len(suffix)), (len(prefix), 0), (len(prefix), len(suffix))}
        found = set()
        for before, behind in forms:
            end = len(name) - behind
            is_form = name[:before] == prefix[:before] and name[end:] == suffix[:behind]
            if end - before == 1 and is_form:
                begins, ends = bool(prefix) and not before, bool(suffix) and bool(behind)
                found.add(space * begins + name[before:end] + space * ends)
        return found


def affixes_of(model: Mapping[str, Any]) -> Affixes | None:
    """The prefix and the suffix of a BPE model; None if it has neither."""
    names = ("continuing_subword_prefix", "end_of_word_suffix")
    prefix, suffix = (model.get(name) or "" for name in names)
    return Affixes(prefix, suffix) if prefix or suffix else None


def spaced(
    model: dict[str, Any],
    pairs: Sequence[Sequence[str]],
    kept: Collection[str],
    unit: Unit,
    path: str | None,
) -> dict[str, Any]:
    """The model of a file with spaces in the names of its tokens; those in `kept` stay as they are.

    `pairs` are its merges. Raises `VocabError` for names that have two meanings: other libraries
    look tokens up by name, so they would be the same token at different places of a word.
    """
    affixes = affixes_of(model)
    assert affixes is not None
    space, vocab = _SPACES[unit], model["vocab"]
    try:
        names = {name: name if name in kept else _of_name(affixes, name, space) for name in vocab}
        _by_merges(affixes, names, pairs, kept, space)
    except VocabError as error:
        raise VocabError(error.message, path=path, hint=error.hint) from None
    owner: dict[str, str] = {}
    for name, text in names.items():
        if owner.setdefault(text, name) != name:
            raise unsupported(f"the token {show(name)} beside {show(owner[text])}", path)
    merges = [[names.get(left, left), names.get(right, right)] for left, right in pairs]
    if unit == "byte":
        merges[:0] = [[letter, space] for letter in LETTERS]
    ids = {text: vocab[name] for name, text in names.items()}
    unknown = model.get("unk_token")
    return model | {"vocab": ids, "merges": merges, "unk_token": names.get(unknown, unknown)}


def _of_name(affixes: Affixes, name: str, space: str) -> str:
    letters = affixes.letters(name, space)
    if len(letters) > 1:
        raise _ambiguous(name)
    return letters.pop() if letters else affixes.spelled(name, space)


def _by_merges(
    affixes: Affixes,
    names: dict[str, str],
    pairs: Sequence[Sequence[str]],
    kept: Collection[str],
    space: str,
) -> None:
    """Correct tokens that merges make at another place of a word than their name says."""
    certain = {name for name in names if affixes.letters(name, space)}
    for left, right in pairs:
        if left in kept or right in kept or left not in names or right not in names:
            continue  # an error of other vocabularies too
        parts = names[left], names[right]
        certain.update((left, right))
        if (affixes.prefix and parts[1].startswith(space)) or (
            affixes.suffix and parts[0].endswith(space)
        ):
            raise unsupported(
                f"the merge of {show(left)} and {show(right)}, between which a word ends or "
                "begins,",
                None,
            )
        made = left + right[len(affixes.prefix) :]
        if names.get(made, "".join(parts)) != "".join(parts):
            if made in certain or made in kept:
                raise _ambiguous(made)
            names[made] = "".join(parts)
        certain.add(made)


def _ambiguous(name: str) -> VocabError:
    return unsupported(
        f"the token {show(name)}, which may be at several places of a word,",
        None,
        hint="Remove the merges that make it of a text that has the prefix or the suffix itself.",
    )


def name_of(model: BpeModel, unit: Unit) -> Callable[[bytes], str]:
    """A function that gives the name of a token in a file.

    >>> name = name_of(BpeModel([], prefix="##", suffix="</w>"), "char")
    >>> [*map(name, [b" low", b"er ", b" a "])]
    ['low', '##er</w>', 'a</w>']
    """
    space = _SPACES[unit]

    def named(token: bytes) -> str:
        body = to_letters(token) if unit == "byte" else token.decode()
        begins = not model.prefix or (len(body) > 1 and body.startswith(space))
        body = body[len(space) :] if model.prefix and begins else body
        ends = bool(model.suffix) and len(body) > 1 and body.endswith(space)
        body = body[: -len(space)] if ends else body
        return ("" if begins else model.prefix) + body + model.suffix * ends

    return named


def unspaced(definition: Definition, merges: Merges) -> Iterator[tuple[int, int]]:
    """The merges as files have them, without those that join the space of a byte alphabet."""
    assert isinstance(definition.model, BpeModel)
    is_byte = definition.unit == "byte" and bool(definition.model.suffix)
    return ((left, right) for left, right, _ in merges[256 if is_byte else 0 :])


def decoder_of(definition: Definition) -> dict[str, Any]:
    """The `decoder` of a tokenizer.json for characters.

    Raises `VocabError` for decoded text that it does not give.
    """
    model = definition.model
    assert isinstance(model, BpeModel)
    if model.suffix:
        return {"type": "BPEDecoder", "suffix": model.suffix}
    if not definition.strip_first_space:
        raise VocabError(
            "a tokenizer.json with a prefix implies decoded text without the first space.",
            hint="Set strip_first_space=True in the definition.",
        )
    return {"type": "WordPiece", "prefix": model.prefix, "cleanup": definition.cleanup}


def is_cleaned(
    top: dict[str, Any], vocab: Collection[str], affixes: Affixes, unit: Unit, path: str | None
) -> bool:
    """Whether a decoder leaves out spaces before punctuation; raises for other decoders."""
    decoder = top["decoder"] if isinstance(top.get("decoder"), dict) else {}
    prefix, suffix = affixes
    expected = "ByteLevel" if unit == "byte" else "BPEDecoder" if suffix else "WordPiece"
    affix = {"BPEDecoder": ("suffix", suffix), "WordPiece": ("prefix", prefix)}.get(expected)
    if kind_of(decoder) != expected or (affix and decoder.get(affix[0]) != affix[1]):
        written = f" with the {affix[0]} {show(affix[1])}" if affix else ""
        raise unsupported(
            f"decoder {kind_of(top.get('decoder'))} with {affixes.named()}",
            path,
            hint=f"Set it to {expected}{written}.",
        )
    if expected == "BPEDecoder":
        entries = top.get("added_tokens") or []
        added = (one.get("content") if isinstance(one, dict) else None for one in entries)
        bodies = (name.removesuffix(suffix) or name for name in vocab)
        for text in (*(one for one in added if isinstance(one, str)), *bodies):
            if suffix in text:  # a decoder would put spaces in its place
                raise unsupported(f"the token {show(text)}, which has the suffix inside,", path)
    cleanup = decoder.get("cleanup", False) if expected == "WordPiece" else False
    return expect(cleanup, bool, "decoder.cleanup", path)


def check_affixes(model: dict[str, Any], path: str | None) -> None:
    """Raises for values of the prefix and the suffix that digram cannot reproduce."""
    for key in ("continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key) is not None:
            expect(model[key], str, f"model.{key}", path)
    affixes = affixes_of(model)
    if affixes is not None and model.get("dropout"):
        raise unsupported(f"dropout with {affixes.named()}", path)
    vocab = model.get("vocab")
    # Without any token of a byte it has no effect.
    names = (f"<0x{byte:02X}>" for byte in range(256))
    has_bytes = isinstance(vocab, dict) and any(name in vocab for name in names)
    if affixes is not None and model.get("byte_fallback") is True and has_bytes:
        cause = "(other libraries make bytes of it too, at offsets beyond the text)"
        raise unsupported(f"byte_fallback with {affixes.named()} {cause}", path)


def are_letters(affixes: Affixes, keeps_spaces: bool, model: Mapping[str, Any]) -> bool:
    """Whether the tokens of a byte alphabet are letters, as the model has them, not bytes."""
    if affixes.prefix or keeps_spaces:
        return True
    if model.get("ignore_merges") is True and not _is_its_letters(affixes.suffix):
        return True  # a word that is a name need not be the letters of the name
    vocab = model["vocab"]
    return any(one not in vocab or one + affixes.suffix not in vocab for one in LETTERS)


def _is_its_letters(text: str) -> bool:
    """Whether the letters of the bytes of a text are the text itself.

    >>> _is_its_letters("</w>"), _is_its_letters("é")
    (True, False)
    """
    return to_letters(text.encode()) == text
