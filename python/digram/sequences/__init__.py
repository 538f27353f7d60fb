"""Byte-pair encoding of any sequence of numbers: codes of images, actions, audio, DNA."""

from digram.sequences.alphabet import Alphabet
from digram.sequences.tokenizer import SequenceTokenizer
from digram.sequences.training import train_ids

__all__ = ["Alphabet", "SequenceTokenizer", "train_ids"]
