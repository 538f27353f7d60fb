"""What this room finds, as lines of text for a terminal; notebooks take the words from here."""
