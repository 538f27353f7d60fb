"""Training: options, counts, the merge loop, superwords, several languages, checkpoints."""
