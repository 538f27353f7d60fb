"""Methods of a tokenizer that are doors to rooms above it, each opened when it is called."""

from digram.doors.changing import Changing

__all__ = ["Changing"]
