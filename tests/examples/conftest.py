"""A browser for the tests of slides and sheets, which start it themselves: what they test starts one, too."""

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from benchmarks import pages

Chromium = Callable[[], AbstractContextManager[Any]]


@pytest.fixture
def chromium() -> Chromium:
    pytest.importorskip("playwright.sync_api")
    if not any(map(shutil.which, pages.BROWSERS)):
        pytest.skip(f"needs a browser: one of {', '.join(pages.BROWSERS)}")
    return pages.chromium
