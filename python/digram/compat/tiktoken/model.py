"""The encodings of OpenAI's models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from digram.compat.tiktoken.checks import typed
from digram.compat.tiktoken.errors import UnknownModelError
from digram.compat.tiktoken.registry import get_encoding
from digram.errors import show

if TYPE_CHECKING:
    from digram.compat.tiktoken.core import Encoding

__all__ = ["MODEL_PREFIX_TO_ENCODING", "MODEL_TO_ENCODING"]
__all__ += ["encoding_for_model", "encoding_name_for_model"]

# Facts from github.com/openai/tiktoken, tiktoken/model.py.
_MODELS = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 "
    "text-embedding-ada-002 text-embedding-3-small text-embedding-3-large",
    "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 "
    "code-cushman-002 code-cushman-001 davinci-codex cushman-codex",
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie "
    "babbage ada text-similarity-davinci-001 text-similarity-curie-001 "
    "text-similarity-babbage-001 text-similarity-ada-001 text-search-davinci-doc-001 "
    "text-search-curie-doc-001 text-search-babbage-doc-001 text-search-ada-doc-001 "
    "code-search-babbage-code-001 code-search-ada-code-001",
    "gpt2": "gpt2 gpt-2",
}
_PREFIXES = {
    "o200k_base": "o1- o3- o4-mini- gpt-5 gpt-4.5- gpt-4.1- chatgpt-4o- gpt-4o- ft:gpt-4o",
    "cl100k_base": "gpt-4- gpt-3.5-turbo- gpt-35-turbo- ft:gpt-4 ft:gpt-3.5-turbo ft:davinci-002 "
    "ft:babbage-002",
    "o200k_harmony": "gpt-oss-",
}
MODEL_TO_ENCODING = {model: name for name, models in _MODELS.items() for model in models.split()}
"""The encoding of each model."""
MODEL_PREFIX_TO_ENCODING = {
    prefix: name
    for name, prefixes in _PREFIXES.items()
    for prefix in sorted(prefixes.split(), key=len, reverse=True)
}
"""The encoding of models that start so; the longest prefix decides."""


def encoding_name_for_model(model_name: str) -> str:
    """Return the name of the encoding of a model.

    >>> encoding_name_for_model("gpt-4o"), encoding_name_for_model("gpt-4-0613")
    ('o200k_base', 'cl100k_base')

    Raises `UnknownModelError`, a `KeyError`, for a model that is not known.
    """
    typed("model_name", model_name, str)
    if model_name in MODEL_TO_ENCODING:
        return MODEL_TO_ENCODING[model_name]
    fits = [prefix for prefix in MODEL_PREFIX_TO_ENCODING if model_name.startswith(prefix)]
    if not fits:
        raise UnknownModelError(
            f"no encoding is known for the model {show(model_name)}.",
            value=model_name,
            hint="Name the encoding, as in get_encoding('o200k_base').",
        )
    return MODEL_PREFIX_TO_ENCODING[max(fits, key=len)]


def encoding_for_model(model_name: str) -> Encoding:
    """Return the encoding of a model; raises as `encoding_name_for_model` and `get_encoding`."""
    return get_encoding(encoding_name_for_model(model_name))
