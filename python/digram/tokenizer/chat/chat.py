"""`Chat`: a chat with its text, its ids, and what the assistant said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from digram.errors import several
from digram.tokenizer.chat.environment import marks_generation
from digram.tokenizer.chat.mask import generated, mask_of, said_by_assistant
from digram.tokenizer.chat.rendering import Request, generation_prompt
from digram.vocab.special_tokens import SpecialToken

if TYPE_CHECKING:
    from digram.tokenizer.chat.encoding import EncodedChat
    from digram.tokenizer.chat.inputs import Messages
    from digram.tokenizer.chat.marked import Marked

__all__ = ["Chat", "Rendered"]


@dataclass(frozen=True, slots=True)
class Rendered:
    """A chat as text, with its messages and what was rendered beside them."""

    text: Marked
    messages: Messages
    request: Request


class Chat:
    """The text of a chat with its ids; made by `Tokenizer.chat`.

    >>> import digram
    >>> tok = digram.train("hi", max_merges=1, special_tokens=["<user>", "<bot>", "<end>"])
    >>> tok = tok.with_chat_template(
    ...     "{% for m in messages %}{{ '<' ~ m.role ~ '>' ~ m.content ~ '<end>' }}{% endfor %}"
    ... )
    >>> chat = tok.chat([{"role": "user", "content": "<bot>"}, {"role": "bot", "content": "hi"}])
    >>> chat.text
    '<user><bot><end><bot>hi<end>'
    >>> chat.parts
    [SpecialToken(text='<user>'), '<bot>', SpecialToken(text='<end>'),
     SpecialToken(text='<bot>'), 'hi', SpecialToken(text='<end>')]

    A chat is immutable; `len` is the number of its tokens. Two are equal if their ids, offsets and
    masks are. All lists have one entry per token, except `parts`, and are created at each access.
    """

    __slots__ = ("_encoded", "_rendered", "_special")

    def __init__(self, rendered: Rendered, encoded: EncodedChat, special: frozenset[str]) -> None:
        self._rendered = rendered
        self._encoded = encoded
        self._special = special

    @property
    def ids(self) -> list[int]:
        """The ids of the tokens."""
        return [*self._encoded.ids]

    @property
    def text(self) -> str:
        """The text that the template gives."""
        return str.__getitem__(self._rendered.text, slice(None))

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """The start and end of each token in `text`, in characters."""
        return [*self._encoded.offsets]

    @property
    def parts(self) -> list[str | SpecialToken]:
        """The text in parts: control tokens that the template wrote, and the text between them."""
        text, parts, at = self.text, list[str | SpecialToken](), 0
        for start, stop, token in self._encoded.found:
            parts += [text[at:start]] * (at < start)
            parts.append(SpecialToken(token))
            at = stop
        return parts + [text[at:]] * (at < len(text))

    @property
    def assistant_mask(self) -> list[int]:
        """1 for the tokens that the assistant has to write, 0 for others.

        >>> import digram
        >>> tok = digram.train("hi", max_merges=1, special_tokens=["<end>"])
        >>> tok = tok.with_chat_template(
        ...     "{% for m in messages %}{{ m.role ~ ':' ~ m.content ~ '<end>' }}{% endfor %}"
        ...     "{% if add_generation_prompt %}{{ 'assistant:' }}{% endif %}"
        ... )
        >>> chat = tok.chat([{"role": "assistant", "content": "hi"}])
        >>> tok.tokens([id for id, own in zip(chat.ids, chat.assistant_mask) if own])
        [b'hi', b'<end>']

        If the template has `{% generation %}` blocks, they are what the assistant writes. Otherwise
        it is each message with the role "assistant", from the end of the generation prompt, if the
        template writes that before it, or else from the first character of the message, up to the
        first special token after it. A token with a character of both is the assistant's.
        """
        return mask_of(self._said(), self._encoded.offsets)

    def _said(self) -> list[tuple[int, int]]:
        """The places in the text that the assistant has to write, in characters."""
        one = self._rendered
        if marks_generation(one.request.source):
            return generated(one.text)
        prompt = generation_prompt(one.messages, one.request)
        return said_by_assistant(one.text, self._encoded.found, self._special, prompt)

    def __len__(self) -> int:
        return len(self._encoded.ids)

    def __iter__(self) -> Iterator[int]:
        raise TypeError("a Chat is not iterable; use its ids, parts or text")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Chat):
            return NotImplemented
        mine, theirs = self._rendered.text, other._rendered.text
        same = (mine, mine.runs()) == (theirs, theirs.runs()) and self._encoded == other._encoded
        return same and self.assistant_mask == other.assistant_mask

    def __hash__(self) -> int:
        return hash(tuple(self._encoded.ids))

    def __repr__(self) -> str:
        messages = several(len(self._rendered.messages), "message")
        return f"<digram.Chat: {messages}, {several(len(self), 'token')}>"
