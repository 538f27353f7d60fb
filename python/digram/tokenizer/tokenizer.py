"""The tokenizer: an immutable value that encodes, decodes and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, Self, get_args, overload

from digram._core import Model
from digram._util.read_only import ReadOnly
from digram._util.validation import any_number, choice, flag, instance, mapping, word
from digram.errors import OptionError, VocabError, several, show
from digram.pretokenizers.pretokenizer import Pretokenizer
from digram.tokenizer.batch import BatchingCore
from digram.tokenizer.changed import ChangedCore
from digram.tokenizer.chat.callable import ChattingCore
from digram.tokenizer.count import CountingCore
from digram.tokenizer.encoding.callable import CallableCore
from digram.tokenizer.encoding.template_ids import Layout
from digram.tokenizer.for_models import ForModelsCore
from digram.tokenizer.merge_log import MergeLogCore
from digram.tokenizer.to_tiktoken import TiktokenCore
from digram.tokenizer.vocabulary import Vocabulary
from digram.vocab.bpe import check_dropout
from digram.vocab.model import Kernel
from digram.vocab.packed import Compact, compacted
from digram.vocab.settings import OnUnknown, Settings, TrimOffsets, Unit
from digram.vocab.special_tokens import Matching, SpecialToken, checked, flags_of

if TYPE_CHECKING:
    from digram.decoders.decoding import Decoding
    from digram.pretokenizers.rules import Rules
    from digram.vocab.definition import Definition, TrainingRecord
    from digram.vocab.limits import Padding, Truncation
    from digram.vocab.template import Template

__all__ = ["Tokenizer"]


_MAX_IDS = 1 << 32  # more than any vocabulary has


class _Extra(NamedTuple):
    """The Python values that the core keeps with a tokenizer."""

    settings: Settings
    layout: Layout


class Tokenizer(
    CallableCore,
    BatchingCore,
    CountingCore,
    ChattingCore,
    MergeLogCore,
    ChangedCore,
    ForModelsCore,
    TiktokenCore,
):
    """A tokenizer: encodes text to token ids, decodes ids, and counts tokens.

    Made by `digram.train` or `digram.load`, or from a `Definition`.

    >>> import digram
    >>> tok = digram.train("low low lower lowest", vocab_size=259, pretokenizer="whitespace")
    >>> tok.encode("lower")
    [257, 101, 114]
    >>> tok.tokens([257, 101, 114])
    [b'low', b'e', b'r']
    >>> tok.decode([257, 101, 114])
    'lower'

    A tokenizer is immutable: methods that change something return a new one. So threads and
    processes can share it. Two tokenizers are equal if they have the same `digest`, whatever their
    origin. `len(tok)` is the number of tokens, including special tokens; it is at most
    `vocab_size`.
    """

    __slots__ = ()

    def __new__(cls, definition: Definition) -> Self:
        """Create a tokenizer from a definition; raises `VocabError` if it is inconsistent."""
        return cls._of(compacted(definition))

    @classmethod
    def _of(cls, compact: Compact) -> Self:
        model, special_tokens, settings = compact
        mapping("special_tokens", special_tokens, "texts and ids")
        instance("pretokenizer", settings.pretokenizer, Pretokenizer)
        choice("unit", settings.unit, *get_args(Unit))
        if settings.unit == "char" and settings.pretokenizer.byte_patterns:
            raise VocabError(
                "byte_patterns may split characters, which are the units of this tokenizer.",
                value=settings.pretokenizer.byte_patterns,
                hint='Choose unit="byte", or a pretokenizer without byte_patterns=.',
            )
        instance("definition.model.kernel()", settings.kernel, Kernel)
        algorithm = settings.kernel.core()
        if settings.byte_ids is not None:
            ids = settings.byte_ids
            if not isinstance(ids, list) or not all(type(id) is int for id in ids):
                raise TypeError(f"byte_ids is a list of ids, not {show(ids)}")
            if len(ids) != 256 or not 0 <= min(ids) <= max(ids) < _MAX_IDS:
                raise VocabError(
                    f"byte_ids are not 256 ids from 0 to {_MAX_IDS - 1:,}, but {show(ids)}.",
                    value=ids,
                    hint="Pass the id of each byte, in the order of bytes.",
                )
        for text, id in special_tokens.items():
            if not 0 <= any_number(f"special_tokens[{show(text)}]", id) < _MAX_IDS:
                raise VocabError(
                    f"the special token {show(word('a special token', text))} cannot have the id "
                    f"{show(id)}.",
                    value=id,
                    hint=f"Ids go from 0 to {_MAX_IDS - 1:,}.",
                )
            word("a special token", text)
        matching = checked(settings.matching, special_tokens)
        unknown = _unknown_in(settings, special_tokens, model)
        check_dropout(settings.dropout, settings.kernel)
        choice("trim_offsets", settings.trim_offsets, None, *get_args(TrimOffsets))
        _check_rare(settings, special_tokens)
        return super().__new__(
            cls,
            model,
            [(text, id, flags_of(matching.get(text))) for text, id in special_tokens.items()],
            settings.space_symbol is not None and settings.pretokenizer.words is None,
            settings.pretokenizer.splitter(),
            flag("strip_first_space", settings.strip_first_space),
            flag("cleanup", settings.cleanup),
            _described(compact),
            settings.unit,
            unknown,
            algorithm,
            _Extra(settings, Layout.of(settings, special_tokens)),
        )

    @property
    def definition(self) -> Definition:
        """The tokenizer as plain values, a `digram.Definition`.

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2)
        >>> definition = tok.definition
        >>> definition.unit, digram.Tokenizer(definition) == tok
        ('byte', True)

        Each access creates a new `Definition`, in time linear in the size of the vocabulary.
        """
        return Compact(self._model, self.special_tokens, self._settings).plain()

    @property
    def _settings(self) -> Settings:
        settings: Settings = self._extra.settings
        return settings

    @property
    def special_tokens(self) -> ReadOnly[str, int]:
        """The special tokens and their ids, by id, as a read-only dictionary.

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2, special_tokens=["<s>", "<pad>"])
        >>> tok.special_tokens, tok.with_special_tokens(["<x>"]).special_tokens["<x>"]
        ({'<s>': 258, '<pad>': 259}, 260)

        Takes time linear in the number of special tokens.
        """
        return ReadOnly(super().special_tokens, "call tok.with_special_tokens")

    @property
    def pretokenizer(self) -> Pretokenizer:
        """The pretokenizer, which splits text before merges are applied; see `pretokenize`."""
        return self._settings.pretokenizer

    @property
    def rules(self) -> Rules | None:
        """The rules of the pretokenizer; None if there are none."""
        return self._settings.pretokenizer.rules

    @property
    def unit(self) -> Unit:
        """The unit from which merges start: "byte" or "char"."""
        return self._settings.unit

    @property
    def _unknown_id(self) -> int | None:
        """The id of the token for unknown characters or words; None if there is none."""
        unknown = self._settings.on_unknown
        if self.unit == "byte" or isinstance(unknown, str):
            return None
        if isinstance(unknown, SpecialToken):
            return self.special_tokens[unknown.text]
        return _id_of(unknown, self._model)

    @property
    def on_unknown(self) -> OnUnknown:
        """How characters without a token are encoded: "error", "bytes", or as a token.

        That is a `SpecialToken`, or the bytes of an ordinary token, as a file of another program
        may have it, which text may become too.

        It has an effect only if `unit` is "char"; with bytes, every character can be encoded.
        """
        return self._settings.on_unknown

    @property
    def training(self) -> TrainingRecord | None:
        """How the tokenizer was trained, a `TrainingRecord`; None if that is not known.

        >>> import digram
        >>> tok = digram.train("banana", vocab_size=300, pretokenizer=None)
        >>> tok.vocab_size, tok.training.stop_reason
        (260, 'no_pairs')
        """
        return self._settings.training

    @property
    def template(self) -> Template | None:
        """The special tokens that `tok(text)` adds to a text; None if it adds none."""
        return self._settings.template

    @property
    def context_size(self) -> int | None:
        """The context size of the model, in tokens, for `tok(text, max_length="context")`.

        None if it is not set.
        """
        return self._settings.context_size

    @property
    def pad_token(self) -> str | None:
        """The text of the special token that `tok(text, padding=...)` adds; None if not set."""
        return self._settings.pad_token

    @property
    def truncation(self) -> Truncation | None:
        """How the file says that texts are truncated, a `digram.Truncation`; None if it does not.

        It applies only to calls that say so: see `call_options`.
        """
        return self._settings.truncation

    @property
    def padding(self) -> Padding | None:
        """How the file says that texts are padded, a `digram.Padding`; None if it does not.

        It applies only to calls that say so: see `call_options`.
        """
        return self._settings.padding

    @property
    def call_options(self) -> dict[str, Any]:
        """The truncation and padding of the file as arguments of `tok(text)`; empty without any.

        >>> import digram
        >>> from dataclasses import replace
        >>> tok = digram.train("low low", max_merges=2, special_tokens=["<pad>"])
        >>> limits = {"truncation": digram.Truncation(2), "padding": digram.Padding("<pad>")}
        >>> tok = digram.Tokenizer(replace(tok.definition, pad_token="<pad>", **limits))
        >>> tok.call_options
        {'max_length': 2, 'padding': 'longest'}
        >>> tok(["low", "low!!"], **tok.call_options).ids
        [[257, 258], [257, 33]]

        Hugging Face's libraries apply them to every text. Here a call without them gives all tokens
        of a text. A dict is made at each access.
        """
        truncation, padding = self._settings.truncation, self._settings.padding
        options: dict[str, Any] = {} if truncation is None else truncation.options()
        if padding is not None:
            options |= padding.options()
            id = self.special_tokens[padding.token] if padding.id is None else padding.id
            if id != self._extra.layout.pad_id:
                options["pad_id"] = id
        for side in ("truncation_side", "padding_side"):
            if options.get(side) == getattr(self, side):
                del options[side]
        return options

    @property
    def dropout(self) -> float | None:
        """The probability with which other libraries leave out merges in every call.

        A tokenizer.json may say it for training a model; None if it does not. `encode` leaves out
        merges only where the call says so: `tok.encode(text, dropout=tok.dropout, seed=1)`.
        """
        return self._settings.dropout

    @property
    def decoding(self) -> Decoding | None:
        """The steps by which ids become text, a `digram.Decoding`.

        None for most tokenizers, whose text is the bytes of the tokens.
        """
        return self._settings.decoding

    @property
    def reserved(self) -> ReadOnly[str, range]:
        """The ids that `train(reserve=...)` reserved, by name; padding is named "unused".

        >>> import digram
        >>> tok = digram.train("banana", vocab_size=261, reserve={"image": 4}, pretokenizer=None)
        >>> tok.reserved["image"], tok.merges, tok.vocab_size
        (range(257, 261), [(b'a', b'n')], 261)
        >>> tok.decode([257, 98])
        '<|image_0|>b'

        Each reserved id is a special token, so all programs that read a saved file use the same
        ids. Its text is encoded as this id only if `special=` allows that. The dictionary is
        read-only.
        """
        return ReadOnly(self._settings.reserved or {}, "pass reserve= to digram.train")

    @property
    def matching(self) -> ReadOnly[str, Matching]:
        """Where the text of special tokens is that token, for those with a `digram.Matching`.

        The others are found exactly as written, and only where `special=` allows it.

        >>> import digram
        >>> digram.train("a", max_merges=0, special_tokens=["<s>"]).matching
        {}

        The dictionary is read-only.
        """
        return ReadOnly(self._settings.matching or {}, "make a Tokenizer of a changed definition")

    @property
    def vocab(self) -> Vocabulary:
        """The ids of all tokens by their bytes, as a read-only mapping in the order of ids.

        >>> import digram
        >>> tok = digram.train("low low", vocab_size=259, special_tokens=["<s>"])
        >>> len(tok.vocab), tok.vocab[b"low"], b"slow" in tok.vocab
        (259, 257, False)
        >>> {id: token for token, id in tok.vocab.items() if id > 255}
        {256: b'lo', 257: b'low', 258: b'<s>'}

        Special tokens are included by their text. Ids without a token are not, so the mapping may
        be shorter than `vocab_size`. If several ids have the same bytes, it has the one that
        `token_to_id` returns. Tokens are copied only when you iterate over it, which takes about
        0.1 µs per token.
        """
        return Vocabulary(self)

    def id_to_token(self, id: int) -> bytes:
        """Return the bytes of a token; for a special token, its text in UTF-8.

        >>> import digram
        >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
        >>> tok.id_to_token(257), tok.token_to_id(b"low")
        (b'low', 257)

        Raises `TokenIdError` for an id that is not in the vocabulary. Takes constant time. `tokens`
        takes several ids.
        """
        return self.tokens([id])[0]

    @overload
    def pretokenize(self, text: str) -> list[str]: ...
    @overload
    def pretokenize(self, text: bytes) -> list[bytes]: ...
    def pretokenize(self, text: str | bytes) -> list[str] | list[bytes]:
        """Split a text into its pretokens, the pieces inside which merges are applied.

        >>> import digram
        >>> tok = digram.train("use byte pairs", max_merges=0, pretokenizer="gpt2")
        >>> tok.pretokenize("use byte pairs!")
        ['use', ' byte', ' pairs', '!']

        Returns strings for a `str`, and `bytes` for `bytes`; joined, they are the text, or the
        normalized text. Special tokens in the text are split like any other text. Raises
        `InvalidTextError` for a lone surrogate. The time is linear in the text.
        """
        return self.pretokenizer.splitter().split(text)

    def save(
        self,
        path: str | PathLike[str],
        *,
        format: str | None = None,
        allow_loss: bool = False,
    ) -> None:
        """Save the tokenizer to a file or folder.

        >>> import digram, pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "tokenizer.json"
        >>> tok = digram.train("low low lower", vocab_size=258)
        >>> tok.save(path)
        >>> digram.load(path) == tok
        True

        `format` is "huggingface" (`tokenizer.json`, which Hugging Face's libraries can read),
        "tiktoken", "gguf" (a vocabulary for llama.cpp), "tekken" (`tekken.json`), "minbpe" (its
        `.model`), "vocab_merges" (a folder with `vocab.json` and `merges.txt`), "seed_pair" (a
        folder with `vocabulary.json` and `merges.json`), "vocab_txt" (BERT's `vocab.txt`),
        "sentencepiece" (a `.model` file, for models of scores), "clip" (the compressed merges of
        CLIP), "subword_nmt" (its codes), "rwkv" (RWKV's word list), or "digram" (a `.json` file for
        tokenizers that other programs do not support). By default it follows from the name of the
        file: `tokenizer.json` is always that of Hugging Face, any other `.json` only if its
        libraries have the model, and otherwise digram's own.

        The file is replaced atomically: a crash leaves either the old file or the new one. Raises
        `VocabError` for content that the format cannot store, unless `allow_loss` is true;
        `OptionError` for an unknown format; and `OSError` if the file cannot be written. Takes time
        linear in the size of the vocabulary.
        """
        from digram import formats

        formats.write(self.definition, path, format=format, allow_loss=allow_loss)

    @property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, of everything that determines how the tokenizer encodes.

        >>> import digram
        >>> tok = digram.train("low low", max_merges=2)
        >>> tok.digest == digram.Tokenizer(tok.definition).digest
        True

        It is the same in every version of digram, and does not depend on the origin of the
        tokenizer. The first access reads all tokens and merges, which takes some milliseconds.
        """
        return self._digest(Compact(self._model, self.special_tokens, self._settings).digest)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        special = f", {len(self.special_tokens)} special" if self.special_tokens else ""
        unit = "" if self.unit == "byte" else f", unit={self.unit!r}"
        label = self._settings.kernel.label
        unit += "" if label is None else f", {label}"
        unit += "" if self.decoding is None else f", decoding={_kinds(self.decoding.steps)}"
        return (
            f"<digram.Tokenizer: {several(len(self), 'token')}{special}, "
            f"{_shown(self.pretokenizer)}{unit}>"
        )

    def _repr_html_(self) -> str:
        from digram.tokenizer.html import tokenizer_page

        return tokenizer_page(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._model.to_bytes(), dict(self.special_tokens), self._settings)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __iter__(self) -> Iterator[Any]:
        # Without this method, the error would not say what to use instead.
        raise TypeError("a Tokenizer is not iterable; encode a text, or use its merges or tokens")


def _name_methods() -> None:
    """Give the methods of the classes above the name by which users call them, for errors."""
    for base in Tokenizer.__mro__[1:]:
        for name, method in vars(base).items():
            if isinstance(method, FunctionType):
                method.__qualname__, method.__module__ = f"Tokenizer.{name}", Tokenizer.__module__


_name_methods()


def _restored(stored: bytes, special_tokens: dict[str, int], settings: Settings) -> Tokenizer:
    return Tokenizer._of(Compact(Model.from_bytes(stored), special_tokens, settings))


def _check_rare(settings: Settings, special_tokens: Mapping[str, int]) -> None:
    """Check the settings that few tokenizers have; their modules are imported only for them."""
    if (
        settings.on_unknown not in ("error", "bytes")
        or settings.space_symbol
        or settings.trim_offsets
        or settings.strip_first_space
        or getattr(settings.kernel, "fuse_unknown", False)
    ):
        from digram.vocab.unused import refuse_unused

        refuse_unused(settings)
    if settings.training is not None:
        from digram.vocab.definition import check_record

        check_record(settings.training)
    if settings.reserved:
        from digram.vocab.reserved_ids import check_reserved

        check_reserved(settings.reserved, special_tokens)
    if settings.special_roles is not None or settings.chat_templates:
        from digram.vocab.special_roles import check_chat_templates, check_roles

        check_roles(settings.special_roles, special_tokens)
        check_chat_templates(settings.chat_templates)


def _described(compact: Compact) -> tuple[list[str | None], list[tuple[object, ...]]] | None:
    """The names of tokens and the steps of the decoding, as the core reads them."""
    decoding = compact.settings.decoding
    if decoding is None:
        return None
    from digram.decoders.decoding import Decoding
    from digram.formats import names_of

    instance("decoding", decoding, Decoding)
    return names_of(compact.plain()), decoding._described()


def _unknown_in(
    settings: Settings, special_tokens: Mapping[str, int], model: Model
) -> int | list[int] | None:
    """What unknown characters become in the core: the id of a token, those of bytes, or nothing."""
    unknown = settings.on_unknown
    if isinstance(unknown, bytes):
        return _id_of(unknown, model)
    if not isinstance(unknown, SpecialToken):
        choice("on_unknown", unknown, "error", "bytes")
        return settings.byte_ids if settings.unit == "char" and unknown == "bytes" else None
    if settings.unit == "byte":
        return None
    if unknown.text not in special_tokens:
        raise OptionError(
            f"on_unknown names {show(unknown.text)}, which is not a special token of this "
            "tokenizer.",
            value=unknown,
        )
    return special_tokens[unknown.text]


def _id_of(unknown: bytes, model: Model) -> int:
    """The id of the ordinary token for unknown characters. Raises `VocabError` if there is none."""
    try:
        return model.tokens().index(unknown)
    except ValueError:
        raise VocabError(
            f"on_unknown={show(unknown)} is not a token of this vocabulary.",
            value=unknown,
            hint='Pass the bytes of a token, a digram.SpecialToken, "error" or "bytes".',
        ) from None


def _shown(cut: Pretokenizer) -> str:
    """A pretokenizer in few words; `tok.pretokenizer` has all of it."""
    patterns = cut.patterns
    if cut.name is not None or not patterns:
        shown = [f"pretokenizer={cut.name!r}"]
    elif len(patterns) == 1 and len(patterns[0]) <= _LONGEST_SHOWN:
        shown = [f"pretokenizer=Regex({patterns[0]!r})"]
    else:
        shown = [f"pretokenizer=<{several(len(patterns), 'pattern')}>"]
    if cut.digits is not None:
        shown.append(f"digits={cut.digits!r}")
    if cut.rules is not None:
        shown.append("rules")
    if cut.normalizer:
        shown.append(f"normalizer={_kinds(cut.normalizer)}")
    if cut.byte_patterns:
        shown.append(several(len(cut.byte_patterns), "pattern") + " of bytes")
    return ", ".join(shown)


_LONGEST_SHOWN = 40
"""The number of characters of a pattern that `repr` shows."""


def _kinds(stages: Iterable[object]) -> str:
    return f"[{', '.join(type(stage).__name__ for stage in stages)}]"
