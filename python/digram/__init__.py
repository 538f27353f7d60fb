"""Byte-pair encoding: train a tokenizer on any corpus, encode, decode, count, save and load.

>>> import digram
>>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
>>> tok.decode(tok.encode("lowest"))
'lowest'
"""

from __future__ import annotations

# Type checkers take this name for True. `typing` itself would be nine tenths of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from digram._core import ArrowIds, Decoder, Intervals, RunningCount, __version__
    from digram.adapt import Change, EmbeddingPlan, extend, prune, replace_tokens, shrink, union
    from digram.adapt.versions import Drift, VocabularyHistory, VocabularyVersion
    from digram.analysis.audit import Audit, audit
    from digram.analysis.explain import (
        Explanation,
        Places,
        Replay,
        Tree,
        explain,
        find_token,
        merge_tree,
        replay,
        show,
    )
    from digram.analysis.metrics import (
        Advice,
        Comparison,
        Curve,
        Evaluation,
        advise,
        compare,
        curve,
        evaluate,
    )
    from digram.analysis.rule_check import RulesCheck, check_rules
    from digram.analysis.verification import Verification, verify
    from digram.corpus import Files, Reading, Table, files, table
    from digram.decoders.decoding import Decoding
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
    from digram.multimodal.id_space import IdSpace
    from digram.multimodal.sequences import SequenceTokenizer, train_ids
    from digram.pretokenizers.pretokenizer import Pretokenizer, pretokenize
    from digram.pretokenizers.regex import Regex
    from digram.pretokenizers.rules import Rules
    from digram.reports import Report, report
    from digram.shards import TokenFiles, encode_files, read_tokens
    from digram.tokenizer.batch import FlatIds
    from digram.tokenizer.cache import cache_bytes, limit_cache
    from digram.tokenizer.chat import Chat
    from digram.tokenizer.count import Chunk
    from digram.tokenizer.encoding import Encoding, Encodings
    from digram.tokenizer.load import load
    from digram.tokenizer.merge_log import Merge, RunnerUp
    from digram.tokenizer.tokenizer import Tokenizer
    from digram.training.counts import Counts, count_pretokens
    from digram.training.estimate import TrainingEstimate, estimate_training
    from digram.training.fair import train_fair
    from digram.training.superwords import Boundless, TwoStage
    from digram.training.train import train
    from digram.training.unigram import Unigram
    from digram.training.wordpiece import WordPiece
    from digram.vocab.bpe import BpeModel
    from digram.vocab.definition import Definition, TrainingRecord
    from digram.vocab.greedy import GreedyModel
    from digram.vocab.limits import Padding, Truncation
    from digram.vocab.picky import Event
    from digram.vocab.scores import ScoredModel, UnigramModel
    from digram.vocab.special_roles import SpecialRoles
    from digram.vocab.special_tokens import Matching, SpecialToken
    from digram.vocab.template import Template
    from digram.vocab.word_level import WordLevelModel
    from digram.vocab.wordpiece import WordPieceModel

__all__ = [
    "Advice",
    "ArrowIds",
    "Audit",
    "Boundless",
    "BpeModel",
    "Change",
    "Chat",
    "CheckpointError",
    "Chunk",
    "Comparison",
    "ConfigMismatchError",
    "CorruptFileError",
    "Counts",
    "Curve",
    "Decoder",
    "Decoding",
    "Definition",
    "DigramError",
    "Drift",
    "EmbeddingPlan",
    "Encoding",
    "Encodings",
    "Evaluation",
    "Event",
    "Explanation",
    "Files",
    "FlatIds",
    "GreedyModel",
    "IdSpace",
    "InternalError",
    "Intervals",
    "InvalidTextError",
    "LimitExceededError",
    "Matching",
    "Merge",
    "OptionError",
    "Padding",
    "PatternError",
    "Places",
    "Pretokenizer",
    "Reading",
    "Regex",
    "Replay",
    "Report",
    "Rules",
    "RulesCheck",
    "RunnerUp",
    "RunningCount",
    "ScoredModel",
    "SequenceTokenizer",
    "SpecialRoles",
    "SpecialToken",
    "SpecialTokenError",
    "Table",
    "Template",
    "TokenFiles",
    "TokenIdError",
    "Tokenizer",
    "TrainingEstimate",
    "TrainingRecord",
    "Tree",
    "Truncation",
    "TwoStage",
    "Unigram",
    "UnigramModel",
    "Verification",
    "VocabError",
    "VocabularyHistory",
    "VocabularyVersion",
    "WordLevelModel",
    "WordPiece",
    "WordPieceModel",
    "__version__",
    "advise",
    "audit",
    "cache_bytes",
    "check_rules",
    "compare",
    "count_pretokens",
    "curve",
    "encode_files",
    "estimate_training",
    "evaluate",
    "explain",
    "extend",
    "files",
    "find_token",
    "limit_cache",
    "load",
    "merge_tree",
    "pretokenize",
    "prune",
    "read_tokens",
    "replace_tokens",
    "replay",
    "report",
    "show",
    "shrink",
    "table",
    "train",
    "train_fair",
    "train_ids",
    "union",
    "verify",
]

