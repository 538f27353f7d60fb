"""Apply rules to a vocabulary: tokens without a merge, and preferred merges."""

from __future__ import annotations

from dataclasses import replace

from digram.errors import OptionError
from digram.pretokenizers.rules import Pair, Rules
from digram.vocab.bpe import require_bpe
from digram.vocab.definition import Definition
from digram.vocab.reserved_ids import size_of

__all__ = ["preferring", "protecting"]


def protecting(definition: Definition, rules: Rules) -> Definition:
    """Add the tokens of rules to a definition, and the rules to its pretokenizer.

    New tokens come after the highest id. They need no merges, since a pretoken that equals a token
    is encoded as that token.

    >>> from digram.pretokenizers.pretokenizer import Pretokenizer
    >>> from digram.vocab.bpe import BpeModel
    >>> tokens = [bytes([byte]) for byte in range(256)]
    >>> cut = Pretokenizer("gpt2")
    >>> definition = Definition(tokens=tokens, model=BpeModel([]), pretokenizer=cut)
    >>> protecting(definition, Rules(["iron"], units=["mg"])).tokens[256:]
    [b'iron', b' iron', b'mg', b' mg']
    """
    if definition.unit != "byte":
        raise OptionError(
            'rules need unit="byte": a term must be one token, and a base of characters may lack '
            "some of its characters.",
            value=definition.unit,
            hint='Train with unit="byte", in which every text can be encoded.',
        )
    known = set(definition.tokens)
    new = [token for token in rules.tokens() if token not in known]
    holes: list[bytes | None] = []
    if new:
        holes = [None] * (size_of(definition) - len(definition.tokens))
    return replace(
        definition,
        tokens=[*definition.tokens, *holes, *new],
        pretokenizer=definition.pretokenizer.with_rules(rules),
        model=replace(require_bpe(definition.model, "rules"), ignore_merges=True),
    )


def preferring(
    definition: Definition,
    rules: Rules,
    max_token_length: int | None = None,
    whole_characters: bool = False,
) -> Definition:
    """Add preferred merges after the existing ones; each token is made once.

    >>> from digram.pretokenizers.pretokenizer import Pretokenizer
    >>> from digram.vocab.bpe import BpeModel
    >>> tokens = [bytes([byte]) for byte in range(256)]
    >>> cut = Pretokenizer("gpt2")
    >>> definition = Definition(tokens=tokens, model=BpeModel([]), pretokenizer=cut)
    >>> preferring(definition, Rules(prefer=["non", ("p", "re")])).tokens[256:]
    Traceback (most recent call last):
    digram.errors.OptionError: prefer[1] = ('p', 're'): 're' is not a token yet. ...
    >>> preferring(definition, Rules(prefer=["non", ("r", "e"), ("p", "re")])).tokens[256:]
    [b'no', b'non', b're', b'pre']

    Raises `OptionError` for an impossible merge, or one that exceeds a limit of training.
    """
    model = require_bpe(definition.model, "rules")
    tokens, merges = [*definition.tokens], [*model.merges]
    ids = {token: id for id, token in enumerate(tokens) if token is not None}
    forbidden = rules._forbidden()
    for number, wanted in enumerate(rules.prefer):
        where = f"prefer[{number}] = {wanted!r}"
        if isinstance(wanted, str):
            _check_whole(definition, wanted, wanted, where)
            parts = _merged(wanted.encode(), ids, merges)
        else:
            _check_whole(definition, "".join(wanted), wanted, where)
            parts = [part.encode() for part in wanted]
            missing = [part for part in parts if part not in ids]
            if missing:
                raise OptionError(
                    f"{where}: {missing[0].decode()!r} is not a token yet.",
                    value=wanted,
                    hint="Prefer that token first.",
                )
        while len(parts) > 1:
            left, right = parts[0], parts[1]
            broken = None
            if max_token_length is not None and len(left + right) > max_token_length:
                broken = f"is longer than max_token_length={max_token_length}"
            elif whole_characters and _is_half(left + right):
                broken = "has part of a character, which whole_characters= forbids"
            if broken is not None:
                raise OptionError(
                    f"{where}: {(left + right).decode(errors='replace')!r} {broken}.",
                    value=wanted,
                    hint="Leave it out, or prefer whole characters first.",
                )
            if left + right in ids or forbidden.holds(left, right):
                why = "is a token already" if left + right in ids else "is forbidden"
                raise OptionError(
                    f"{where}: {(left + right).decode(errors='replace')!r} {why}.",
                    value=wanted,
                    hint="Leave it out, or name other pairs.",
                )
            ids[left + right] = len(tokens)
            merges.append((ids[left], ids[right], len(tokens)))
            tokens.append(left + right)
            parts[:2] = [left + right]
    return replace(definition, tokens=tokens, model=replace(model, merges=merges))


def _is_half(token: bytes) -> bool:
    r"""Whether a token joins part of a character with other bytes.

    >>> [_is_half(token) for token in (b"\xc3", b"\xa9", b"\xc3\xa9", b"a\xc3", b"\xa9a")]
    [False, False, False, True, True]
    """
    try:
        token.decode()
    except UnicodeDecodeError:
        return any(byte & 0xC0 != 0x80 for byte in token[1:])
    return False


def _check_whole(definition: Definition, text: str, wanted: str | Pair, where: str) -> None:
    pieces = definition.pretokenizer.splitter().split(text)
    if len(pieces) > 1:
        raise OptionError(
            f"{where} is split into {pieces}, so no merge can make it.",
            value=wanted,
            hint="Leave it out, or protect it.",
        )


def _merged(text: bytes, ids: dict[bytes, int], merges: list[tuple[int, int, int]]) -> list[bytes]:
    """The tokens of a text under the merges so far."""
    if text in ids:
        return [text]
    ranks = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
    parts = [bytes([byte]) for byte in text]
    while True:
        pairs = [
            (ranks[pair], at)
            for at in range(len(parts) - 1)
            if (pair := (ids[parts[at]], ids[parts[at + 1]])) in ranks
        ]
        if not pairs:
            return parts
        _, at = min(pairs)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
