"""What a person reads of a page: HTML to text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_UNSEEN = {"script", "style", "head", "template", "svg", "math", "nav", "button", "select"}
_VERBATIM = {"pre", "textarea", "code-block", "screen"}
_OF_HTML = """
    a abbr b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span
    strike strong sub sup tt u var wbr
"""
_OF_MALLARD = "app cmd file gui guiseq input key keyseq link output sys"
_INLINE = {*_OF_HTML.split(), *_OF_MALLARD.split()}
_WHITE = re.compile(r"[ \t\r\n\f]+")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.unseen: list[str] = []  # the elements that hide what we are in
        self.verbatim = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in _UNSEEN:
            self.unseen.append(tag)
        elif tag in _VERBATIM:
            self.verbatim += 1
        self._border(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self._border(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.unseen:
            del self.unseen[self.unseen.index(tag) :]
        elif tag in _VERBATIM and self.verbatim:
            self.verbatim -= 1
        elif tag in ("body", "html"):
            self.unseen.clear()
        self._border(tag)

    def handle_data(self, data: str) -> None:
        if not self.unseen:
            self.parts.append(data if self.verbatim else _WHITE.sub(" ", data))

    def _border(self, tag: str) -> None:
        """Text on the two sides of it stands on different lines, or in different cells."""
        if not self.unseen and tag not in _INLINE:
            self.parts.append("\t" if tag in ("td", "th") else "\n")


_SPACES = re.compile(r"[ \t]*\n[ \t]*(?=\n)|[ \t]+(?=\n)")
_LINES = re.compile(r"\n{3,}")


def text_of(page: str) -> str:
    r"""The text of a page: a line for each block, white space kept where it is shown.

    >>> text_of("<head><title>no</title></head><h1>One &amp; <b>two</b></h1><p>three\n four")
    'One & two\n\nthree four'
    >>> text_of("<pre>def f():\n    return 1</pre><script>x</script>")
    'def f():\n    return 1'
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return _LINES.sub("\n\n", _SPACES.sub("\n", "".join(reader.parts))).strip()
