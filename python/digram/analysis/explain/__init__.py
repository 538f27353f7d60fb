"""Looking into a tokenizer: why a text became its tokens, what a token is made of, where it stands.

explanation  the merges of a text, step by step
cuts         which part of a pattern cut a pretoken out
replay       training played again on a text
playing      its pretokens on their way through the merges
pieces       a text in pretokens and special tokens, for explanations too
showing      the tokens of a text, printed
tree         the merge tree of a token
places       the words of a corpus that a token is in
looking      how these are looked for
symbols      merges by pair and by token, which the others look up
lines, pages  all of these for a terminal, and for a notebook
"""

from __future__ import annotations

from digram.analysis.explain.cuts import Cut
from digram.analysis.explain.explanation import Candidate, Explanation, Merging, Step, explain
from digram.analysis.explain.frames import Frame, PairCount, Replay, replay
from digram.analysis.explain.looking import find_token
from digram.analysis.explain.places import Places, Sample, Word
from digram.analysis.explain.showing import show
from digram.analysis.explain.tree import Tree, merge_tree

__all__ = [
    "Candidate",
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
