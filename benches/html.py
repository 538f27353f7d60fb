"""What a person reads of a page: HTML to text."""

from __future__ import annotations

import html
import re

_UNSEEN = "script|style|head|template|svg|math|nav|button|select"
_INLINE = """
    a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span
    strike strong sub sup tt u var wbr
    app cmd file gui guiseq input key keyseq link output sys
"""  # of HTML, and of Mallard
_REST = r"(?:[^>\"']++|\"[^\"]*\"|'[^']*')*+>"

# A parser would take ten times the time. That no element holds one of its own name is true of
# these on the pages that programs make.
_HIDDEN = re.compile(
    rf"<!--.*?-->|<[!?][^>]*>|<({_UNSEEN})\b[^>]*(?<!/)>.*?</\1\s*>", re.IGNORECASE | re.DOTALL
)
_VERBATIM = re.compile(r"<(pre|textarea|screen)\b[^>]*(?<!/)>(.*?)</\1\s*>", re.I | re.DOTALL)
_IN_LINE = re.compile(rf"</?(?:{'|'.join(_INLINE.split())})(?![\w:-]){_REST}", re.IGNORECASE)
_CELL = re.compile(rf"</?t[dh](?![\w:-]){_REST}", re.IGNORECASE)
_BLOCK = re.compile(rf"</?[a-zA-Z]{_REST}")
_SPACES = re.compile(r"  +")
_LINES = re.compile(r"\n{3,}")


def text_of(page: str) -> str:
    r"""The text of a page: a line for each block, white space kept where it is shown.

    >>> text_of("<head><title>no</title></head><h1>One &amp; <b>two</b></h1><p>three\n four")
    'One & two\n\nthree four'
    >>> text_of("<pre>def f():\n    return 1</pre><script>x</script>")
    'def f():\n    return 1'
    """
    page = _IN_LINE.sub("", _HIDDEN.sub("", page))
    parts, start = [], 0
    for verbatim in _VERBATIM.finditer(page):
        parts += [_flow(page[start : verbatim.start()]), f"<p>{verbatim[2]}<p>"]
        start = verbatim.end()
    page = "".join([*parts, _flow(page[start:])])
    text = html.unescape(_BLOCK.sub("\n", _CELL.sub("\t", page)))
    return _LINES.sub("\n\n", "\n".join(map(str.rstrip, text.split("\n")))).strip()


def _flow(text: str) -> str:
    """Text in which any white space is one space."""
    for white in "\t\r\n\f":
        text = text.replace(white, " ")
    return _SPACES.sub(" ", text)
