"""The page as an application: files that anybody may have, and questions behind the guard."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from digram.errors import DigramError, InternalError, OptionError
from digram.formats._json import dump, parse
from digram.web.answers import Answers
from digram.web.guard import Guard
from digram.web.problems import problem

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["application", "starlette"]

_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def starlette() -> Any:
    """Starlette; an `OptionError` with the remedy where it or uvicorn is not installed."""
    try:
        import starlette.applications
        import starlette.concurrency
        import starlette.responses
        import starlette.routing
        import uvicorn  # noqa: F401  # which runs it
    except ModuleNotFoundError as error:
        raise OptionError(
            f"the page needs {error.name}, which is not installed.",
            hint="Install it with `pip install 'digram[web]'`.",
        ) from None
    return starlette


def static_files() -> Mapping[str, tuple[bytes, str]]:
    """What the browser loads: contents and type by path. All of it is in memory.

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


def application(answers: Answers, *, port: int, token: str) -> Guard:
    """The ASGI application for a server on a port of this machine, whose questions need `token`."""
    loaded = starlette()
    route = loaded.routing.Route
    paths = {f"/api/{question}": question for question in answers.questions}

    async def answer(request: Request) -> Response:
        body = await request.body()
        # In a thread, so that a long text does not keep others waiting.
        status, found = await loaded.concurrency.run_in_threadpool(
            _answered, answers, paths[request.url.path], body
        )
        return _response(loaded, found, status, "application/json")

    def static(content: bytes, kind: str) -> Any:
        async def send(_request: Request) -> Response:
            return _response(loaded, content, 200, kind)

        return send

    shown = static_files()
    app = loaded.applications.Starlette(
        routes=[
            *(route(path, static(*found), methods=["GET"]) for path, found in shown.items()),
            *(route(path, answer, methods=["POST"]) for path in paths),
        ]
    )
    return Guard(app, port=port, token=token, files={*shown}, questions={*paths})


def _answered(answers: Answers, question: str, body: bytes) -> tuple[int, bytes]:
    """The status and the body of what a question is answered with."""
    try:
        return 200, dump(answers(question, _parsed(body)))
    except DigramError as error:
        return 400, dump(problem(error))
    except Exception as error:  # whatever it is, the page shows it
        fault = InternalError(
            f"{type(error).__name__}: {error}",
            hint="This should not happen; please report what you did and this message.",
        )
        return 500, dump(problem(fault))


def _parsed(body: bytes) -> Any:
    try:
        return parse(body, None)
    except DigramError as error:  # which speaks of files
        raise OptionError(
            f"the body of the request is no JSON: {problem(error)['error']['message']}",
            hint="Send one object in UTF-8, with each key once.",
        ) from None


def _response(loaded: Any, content: bytes, status: int, kind: str) -> Response:
    response: Response = loaded.responses.Response(content, status_code=status)
    response.headers["content-type"] = kind
    return response
