"""Vocabularies that grow with a stream of text: counts kept, versions made, drift measured.

batches   what was counted: added under names, weighted, let fade, taken away again
history   versions, the log, and the map between any two versions
drift     how far recent text is from what a vocabulary was made on, and whether an update pays
files     a trainer as a folder, and back
trainer   `Trainer`, all of it as one immutable value
"""

from digram.growing.drift import Drift
from digram.growing.history import Entry, Version
from digram.growing.trainer import Trainer

__all__ = ["Drift", "Entry", "Trainer", "Version"]
