"""Encoding, padding and the results of both, as transformers gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from digram.compat.transformers.batch_encoding import BatchEncoding
from digram.compat.transformers.padded import PaddedEncoding, Padding
from digram.compat.transformers.strategies import Strategies
from digram.errors import OptionError
from digram.tokenizer.encoding.encoding import Encoding
from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["columns", "encodings", "is_batch", "padded", "width_of"]

_PROPERTIES = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "attention_mask",
    "special_tokens_mask": "special_tokens_mask",
    "offset_mapping": "offsets",
}


def is_batch(text: Any, are_words: bool) -> bool:
    """Whether there are several texts."""
    if are_words:
        return isinstance(text, list | tuple) and bool(text) and isinstance(text[0], list | tuple)
    return isinstance(text, list | tuple)


def encodings(
    tok: Tokenizer, text: Any, pair: Any, strategies: Strategies, options: dict[str, Any]
) -> list[Encoding]:
    """The encodings of texts, without padding."""
    are_words = options["is_split_into_words"]
    batched = is_batch(text, are_words)
    if not batched:
        pair = pair or None
    elif isinstance(pair, str):
        raise TypeError("text_pair is a list like text, not a str")
    if (
        batched
        and pair is None
        and not are_words
        and any(isinstance(one, list | tuple) for one in text)
    ):
        # Pairs, as (text, pair).
        pair, text = [one[1] for one in text], [one[0] for one in text]
    given: dict[str, Any] = {}
    if strategies.truncation != "do_not_truncate" and strategies.max_length is not None:
        given = {
            "max_length": strategies.max_length,
            "truncation": strategies.truncation,
            "truncation_side": options["truncation_side"],
            "overlap": options["stride"],
        }
        if strategies.truncation == "only_second" and pair is None:
            # Only a text that is too long is an error.
            given = {"max_length": strategies.max_length, "truncation": "raise"}
    found = tok(
        text,
        pair,
        is_split_into_words=are_words,
        special="text" if options["split_special_tokens"] else "parse",
        add_special_tokens=options["add_special_tokens"],
        **given,
    )
    return [*found.encodings] if batched else [found]


def width_of(
    lengths: Sequence[int], strategies: Strategies, multiple: int | None, *, together: bool
) -> int:
    """The number of tokens to pad to; 0 for none."""
    if strategies.padding == "do_not_pad":
        return 0
    longest = max(lengths, default=0)
    width = longest if strategies.padding == "longest" else strategies.max_length or 0
    if together and strategies.padding == "max_length":
        width = strategies.max_length or longest
    return -(-width // multiple) * multiple if multiple else width


def columns(
    tok: Tokenizer,
    rows: list[Encoding],
    names: Sequence[str],
    width: int,
    side: str,
    pad: tuple[int, str | None],
    *,
    with_length: bool,
) -> tuple[dict[str, list[Any]], list[PaddedEncoding]]:
    """The columns of encodings, padded, and the rows for the places of tokens."""
    padding = Padding(tok, width, side, pad)
    made = [PaddedEncoding(encoding, padding) for encoding in rows]
    found = {name: [getattr(row, _PROPERTIES[name]) for row in made] for name in names}
    if with_length:
        found["length"] = [len(row) for row in made]
    return found, made


def padded(
    inputs: Any,
    strategies: Strategies,
    multiple: int | None,
    side: str,
    pad_id: int | None,
    return_attention_mask: bool,
    tensors: str | None,
) -> BatchEncoding:
    """Pad what calls gave: a dictionary of one or several sequences, or a list of dictionaries."""
    if isinstance(inputs, list | tuple) and inputs and isinstance(inputs[0], Mapping):
        inputs = {key: [one[key] for one in inputs] for key in inputs[0]}
    data = {key: _plain(value) for key, value in dict(inputs).items()}
    if "input_ids" not in data:
        raise OptionError(
            f"the encodings have no input_ids, but {', '.join(map(repr, data))}.",
            hint="Pass the result of calls, or dictionaries with input_ids.",
        )
    ids = data["input_ids"]
    if not ids:
        return BatchEncoding({**data, **({"attention_mask": []} if return_attention_mask else {})})
    is_one = not isinstance(ids[0], list | tuple)
    if is_one:
        data = {key: [value] for key, value in data.items()}
    lengths = [len(one) for one in data["input_ids"]]
    if any(len(values) != len(lengths) for values in data.values()):
        raise OptionError("the values of the encodings are not equally many.", value=inputs)
    if return_attention_mask and "attention_mask" not in data:
        data["attention_mask"] = [[1] * length for length in lengths]
    width = width_of(lengths, strategies, multiple, together=False)
    fill = {"input_ids": pad_id, "special_tokens_mask": 1, "token_type_ids": 0, "attention_mask": 0}
    for name in fill.keys() & data.keys():
        if name == "attention_mask" and not return_attention_mask:
            continue
        rows = zip(data[name], lengths, strict=True)
        data[name] = [_filled(row, width - length, fill[name], side) for row, length in rows]
    if is_one:
        data = {key: values[0] for key, values in data.items()}
    return BatchEncoding(data, tensor_type=tensors)


def _filled(row: Sequence[Any], missing: int, value: Any, side: str) -> list[Any]:
    if missing <= 0:
        return list(row)
    more = [value] * missing
    return more + list(row) if side == "left" else list(row) + more


def _plain(value: Any) -> Any:
    """Lists instead of arrays and tensors."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple) and value and hasattr(value[0], "tolist"):
        return [one.tolist() for one in value]
    return value
