"""A report on a tokenizer: one page with its measures, figures, vocabulary and samples.

contents    the tokens of the vocabulary, and which of them a text uses
samples     the beginning of a text with its tokens
gathering   `report`, which collects everything into a `Report`
charts      the data of each figure
drawings    how altair draws each figure; canvas is the code that they share
words       the explanations of measures and figures
page        the document; sections are its chapters, parts their elements, style its CSS
"""

from __future__ import annotations

from digram.reports.charts import Chart, check_installed
from digram.reports.gathering import Report, report

__all__ = ["Chart", "Report", "check_installed", "report"]
