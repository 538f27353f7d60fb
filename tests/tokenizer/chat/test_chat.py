"""Chats: what content cannot do, and what the assistant says."""

from __future__ import annotations

import pickle
import random
from typing import Any

import chat_templates
import pytest
import vocabularies
from chat_templates import SPECIAL, TEMPLATES

import digram
from digram import Matching, OptionError, SpecialTokenError

ATTACKS = [
    "<|im_",
    "end|>",
    "start|>",
    "<",
    "<s>",
    "</s>",
    "</turn>",
    "<|eot|>",
    "user\n",
    "<|user|>",
]


def tokenizer(name: str = "qwen2", flags: dict[str, Matching] | None = None) -> digram.Tokenizer:
    return chat_templates.with_chats(digram.Tokenizer(vocabularies.SAMPLES[name]), flags or {})


def special_in(tok: digram.Tokenizer, ids: list[int]) -> list[int]:
    names = {tok.special_tokens[text] for text in SPECIAL}
    return [id for id in ids if id in names]


def harmless(value: Any) -> Any:
    """The same values, with letters for everything in texts that is not white space."""
    if isinstance(value, str):
        return "".join(one if one.isspace() else "x" for one in value)
    if isinstance(value, dict):
        kept = ("role", "name")
        return {k: v if k in kept else harmless(v) for k, v in value.items()}
    return [harmless(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["qwen2", "gpt2", "no pretokenizer", "characters or unknown"])
@pytest.mark.parametrize("template", TEMPLATES)
def test_no_content_makes_a_special_token(name: str, template: str) -> None:
    flags = {"<|im_end|>": Matching(rstrip=True), "</turn>": Matching(normalized=True)}
    tok = tokenizer(name, flags if template in ("chatml", "turns") else {})
    rng = random.Random(name + template)
    for _ in range(150):
        words = [*ATTACKS, *chat_templates.WORDS]
        messages = chat_templates.chat(rng, words, instructions=template == "instructions")
        for message in messages:
            message["content"] = message["content"].replace("</think>", "")
        chat = tok.chat(messages, template=template)
        other = tok.chat(harmless(messages), template=template)
        assert special_in(tok, chat.ids) == special_in(tok, other.ids)
        if template not in ("chatml", "turns"):
            assert tok.encode(chat.parts) == chat.ids
            if name != "characters or unknown":
                assert tok.decode(chat.ids) == chat.text
        starts = [start for start, _ in chat.offsets]
        assert starts == sorted(starts)
        assert pickle.loads(pickle.dumps(chat)) == chat


OPERATIONS = [
    "{{ '<|im_start|>' + c + '<|im_end|>' }}",
    "{{ '<|im_start|>' ~ c ~ '<|im_end|>' }}",
    "<|im_start|>{{ c }}<|im_end|>",
    "{% set t %}<|im_start|>{{ c }}<|im_end|>{% endset %}{{ t | trim }}",
    "{% macro m(x) %}<|im_start|>{{ x }}<|im_end|>{% endmacro %}{{ m(c) }}",
    "{% set n = namespace(t='') %}{% set n.t = n.t + '<|im_start|>' + c %}{{ n.t + '<|im_end|>' }}",
    "{{ ['<|im_start|>', c, '<|im_end|>'] | join }}",
    "{{ ''.join(['<|im_start|>', c, '<|im_end|>']) }}",
    "{{ '<|im_start|>' }}{{ c.strip().split('x')[-1] }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ c[:200][::-1][::-1] }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ c | replace('a', '') | tojson }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ '%s%s' % (c, c) }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ '{}{}'.format('', c) }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ c | upper | lower | title | capitalize }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ c | indent(2) | wordwrap(9) }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ c | e | safe }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ c | list | join }}{{ messages | string }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{% for k in messages[0] %}{{ k }}{% endfor %}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ messages[0].items() | list }}{{ c | reverse }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ ([c] | map('trim') | first) }}{{ c | default(1) }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{% filter lower %}{{ c }}{% endfilter %}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ c.encode().decode() ~ (c | truncate(9)) }}{{ '<|im_end|>' }}",
    "{{ '<|im_start|>' }}{{ dict(a=c) | xmlattr }}{{ c.join(['<|im_', 'e|>']) }}{{ '<|im_end|>' }}",
    "{{ ('<|im_start|>' + c + '<|im_end|>').replace('y', 'z').partition('#')[0] }}",
]


@pytest.mark.parametrize("source", OPERATIONS)
def test_no_operation_of_a_template_forges_a_token(source: str) -> None:
    tok = tokenizer()
    source = "{% set c = messages[0].content %}" + source
    wanted = [tok.special_tokens["<|im_start|>"], tok.special_tokens["<|im_end|>"]]
    for content in ["low", "<|im_end|>", "a<|im_start|>b", "<|im_", "end|>", "|>dne_mi|<"]:
        chat = tok.chat([{"role": "user", "content": content, "<s>": "<s>"}], template=source)
        assert special_in(tok, chat.ids) == wanted


def test_text_that_loses_its_origin_is_refused() -> None:
    tok = tokenizer()
    source = "{{ ('<|im_start|>' + messages[0].content) | upper | lower }}"
    with pytest.raises(SpecialTokenError, match=r"<\|im_start\|>"):
        tok.chat([{"role": "user", "content": "low"}], template=source)
    source = "{{ ('<|im_start|>' | upper | lower) + messages[0].content }}"
    chat = tok.chat([{"role": "user", "content": "low"}], template=source)
    assert chat.ids == [tok.special_tokens["<|im_start|>"], *tok.encode("low")]


@pytest.mark.parametrize(
    "written",
    [
        "'<|im_start|>%s' % text",
        "'<|im_start|>{}'.format(text)",
        "'<|im_start|>{0[content]}'.format(messages[0])",
        "'%s' | format('<|im_start|>' + text)",
        "('<|im_start|>' + text) | title | lower",
        "('<|im_start|>' + text) | wordwrap(99)",
        "('<|IM_START|>' + text) | lower",
        "'<|im_{}|>{}'.format('start', text)",
        "{'a': '<|im_start|>', 'b': text}",
        "'' ~ {'a': '<|im_start|>', 'b': text}",
        "{'a': '<|im_start|>', 'b': text} | tojson",
        "['<|im_start|>', text] | string",
        "('<|im_start|>%s' % text) | trim",
    ],
)
@pytest.mark.parametrize("text", ["low", "low <|im_start|>", "<|im_start|><|im_start|> low"])
def test_content_hides_no_token_that_the_template_loses(written: str, text: str) -> None:
    source = "{% set text = messages[0].content %}{{ " + written + " }}"
    with pytest.raises(SpecialTokenError, match=r"<\|im_start\|>"):
        tokenizer().chat([{"role": "user", "content": text}], template=source)


@pytest.mark.parametrize(
    "written",
    [
        "'Hello, %s' % text",
        "'Hello, {}'.format(text)",
        "'Hello, {0[content]}'.format(messages[0])",
        "('Hello, ' + text) | wordwrap(99)",
        "messages",
        "messages[0] | tojson",
        "{'a': 'Hello', 'b': text}",
        "text | title",
        "('<|im_end|>' + text).split('>', 1)[1] | wordwrap(99)",
    ],
)
def test_content_with_a_token_remains_content(written: str) -> None:
    tok = tokenizer()
    source = "{% set text = messages[0].content %}<|im_start|>{{ " + written + " }}"
    chat = tok.chat([{"role": "user", "content": "low <|im_start|>"}], template=source)
    assert special_in(tok, chat.ids) == [tok.special_tokens["<|im_start|>"]]


def test_a_template_that_doubles_its_text_takes_little_memory() -> None:
    source = (
        "{% set ns = namespace(x=messages[0].content) %}{% for _ in range(200) %}"
        "{% set ns.x = ('%s%s' % (ns.x, ns.x))[:9] %}{% endfor %}{{ ns.x }}"
    )
    tok = tokenizer()
    chat = tok.chat([{"role": "user", "content": "low"}], template=source)
    assert chat.text == "lowlowlow"
    with pytest.raises(SpecialTokenError):
        tok.chat([{"role": "user", "content": "<s>"}], template=source)


def test_tools_documents_variables_and_keys_are_content() -> None:
    tok = tokenizer()
    source = (
        "{{ tools }}{{ tools | tojson }}{{ documents[0].text }}{{ date }}{% for key in tools[0] %}"
        "{{ key }}{% endfor %}{{ eos_token }}{{ messages[0].role }}"
    )
    chat = tok.chat(
        [{"role": "<s>", "content": ""}],
        template=source,
        tools=[{"<s>": "<s>"}],
        documents=[{"text": "<s>"}],
        variables={"date": "<s>"},
    )
    assert chat.text.count("<s>") == 8
    assert special_in(tok, chat.ids) == [tok.special_tokens["</s>"]]


def test_tags_that_are_found_everywhere() -> None:
    """The template and the assistant may have them; others only those that the template has not."""
    tok = tokenizer()
    tags = {text: tok.special_tokens[text] for text in chat_templates.ALWAYS}
    other = tok.with_chat_template("{% for m in messages %}{{ m.content }}{% endfor %}<think>")

    def found(tok: digram.Tokenizer, role: str, text: str) -> bool:
        return tags[text] in tok.chat([{"role": role, "content": text + "!"}]).ids[:-1]

    assert not found(other, "user", "<think>")
    assert found(other, "assistant", "<think>")
    assert found(other, "user", "<tool_call>")
    assert not found(tok, "user", "<tool_call>")


SAID = {
    "chatml": ["lower <|im_end|>", "\n\nslow<|im_end|>"],
    "headers": ["lower<|eot|>", "slow<|eot|>"],
    "instructions": ["lower</s>", "slow</s>"],
    "turns": ["lower</turn>", "slow</turn>"],
    "roles": ["lower </s>", "\n\nslow</s>"],
    "generation": ["lower <|im_end|>", "\n\nslow<|im_end|>"],
}


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("name", ["qwen2", "no merges"])
def test_the_mask_has_what_the_assistant_said(name: str, template: str) -> None:
    tok = tokenizer(name)
    messages = [
        {"role": "user", "content": "low"},
        {"role": "assistant", "content": "lower "},
        {"role": "user", "content": "lower </s>"},
        {"role": "assistant", "content": "\n\nslow"},
    ]
    chat = tok.chat(messages, template=template)
    said, last = [], 0
    for id, own in zip(chat.ids, chat.assistant_mask, strict=True):
        if own and not last:
            said.append([id])
        elif own:
            said[-1].append(id)
        last = own
    # A space of the template may be in the first token of the answer.
    assert [tok.decode(ids).lstrip(" ") for ids in said] == SAID[template]


def test_calls_of_tools_are_said_by_the_assistant() -> None:
    tok = tokenizer()
    call = {"name": "low", "arguments": {"slow": "lower"}}
    messages: list[Any] = [
        {"role": "user", "content": "low"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "slow"},
        {"role": "assistant", "content": "low"},
    ]
    chat = tok.chat(messages, tools=[{"name": "low"}])
    said = [id for id, own in zip(chat.ids, chat.assistant_mask, strict=True) if own]
    assert tok.decode(said) == (
        '\n<tool_call>\n{"name": "low", "arguments": {"slow": "lower"}}\n</tool_call><|im_end|>'
        "low<|im_end|>"
    )


def test_batches_give_the_same_as_single_chats() -> None:
    tok = tokenizer()
    rng = random.Random(1)
    chats = [chat_templates.chat(rng, ATTACKS, instructions=False) for _ in range(30)]
    assert tok.chat_batch(iter(chats), threads=2) == [tok.chat(one) for one in chats]
    assert tok.chat_batch([]) == []


def test_content_that_has_the_characters_of_names() -> None:
    """The characters that stand for control tokens while a chat is encoded."""
    tok = tokenizer()
    content = "".join(map(chr, range(0x100000, 0x10FFFE))) + "\U000f0000" * 3
    chat = tok.chat([{"role": "user", "content": content}])
    assert tok.decode(chat.ids) == chat.text


def test_refusals() -> None:
    tok = tokenizer()
    user: list[Any] = [{"role": "user", "content": "low"}]
    plain = tok.with_chat_template(None)
    with pytest.raises(OptionError, match="has none"):
        plain.chat(user)
    with pytest.raises(OptionError, match="Only user and assistant"):
        tok.chat([{"role": "system", "content": ""}], template="instructions")
    with pytest.raises(digram.VocabError, match="not valid in line 2"):
        tok.chat(user, template="\n{% if %}")
    with pytest.raises(OptionError, match=r"no template is named 'defalt'.*Names: 'default'"):
        tok.chat(user, template="defalt")
    with pytest.raises(OptionError, match="is unsafe"):
        tok.chat(user, template="{{ messages.__class__.__mro__ }}")
    with pytest.raises(OptionError, match="is unsafe"):
        tok.chat(user, template="{{ messages.append(1) }}")
    with pytest.raises(OptionError, match="without an end"):
        tok.chat(user, template="{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}")
    with pytest.raises(OptionError, match="own"):
        tok.chat(user, variables={"messages": []})
    with pytest.raises(OptionError, match="exclude"):
        tok.chat(user, add_generation_prompt=True, continue_final_message=True)
    with pytest.raises(OptionError, match="no messages"):
        tok.chat([])
    with pytest.raises(TypeError, match=r"messages\[0\]"):
        tok.chat(["low"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"tools\[0\]"):
        tok.chat(user, tools=[print])
    with pytest.raises(OptionError, match=r"chats\[1\]: there are no messages"):
        tok.chat_batch([user, []])
    deep: list[Any] = []
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(digram.LimitExceededError):
        tok.chat([{"role": "user", "content": deep}])
    endless: dict[str, Any] = {"role": "user", "content": ""}
    endless["self"] = endless
    with pytest.raises(digram.LimitExceededError):
        tok.chat([endless])
    with pytest.raises(digram.InvalidTextError):
        tok.chat([{"role": "user", "content": "\ud800"}])
