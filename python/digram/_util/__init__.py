"""What every room uses and none is about: checks of arguments, files, progress."""
