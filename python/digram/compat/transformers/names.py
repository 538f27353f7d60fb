"""The texts of tokens as transformers shows them: those of tokenizer.json."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from typing import Any, NamedTuple

from digram._util.storage import read_file
from digram.errors import VocabError
from digram.formats import huggingface
from digram.formats._spaces import named
from digram.formats._unigram import without_config
from digram.tokenizer.encoding.encoding import Encoding
from digram.tokenizer.tokenizer import Tokenizer
from digram.vocab.scores import UnigramModel

__all__ = ["Names", "model_size", "names_of"]


class Names(NamedTuple):
    """The tokens of the model and the added ones, by their texts, and all texts by id."""

    model: dict[str, int]
    added: dict[str, int]
    texts: dict[int, str]
    kind: str
    unknown: int | None
    """The id of which each token is named by the text that it stands for, as in Unigram."""
    symbol: str | None
    """What stands for a space in names."""

    def of(self, encoding: Encoding) -> list[str]:
        """The names of the tokens of an encoding."""
        ids = encoding.ids
        if self.unknown is None or self.unknown not in ids:
            return [self.texts[id] for id in ids]
        unknown = self.texts[self.unknown]
        found = []
        for id, stands_for in zip(ids, encoding._texts_of(self.unknown), strict=True):
            text = None if stands_for is None else stands_for.decode(errors="replace")
            # The text of the token itself may have taken spaces around it.
            if text is None or text.strip() == unknown:
                found.append(self.texts[id])
            else:
                found.append(named(text, self.symbol))
        return found


@lru_cache(maxsize=4)
def names_of(tok: Tokenizer) -> Names:
    """The texts of all tokens; the last results are kept.

    Raises `VocabError` for a tokenizer that tokenizer.json cannot store.
    """
    try:
        is_unigram = isinstance(tok.definition.model, UnigramModel)
        alone = without_config(tok.definition) if is_unigram else tok.definition
        content: dict[str, Any] = json.loads(huggingface.dumps(alone))
    except VocabError as error:
        raise VocabError(
            "this interface names tokens as a tokenizer.json does, and there is none for this "
            f"tokenizer: {error.message}",
            value=error.value,
            hint="Load it with digram.load, and call the methods of digram.Tokenizer.",
        ) from None
    model, vocab = content["model"], content["model"]["vocab"]
    if isinstance(vocab, list):
        vocab = {text: id for id, (text, _) in enumerate(vocab)}
    added = {entry["content"]: entry["id"] for entry in content["added_tokens"]}
    texts = {id: text for text, id in [*vocab.items(), *added.items()]}
    return Names(
        vocab,
        dict(sorted(added.items(), key=lambda item: item[1])),
        texts,
        model["type"],
        model["unk_id"] if model["type"] == "Unigram" else None,
        tok.definition.space_symbol,
    )


def model_size(path: str) -> int | None:
    """The number of tokens in the model of a tokenizer.json, or of that in a folder.

    Added tokens need not be among them. None if there is no such file.
    """
    file = os.path.join(path, "tokenizer.json") if os.path.isdir(path) else path
    if not (file.endswith(".json") and os.path.isfile(file)):
        return None
    content = json.loads(read_file(file))
    model = content.get("model") if isinstance(content, dict) else None
    vocab = model.get("vocab") if isinstance(model, dict) else None
    return len(vocab) if isinstance(vocab, dict | list) else None
