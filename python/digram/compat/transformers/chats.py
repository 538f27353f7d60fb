"""Chats by the template of the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from digram.compat.transformers.batch_encoding import BatchEncoding
from digram.compat.transformers.vocabulary import TokenTexts
from digram.errors import OptionError
from digram.tokenizer.chat.chat import Chat
from digram.tokenizer.chat.mask import mask_of

__all__ = ["Chatting"]


class Chatting(TokenTexts):
    """The part of the interface that is about chats."""

    padding_side: str
    truncation_side: str
    model_max_length: int

    if TYPE_CHECKING:

        def _encoded(self, text: Any, **options: Any) -> BatchEncoding: ...
        def pad(
            self,
            encoded_inputs: Any,
            padding: bool | str = True,
            max_length: int | None = None,
            *,
            return_tensors: str | None = None,
        ) -> BatchEncoding: ...

    @property
    def chat_template(self) -> str | dict[str, str] | None:
        """The template of chats, in Jinja, or several by name."""
        found = self._tok.chat_templates
        return found.get("default") if found.keys() <= {"default"} else found

    @chat_template.setter
    def chat_template(self, value: str | Mapping[str, str] | None) -> None:
        self._tok = self._tok.with_chat_template(value)

    def get_chat_template(self, chat_template: str | None = None, tools: Any = None) -> str:
        """The template that a chat is rendered with: by its name, or the usual one."""
        return self._tok._chat_source(chat_template, tools)

    def apply_chat_template(
        self,
        conversation: Any,
        tools: Any = None,
        documents: Any = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        tokenize: bool = True,
        sanitize_control_tokens: bool = False,
        padding: bool | str = False,
        truncation: bool | str = False,
        max_length: int | None = None,
        return_tensors: str | None = None,
        return_dict: bool = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: dict[str, Any] | None = None,
        **variables: Any,
    ) -> Any:
        """Render a chat, or several, by a template, and encode it.

        As in transformers, the text of special tokens in messages becomes these tokens, unless
        `sanitize_control_tokens`; then it is encoded as by `digram.Tokenizer.chat`. With
        `return_assistant_tokens_mask`, "assistant_masks" has what the assistant has to write, as
        `digram.Chat.assistant_mask` does, also for a template without `{% generation %}`.
        """
        masks = return_assistant_tokens_mask
        if masks and not (return_dict and tokenize):
            raise OptionError("return_assistant_tokens_mask needs return_dict and tokenize.")
        if masks and (continue_final_message or sanitize_control_tokens):
            raise OptionError(
                "return_assistant_tokens_mask excludes continue_final_message, and "
                "sanitize_control_tokens, for which there is digram.Tokenizer.chat."
            )
        several = bool(conversation) and isinstance(conversation, list | tuple)
        several = several and (
            isinstance(conversation[0], list | tuple) or hasattr(conversation[0], "messages")
        )
        chats = self._tok.chat_batch(
            conversation if several else [conversation],
            template=chat_template,
            tools=tools,
            documents=documents,
            variables=variables,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
        )
        texts = [chat.text for chat in chats]
        if not tokenize:
            return texts if several else texts[0]
        options = {"padding": padding, "truncation": truncation, "max_length": max_length}
        if sanitize_control_tokens:
            found = self._of_ids([chat.ids for chat in chats], several, options, return_tensors)
        else:
            found = self._encoded(
                texts if several else texts[0],
                add_special_tokens=False,
                return_tensors=None if masks else return_tensors,
                **options,
                **(tokenizer_kwargs or {}),
            )
        if masks:
            self._add_masks(found, chats, several, return_tensors)
        return found if return_dict else found["input_ids"]

    def _of_ids(
        self, ids: list[list[int]], several: bool, options: dict[str, Any], tensors: str | None
    ) -> BatchEncoding:
        """The result for ids, truncated and padded."""
        length = options["max_length"] or self.model_max_length
        if options["truncation"]:
            on_right = self.truncation_side == "right"
            ids = [one[:length] if on_right else one[-length:] for one in ids]
        given = {"input_ids": ids if several or tensors else ids[0]}
        width = options["max_length"]
        return self.pad(given, options["padding"], width, return_tensors=tensors)

    def _add_masks(
        self, found: BatchEncoding, chats: list[Chat], several: bool, tensors: str | None
    ) -> None:
        """Add the masks. Offsets are of the encoding, in which content may be special tokens."""
        masks = []
        for number, chat in enumerate(chats):
            row = found._row(number)
            masks.append(row.padded(mask_of(chat._said(), row.unpadded_offsets), 0))
        found["assistant_masks"] = masks if several else masks[0]
        found.convert_to_tensors(tensors, prepend_batch_axis=not several)
