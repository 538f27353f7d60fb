"""Helpers for all packages: checks of arguments, files, progress."""
