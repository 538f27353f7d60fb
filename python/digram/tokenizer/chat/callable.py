"""The methods of `Tokenizer` for chats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from digram._core import Core
from digram._util.validation import check_threads, flag, mapping, word
from digram._util.wording import said
from digram.errors import DigramError, OptionError, placed, show

if TYPE_CHECKING:
    from digram._util.read_only import ReadOnly
    from digram.tokenizer.chat.chat import Chat
    from digram.tokenizer.chat.rendering import Request
    from digram.vocab.special_roles import SpecialRoles

__all__ = ["ChattingCore"]

_TAKEN = ("messages", "tools", "documents", "add_generation_prompt")


class ChattingCore(Core):
    """The methods of `digram.Tokenizer` for chats."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def pad_token(self) -> str | None: ...
        @property
        def special_roles(self) -> SpecialRoles: ...
        @property
        def chat_templates(self) -> ReadOnly[str, str]: ...

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        template: str | None = None,
        tools: Sequence[Mapping[str, Any] | Callable[..., Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
    ) -> Chat:
        """Encode the messages of a chat by the template of the model; content stays content.

        >>> import digram
        >>> tok = digram.train("hello", max_merges=3, special_tokens=["<|user|>", "<|bot|>"])
        >>> tok = tok.with_chat_template(
        ...     "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content }}{% endfor %}"
        ... )
        >>> chat = tok.chat([{"role": "user", "content": "hello<|bot|>"}])
        >>> chat.ids == [tok.special_tokens["<|user|>"], *tok.encode("hello<|bot|>")]
        True

        `messages` is a list of dictionaries with a "role" and a "content". Only text that the
        template itself writes becomes a special token: that of messages, `tools`, `documents` and
        `variables` is encoded as plain text, whatever the template does with it. The role counts as
        text of the template if it consists of ASCII letters, digits, "_", "-" and ".". Added tokens
        that are found in all text (`Matching.always`) are found in content too, except those that
        the template writes, which only it and the assistant's own messages may have.

        The ids are those of `apply_chat_template` of transformers, unless content has the text of
        such a token. `template` is the name of one of `chat_templates`, or a template in Jinja; by
        default "tool_use" if there are `tools` and such a template, or "default". `tools` are JSON
        Schemas, or functions with type hints and a docstring in Google's format, which become the
        schemas that transformers makes of them. The template also gets `variables`, and special
        tokens by their roles, such as `bos_token`. With `add_generation_prompt` it ends with the
        start of an answer.
        `continue_final_message` ends the text with the content of the last message, or with
        another of its fields, to be continued by the model.

        Raises `OptionError` if there is no template, if it fails or refuses the messages, and
        without the package jinja2; `VocabError` if it is not valid; `SpecialTokenError` if it
        obscures which text is its own; and the errors of `encode`. Renders in a sandbox; takes some
        tenths of a millisecond, the first time with a template and tokenizer some tens of
        milliseconds.
        """
        return self.chat_batch(
            [messages],
            template=template,
            tools=tools,
            documents=documents,
            variables=variables,
            add_generation_prompt=add_generation_prompt,
            continue_final_message=continue_final_message,
        )[0]

    def chat_batch(
        self,
        chats: Iterable[Sequence[Mapping[str, Any]]],
        *,
        template: str | None = None,
        tools: Sequence[Mapping[str, Any] | Callable[..., Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        threads: int | None = None,
    ) -> list[Chat]:
        """Encode several chats: the result of `chat` for each, in order.

        >>> import digram
        >>> tok = digram.train("hello", max_merges=3)
        >>> tok = tok.with_chat_template("{{ messages[0].content }}")
        >>> chats = [[{"role": "user", "content": text}] for text in ("hello", "ho")]
        >>> [chat.ids for chat in tok.chat_batch(chats)]
        [[257, 258], [104, 111]]

        Texts are encoded without the GIL on `threads` threads (all cores by default); rendering, in
        Python, takes more time. Raises the errors of `chat`, with the index of the chat.
        """
        listed, threads = _several(chats), check_threads(threads)
        request = self._request(
            template, tools, documents, variables, add_generation_prompt, continue_final_message
        )
        return self._of_requests([(messages, request) for messages in listed], threads)

    def _chats(
        self,
        chats: Iterable[tuple[Any, Mapping[str, Any]]],
        template: str | None,
        threads: int | None,
    ) -> list[Chat]:
        """Encode chats, each with its own `tools` and `documents`."""

        def request(beside: Mapping[str, Any]) -> Request:
            tools, documents = beside.get("tools"), beside.get("documents")
            return self._request(template, tools, documents, None, False, False)

        return self._of_requests([(one, request(beside)) for one, beside in chats], threads)

    def _of_requests(
        self, requests: Sequence[tuple[Any, Request]], threads: int | None
    ) -> list[Chat]:
        from digram.tokenizer.chat.chat import Chat, Rendered
        from digram.tokenizer.chat.control import control_of
        from digram.tokenizer.chat.encoding import encoded_chats
        from digram.tokenizer.chat.inputs import messages_of, texts_in
        from digram.tokenizer.chat.rendering import rendered

        texts: list[Rendered] = []
        for index, (messages, request) in enumerate(requests):
            try:
                chat = messages_of(messages)
                texts.append(Rendered(rendered(chat, request), chat, request))
            except (DigramError, TypeError) as error:
                if len(requests) > 1:
                    placed(error, f"chats[{index}]")
                raise
        found: dict[int, Chat] = {}
        for source in dict.fromkeys(request.source for _, request in requests):
            # Tools may choose another template.
            of_source = [n for n, one in enumerate(texts) if one.request.source == source]
            control = control_of(self, source)
            chosen = [texts[number] for number in of_source]
            given = [texts_in([one.messages, one.request.of_template()]) for one in chosen]
            encoded = encoded_chats(control, [one.text for one in chosen], given, threads)
            special = frozenset(control.special)
            for number, one, own in zip(of_source, chosen, encoded, strict=True):
                found[number] = Chat(one, own, special)
        return [found[number] for number in range(len(texts))]

    def _request(
        self,
        template: str | None,
        tools: Any,
        documents: Any,
        variables: Mapping[str, Any] | None,
        add_generation_prompt: bool,
        continue_final_message: bool | str,
    ) -> Request:
        from digram.tokenizer.chat.functions import is_function, schema_of
        from digram.tokenizer.chat.rendering import Request

        given = {} if variables is None else variables
        mapping("variables", given, "names and values")
        for name in given:
            if word("a name of variables", name) in _TAKEN or not name.isidentifier():
                raise OptionError(
                    f"variables has {show(name)}, which is not the name of a variable of its own.",
                    value=name,
                )
        prompts = flag("add_generation_prompt", add_generation_prompt)
        if not isinstance(continue_final_message, bool | str):
            kind = type(continue_final_message).__name__
            raise TypeError(f"continue_final_message is True, False or a name, not {kind}")
        if prompts and continue_final_message:
            raise OptionError(
                "add_generation_prompt and continue_final_message exclude each other.",
                hint="The one starts a message, the other continues the last one.",
            )
        named = {**self.special_roles.to_dict(), "pad": self.pad_token}
        tokens = {f"{role}_token": text for role, text in named.items() if text is not None}
        source = self._chat_source(template, tools)
        if isinstance(tools, list | tuple):
            tools = [schema_of(one) if is_function(one) else one for one in tools]
        return Request(source, tokens, tools, documents, given, prompts, continue_final_message)

    def _chat_source(self, template: str | None, tools: Any) -> str:
        templates = self.chat_templates
        if template is not None:
            source = templates.get(word("template", template), template)
            if source is template and "{" not in source:
                known = ", ".join(map(show, templates)) or "none"
                raise OptionError(
                    f"no template is named {show(template)}, and it has nothing of a template.",
                    value=template,
                    hint=f"Names: {known}. A template has parts in braces, as {{{{ messages }}}}.",
                )
            return source
        if tools is not None and "tool_use" in templates:
            return templates["tool_use"]
        if "default" in templates:
            return templates["default"]
        has = f"has the templates {', '.join(map(show, templates))}" if templates else "has none"
        setting = said("tok.with_chat_template(...)", "digram convert --chat-template TEMPLATE")
        raise OptionError(
            f"a chat needs a template, and this tokenizer {has}.",
            hint=f"Pass one as template=, or set it: {setting}.",
        )


def _several(chats: Any) -> list[Any]:
    if isinstance(chats, str | bytes | Mapping) or not isinstance(chats, Iterable):
        raise TypeError(f"chats is several lists of messages, not {type(chats).__name__}")
    return [*chats]
