"""The page as an application: public files, and questions behind the guard."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from functools import partial
from importlib.resources import files
from typing import Any

from digram.errors import DigramError, InternalError, LimitExceededError, OptionError
from digram.formats._json import dump, parse
from digram.web.answers import Answers
from digram.web.guard import Guard, Receive, Scope, Send, respond
from digram.web.problems import problem
from digram.web.work import Work

__all__ = ["Works", "application"]

_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


class Works:
    """The work of a server: quick questions, and separately those that may take seconds."""

    def __init__(self) -> None:
        self.short = Work(2)
        self.long = Work(1)

    def stop(self) -> None:
        """Stop running work, and refuse waiting and new work."""
        self.short.stop()
        self.long.stop()

    def join(self, seconds: float) -> None:
        """Wait for running work, at most that long for each kind."""
        self.short.join(seconds)
        self.long.join(seconds)


def static_files() -> Mapping[str, tuple[bytes, str]]:
    """The files that the browser loads: contents and type by path, all in memory.

    >>> static_files()["/icon.svg"]
    (b'<svg...', 'image/svg+xml')
    """
    found = {}
    for file in (files("digram.web") / "static").iterdir():
        kind = file.name.rpartition(".")[2]
        if kind in _TYPES:
            path = "/" if file.name == "index.html" else f"/{file.name}"
            found[path] = file.read_bytes(), _TYPES[kind]
    return found


def application(
    answers: Answers, works: Works, *, origins: Mapping[str, Collection[str]], token: str
) -> Guard:
    """The ASGI application of a server, behind its guard; for `origins` and `token` see `Guard`."""
    paths = {f"/api/{question}": question for question in answers.questions}
    shown = static_files()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path in shown:
            content, kind = shown[path]
            await respond(200, {"content-type": kind}, content, send)
            return
        question = paths[path]
        body = (await receive())["body"]  # the guard passes the complete body
        work = works.long if question in answers.long else works.short
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            status, found = await work.do(partial(_answered, answers, question, body), gone)
            with work.holding(len(found)):
                await respond(status, {"content-type": "application/json"}, found, send)
        finally:
            gone.cancel()

    return Guard(app, origins=origins, token=token, files={*shown}, questions={*paths})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _answered(answers: Answers, question: str, body: bytes) -> tuple[int, bytes]:
    """The status and the body of the answer to a question."""
    try:
        return 200, dump(answers(question, _parsed(body)))
    except DigramError as error:
        return 400, dump(problem(error))
    except MemoryError:
        fault = LimitExceededError(
            "there is not enough memory for this.", hint="Use a shorter text, or close programs."
        )
        return 503, dump(problem(fault))
    except Exception as error:  # shown on the page, whatever it is
        broken = InternalError(
            f"{type(error).__name__}: {error}",
            hint="This should not happen; please report what you did and this message.",
        )
        return 500, dump(problem(broken))


def _parsed(body: bytes) -> Any:
    try:
        return parse(body, None)
    except DigramError as error:  # its message is about files
        raise OptionError(
            f"the body of the request is not valid JSON: {problem(error)['error']['message']}",
            hint="Send one object in UTF-8, with each key once.",
        ) from None
