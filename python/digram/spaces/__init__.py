"""One id space for several vocabularies: text beside images, audio, actions and control ids."""

from digram.spaces.parts import Part
from digram.spaces.ranges import IdRange, Marker
from digram.spaces.space import IdSpace, Located

__all__ = ["IdRange", "IdSpace", "Located", "Marker", "Part"]
