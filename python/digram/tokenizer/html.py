"""HTML of tokenizers and encodings for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from digram.display import html
from digram.errors import several

if TYPE_CHECKING:
    from digram.tokenizer.encoding.encoding import Encoding
    from digram.tokenizer.encoding.encodings import Encodings
    from digram.tokenizer.tokenizer import Tokenizer

__all__ = ["encoding_page", "encodings_page", "tokenizer_page"]

_TEXTS = 20  # texts to show of a batch
_TOKENS = 40  # tokens to show of a vocabulary
_BATCH_TOKENS = 120  # tokens to show of each text of a batch


def tokenizer_page(tok: Tokenizer) -> str:
    """The settings and sizes of a tokenizer, and some of its tokens."""
    special, merges = tok.special_tokens, tok._model.merges()
    facts = [
        ("ids", f"0 to {tok.vocab_size - 1:,}"),
        ("merges", f"{len(merges):,}")
        if merges or not tok.events
        else ("events", f"{len(tok.events):,}"),
        ("unit", tok.unit),
        ("pretokenizer", _shown(tok)),
    ]
    if tok.training is not None:
        record = tok.training
        facts.append(
            ("trained on", f"{several(record.documents, 'document')}, {record.bytes:,} bytes")
        )
    rows = [(html.faint(name), html.harmless(value)) for name, value in facts]
    parts = [html.heading(several(len(tok), "token")), html.table(rows)]
    if special:
        names = [name.encode() for name in islice(special, _TOKENS)]
        parts += [
            html.heading(several(len(special), "special token")),
            html.tokens(names, [str(id) for id in special.values()]),
        ]
    made = [id for _, _, id in merges]
    for title, ids in (
        ("First merges", made[:_TOKENS]),
        ("Last merges", made[_TOKENS:][-_TOKENS:]),
    ):
        if ids:
            parts += [html.heading(title), _ids_below(tok.tokens(ids), ids)]
    return html.fragment(*parts)


def encoding_page(encoding: Encoding) -> str:
    """The tokens of a text with their ids; hovering over a token shows its offsets and word."""
    return html.fragment(*_encoding(encoding, html.MOST))


def encodings_page(encodings: Encodings) -> str:
    """The first texts of a batch, below each other."""
    texts = len(encodings.encodings)
    parts = [html.heading(several(texts, "text"))]
    for encoding in encodings[:_TEXTS]:
        parts += _encoding(encoding, _BATCH_TOKENS)
    if texts > _TEXTS:
        parts.append(html.faint(f"and {several(texts - _TEXTS, 'text')} more"))
    return html.fragment(*parts)


def _encoding(encoding: Encoding, limit: int) -> list[str]:
    ids = encoding.ids
    titles = [
        f"token {at}, id {id}, {start} to {end}" + ("" if word is None else f", word {word}")
        for at, (id, (start, end), word) in enumerate(
            islice(zip(ids, encoding.offsets, encoding.word_ids, strict=True), limit)
        )
    ]
    added = [bool(mask) for mask in encoding.special_tokens_mask]
    below = [str(id) for id in ids[:limit]]
    parts = [
        html.heading(several(len(ids), "token")),
        html.tokens(encoding.tokens, below, titles, added, limit),
    ]
    if any(added):
        parts.append(html.faint("In a frame: added by the template or by padding."))
    return parts


def _shown(tok: Tokenizer) -> str:
    pretokenizer = tok.pretokenizer
    name = pretokenizer.name or " then ".join(pretokenizer.patterns) or "none"
    name = name if pretokenizer.digits is None else f"{name}, digits {pretokenizer.digits}"
    return name if pretokenizer.rules is None else f"{name}, rules"


def _ids_below(tokens: Sequence[bytes], ids: Sequence[int]) -> str:
    # Drawn separately: these tokens are not consecutive, so no character extends over two of them.
    drawn = [
        html.token(token, at, f"id {id}")
        for at, (token, id) in enumerate(zip(tokens, ids, strict=True))
    ]
    return f"<div>{''.join(drawn)}</div>"
