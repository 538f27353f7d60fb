"""`digram inspect`: show the contents of a tokenizer."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from digram.cli import _loading, _options, _printing, _verbs
from digram.errors import several

if TYPE_CHECKING:
    from digram.tokenizer.merge import Merge
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.vocab.picky import Event

__all__ = ["inspect", "kind_of"]

_KINDS = {
    "single_byte": "one byte of a character",
    "partial_character": "starts or ends inside a character",
    "word_after_space": "space and letters",
    "word": "letters",
    "number": "digits",
    "white_space": "white space",
    "punctuation": "punctuation and symbols",
    "mixed": "several of these",
    "special": "special token",
}
_BAR = 24  # columns
_SPECIAL = 10
"""How many special tokens are shown of more."""


@click.command(
    cls=_verbs.Verb,
    options_metavar="-t PATH [OPTIONS]",
    epilog=_verbs.example("digram inspect -t tokenizer.json"),
)
@_loading.with_tokenizer
@_options.rows_option(10, "The number of rows of each list.")
@_options.json_option
def inspect(*, tok: Tokenizer, rows: int, as_json: bool) -> None:
    """Show the contents of a tokenizer: its size, settings, training record, first and last merges,
    tokens by length and by kind, the longest tokens, and the unreachable tokens.

    A merge is shown with its rank, from 0; the count of its pair in the corpus when it was merged;
    the id of the new token; and the pair and the token. For a tokenizer trained with --picky the
    first and last events are shown: merges, and tokens that were dropped. The training record of a
    tokenizer that was extended is that of the last extension.
    """
    facts = _facts(tok, rows)
    if as_json:
        _printing.emit_json(facts)
        return
    for number, (title, lines) in enumerate(_sections(facts, tok, rows)):
        _printing.emit("\n" if number else "")
        _printing.emit(f"{_printing.heading(title)}\n")
        for line in lines:
            _printing.emit(f"  {line}\n")


def kind_of(token: bytes) -> str:
    r"""The kind of a token, by its characters.

    >>> [kind_of(token) for token in (b" the", b"ing", b"\xe4\xb8", b"2024", b"\n\n", b"):", b"x1")]
    ['word_after_space', 'word', 'partial_character', 'number', 'white_space', 'punctuation',
    'mixed']
    """
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return "single_byte" if len(token) == 1 else "partial_character"
    if text.isspace():
        return "white_space"
    word = text.removeprefix(" ")
    kinds = {_kind_of_character(character) for character in word}
    if kinds == {"word"} and word != text:
        return "word_after_space"
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _kind_of_character(character: str) -> str:
    category = unicodedata.category(character)[0]
    if category in "LM":
        return "word"
    if category == "N":
        return "number"
    return "mixed" if character.isspace() else "punctuation"


def _facts(tok: Tokenizer, rows: int) -> dict[str, Any]:
    from digram.tokenizer.summary import facts

    ordinary = list(_ordinary(tok))
    log = tok.merge_log
    of_rules = set() if tok.rules is None else {*tok.rules.tokens()}  # reachable without merges
    unreachable = [id_ for id_ in tok.unreachable() if tok.id_to_token(id_) not in of_rules]
    kinds = Counter(kind_of(token) for _, token in ordinary)
    kinds["special"] = len(tok.special_tokens)
    events = tok.events
    of_events = {
        "first_events": [_event(number, event) for number, event in enumerate(events[:rows])],
        "last_events": [
            _event(number, events[number])
            for number in range(max(rows, len(events) - rows), len(events))
        ],
    }
    longest = sorted(ordinary, key=lambda entry: (-len(entry[1]), entry[0]))[:rows]
    return {
        **facts(tok),
        "first_merges": [_merge(merge) for merge in log[:rows]],
        "last_merges": [_merge(merge) for merge in log[max(rows, len(log) - rows) :]],
        **(of_events if events else {}),
        "by_length": dict(sorted(Counter(len(token) for _, token in ordinary).items())),
        "by_kind": {kind: kinds[kind] for kind in _KINDS if kinds[kind]},
        "longest": [_token(id_, token) for id_, token in longest],
        "unreachable": {
            "count": len(unreachable),
            "first": [_token(id_, tok.id_to_token(id_)) for id_ in unreachable[:rows]],
        },
    }


def _ordinary(tok: Tokenizer) -> Iterator[tuple[int, bytes]]:
    tokens = tok.definition.tokens
    return ((id_, token) for id_, token in enumerate(tokens) if token is not None)


def _pieces(pieces: Sequence[tuple[str, int]]) -> str:
    return " ".join(f"{name}:{type_id}" if type_id else name for name, type_id in pieces)


def _token(id_: int, token: bytes) -> dict[str, Any]:
    return {"id": id_, "text": token.decode("utf-8", "replace"), "hex": token.hex()}


def _merge(merge: Merge) -> dict[str, Any]:
    return {
        "rank": merge.rank,
        "left": merge.left.hex(),
        "right": merge.right.hex(),
        **_token(merge.id, merge.token),
        "count": merge.count,
    }


def _event(number: int, event: Event) -> dict[str, Any]:
    return {
        "number": number,
        "kind": event.kind,
        "hex": event.token.hex(),
        "parts": [part.hex() for part in event.parts],
        "count": event.count,
    }


def _sections(
    facts: dict[str, Any], tok: Tokenizer, rows: int
) -> Iterator[tuple[str, Sequence[str]]]:
    yield several(facts["tokens"], "token"), list(_summary(facts))
    if facts["training"] is not None:
        from digram.tokenizer.summary import last_step

        step = last_step(facts["training"])
        title = "Training" if step is None else f"Training of the last {step}"
        yield title, list(_training(facts["training"]))
    if facts["merges"] and rows:
        yield "First merges", list(_merge_lines(facts["first_merges"]))
        if facts["last_merges"]:
            yield "Last merges", list(_merge_lines(facts["last_merges"]))
    if "events" in facts and rows:
        yield "First events", list(_event_lines(facts["first_events"]))
        if facts["last_events"]:
            yield "Last events", list(_event_lines(facts["last_events"]))
    yield "Tokens by length", list(_bars("bytes", _by_ranges(facts["by_length"])))
    named = {_KINDS[kind]: number for kind, number in facts["by_kind"].items()}
    yield "Tokens by kind", list(_bars("kind", named))
    if rows:
        yield "Longest tokens", list(_token_lines(facts["longest"]))
    unreachable = facts["unreachable"]
    title = several(unreachable["count"], "token")
    yield f"{title} that no text can reach", list(_token_lines(unreachable["first"]))


def _steps(facts: dict[str, Any]) -> str:
    """The number of merges, or of the longer tokens of a model without merges."""
    if "made" in facts:
        return several(facts["made"], "longer token")
    return several(facts["events"]["merge"] if "events" in facts else facts["merges"], "merge")


def _summary(facts: dict[str, Any]) -> Iterator[str]:
    special = facts["special_tokens"]
    base = several(facts["base"], "byte")
    if facts["unit"] == "char":
        fallback = 256 if facts["on_unknown"] == "bytes" else 0
        base = several(facts["base"] - fallback, "character")
        base += " and 256 bytes" if fallback else ""
    if facts["tokens_of_rules"]:
        base += f", {facts['tokens_of_rules']:,} of rules"
    yield f"{base}, {_steps(facts)}, {len(special):,} special"
    yield f"ids          0 to {facts['vocab_size'] - 1:,}"
    yield f"unit         {facts['unit']}"
    if facts["unit"] == "char":
        yield f"unknown      {facts['on_unknown']}"
    patterns = facts["patterns"]
    pretokenizer = facts["pretokenizer"] or (" then ".join(patterns) if patterns else "none")
    digits = f", digits {facts['digits']}" if facts["digits"] else ""
    yield f"pretokenizer {pretokenizer}{digits}"
    if facts["scheme"] is not None:
        yield f"scheme       {facts['scheme']}"
    if facts["rules"] is not None:
        held = {kind: value for kind, value in facts["rules"].items() if isinstance(value, list)}
        yield f"rules        {', '.join(f'{len(held[kind]):,} {kind}' for kind in held)}"
    if special:
        few = len(special) if len(special) <= _SPECIAL + 1 else _SPECIAL  # never "and 1 more"
        shown = [f"{text} {id_}," for text, id_ in list(special.items())[:few]]
        shown[-1] = shown[-1].removesuffix(",")
        if len(special) > few:
            shown.append(f"and {len(special) - few:,} more")
        yield from _filled("special      ", shown)
    for name, ids in facts["reserved"].items():
        last = ids["first"] + ids["count"] - 1
        yield f"reserved     {name}: {ids['first']:,} to {last:,}"
    yield from _for_models(facts)
    yield f"digest       {facts['digest']}"


def _filled(start: str, words: Iterable[str]) -> Iterator[str]:
    """Words in lines of at most 78 characters, except for a longer word; others begin with spaces.

    >>> [*_filled("a  ", ["b", "c" * 73, "d"])]
    ['a  b ccc...ccc', '   d']
    """
    line = start.rstrip()
    for word in words:
        gap = " " * (1 if len(line) > len(start) else len(start) - len(line))
        if len(line) > len(start) and len(line) + len(gap) + len(word) > 78:
            yield line
            line, gap = "", " " * len(start)
        line += gap + word
    yield line


def _for_models(facts: dict[str, Any]) -> Iterator[str]:
    if facts["template"] is not None:
        yield f"template     {_pieces(facts['template']['single'])}"
        if facts["template"]["pair"] is not None:
            yield f"pairs        {_pieces(facts['template']['pair'])}"
    if facts["context_size"] is not None:
        yield f"context      {facts['context_size']:,}"
    padding = [] if facts["pad_token"] is None else [facts["pad_token"]]
    padding += ["on the left"] if facts["padding_side"] == "left" else []
    if padding:
        yield f"padding      {', '.join(padding)}"
    if facts["truncation_side"] == "left":
        yield "truncation   on the left"
    if facts["special_roles"]:
        roles = ", ".join(f"{role} {text}" for role, text in facts["special_roles"].items())
        yield f"roles        {roles}"
    if facts["chat_templates"]:
        yield f"chat         {', '.join(facts['chat_templates'])}"


def _training(record: dict[str, Any]) -> Iterator[str]:
    from digram.tokenizer.summary import stopped_by

    yield f"documents    {record['documents']:,} ({several(record['bytes'], 'byte')})"
    yield f"pretokens    {record['pretokens']:,} ({record['distinct_pretokens']:,} distinct)"
    yield f"ties         {record['ties']}"
    yield f"stopped by   {stopped_by(record)}"
    if "made_for" in record:
        made = ", ".join(f"{name} {number:,}" for name, number in record["made_for"].items())
        yield f"made for     {made or 'all'}"


def _merge_lines(merges: Sequence[dict[str, Any]]) -> Iterator[str]:
    from digram.display.terminal import columns, visible

    names = ("left", "right", "hex")
    drawn = [[f"[{visible(bytes.fromhex(merge[name]))}]" for name in names] for merge in merges]
    rows = [["left", "right", "token"], *drawn]
    widths = [min(20, max(columns(row[side]) for row in rows)) for side in (0, 1)]
    pairs = [
        f"{_padded(left, widths[0])} + {_padded(right, widths[1])} → {token}"
        for left, right, token in rows
    ]
    title = "" if merges[0]["count"] is None else f"{'count':>12}"
    yield f"{'rank':>7}{title}{'id':>9}  {pairs[0]}"
    for merge, pair in zip(merges, pairs[1:], strict=True):
        count = "" if merge["count"] is None else f"{merge['count']:>12,}"
        yield f"{merge['rank']:>7,}{count}{merge['id']:>9,}  {pair}"


def _event_lines(events: Sequence[dict[str, Any]]) -> Iterator[str]:
    from digram.display.terminal import visible

    title = "" if events[0]["count"] is None else f"{'count':>12}"
    yield f"{'number':>7}{title}  event"
    for event in events:
        count = "" if event["count"] is None else f"{event['count']:>12,}"
        names = [f"[{visible(bytes.fromhex(name))}]" for name in (event["hex"], *event["parts"])]
        description = f"{' + '.join(names[1:])} → {names[0]}"
        if event["kind"] == "drop":
            description = f"{names[0]} dropped, split into {''.join(names[1:])}"
        yield f"{event['number']:>7,}{count}  {description}"


def _token_lines(tokens: Sequence[dict[str, Any]]) -> Iterator[str]:
    from digram.display.terminal import visible

    if tokens:
        yield f"{'id':>7}  {'bytes':>6}  token"
    for token in tokens:
        data = bytes.fromhex(token["hex"])
        shown = visible(data)
        shown = shown if len(shown) <= 56 else shown[:55] + "…"
        yield f"{token['id']:>7,}  {len(data):>6,}  [{shown}]"


def _by_ranges(by_length: dict[int, int]) -> dict[str, int]:
    """Counts by length: each length up to 16, then ranges of 16, 32, ... lengths."""
    ranges: Counter[str] = Counter()
    for length, number in by_length.items():
        if length <= 16:
            ranges[f"{length:>2}"] += number
        else:
            first = 1 << (length - 1).bit_length() - 1
            ranges[f"{first + 1} to {2 * first}"] += number
    return dict(ranges)


def _bars(title: str, counts: dict[str, int]) -> Iterator[str]:
    width = max(map(len, [title, *counts]))
    yield f"{title:<{width}}  {'tokens':>9}"
    most = max(chain(counts.values(), [1]))
    for name, number in counts.items():
        yield f"{name:<{width}}  {number:>9,}  {'█' * round(_BAR * number / most)}".rstrip()


def _padded(text: str, width: int) -> str:
    from digram.display.terminal import columns

    return text + " " * (width - columns(text))
