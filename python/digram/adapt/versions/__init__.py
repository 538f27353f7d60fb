"""Vocabularies for a stream of text: keep counts, make versions, measure drift.

batches   what was counted: added under names, weighted, let fade, taken away again
history   versions, the log, and the map between any two versions
drift     how far recent text is from what a vocabulary was made on, and whether an update pays
files     a trainer as a folder, and back
holding   the part of a trainer that counts
trainer   `Trainer`, all of it as one immutable value
editing   a trainer in a folder, changed by one process at a time
"""

from digram.adapt.versions.drift import Drift
from digram.adapt.versions.editing import edited
from digram.adapt.versions.history import Entry, Version
from digram.adapt.versions.trainer import Trainer

__all__ = ["Drift", "Entry", "Trainer", "Version", "edited"]
