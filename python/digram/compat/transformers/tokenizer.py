"""`PreTrainedTokenizerFast`, with the methods of transformers'."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from digram._util.validation import path_name
from digram._util.warning import warn
from digram.compat.transformers.batch_encoding import BatchEncoding
from digram.compat.transformers.chats import Chatting
from digram.compat.transformers.encoding import columns, encodings, is_batch, padded, width_of
from digram.compat.transformers.names import model_size, names_of
from digram.compat.transformers.origin import origin
from digram.compat.transformers.special import ATTRIBUTES
from digram.compat.transformers.strategies import LARGE, strategies
from digram.errors import OptionError, TokenIdError, show
from digram.formats._classes import INPUTS, usual
from digram.formats.pretrained import content_of
from digram.names import find
from digram.tokenizer.load import load
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["PreTrainedTokenizerFast"]

_NO_LIMIT = int(1e30)
_CONFIGURED = ("model_input_names", "clean_up_tokenization_spaces", "split_special_tokens")
"""The options of tokenizer_config.json that apply to calls."""
_IDS_ALONE = {"return_attention_mask": False, "return_token_type_ids": False}
_CLEANED = (
    *((" .", "."), (" ?", "?"), (" !", "!"), (" ,", ","), (" ' ", "'"), (" n't", "n't")),
    *((" 'm", "'m"), (" 's", "'s"), (" 've", "'ve"), (" 're", "'re")),
)


class PreTrainedTokenizerFast(Chatting):
    """A tokenizer with the interface of `transformers.PreTrainedTokenizerFast`.

    >>> import digram
    >>> tok = digram.train("low low lower", vocab_size=259, special_tokens=["<pad>"])
    >>> tokenizer = PreTrainedTokenizerFast(tok.with_pad_token("<pad>"))
    >>> batch = tokenizer(["low", "low low"], padding=True)
    >>> batch["input_ids"], batch["attention_mask"]
    ([[257, 258, 258], [257, 32, 257]], [[1, 0, 0], [1, 1, 1]])

    `tokenizer_object` is a `digram.Tokenizer`, or the path of a `tokenizer_file` is given. Special
    tokens by their roles, such as `pad_token`, may be given too. Without `padding_side` and
    `truncation_side`, the sides are those of the tokenizer.
    """

    is_fast = True
    vocab_files_names: ClassVar = {
        "tokenizer_file": "tokenizer.json",
        "vocab_file": "tokenizer.model",
    }
    padding_side: str
    truncation_side: str

    def __init__(
        self,
        tokenizer_object: Tokenizer | None = None,
        *,
        tokenizer_file: str | os.PathLike[str] | None = None,
        **named: Any,
    ) -> None:
        if tokenizer_object is None:
            if tokenizer_file is None:
                raise OptionError("pass a digram.Tokenizer, or a tokenizer_file.")
            tokenizer_file = path_name(tokenizer_file, "tokenizer_file")
            tokenizer_object = load(tokenizer_file)
        if not isinstance(tokenizer_object, Tokenizer):
            kind = type(tokenizer_object).__name__
            raise TypeError(f"tokenizer_object is a digram.Tokenizer, not {kind}")
        names = names_of(tokenizer_object)  # raises for one without a tokenizer.json
        self._tok = tokenizer_object
        size = None if tokenizer_file is None else model_size(os.fspath(tokenizer_file))
        self._model_size: int = size or len(names.model)
        self.init_kwargs: dict[str, Any] = dict(named)
        size = tokenizer_object.context_size
        self.model_max_length: int = named.pop("model_max_length", size or _NO_LIMIT)
        for name in ("padding_side", "truncation_side"):
            side = named.pop(name, getattr(tokenizer_object, name))
            setattr(self, name, _side(name, side))
        self.model_input_names: list[str] = _names(named.pop("model_input_names", INPUTS))
        self.clean_up_tokenization_spaces = named.pop("clean_up_tokenization_spaces", False)
        self.split_special_tokens: bool = named.pop("split_special_tokens", False)
        self.name_or_path: str = named.pop("name_or_path", "")
        self.pad_token_type_id = 0
        self.verbose: bool = named.pop("verbose", True)
        roles = {name: named.pop(name) for name in ATTRIBUTES if named.get(name) is not None}
        self._assign(roles, changes=False)
        if named:
            verb = "is no option" if len(named) == 1 else "are no options"
            raise OptionError(f"{', '.join(map(show, named))} {verb} of a tokenizer.")

    @property
    def tokenizer(self) -> Tokenizer:
        """The `digram.Tokenizer` with all that was added."""
        return self._tok

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path: str | os.PathLike[str], **named: Any
    ) -> Self:
        """Load a folder, a file, or a model by its name, as `digram.load` finds it.

        Options that ask transformers for downloads are accepted where the files on this machine are
        the answer. Raises `OptionError` for others, and the errors of `digram.load`.
        """
        name = path_name(pretrained_model_name_or_path, "pretrained_model_name_or_path")
        place = origin(pretrained_model_name_or_path, named)
        tok = load(place)
        folder = find(place).path
        said = content_of(folder, "tokenizer_config.json")
        given = {name: said[name] for name in _CONFIGURED if said.get(name) is not None}
        if os.path.isdir(folder):
            model = content_of(folder, "config.json")
            default = usual(said, model, of_bytes=tok.definition.unit == "byte")
            given.setdefault("model_input_names", default.inputs)
        made = cls(tok, **{"name_or_path": name, **given, **named})
        made._model_size = model_size(folder) or made._model_size
        made.init_kwargs = {**said, **made.init_kwargs}
        is_told = "added_tokens_decoder" in said
        made._note_special(said, {} if is_told else content_of(folder, "special_tokens_map.json"))
        return made

    def save_pretrained(self, save_directory: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write a folder that transformers and `digram.load` read; returns the paths."""
        save_directory = path_name(save_directory, "save_directory")
        self._tok.save_pretrained(save_directory)
        path = os.path.join(save_directory, "tokenizer_config.json")
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        config |= {
            "clean_up_tokenization_spaces": self.clean_up_tokenization_spaces,
            **({"split_special_tokens": True} if self.split_special_tokens else {}),
            "model_input_names": self.model_input_names,
            "model_max_length": self.model_max_length,
            "padding_side": self.padding_side,
            "truncation_side": self.truncation_side,
            # In the forms that both versions read.
            **({"additional_special_tokens": self._extra} if self._extra else {}),
            **({"extra_special_tokens": self._specific} if self._specific else {}),
        }
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file, indent=2, ensure_ascii=False)
        names = ("tokenizer_config.json", "special_tokens_map.json", "tokenizer.json")
        return tuple(os.path.join(save_directory, name) for name in names)

    # --- encoding

    def __call__(
        self,
        text: Any = None,
        text_pair: Any = None,
        text_target: Any = None,
        text_pair_target: Any = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
        split_special_tokens: bool | None = None,
    ) -> BatchEncoding:
        """Encode a text, a list of texts, or words with `is_split_into_words`, with their pairs.

        Arguments, defaults and the columns of the result are those of transformers. The text of
        special tokens becomes these tokens, unless `split_special_tokens`. Raises `OptionError`, a
        `ValueError`, where transformers raises that, and for truncation that leaves no token.
        """
        if text is None and text_target is None:
            raise OptionError("pass text or text_target.")
        if text_target is not None:
            given = {key: value for key, value in locals().items() if key not in ("self", "text")}
            for name in ("text_pair", "text_target", "text_pair_target"):
                del given[name]
            target = self(text_target, text_pair_target, **given)
            if text is None:
                return target
            both = self(text, text_pair, **given)
            both["labels"] = target["input_ids"]
            return both
        _check_text(text)
        options = {
            "add_special_tokens": add_special_tokens,
            "stride": stride,
            "is_split_into_words": is_split_into_words,
            "truncation_side": self.truncation_side,
            "split_special_tokens": split_special_tokens
            if split_special_tokens is not None
            else self.split_special_tokens,
        }
        chosen = self._strategies(padding, truncation, max_length, pad_to_multiple_of, verbose)
        found = encodings(self._tok, text, text_pair, chosen, options)
        samples = [*range(len(found))]
        if return_overflowing_tokens:
            several = [[one, *one.overflowing] for one in found]
            samples = [number for number, rows in enumerate(several) for _ in rows]
            found = [one for rows in several for one in rows]
        wanted = {
            "input_ids": True,
            "token_type_ids": self._wants("token_type_ids", return_token_type_ids),
            "attention_mask": self._wants("attention_mask", return_attention_mask),
            "special_tokens_mask": return_special_tokens_mask,
            "offset_mapping": return_offsets_mapping,
        }
        names = [name for name, is_wanted in wanted.items() if is_wanted]
        width = width_of(list(map(len, found)), chosen, pad_to_multiple_of, together=True)
        side = self.padding_side if padding_side is None else _side("padding_side", padding_side)
        pads = chosen.padding != "do_not_pad"
        pad = (self.pad_token_id or 0, self.pad_token) if pads else (0, None)
        data, rows = columns(self._tok, found, names, width, side, pad, with_length=return_length)
        if return_overflowing_tokens:
            data["overflow_to_sample_mapping"] = samples
        self._warn_if_long(data["input_ids"], chosen.max_length, verbose)
        single = not is_batch(text, is_split_into_words)
        if single and return_tensors is None and not return_overflowing_tokens:
            one = {key: v[0] if isinstance(v[0], list) else v for key, v in data.items()}
            return BatchEncoding(one, rows)
        return BatchEncoding(data, rows, tensor_type=return_tensors)

    def _encoded(self, text: Any, **options: Any) -> BatchEncoding:
        return self(text, **options)

    def encode(self, text: Any, text_pair: Any = None, **options: Any) -> Any:
        """Encode a text: the "input_ids" of a call."""
        return self(text, text_pair, **(_IDS_ALONE | options))["input_ids"]

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **options: Any
    ) -> list[str]:
        """Return the texts of the tokens of a text."""
        options = _IDS_ALONE | options
        return self(text, pair, add_special_tokens=add_special_tokens, **options).tokens()

    def pad(
        self,
        encoded_inputs: Any,
        padding: bool | str = True,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        return_attention_mask: bool | None = None,
        return_tensors: str | None = None,
        verbose: bool = True,
    ) -> BatchEncoding:
        """Pad encodings: a dictionary, or a list of dictionaries, as data collators have them."""
        chosen = self._strategies(padding, None, max_length, None, verbose)
        side = self.padding_side if padding_side is None else _side("padding_side", padding_side)
        masked = self._wants("attention_mask", return_attention_mask)
        pad_id = self.pad_token_id
        return padded(
            encoded_inputs, chosen, pad_to_multiple_of, side, pad_id, masked, return_tensors
        )

    # --- decoding

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> Any:
        """Decode ids to a text, or several sequences of ids to a list of texts.

        Ids without a token are left out. `clean_up_tokenization_spaces` removes spaces before marks
        for models other than BPE.
        """
        ids = token_ids["input_ids"] if isinstance(token_ids, Mapping) else token_ids
        ids = ids.tolist() if hasattr(ids, "tolist") else ids
        if isinstance(ids, list | tuple) and ids and hasattr(ids[0], "tolist"):
            ids = [one.tolist() for one in ids]
        if isinstance(ids, list | tuple) and ids and isinstance(ids[0], list | tuple):
            cleans = clean_up_tokenization_spaces
            return [self.decode(one, skip_special_tokens, cleans) for one in ids]
        ids = [ids] if isinstance(ids, int) else list(ids)
        try:
            text = self._tok.decode(ids, skip_special_tokens=skip_special_tokens)
        except TokenIdError:
            known = names_of(self._tok).texts
            kept = [id for id in ids if id in known]
            text = self._tok.decode(kept, skip_special_tokens=skip_special_tokens)
        cleans = clean_up_tokenization_spaces
        cleans = self.clean_up_tokenization_spaces if cleans is None else cleans
        return self.clean_up_tokenization(text) if cleans and self._kind != "BPE" else text

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
    ) -> list[str]:
        """Decode several sequences of ids."""
        if len(sequences) == 0:
            return []
        found = self.decode(sequences, skip_special_tokens, clean_up_tokenization_spaces)
        return [found] if isinstance(found, str) else found

    @property
    def _kind(self) -> str:
        return names_of(self._tok).kind

    @staticmethod
    def clean_up_tokenization(text: str) -> str:
        """Remove the spaces before marks and English contractions."""
        for old, new in _CLEANED:
            text = text.replace(old, new)
        return text

    # --- helpers

    def _strategies(
        self, padding: Any, truncation: Any, length: int | None, multiple: int | None, verbose: bool
    ) -> Any:
        return strategies(
            padding,
            truncation,
            length,
            multiple,
            model_max_length=self.model_max_length,
            has_pad=padding is False or self.pad_token is not None,
            verbose=verbose,
        )

    def _wants(self, name: str, asked: bool | None) -> bool:
        return name in self.model_input_names if asked is None else asked

    def _warn_if_long(self, rows: Sequence[Any], max_length: int | None, verbose: bool) -> None:
        longest = max(map(len, rows), default=0)
        if max_length is None and verbose and LARGE > self.model_max_length < longest:
            warn(f"a text has {longest} tokens, but the model takes {self.model_max_length}.")

    def __repr__(self) -> str:
        return (
            f"PreTrainedTokenizerFast(vocab_size={self.vocab_size}, "
            f"model_max_length={self.model_max_length}, padding_side={self.padding_side!r}, "
            f"special_tokens={self.special_tokens_map})"
        )


def _side(name: str, value: Any) -> str:
    if value not in ("left", "right"):
        raise OptionError(
            f"{name}={show(value)} is not known. Pass 'left' or 'right'.", value=value
        )
    return str(value)


def _names(value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise OptionError(
            f"model_input_names is a list of names, not {show(value)}.",
            value=value,
            hint="Correct tokenizer_config.json if it says so, or pass another one.",
        )
    return list(value)


def _check_text(text: Any) -> None:
    one = text
    for _ in range(3):
        if isinstance(one, list | tuple) and one:
            one = one[0]
    if not isinstance(one, str | list | tuple):
        raise OptionError(
            f"text is a str, or several in a list, not {type(one).__name__}.", value=text
        )
