r"""Decoding by steps, as a readable specification.

A step makes a new list of tokens of a list of tokens. A decoding applies its steps in order to the
names of tokens, and joins the last list.

>>> steps = [lambda tokens: replaced(tokens, "▁", " "), byte_fallback, fused]
>>> decode(["▁a", "<0xC3>", "<0xA9>"], steps)
' aé'
>>> decode(["▁a", "<0xC3>", "<0xA9>", "<0xC3>"], steps)  # one for each byte of the run
' a\ufffd\ufffd\ufffd'
>>> decode(["▁a", "<0xC3>", "b"], [*steps, lambda tokens: stripped(tokens, " ", 1, 0)])
'a\ufffdb'
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

Tokens = list[str]

_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
_BYTE = {
    chr(byte if byte in _PRINTABLE else 0x100 + _OTHERS.index(byte)): byte for byte in range(256)
}

_CLEANED = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
]


def decode(names: Sequence[str], steps: Iterable[Callable[[Tokens], Tokens]]) -> str:
    """The text of tokens."""
    tokens = [*names]
    for step in steps:
        tokens = step(tokens)
    return "".join(tokens)


def byte_level(tokens: Tokens) -> Tokens:
    r"""The bytes whose letters the tokens are; a token with other characters is its UTF-8.

    >>> byte_level(["Ã", "©Ġ", "한é", "Ã"])
    ['é 한é\ufffd']
    """
    parts = [
        bytes(_BYTE[c] for c in token) if {*token} <= _BYTE.keys() else token.encode()
        for token in tokens
    ]
    return [b"".join(parts).decode(errors="replace")]


def word_piece(tokens: Tokens, prefix: str, cleanup: bool) -> Tokens:
    """With a space before each token but the first, or without its prefix.

    >>> word_piece(["it", "##s", ".", "x"], "##", True)
    ['it', 's', '.', ' x']
    """
    found = []
    for index, token in enumerate(tokens):
        inner = token.removeprefix(prefix) if token.startswith(prefix) else f" {token}"
        form = inner if index else token
        found.append(cleaned(form) if cleanup else form)
    return found


def metaspace(tokens: Tokens, symbol: str, strips_first: bool) -> Tokens:
    """With a space in place of a symbol, which the first token loses if `strips_first`.

    >>> metaspace(["▁a", "▁b"], "▁", True)
    ['a', ' b']
    """
    spaces = ["" if strips_first and not index else " " for index in range(len(tokens))]
    return [token.replace(symbol, space) for token, space in zip(tokens, spaces, strict=True)]


def bpe_decoder(tokens: Tokens, suffix: str) -> Tokens:
    """With a space in place of a suffix, which the last token loses.

    >>> bpe_decoder(["lo", "w</w>", "a</w>"], "</w>")
    ['lo', 'w ', 'a']
    """
    last = len(tokens) - 1
    return [token.replace(suffix, "" if i == last else " ") for i, token in enumerate(tokens)]


def byte_fallback(tokens: Tokens) -> Tokens:
    r"""With the text of tokens of bytes in a row; each byte of a row that is no text is U+FFFD.

    >>> byte_fallback(["a", "<0xC3>", "<0xA9>", "b", "<0xC3>", "<0x41>"])
    ['a', 'é', 'b', '\ufffd', '\ufffd']
    """
    found: Tokens = []
    for is_byte, row in groupby(tokens, lambda token: _byte_named(token) is not None):
        if not is_byte:
            found += row
            continue
        data = bytes(byte for token in row if (byte := _byte_named(token)) is not None)
        try:
            found.append(data.decode())
        except UnicodeDecodeError:
            found += "\ufffd" * len(data)
    return found


def _byte_named(token: str) -> int | None:
    """The byte of a token such as `<0x41>`; one digit may have a plus sign before it."""
    digits = token[3:-1]
    if token != f"<0x{digits}>" or len(digits) != 2:
        return None
    number = digits[1:] if digits[0] == "+" else digits
    return int(number, 16) if {*number} <= {*"0123456789abcdefABCDEF"} else None


def fused(tokens: Tokens) -> Tokens:
    """All tokens as one."""
    return ["".join(tokens)]


def stripped(tokens: Tokens, content: str, start: int, stop: int) -> Tokens:
    """Each token without a character up to `start` times at its start and `stop` at its end.

    >>> stripped(["  a  ", "b ", " "], " ", 1, 2)
    [' a', 'b', '']
    """
    found = []
    for token in tokens:
        before = min(start, len(token) - len(token.lstrip(content)))
        rest = token[before:]
        behind = min(stop, len(rest) - len(rest.rstrip(content)))
        found.append(rest[: len(rest) - behind])
    return found


def replaced(tokens: Tokens, pattern: str, content: str) -> Tokens:
    """With one text in place of another; an empty token stays empty.

    >>> replaced(["ab", ""], "", "-")
    ['-a-b-', '']
    """
    return [token and token.replace(pattern, content) for token in tokens]


def ctc(tokens: Tokens, pad: str, word_delimiter: str, cleanup: bool) -> Tokens:
    """Each token once where it is repeated, without the pad token.

    >>> ctc(["<pad>", "a", "a", "<pad>", "a", "|", "b"], "<pad>", "|", True)
    ['a', 'a', ' ', 'b']
    """
    found = []
    for token, _ in groupby(tokens):
        left = token.replace(pad, "") if pad else token
        found.append(cleaned(left).replace(word_delimiter, " ") if cleanup else left)
    return [token for token in found if token]


def spaced(tokens: Tokens) -> Tokens:
    """All tokens as one, with spaces between them."""
    return [" ".join(tokens)]


def cleaned(text: str) -> str:
    """Without spaces before punctuation and some endings.

    >>> cleaned("it 's , no")
    "it's, no"
    """
    for old, new in _CLEANED:
        text = text.replace(old, new)
    return text
