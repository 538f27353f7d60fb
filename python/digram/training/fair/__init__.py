"""Fair vocabularies: training in which languages take turns.

turns     which options make sense together, in the form of the core
learning  counting each language, and learning merges for one after the other
training  `train_fair`
"""

from digram.training.fair.training import train_fair

__all__ = ["train_fair"]
