"""One id space for several vocabularies: text beside images, audio, actions and control ids."""

from digram.multimodal.id_space.parts import LocalPart, Part
from digram.multimodal.id_space.ranges import IdRange, Marker
from digram.multimodal.id_space.space import IdSpace, Located

__all__ = ["IdRange", "IdSpace", "LocalPart", "Located", "Marker", "Part"]
