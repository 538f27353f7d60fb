"""More than text: one id space for several modalities, and sequences of numbers."""
