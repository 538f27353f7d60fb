"""`Encoding`, with the methods of tiktoken's."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeVar

from digram._util.validation import any_number, mapping, several_texts, whole_number, word
from digram.compat.tiktoken.checks import typed
from digram.compat.tiktoken.errors import UnknownTokenError
from digram.compat.tiktoken.registry import get_encoding, is_registered
from digram.compat.tiktoken.unstable import Completing
from digram.errors import (
    InvalidTextError,
    OptionError,
    SpecialTokenError,
    TokenIdError,
    VocabError,
    show,
)
from digram.formats import tiktoken as files
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.pretokenizers.regex import Regex
from digram.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Encoding"]

_T = TypeVar("_T")

Allowed = Literal["all"] | AbstractSet[str]
Disallowed = Literal["all"] | Collection[str]


class Encoding:
    r"""A tokenizer with the interface of `tiktoken.Encoding`.

    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"lo": 256, b"low": 257}
    >>> special_tokens = {"<|endoftext|>": 258}
    >>> enc = Encoding(
    ...     "small", pat_str=r"\w+|\W", mergeable_ranks=ranks, special_tokens=special_tokens
    ... )
    >>> enc.encode("low<|endoftext|>", allowed_special="all")
    [257, 258]

        name: the name of the encoding.
        pat_str: the regex that splits texts.
        mergeable_ranks: the tokens as bytes with their ranks, which are also their ids.
        special_tokens: the texts of special tokens with their ids.
        explicit_n_vocab: the number of all tokens, to be checked.

    Raises `VocabError` for ranks without all 256 bytes, tokens of equal ids or texts, and another
    number of tokens, and `PatternError` for a regex that digram does not support.
    """

    def __init__(
        self,
        name: str,
        *,
        pat_str: str,
        mergeable_ranks: Mapping[bytes, int],
        special_tokens: Mapping[str, int],
        explicit_n_vocab: int | None = None,
    ) -> None:
        mapping("mergeable_ranks", mergeable_ranks, "tokens and ranks")
        mapping("special_tokens", special_tokens, "texts and ids")
        for token, rank in mergeable_ranks.items():
            typed("a token of mergeable_ranks", token, bytes)
            any_number("a rank of mergeable_ranks", rank)
        named: dict[str, int] = {}
        aliases: dict[str, int] = {}
        seen: set[int] = set()
        for text, id in special_tokens.items():
            (aliases if any_number("an id of special_tokens", id) in seen else named)[text] = id
            seen.add(id)
        cut = Pretokenizer(Regex(word("pat_str", pat_str)))
        tok = Tokenizer._of(files.of_ranks(mergeable_ranks, cut, named))
        count = len(mergeable_ranks) + len(special_tokens)
        if explicit_n_vocab and not count == tok.vocab_size == explicit_n_vocab:
            raise VocabError(
                f"explicit_n_vocab={show(explicit_n_vocab)}, but there are {count:,} tokens, and "
                f"the highest id is {tok.vocab_size - 1:,}.",
                value=explicit_n_vocab,
            )
        self._set(word("name", name), tok, aliases)

    @classmethod
    def _of(cls, name: str, tok: Tokenizer, aliases: Mapping[str, int] | None = None) -> Self:
        self = cls.__new__(cls)
        self._set(name, tok, aliases or {})
        return self

    def _set(self, name: str, tok: Tokenizer, aliases: Mapping[str, int]) -> None:
        """`aliases` are further texts of special tokens: digram has one text for an id."""
        self.name = name
        self._special_tokens = {**tok.special_tokens, **aliases}
        self.max_token_value = tok.vocab_size - 1
        self._vocabulary = tok
        free = tok.vocab_size
        self._aliases = {free + i: id for i, id in enumerate(aliases.values())}
        added = {text: free + i for i, text in enumerate(aliases)}
        self._tok = tok.with_special_tokens(added) if added else tok
        self._special_ids = set(self._special_tokens.values())

    def __repr__(self) -> str:
        return f"<Encoding {self.name!r}>"

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        if is_registered(self):
            return get_encoding, (self.name,)
        aliases = {text: self._special_tokens[text] for text in self._alias_texts()}
        return Encoding._of, (self.name, self._vocabulary, aliases)

    # --- encoding

    def encode_ordinary(self, text: str) -> list[int]:
        """Encode a text; special tokens in it are plain text.

        Lone surrogates become U+FFFD, and pairs of them their character. Raises `TypeError`.
        """
        return self._encoded(typed("text", text, str), "text")

    def encode(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[int]:
        """Encode a text; special tokens in it are an error unless they are allowed.

        Those in `allowed_special` are encoded as these tokens, all others as plain text. Those in
        `disallowed_special` raise `SpecialTokenError`, a `ValueError`; "all" are those that are not
        allowed, and `()` are none. Surrogates are treated as in `encode_ordinary`.
        """
        typed("text", text, str)
        allowed = self._allowed(allowed_special)
        self._check(text, self._disallowed(disallowed_special, allowed))
        return self._encoded(text, allowed)

    def encode_to_numpy(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> NDArray[np.uint32]:
        """As `encode`, but return an array of uint32; a surrogate raises `InvalidTextError`."""
        typed("text", text, str)
        allowed = self._allowed(allowed_special)
        self._check(text, self._disallowed(disallowed_special, allowed))
        ids: NDArray[np.uint32] = self._tok.encode_batch([text], special=allowed, out="numpy").ids
        for alias, id in self._aliases.items():
            ids[ids == alias] = id
        return ids

    def encode_ordinary_batch(
        self, text: Iterable[str], *, num_threads: int = 8
    ) -> list[list[int]]:
        """Encode several texts on `num_threads` threads, as `encode_ordinary`."""
        return self._encoded_batch(text, num_threads, "text", frozenset())

    def encode_batch(
        self,
        text: Iterable[str],
        *,
        num_threads: int = 8,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> list[list[int]]:
        """Encode several texts on `num_threads` threads, as `encode`."""
        allowed = self._allowed(allowed_special)
        disallowed = self._disallowed(disallowed_special, allowed)
        return self._encoded_batch(text, num_threads, allowed, disallowed)

    def encode_with_unstable(
        self,
        text: str,
        *,
        allowed_special: Allowed = frozenset(),
        disallowed_special: Disallowed = "all",
    ) -> tuple[list[int], list[list[int]]]:
        """Encode a text that may continue: the ids that stay, and what may follow them.

        Each completion is a sequence of ids that starts with the rest of the text; they are in
        order. Options as in `encode`. The time is that of encoding all tokens that start inside the
        last pretoken: one or two seconds for a large vocabulary and a text that ends in a space.
        Raises `LimitExceededError` if that are more than 256 MB of text.
        """
        typed("text", text, str)
        allowed = self._allowed(allowed_special)
        self._check(text, self._disallowed(disallowed_special, allowed))
        kept, unstable = self._completing.stable(self._ids(self._tok.encode(text, special=allowed)))
        return kept, self._completing.completions(unstable)

    def encode_single_token(self, text_or_bytes: str | bytes) -> int:
        """Return the id of a token, or of a special token by its text.

        Raises `UnknownTokenError`, a `KeyError`, if there is no such token.
        """
        typed("text_or_bytes", text_or_bytes, str, bytes)
        data = text_or_bytes if isinstance(text_or_bytes, bytes) else text_or_bytes.encode()
        id = self._vocabulary.token_to_id(data)
        if id is None:
            id = self._special_tokens.get(data.decode(errors="replace"))
        if id is None:
            raise UnknownTokenError(f"there is no token {show(text_or_bytes)}.", value=data)
        return id

    # --- decoding

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Decode ids to bytes; raises `UnknownTokenError`, a `KeyError`, for an unknown id."""
        return self._known(self._vocabulary.decode_bytes, tokens)

    def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
        """Decode ids to a text; `errors` says what is done with bytes that are not UTF-8.

        It is a name as in `bytes.decode`. Raises as `decode_bytes`.
        """
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_single_token_bytes(self, token: int) -> bytes:
        """Return the bytes of an id, also of a special token; raises as `decode_bytes`."""
        return self._known(self._vocabulary.id_to_token, token)

    def decode_tokens_bytes(self, tokens: Sequence[int]) -> list[bytes]:
        """Return the bytes of each id; raises as `decode_bytes`."""
        return self._known(self._vocabulary.tokens, tokens)

    def decode_with_offsets(self, tokens: Sequence[int]) -> tuple[str, list[int]]:
        """Decode ids to a text and the offset of each token in it, in characters.

        The offset of a token that starts inside a character is that of the character. Raises as
        `decode_bytes`, and `UnicodeDecodeError` for ids that are not UTF-8 together.
        """
        found = self.decode_tokens_bytes(tokens)
        offsets, done = [], 0
        for token in found:
            offsets.append(max(0, done - (0x80 <= token[0] < 0xC0 if token else 0)))
            done += sum(not 0x80 <= byte < 0xC0 for byte in token)
        return b"".join(found).decode("utf-8"), offsets

    def decode_batch(
        self, batch: Sequence[Sequence[int]], *, errors: str = "replace", num_threads: int = 8
    ) -> list[str]:
        """Decode several sequences of ids, as `decode`; `num_threads` has no effect."""
        whole_number("num_threads", num_threads, 1)
        return [self.decode(tokens, errors) for tokens in batch]

    def decode_bytes_batch(
        self, batch: Sequence[Sequence[int]], *, num_threads: int = 8
    ) -> list[bytes]:
        """Decode several sequences of ids, as `decode_bytes`; `num_threads` has no effect."""
        whole_number("num_threads", num_threads, 1)
        return [self.decode_bytes(tokens) for tokens in batch]

    # --- the vocabulary

    def token_byte_values(self) -> list[bytes]:
        """Return the bytes of all tokens but special ones, sorted."""
        return list(self._completing.tokens)

    @property
    def eot_token(self) -> int:
        """The id of `<|endoftext|>`; raises `UnknownTokenError`, a `KeyError`, if there is none."""
        return self.encode_single_token("<|endoftext|>")

    @functools.cached_property
    def special_tokens_set(self) -> set[str]:
        """The texts of the special tokens."""
        return set(self._special_tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether an id is that of a special token."""
        return any_number("token", token) in self._special_ids

    @property
    def n_vocab(self) -> int:
        """One more than the highest id."""
        return self.max_token_value + 1

    # --- what programs that extend an encoding read, as the README of tiktoken describes

    @property
    def _pat_str(self) -> str:
        return "|".join(self._vocabulary.pretokenizer.patterns)

    @functools.cached_property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        tokens = enumerate(self._vocabulary._model.tokens())
        return {token: id for id, token in tokens if token is not None}

    def _encode_bytes(self, text: bytes) -> list[int]:
        """The ids of bytes; those that are not UTF-8 are merged with the last pretoken."""
        try:
            return self.encode_ordinary(typed("text", text, bytes).decode())
        except UnicodeDecodeError as error:
            valid, rest = text[: error.start], text[error.start :]
        return self._completing.with_rest(self.encode_ordinary(valid.decode()), rest)

    def _encode_single_piece(self, text_or_bytes: str | bytes) -> list[int]:
        """The ids of one pretoken."""
        typed("text_or_bytes", text_or_bytes, str, bytes)
        return self._vocabulary._uncut().encode(text_or_bytes)

    # --- helpers

    @functools.cached_property
    def _completing(self) -> Completing:
        return Completing(self._vocabulary)

    def _alias_texts(self) -> list[str]:
        return [text for text, id in self._tok.special_tokens.items() if id in self._aliases]

    def _ids(self, ids: list[int]) -> list[int]:
        """Ids of the drop-in from those of the tokenizer."""
        return [self._aliases.get(id, id) for id in ids] if self._aliases else ids

    def _encoded(self, text: str, special: Literal["text"] | frozenset[str]) -> list[int]:
        try:
            return self._ids(self._tok.encode(text, special=special))
        except InvalidTextError:
            return self._ids(self._tok.encode(_repaired(text), special=special))

    def _encoded_batch(
        self,
        texts: Iterable[str],
        num_threads: int,
        special: Literal["text"] | frozenset[str],
        disallowed: frozenset[str],
    ) -> list[list[int]]:
        threads = whole_number("num_threads", num_threads, 1)
        batch = several_texts(texts, "encode")
        for text in batch:
            self._check(typed("a text", text, str), disallowed)
        try:
            found = self._tok.encode_batch(batch, special=special, threads=threads)
        except InvalidTextError:
            repaired = map(_repaired, batch)
            found = self._tok.encode_batch(repaired, special=special, threads=threads)
        return [self._ids(ids) for ids in found] if self._aliases else found

    def _allowed(self, allowed: Allowed) -> frozenset[str]:
        """The special tokens that are allowed; other texts have no effect."""
        if isinstance(allowed, str):
            if allowed != "all":
                raise OptionError(
                    f"allowed_special={show(allowed)} is not known.",
                    value=allowed,
                    hint='Pass "all", or a set of texts of special tokens.',
                )
            return frozenset(self._special_tokens)
        return frozenset(text for text in allowed if text in self._special_tokens)

    def _disallowed(self, disallowed: Disallowed | None, allowed: frozenset[str]) -> frozenset[str]:
        if isinstance(disallowed, str) and disallowed == "all":
            return frozenset(self._special_tokens) - allowed
        return frozenset(word("a text of disallowed_special", text) for text in disallowed or ())

    def _check(self, text: str, disallowed: frozenset[str]) -> None:
        if disallowed:
            start, regex = _search(disallowed)
            if start in text and (found := regex.search(text)):
                _refuse(found[0])

    def _known(self, read: Callable[[Any], _T], tokens: Any) -> _T:
        """What a method reads, with tiktoken's error for unknown ids."""
        try:
            return read(tokens)
        except TokenIdError as error:
            raise UnknownTokenError(error.message, index=error.index, value=error.value) from None


@functools.lru_cache(maxsize=128)
def _search(texts: frozenset[str]) -> tuple[str, re.Pattern[str]]:
    """What all of these texts start with, and a pattern for them; the longest are found first."""
    ordered = sorted(texts, key=lambda text: (-len(text), text))
    start = os.path.commonprefix(ordered)  # noqa: RUF071  # any characters are meant
    return start, re.compile("|".join(map(re.escape, ordered)))


def _refuse(text: str) -> NoReturn:
    raise SpecialTokenError(
        f"the text contains {text!r}, the text of a special token that is not allowed.",
        value=text,
        hint=f"To encode it as this token, pass allowed_special={{{text!r}, ...}}. To encode it as "
        f"plain text, pass disallowed_special=(enc.special_tokens_set - {{{text!r}}}), or "
        "disallowed_special=() for all special tokens.",
    )


def _repaired(text: str) -> str:
    """The text with pairs of surrogates as their characters, and U+FFFD for single ones."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
