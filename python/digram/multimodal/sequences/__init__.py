"""Byte-pair encoding of any sequence of numbers: codes of images, actions, audio, DNA."""

from digram.multimodal.sequences.alphabet import Alphabet
from digram.multimodal.sequences.tokenizer import SequenceTokenizer
from digram.multimodal.sequences.training import train_ids

__all__ = ["Alphabet", "SequenceTokenizer", "train_ids"]
