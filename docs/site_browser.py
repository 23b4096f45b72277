"""The built site in a real browser, for docs/drive_site.py: pages are opened, programs typed, and all requests counted."""

from __future__ import annotations

import http.server
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

ROOT = Path(__file__).parents[1]
MINUTES = 10  # that a page may take for one thing on a busy machine


class Site:
    """The built site in one browser. Its profile stays, so that what a page keeps is there when the browser is opened again."""

    def __init__(self, browser: Callable[[], Any], base: str, server: str) -> None:
        self.browser, self.context, self.base, self.server = browser, browser(), base, server
        self.requests, self.elsewhere = dict[str, int](), list[str]()
        self.page: Any = None

    def restart(self) -> None:
        """Close the browser and open it again."""
        self.close()
        self.context.close()
        self.context = self.browser()

    def open(self, name: str, *, ready: bool = True) -> Any:
        self.close()
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000 * MINUTES)
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.on("request", self._seen)
        self.page.on("requestfailed", self._refused)
        self.page.on("pageerror", lambda error: sys.exit(f"{name}: {error}"))
        self.page.goto(f"{self.base}{name}")
        if ready:
            self.page.locator("html.live-ready").wait_for(state="attached")
        return self.page

    def close(self) -> None:
        """Close the page. It may have asked for nothing outside of the site that its content policy did not refuse."""
        if self.page is not None:
            check(not self.elsewhere, f"the page asked for {', '.join(self.elsewhere)}")
            self.page.close()
            self.page = None

    def _refused(self, request: Any) -> None:
        if request.failure == "csp" and request.url in self.elsewhere:
            self.elsewhere.remove(request.url)

    def _seen(self, request: Any) -> None:
        if not request.url.startswith((self.base, "blob:", "data:")):
            self.elsewhere.append(request.url)
            return
        path = ROOT / "out" / "docs" / unquote(request.url.removeprefix(self.base)).partition("#")[0]
        self.requests[path.name] = path.stat().st_size if path.is_file() else 0

    def put(self, text: str, number: int = 0) -> None:
        """Write a program into an editor, as a reader who selects all and pastes."""
        editor = self.page.locator(".live-editor .cm-content").nth(number)
        editor.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def press(self, name: str, number: int = 0) -> float:
        """Press a button, and wait until Python is done. Return the seconds."""
        start = time.perf_counter()
        self.page.get_by_role("button", name=name, exact=True).nth(number).click()
        self.done()
        return time.perf_counter() - start

    def done(self) -> None:
        """Wait until Python is done. If it never is, fail with what the page says."""
        try:
            self.page.locator("html[data-live=idle]").wait_for(state="attached")
        except Exception as error:
            said = self.page.locator(".live-status").all_inner_texts()
            sys.exit(f"FAILED: {self.page.url}: {error}\n{said}")

    def results(self, number: int = 0) -> str:
        return str(self.page.locator(".live-results").nth(number).inner_text())


def check(right: bool, what: str) -> None:
    if not right:
        sys.exit(f"FAILED: {what}")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing of each request."""
