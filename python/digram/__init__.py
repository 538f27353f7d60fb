"""Byte-pair encoding: train a tokenizer on any corpus, encode, decode, count, save and load.

>>> import digram
>>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
>>> tok.decode(tok.encode("lowest"))
'lowest'
"""

from digram._core import __version__
from digram.definition import Definition, TrainingRecord
from digram.errors import (
    CheckpointError,
    ConfigMismatchError,
    CorruptFileError,
    DigramError,
    InternalError,
    InvalidTextError,
    LimitExceededError,
    OptionError,
    PatternError,
    SpecialTokenError,
    TokenIdError,
    VocabError,
)
from digram.loading import load
from digram.pretokenizers import Pretokenizer, Regex, pretokenize
from digram.sources import Files, files
from digram.special import Special
from digram.tokenizer import FlatIds, Merge, Tokenizer
from digram.training import train

__all__ = [
    "CheckpointError",
    "ConfigMismatchError",
    "CorruptFileError",
    "Definition",
    "DigramError",
    "Files",
    "FlatIds",
    "InternalError",
    "InvalidTextError",
    "LimitExceededError",
    "Merge",
    "OptionError",
    "PatternError",
    "Pretokenizer",
    "Regex",
    "Special",
    "SpecialTokenError",
    "TokenIdError",
    "Tokenizer",
    "TrainingRecord",
    "VocabError",
    "__version__",
    "files",
    "load",
    "pretokenize",
    "train",
]
