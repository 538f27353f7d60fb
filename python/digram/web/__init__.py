"""The page: tokenizers in a browser, side by side, served on this machine only (`digram serve`).

`answers` implements the page's requests as plain functions; `guard` refuses other requests;
`app` joins both with the files in `static`, and `server` runs the application on a local port.
"""

from __future__ import annotations

from digram.web.answers import Answers
from digram.web.server import Server, serve

__all__ = ["Answers", "Server", "serve"]
