"""Fair vocabularies: training in which languages take turns.

turns     checking the options, and converting them for the core
learning  counting each language, and learning merges for one language at a time
training  `train_fair`
"""

from digram.training.fair.training import train_fair

__all__ = ["train_fair"]
