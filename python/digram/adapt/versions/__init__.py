"""Vocabularies for a stream of text: keep counts, make versions, measure drift.

batches   the counted texts: named, weighted, decayed, and removed again
version   versions, the log, and the map between any two versions
drift     how far recent text is from that of a vocabulary, and whether an update pays
files     a history as a folder, and back
holding   the part of a history that counts
history   `VocabularyHistory`, all of it as one immutable value
editing   a history in a folder, changed by one process at a time
"""

from digram.adapt.versions.drift import Drift
from digram.adapt.versions.editing import edited
from digram.adapt.versions.history import VocabularyHistory
from digram.adapt.versions.version import Entry, VocabularyVersion

__all__ = ["Drift", "Entry", "VocabularyHistory", "VocabularyVersion", "edited"]
