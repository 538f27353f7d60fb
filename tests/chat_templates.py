"""Templates of chats in the shapes of published ones, and chats for them."""

from __future__ import annotations

import random
from typing import Any

import digram

CHATML = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}
        {{- messages[0].content + '\\n\\n' }}
    {%- endif %}
    {{- '# Tools\\n<tools>' }}
    {%- for tool in tools %}
        {{- '\\n' }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '\\n</tools><|im_end|>\\n' }}
{%- elif messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == 'user' or (message.role == 'system' and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == 'assistant' %}
        {%- set content = message.content | default('') %}
        {%- if '</think>' in content %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- for call in message.tool_calls %}
            {{- '\\n<tool_call>\\n{"name": "' }}
            {{- call.name }}
            {{- '", "arguments": ' }}
            {{- call.arguments | tojson }}
            {{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == 'tool' %}
        {{- '<|im_start|>user\\n<tool_response>\\n' ~ message.content ~ '\\n</tool_response>' }}
        {{- '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if think is defined and think is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}
"""

HEADERS = """\
{{- bos_token }}
{%- for message in messages %}
    {%- set part = '<|start|>' + message['role'] + '<|stop|>\\n\\n' + message['content'] | trim %}
    {{- part + '<|eot|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|start|>assistant<|stop|>\\n\\n' }}{% endif %}
"""

INSTRUCTIONS = """\
{{ bos_token }}{% for message in messages %}
{% if message['role'] == 'user' %}
{% if (loop.index0 % 2 == 0) != true %}{{ raise_exception('Roles must alternate.') }}{% endif %}
{{ '[INST] ' + message['content'] + ' [/INST]' }}
{% elif message['role'] == 'assistant' %}
{{ ' ' + message['content'] | trim + eos_token }}
{% else %}
{{ raise_exception('Only user and assistant') }}
{% endif %}
{% endfor %}
"""

TURNS = """\
{{ bos_token }}
{%- for message in messages -%}
    {%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}
    {{ '<turn>' + role + '\\n' + message['content'] | trim + '</turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '<turn>model\\n' }}{%- endif -%}
"""

ROLES = """\
{% for message in messages %}{{ '<|' + message['role'] + '|>' + '\\n' + message['content']
   + eos_token + '\\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}
"""

GENERATION = """\
{%- macro header(role) -%}<|im_start|>{{ role }}
{% endmacro -%}
{%- set ns = namespace(text='') -%}
{%- for message in messages -%}
    {%- if message.role == 'assistant' -%}
        {{ header(message.role) }}
        {%- generation -%}
        {{ [message.content[:4], message.content[4:]] | join }}<|im_end|>
        {%- endgeneration -%}
        {{ '\\n' }}
    {%- else -%}
        {%- set ns.text = message.content.replace('  ', ' ').strip() -%}
        {{ header(message.role) ~ ns.text }}<|im_end|>{{ '\\n' }}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ header('assistant') }}{%- endif -%}
"""

TEMPLATES = {
    "chatml": CHATML,
    "headers": HEADERS,
    "instructions": INSTRUCTIONS,
    "turns": TURNS,
    "roles": ROLES,
    "generation": GENERATION,
}

SPECIAL = [
    *("<s>", "</s>", "<pad>", "<|im_start|>", "<|im_end|>", "<|start|>", "<|stop|>", "<|eot|>"),
    *("<turn>", "</turn>", "<|user|>", "<|assistant|>", "<|system|>"),
]
ALWAYS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>"]

WORDS = [
    "low",
    "lower ",
    " slow",
    "\n",
    "  ",
    "Größe",
    "日本",
    "🙂",
    "<|",
    "|>",
    "[INST]",
    "}",
    '"',
]


def with_chats(tok: digram.Tokenizer, flags: dict[str, digram.Matching]) -> digram.Tokenizer:
    """A tokenizer with the special tokens of the templates, and flags of some of them."""
    from dataclasses import replace

    texts = [text for text in [*SPECIAL, *ALWAYS] if text not in tok.special_tokens]
    definition = tok.with_special_tokens(texts).definition
    matching = {text: digram.Matching(always=True) for text in ALWAYS} | flags
    tok = digram.Tokenizer(replace(definition, matching={**definition.matching, **matching}))
    tok = tok.with_special_roles(digram.SpecialRoles(bos="<s>", eos="</s>"))
    return tok.with_pad_token("<pad>").with_chat_template({"default": CHATML} | TEMPLATES)


def chat(rng: random.Random, words: list[str], *, instructions: bool) -> list[dict[str, Any]]:
    """A chat of random words."""

    def text() -> str:
        return "".join(rng.choices(words, k=rng.randrange(6)))

    turns = rng.randrange(1, 5)
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        role = "assistant" if turn % 2 else "user"
        messages.append({"role": role, "content": text()})
        if role == "assistant" and not instructions:
            if rng.random() < 0.3:
                messages[-1]["content"] = text() + "</think>\n\n" + text()
            if rng.random() < 0.3:
                call = {"name": text(), "arguments": {text(): text(), "n": [1, None, text()]}}
                messages[-1]["tool_calls"] = [call]
                messages.append({"role": "tool", "content": text()})
    if not instructions and rng.random() < 0.5:
        messages.insert(0, {"role": "system", "content": text()})
    return messages
