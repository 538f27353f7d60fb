"""Looking into a tokenizer: why a text became its tokens, how a token is built, where it occurs.

explanation  the merges of a text, step by step
choosing     the tokens of models without merges
cuts         the part of a pattern that cut out a pretoken
frames       a replay of training on a text
playing      the pretokens of a replay
pieces       a text as pretokens and special tokens
showing      the tokens of a text, printed
tree         the merge tree of a token
places       the words of a corpus that contain a token
looking      the search for these words
symbols      merges by pair and by token, for the other modules
lines, pages  output for a terminal, and for a notebook
"""

from __future__ import annotations

from digram.analysis.explain.choosing import Alternative, Choice, Chosen
from digram.analysis.explain.cuts import Cut
from digram.analysis.explain.explanation import Candidate, Explanation, Merging, Step, explain
from digram.analysis.explain.frames import Frame, PairCount, Replay, replay
from digram.analysis.explain.looking import find_token
from digram.analysis.explain.places import Places, Sample, Word
from digram.analysis.explain.showing import show
from digram.analysis.explain.tree import Tree, merge_tree

__all__ = [
    "Alternative",
    "Candidate",
    "Choice",
    "Chosen",
    "Cut",
    "Explanation",
    "Frame",
    "Merging",
    "PairCount",
    "Places",
    "Replay",
    "Sample",
    "Step",
    "Tree",
    "Word",
    "explain",
    "find_token",
    "merge_tree",
    "replay",
    "show",
]
