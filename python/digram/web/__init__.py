"""The page: tokenizers in a browser, side by side, from this machine alone (`digram serve`).

`answers` holds what the page asks, as plain functions; `guard` refuses what does not come from it;
`app` joins both with the files in `static`, and `server` runs that on a port of this machine.
"""

from __future__ import annotations

from digram.web.answers import Answers
from digram.web.server import Server, serve

__all__ = ["Answers", "Server", "serve"]
