"""The published encodings of OpenAI's models, by the names of the models."""

from __future__ import annotations

__all__ = ["MODELS", "encoding_of_model", "model_like"]

_BY_ENCODING = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": """
        gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002
        text-embedding-ada-002 text-embedding-3-small text-embedding-3-large
    """,
    "p50k_base": """
        text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001
        code-cushman-002 code-cushman-001 davinci-codex cushman-codex
    """,
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": """
        text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada
        text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001
        text-similarity-ada-001 text-search-davinci-doc-001 text-search-curie-doc-001
        text-search-babbage-doc-001 text-search-ada-doc-001 code-search-babbage-code-001
        code-search-ada-code-001
    """,
    "gpt2": "gpt2 gpt-2",
}
_PREFIXES_BY_ENCODING = {
    "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
    "cl100k_base": """
        gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 ft:babbage-002
    """,
    "o200k_harmony": "gpt-oss-",
}

MODELS: dict[str, str] = {
    model: encoding for encoding, models in _BY_ENCODING.items() for model in models.split()
}
"""From github.com/openai/tiktoken, tiktoken/model.py."""

_PREFIXES = {
    prefix: encoding
    for encoding, prefixes in _PREFIXES_BY_ENCODING.items()
    for prefix in prefixes.split()
}


def encoding_of_model(name: str) -> str | None:
    """The published encoding of a model, as `tiktoken.encoding_for_model`; None for other names.

    >>> encoding_of_model("gpt-4"), encoding_of_model("gpt-4o-2024-05-13")
    ('cl100k_base', 'o200k_base')
    >>> encoding_of_model("ft:gpt-4o:mine"), encoding_of_model("gpt4")
    ('o200k_base', None)
    """
    if name in MODELS:
        return MODELS[name]
    fits = [prefix for prefix in _PREFIXES if name.startswith(prefix)]
    return _PREFIXES[max(fits, key=len)] if fits else None


def model_like(name: str) -> str | None:
    """The model whose name differs only in hyphens and capitals; None if there is none.

    >>> model_like("GPT4"), model_like("cl100k")
    ('gpt-4', None)
    """

    def plain(text: str) -> str:
        return text.lower().replace("-", "")

    return next((model for model in MODELS if plain(model) == plain(name)), None)
