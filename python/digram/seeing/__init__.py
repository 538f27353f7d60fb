"""Looking into a tokenizer: why a text became its tokens, what a token is made of, where it stands.

explanation  the merges of a text, step by step
cuts         which part of a pattern cut a pretoken out
replay       training played again on a text
playing      its pretokens on their way through the merges
pieces       a text in pretokens and special tokens, for explanations too
tree         the merge tree of a token
places       the words of a corpus that a token is in
looking      how these are looked for
symbols      merges by pair and by token, which the others look up
lines, pages  all of these for a terminal, and for a notebook
"""

from __future__ import annotations

from digram.seeing.cuts import Cut
from digram.seeing.explanation import Candidate, Explanation, Merging, Step, explain
from digram.seeing.looking import where
from digram.seeing.places import Places, Sample, Word
from digram.seeing.replay import Frame, PairCount, Replay, replay
from digram.seeing.tree import Tree, tree

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
    "replay",
    "tree",
    "where",
]
