"""A report on a tokenizer: one page with its measures, figures, vocabulary and samples.

contents    what its vocabulary holds, and what of it a text uses
samples     the beginning of a text with its tokens
gathering   all of it together: `Report`
charts      what each figure shows, as data
drawings    how each is drawn, by altair; canvas is what these have in common
words       what is said of each measure and figure
page        the document; sections are what it consists of, parts their pieces, style its look
"""

from __future__ import annotations

from digram.reports.charts import Chart, check_installed
from digram.reports.gathering import Report, report

__all__ = ["Chart", "Report", "check_installed", "report"]