# The names of each module. A module is imported when one of its names is first used, so that the
# command line starts fast.
_NAMES_OF = {
    "digram._core": ["ArrowIds", "Decoder", "Intervals", "RunningCount", "__version__"],
    "digram.adapt": [
        "Change",
        "EmbeddingPlan",
        "extend",
        "prune",
        "replace_tokens",
        "shrink",
        "union",
    ],
    "digram.adapt.versions": ["Drift", "VocabularyHistory", "VocabularyVersion"],
    "digram.analysis.audit": ["Audit", "audit"],
    "digram.analysis.explain": [
        "Explanation",
        "Places",
        "Replay",
        "Tree",
        "explain",
        "find_token",
        "merge_tree",
        "replay",
        "show",
    ],
    "digram.analysis.metrics": [
        "Advice",
        "Comparison",
        "Curve",
        "Evaluation",
        "advise",
        "compare",
        "curve",
        "evaluate",
    ],
    "digram.analysis.rule_check": ["RulesCheck", "check_rules"],
    "digram.analysis.verification": ["Verification", "verify"],
    "digram.corpus": ["Files", "Reading", "Table", "files", "table"],
    "digram.decoders.decoding": ["Decoding"],
    "digram.errors": [name for name in __all__ if name.endswith("Error")],
    "digram.multimodal.id_space": ["IdSpace"],
    "digram.multimodal.sequences": ["SequenceTokenizer", "train_ids"],
    "digram.pretokenizers.pretokenizer": ["Pretokenizer", "pretokenize"],
    "digram.pretokenizers.regex": ["Regex"],
    "digram.pretokenizers.rules": ["Rules"],
    "digram.reports": ["Report", "report"],
    "digram.shards": ["TokenFiles", "encode_files", "read_tokens"],
    "digram.tokenizer.batch": ["FlatIds"],
    "digram.tokenizer.chat": ["Chat"],
    "digram.tokenizer.count": ["Chunk"],
    "digram.tokenizer.encoding": ["Encoding", "Encodings"],
    "digram.tokenizer.cache": ["cache_bytes", "limit_cache"],
    "digram.tokenizer.load": ["load"],
    "digram.tokenizer.merge_log": ["Merge", "RunnerUp"],
    "digram.tokenizer.tokenizer": ["Tokenizer"],
    "digram.training.counts": ["Counts", "count_pretokens"],
    "digram.training.estimate": ["TrainingEstimate", "estimate_training"],
    "digram.training.fair": ["train_fair"],
    "digram.training.superwords": ["Boundless", "TwoStage"],
    "digram.training.train": ["train"],
    "digram.training.unigram": ["Unigram"],
    "digram.training.wordpiece": ["WordPiece"],
    "digram.vocab.definition": ["Definition", "TrainingRecord"],
    "digram.vocab.greedy": ["GreedyModel"],
    "digram.vocab.bpe": ["BpeModel"],
    "digram.vocab.scores": ["ScoredModel", "UnigramModel"],
    "digram.vocab.picky": ["Event"],
    "digram.vocab.limits": ["Padding", "Truncation"],
    "digram.vocab.special_roles": ["SpecialRoles"],
    "digram.vocab.special_tokens": ["Matching", "SpecialToken"],
    "digram.vocab.template": ["Template"],
    "digram.vocab.word_level": ["WordLevelModel"],
    "digram.vocab.wordpiece": ["WordPieceModel"],
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULE_OF:
        value = getattr(importlib.import_module(_MODULE_OF[name]), name)
        globals()[name] = value
        return value
    if name in _SUBPACKAGES:
        return importlib.import_module(f"digram.{name}")
    raise AttributeError(f"module 'digram' has no attribute {name!r}")


# Available as attributes of `digram` without an import of their own.
_SUBPACKAGES = frozenset(
    {module.split(".")[1] for module in _NAMES_OF}
    | {"compat", "display", "distributed", "formats", "names", "reference", "web"}
) - {"_core"}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
