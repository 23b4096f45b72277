"""A real browser for the interactive pages: Debian's chromium, or Chrome, driven by playwright, offline.

One browser serves all of these tests. `show` opens a page and, when the test is over, fails it if the page wrote an error to
the console or asked for anything but a file.
"""

import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 30  # for what a test waits for; it takes less than 3 s on a quiet machine
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@pytest.fixture(scope="package")  # not the session: while playwright runs, no other test could use asyncio
def browser() -> Iterator[Any]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"needs a browser: none of {', '.join(PROGRAMS)} is installed (Debian: apt install chromium)")
    if importlib.util.find_spec("playwright") is None:
        pytest.skip("needs playwright: pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # A container has no kernel namespaces for the sandbox, and often a /dev/shm too small for the browser.
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Any) -> Iterator[Callable[..., Any]]:
    """`show(path, width=1400, height=900, **context_options)` opens a page, offline, and gives playwright's `Page`.

    Nothing moves on it, so that a test sees the place where a flight ends, unless `reduced_motion="no-preference"` is given.
    """
    contexts, troubles = [], []

    def look_at_console(message: Any) -> None:
        if message.type in ("error", "warning"):
            troubles.append(f"console: {message.text}")

    def look_at_request(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            troubles.append(f"a request for {request.url}")

    def show(path: str | os.PathLike[str], width: int = 1400, height: int = 900, **options: Any) -> Any:
        options = {"reduced_motion": "reduce"} | options
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        context.set_default_timeout(1000 * SECONDS)
        page = context.new_page()
        page.on("console", look_at_console)
        page.on("pageerror", lambda error: troubles.append(f"an exception: {error}"))
        page.on("request", look_at_request)
        page.goto(Path(path).resolve().as_uri())
        return page

    yield show
    for context in contexts:
        context.close()
    assert not troubles


@pytest.fixture
def screenshot() -> Callable[..., None]:
    """`screenshot(page, name)` keeps a picture of the page in build/screenshots, for people to look at."""

    def screenshot(page: Any, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png")

    return screenshot
