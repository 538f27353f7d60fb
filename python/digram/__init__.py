"""Byte-pair encoding: train a tokenizer on any corpus, encode, decode, count, save and load.

>>> import digram
>>> tok = digram.train("low low lower lowest", vocab_size=258, pretokenizer="whitespace")
>>> tok.decode(tok.encode("lowest"))
'lowest'
"""

from __future__ import annotations

from digram._util.on_first_use import on_first_use

# Type checkers take this name for True. `typing` itself would be nine tenths of the import's time.
TYPE_CHECKING = False

if TYPE_CHECKING:
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
        DigramWarning,
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
    from digram.tokenizer.chat.chat import Chat
    from digram.tokenizer.chunk import Chunk
    from digram.tokenizer.encoding.encoding import Encoding
    from digram.tokenizer.encoding.encodings import Encodings
    from digram.tokenizer.load import load
    from digram.tokenizer.merge import Merge, RunnerUp
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
    "DigramWarning",
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
    "_core": ["ArrowIds", "Decoder", "Intervals", "RunningCount", "__version__"],
    "adapt": [
        "Change",
        "EmbeddingPlan",
        "extend",
        "prune",
        "replace_tokens",
        "shrink",
        "union",
    ],
    "adapt.versions": ["Drift", "VocabularyHistory", "VocabularyVersion"],
    "analysis.audit": ["Audit", "audit"],
    "analysis.explain": [
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
    "analysis.metrics": [
        "Advice",
        "Comparison",
        "Curve",
        "Evaluation",
        "advise",
        "compare",
        "curve",
        "evaluate",
    ],
    "analysis.rule_check": ["RulesCheck", "check_rules"],
    "analysis.verification": ["Verification", "verify"],
    "corpus": ["Files", "Reading", "Table", "files", "table"],
    "decoders.decoding": ["Decoding"],
    "errors": [name for name in __all__ if name.endswith(("Error", "Warning"))],
    "multimodal.id_space": ["IdSpace"],
    "multimodal.sequences": ["SequenceTokenizer", "train_ids"],
    "pretokenizers.pretokenizer": ["Pretokenizer", "pretokenize"],
    "pretokenizers.regex": ["Regex"],
    "pretokenizers.rules": ["Rules"],
    "reports": ["Report", "report"],
    "shards": ["TokenFiles", "encode_files", "read_tokens"],
    "tokenizer.batch": ["FlatIds"],
    "tokenizer.chat.chat": ["Chat"],
    "tokenizer.chunk": ["Chunk"],
    "tokenizer.encoding.encoding": ["Encoding"],
    "tokenizer.encoding.encodings": ["Encodings"],
    "tokenizer.cache": ["cache_bytes", "limit_cache"],
    "tokenizer.load": ["load"],
    "tokenizer.merge": ["Merge", "RunnerUp"],
    "tokenizer.tokenizer": ["Tokenizer"],
    "training.counts": ["Counts", "count_pretokens"],
    "training.estimate": ["TrainingEstimate", "estimate_training"],
    "training.fair": ["train_fair"],
    "training.superwords": ["Boundless", "TwoStage"],
    "training.train": ["train"],
    "training.unigram": ["Unigram"],
    "training.wordpiece": ["WordPiece"],
    "vocab.definition": ["Definition", "TrainingRecord"],
    "vocab.greedy": ["GreedyModel"],
    "vocab.bpe": ["BpeModel"],
    "vocab.scores": ["ScoredModel", "UnigramModel"],
    "vocab.picky": ["Event"],
    "vocab.limits": ["Padding", "Truncation"],
    "vocab.special_roles": ["SpecialRoles"],
    "vocab.special_tokens": ["Matching", "SpecialToken"],
    "vocab.template": ["Template"],
    "vocab.word_level": ["WordLevelModel"],
    "vocab.wordpiece": ["WordPieceModel"],
}
# Attributes of `digram` without an import of their own.
_SUBPACKAGES = {module.split(".")[0] for module in _NAMES_OF} - {"_core"} | {
    *("compat", "display", "distributed", "formats", "names", "reference", "web")
}

__getattr__, __dir__ = on_first_use(__name__, _NAMES_OF, _SUBPACKAGES)
