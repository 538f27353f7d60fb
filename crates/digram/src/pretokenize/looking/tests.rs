//! Splits are those of backtracking, also over the borders of windows, which are few bytes apart here.
