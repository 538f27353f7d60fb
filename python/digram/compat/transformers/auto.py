"""`AutoTokenizer`, which has one class to choose from."""

from __future__ import annotations

import os
from typing import Any

from digram.compat.transformers.tokenizer import PreTrainedTokenizerFast

__all__ = ["AutoTokenizer"]


class AutoTokenizer:
    """Loads tokenizers by their names or paths."""

    @staticmethod
    def from_pretrained(
        pretrained_model_name_or_path: str | os.PathLike[str], **named: Any
    ) -> PreTrainedTokenizerFast:
        """As `PreTrainedTokenizerFast.from_pretrained`."""
        return PreTrainedTokenizerFast.from_pretrained(pretrained_model_name_or_path, **named)
