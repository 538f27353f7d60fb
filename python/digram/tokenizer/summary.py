"""A summary of a tokenizer, as plain values."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from digram.vocab.bpe import bpe

if TYPE_CHECKING:
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.definition import TrainingRecord
    from digram.vocab.template import Template

__all__ = ["facts", "last_step", "stopped_by"]

_STEPS = {"extends": ("extension", "add"), "swapped": ("replacement", "number")}
"""Steps after training whose record replaces that of training, by an option of theirs, with the
argument that limits the number of merges."""


def facts(tok: Tokenizer) -> dict[str, Any]:
    """The size, settings and training record of a tokenizer, as values for JSON.

    >>> import digram
    >>> tok = digram.train("low low lower", vocab_size=258, pretokenizer="whitespace")
    >>> found = facts(tok)
    >>> found["tokens"], found["base"], found["merges"], found["pretokenizer"]
    (258, 256, 2, 'whitespace')
    >>> found["training"]["stop_reason"]
    'vocab_size'
    """
    special, log, record = tok.special_tokens, tok._model.merges(), tok.training
    is_bpe = bpe(tok._settings.kernel) is not None
    made = tok._made() if (events := tok.events) or not is_bpe else log
    return {
        "tokens": len(tok),
        "vocab_size": tok.vocab_size,
        "base": len(tok) - len(made) - len(special) - _of_rules(tok),
        "merges": len(log),
        # Only if there are no merges.
        **({} if is_bpe else {"made": len(made)}),
        # Only if there are events.
        **({"events": dict(Counter(event.kind for event in events))} if events else {}),
        "special_tokens": special,
        "reserved": {
            name: {"first": ids.start, "count": len(ids)} for name, ids in tok.reserved.items()
        },
        "unit": tok.unit,
        "on_unknown": _unknown_of(tok),
        "pretokenizer": tok.pretokenizer.name,
        "patterns": list(tok.pretokenizer.patterns),
        "byte_patterns": list(tok.pretokenizer.byte_patterns),
        "digits": tok.pretokenizer.digits,
        "scheme": tok._settings.kernel.description,
        "rules": None if tok.rules is None else tok.rules.to_dict(),
        "tokens_of_rules": _of_rules(tok),
        "template": None if tok.template is None else _template(tok.template),
        "context_size": tok.context_size,
        "pad_token": tok.pad_token,
        "padding_side": tok.padding_side,
        "truncation_side": tok.truncation_side,
        "special_roles": tok.special_roles.to_dict(),
        "chat_templates": tok.chat_templates,
        "digest": tok.digest,
        "training": None if record is None else _record(record),
    }


def last_step(record: dict[str, Any]) -> str | None:
    """What the record of `facts` describes if not all training: the last extension or replacement.

    >>> import digram
    >>> tok = digram.train("low low lower", vocab_size=258)
    >>> grown, _ = digram.extend(tok, "slow slow", add=1)
    >>> last_step(facts(tok)["training"]), last_step(facts(grown)["training"])
    (None, 'extension')
    >>> stopped_by(facts(tok)["training"]), stopped_by(facts(grown)["training"])
    ('vocab_size', 'add')
    """
    return next((step for name, (step, _) in _STEPS.items() if name in record["options"]), None)


def stopped_by(record: dict[str, Any]) -> str:
    """The stop reason, by the argument of the step that the record of `facts` describes."""
    reason: str = record["stop_reason"]
    limits = [limit for name, (_, limit) in _STEPS.items() if name in record["options"]]
    return limits[0] if limits and reason == "max_merges" else reason


def _of_rules(tok: Tokenizer) -> int:
    """The number of tokens from rules that no merge makes."""
    if tok.rules is None:
        return 0
    made = {id for _, _, id in tok._model.merges()}
    return len({tok.token_to_id(token) for token in tok.rules.tokens()} - made - {None})


def _template(template: Template) -> dict[str, Any]:
    return {"single": template.single, "pair": template.pair}


def _record(record: TrainingRecord) -> dict[str, Any]:
    names = ("ties", "stop_reason", "documents", "bytes", "pretokens", "distinct_pretokens")
    found = {**{name: getattr(record, name) for name in names}, "options": record.options}
    if record.languages is not None:
        made = Counter(record.languages)
        found["made_for"] = {name: made[name] for name in made if name is not None}
    return found


def _unknown_of(tok: Tokenizer) -> str:
    """What unknown characters become: "error", "bytes", or the text of a token."""
    unknown = tok.on_unknown
    if isinstance(unknown, bytes):
        return unknown.decode(errors="replace")
    return unknown if isinstance(unknown, str) else unknown.text
