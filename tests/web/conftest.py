"""A server of the page, and Chromium to look at it.

These tests run in an environment of their own, with `make test-web`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    sync_playwright,
)

import digram
from digram.web import Server, serve

CORPUS = (
    "the cat sat on the mat, and the other cats sat there too.\n" * 40 + "中文 naïve 🙂🙂\n" * 3
)
FIGURES: list[str] = []

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def tell() -> Callable[[str], None]:
    """Notes what was measured, for the summary."""
    return FIGURES.append


@pytest.fixture(scope="session")
def tok() -> digram.Tokenizer:
    """A small tokenizer."""
    return digram.train(CORPUS, vocab_size=290, special_tokens=["<|end|>"])


@pytest.fixture(scope="session")
def other(tok: digram.Tokenizer) -> digram.Tokenizer:
    """One that cuts more."""
    return digram.shrink(tok, 275)


@pytest.fixture(scope="session")
def server(tok: digram.Tokenizer, other: digram.Tokenizer) -> Iterator[Server]:
    """A server of both."""
    with serve({"one": tok, "other": other}).running() as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it, or `CHROMIUM`."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found is None:
        pytest.skip("there is no Chromium: apt-get install chromium, or name one with CHROMIUM")
    with sync_playwright() as playwright:
        # Without its sandbox it starts also where tests run as root.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        FIGURES.append(f"the page was looked at in Chromium {browser.version}")
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Open]:
    """Opens the page of a server; in the end it has asked nobody else, and all was well."""
    contexts: list[BrowserContext] = []
    wrong: list[str] = []

    def go(server: Server, view: str = "", expected: str | None = None, **options: Any) -> Page:
        context = browser.new_context(**options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        base = f"http://127.0.0.1:{server.port}/"

        def check(request: Request) -> None:
            if not request.url.startswith(base):
                wrong.append(f"asked {request.url}")

        def listen(message: ConsoleMessage) -> None:
            if expected is None or expected not in message.text:
                wrong.append(f"console: {message.text}")

        context.on("request", check)
        context.on("console", listen)
        context.on("dialog", lambda dialog: wrong.append(f"dialog {dialog.message}"))
        context.on("weberror", lambda error: wrong.append(f"error {error.error}"))
        page = context.new_page()
        page.on("websocket", lambda socket: wrong.append(f"asked {socket.url}"))
        page.goto(server.address)
        page.wait_for_selector("nav a")
        if view:
            page.goto(f"{base}#{view}")
        return page

    yield go
    for context in contexts:
        context.close()
    assert wrong == []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was measured."""
    for line in FIGURES:
        terminalreporter.write_line(line)
