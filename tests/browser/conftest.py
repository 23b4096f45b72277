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


def pytest_itemcollected(item: pytest.Item) -> None:
    """Called for the tests of this folder alone."""
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


@pytest.fixture(scope="package")
def idle() -> list[Any]:
    """Pages of the browser that no test uses: to open a new one takes twice as long as to load a stepper into it."""
    return []


@pytest.fixture
def show(browser: Any, idle: list[Any]) -> Iterator[Callable[..., Any]]:
    """`show(path, width=1400, height=900, **media)` opens a page, offline, and gives playwright's `Page`.

    Nothing moves on it, so that a test sees the place where a flight ends, unless `reduced_motion="no-preference"` is given.
    """
    used: list[Any] = []
    troubles: list[str] = []

    def look_at_console(message: Any) -> None:
        if message.type in ("error", "warning"):
            troubles.append(f"console: {message.text}")

    def look_at_request(request: Any) -> None:
        if not request.url.startswith(("file:", "data:")):
            troubles.append(f"a request for {request.url}")

    def look_at_error(error: Any) -> None:
        troubles.append(f"an exception: {error}")

    looks = {"console": look_at_console, "pageerror": look_at_error, "request": look_at_request}

    def show(path: str | os.PathLike[str], width: int = 1400, height: int = 900, **media: Any) -> Any:
        page = idle.pop() if idle else browser.new_context(offline=True).new_page()
        used.append(page)
        page.set_default_timeout(1000 * SECONDS)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(**{"media": "null", "color_scheme": "light", "reduced_motion": "reduce"} | media)
        for event, look in looks.items():
            page.on(event, look)
        page.goto(Path(path).resolve().as_uri())
        return page

    yield show
    for page in used:
        for event, look in looks.items():
            page.remove_listener(event, look)
        page.goto("about:blank")
        page.mouse.move(0, 0)
        idle.append(page)
    assert not troubles


@pytest.fixture
def screenshot() -> Callable[..., None]:
    """`screenshot(page, name)` keeps a picture of the page in build/screenshots, for people to look at."""

    def screenshot(page: Any, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"{name}.png")

    return screenshot
