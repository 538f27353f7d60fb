"""Methods of a tokenizer that are doors to rooms above it, each opened when it is called."""

from digram.doors.changing import Changing
from digram.doors.measuring import Measuring
from digram.doors.seeing import Seeing

__all__ = ["Changing", "Measuring", "Seeing"]
