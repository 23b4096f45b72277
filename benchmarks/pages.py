"""How long the stepper's page takes: to be made by ``explain``, to open in a browser, and to answer a key.

The programs are those that people draw: a straight one of scalars, a recurrence in a loop, and a GPT in training. Needs
playwright and chromium or Chrome.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import minigrad as mg
from benchmarks import report
from minigrad.errors import import_extra
from models.gpt import GPT, GPTConfig

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPERATIONS = (10, 100, 1_000, 10_000, 100_000)
MOST = {"GPT": 10_000}  # deeper ones take longer to make than to look at
PRESSES = 30
# From the start of the navigation to the frame after the page has drawn itself; and from a key to the frame after it.
OPENED = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
PRESSED = """() => new Promise((done) => {
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  document.body.getBoundingClientRect();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""


def straight(count: int) -> mg.Tensor:
    """A straight program: no loop that could be folded, for no two of its constants are applied in the same order."""
    x = mg.Tensor(0.5, requires_grad=True)
    t: Any = x
    kinds = np.random.default_rng(0).integers(3, size=count)
    for kind in kinds:
        t = np.tanh(t) if kind == 0 else t * x if kind == 1 else t + x
    result: mg.Tensor = t
    return result


def recurrence(count: int) -> mg.Tensor:
    """``h = tanh(x W + h U + b)`` over a sequence: five operations a step."""
    rng = np.random.default_rng(0)
    W, U, b = (mg.Tensor(rng.normal(size=shape) / 4, requires_grad=True) for shape in ((3, 8), (8, 8), (8,)))
    h: Any = np.zeros(8)
    for x in rng.normal(size=(max(count // 5, 1), 3)):
        h = np.tanh(x @ W + h @ U + b)
    return h.sum()


def gpt(count: int) -> mg.Tensor:
    """A GPT as deep as the number asks for: about eleven operations a layer."""
    config = GPTConfig(vocab_size=20, window=8, d_model=16, num_heads=2, num_layers=max(count // 11, 1))
    model = GPT(config, rng=np.random.default_rng(0))
    ids = np.arange(16).reshape(2, 8) % 20
    loss: mg.Tensor = (model(ids) ** 2).mean()
    return loss


PROGRAMS: dict[str, Callable[[int], mg.Tensor]] = {"straight": straight, "loop": recurrence, "GPT": gpt}


def measure(program: Callable[[int], mg.Tensor], count: int, browser: Any, folder: Path) -> list[str]:
    """A row: operations, explain in seconds, the page in MB, seconds until it is open, milliseconds a key."""
    with mg.trace():
        loss = program(count)
    loss.backward(retain_graph=True)
    start = time.perf_counter()
    path = Path(mg.explain(loss, folder / "page.html"))
    made = time.perf_counter() - start
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(120_000)
    page.goto(path.resolve().as_uri())
    opened = page.evaluate(OPENED) / 1000
    pressed = median(page.evaluate(PRESSED) for _ in range(PRESSES))
    page.close()
    size = path.stat().st_size / 1e6
    return [f"{len(mg.tape(loss)):,}", f"{made:.2f}", f"{size:.2f}", f"{opened:.2f}", f"{pressed:.0f}"]


@contextmanager
def chromium() -> Iterator[Any]:
    """Raises FileNotFoundError: there is no browser; MissingExtraError: no playwright."""
    playwright = import_extra("playwright.sync_api", "dev", "the benchmark of pages")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise FileNotFoundError(f"the benchmark of pages needs a browser: one of {', '.join(BROWSERS)}")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


def table(most: int = OPERATIONS[-1]) -> str:
    """Raises FileNotFoundError: there is no browser; MissingExtraError: no playwright."""
    head = ["program", "operations", "explain (s)", "page (MB)", "opens in (s)", "a key (ms)"]
    rows = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for name, make in PROGRAMS.items():
            for count in (n for n in OPERATIONS if n <= min(most, MOST.get(name, most))):
                rows.append([name, *measure(make, count, browser, Path(folder))])
                print(rows[-1], flush=True)
    return report.grid(head, rows)
