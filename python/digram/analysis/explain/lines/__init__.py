"""The results of this package as lines of text for a terminal; notebooks share their wording."""
