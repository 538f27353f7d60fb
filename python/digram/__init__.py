"""Byte-pair encoding: train a tokenizer on any corpus, encode, decode, count, save and load.

>>> import digram
>>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
>>> tok.decode(tok.encode("lowest"))
'lowest'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from digram._core import ArrowIds, Decoder, Intervals, RunningCount, __version__
    from digram.adapt import Change, EmbeddingPlan
    from digram.audit import Audit
    from digram.batching import FlatIds
    from digram.bulk import TokenFiles, read_tokens
    from digram.counting import Chunk
    from digram.counts import Counts, count_pretokens
    from digram.definition import Definition, TrainingRecord
    from digram.encoding import Encoding, Encodings
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
    from digram.events import Event
    from digram.fair import train_fair
    from digram.growing import Drift, Trainer, Version
    from digram.loading import load
    from digram.metrics import advise
    from digram.patterns import Regex
    from digram.planning import Plan, plan
    from digram.pretokenizers import Pretokenizer, pretokenize
    from digram.report import Report
    from digram.rules import Rules
    from digram.sequences import SequenceTokenizer, train_ids
    from digram.sources import Files, Reading, Table, files, table
    from digram.spaces import IdSpace
    from digram.special import Special
    from digram.superwords import Boundless, TwoStage
    from digram.template import Template
    from digram.tokenizer import Merge, RunnerUp, Tokenizer
    from digram.training import train

__all__ = [
    "ArrowIds",
    "Audit",
    "Boundless",
    "Change",
    "CheckpointError",
    "Chunk",
    "ConfigMismatchError",
    "CorruptFileError",
    "Counts",
    "Decoder",
    "Definition",
    "DigramError",
    "Drift",
    "EmbeddingPlan",
    "Encoding",
    "Encodings",
    "Event",
    "Files",
    "FlatIds",
    "IdSpace",
    "InternalError",
    "Intervals",
    "InvalidTextError",
    "LimitExceededError",
    "Merge",
    "OptionError",
    "PatternError",
    "Plan",
    "Pretokenizer",
    "Reading",
    "Regex",
    "Report",
    "Rules",
    "RunnerUp",
    "RunningCount",
    "SequenceTokenizer",
    "Special",
    "SpecialTokenError",
    "Table",
    "Template",
    "TokenFiles",
    "TokenIdError",
    "Tokenizer",
    "Trainer",
    "TrainingRecord",
    "TwoStage",
    "Version",
    "VocabError",
    "__version__",
    "advise",
    "count_pretokens",
    "files",
    "load",
    "plan",
    "pretokenize",
    "read_tokens",
    "table",
    "train",
    "train_fair",
    "train_ids",
]

# Where each name lives. A module is imported when its first name is used, so that the command line
# starts at once and nobody pays for what they do not use.
_HOMES = {
    "adapt": ["Change", "EmbeddingPlan"],
    "_core": ["ArrowIds", "Decoder", "Intervals", "RunningCount", "__version__"],
    "audit": ["Audit"],
    "batching": ["FlatIds"],
    "bulk": ["TokenFiles", "read_tokens"],
    "counting": ["Chunk"],
    "counts": ["Counts", "count_pretokens"],
    "definition": ["Definition", "TrainingRecord"],
    "encoding": ["Encoding", "Encodings"],
    "errors": [name for name in __all__ if name.endswith("Error")],
    "events": ["Event"],
    "growing": ["Drift", "Trainer", "Version"],
    "fair": ["train_fair"],
    "loading": ["load"],
    "metrics": ["advise"],
    "planning": ["Plan", "plan"],
    "patterns": ["Regex"],
    "pretokenizers": ["Pretokenizer", "pretokenize"],
    "report": ["Report"],
    "rules": ["Rules"],
    "sequences": ["SequenceTokenizer", "train_ids"],
    "sources": ["Files", "Reading", "Table", "files", "table"],
    "spaces": ["IdSpace"],
    "special": ["Special"],
    "superwords": ["Boundless", "TwoStage"],
    "template": ["Template"],
    "tokenizer": ["Merge", "RunnerUp", "Tokenizer"],
    "training": ["train"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    import importlib

    if name in _HOME_OF:
        value = getattr(importlib.import_module(f"digram.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"digram.{name}")
    raise AttributeError(f"module 'digram' has no attribute {name!r}")


_MODULES = frozenset({"engines", "formats", "reference", "seeing", "units", *_HOMES} - {"_core"})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
