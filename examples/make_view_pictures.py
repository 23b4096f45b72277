"""Draws the pictures in the README and in docs/ that show the views.

    python examples/make_view_pictures.py                        # into out/
    python examples/make_view_pictures.py --out docs/images      # the pictures that the pages show

The picture and the films of the stepper are screenshots, taken with playwright and an installed chromium or Chrome; without
them they are left as they are.
"""

from __future__ import annotations

if __name__ == "__main__":
    from common import prepare

    prepare("models")

import contextlib
import io
import linecache
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from common import argument_parser, make_folder, run
from lesson import lesson
from minigrad.errors import import_extra
from minigrad.graph import Drawing
from models import TwoLayerConfig, TwoLayerTransformer

IMAGES = Path(__file__).parents[1] / "docs" / "images"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SIZE = {"width": 1280, "height": 720}
FRAME = 100  # milliseconds that the films show a picture
WIDTH = 860  # pixels of the films
COLOURS = (
    64  # of the films: those of the page's style sheet, however small their areas are, and the most frequent others
)
OWN = """() => {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const names = rules.filter((rule) => rule.selectorText === ":root").flatMap(({ style }) => [...style]);
  const probe = document.body.appendChild(document.createElement("i"));
  const found = names.filter((name) => name.startsWith("--")).map((name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).map(Number);
  });
  probe.remove();
  return found;
}"""
# In a film, time goes on only between two pictures: for the camera's flight, and for the pulses.
CLOCK = """() => {
  Object.assign(window, { clock: 0, waiting: [], begun: new WeakMap() });
  window.requestAnimationFrame = (act) => waiting.push(act);
  window.cancelAnimationFrame = (number) => delete waiting[number - 1];
}"""
TICK = """(time) => {
  clock += time;
  for (const act of waiting.splice(0)) act?.(clock);
  for (const one of document.getAnimations()) {
    if (!begun.has(one)) begun.set(one, clock);
    one.pause();
    one.currentTime = clock - begun.get(one);
  }
}"""


def lesson_graph() -> Drawing:
    """The lesson with its numbers."""
    with mg.trace():
        loss, params = lesson()
        loss.backward()
    return mg.draw_dot(loss, params, rankdir="TB", tensors=True)


def two_layer_graph() -> Drawing:
    """The article's network: modules as boxes, and how large the gradients are."""
    model = TwoLayerTransformer(TwoLayerConfig(4, 5, 2), rng=np.random.default_rng(0))
    rng = np.random.default_rng(1)
    with mg.trace():
        loss = model.loss(rng.standard_normal((3, 6, 4)), np.eye(2)[[0, 1, 1]])
        loss.backward()
    loss.name = "loss"
    return mg.draw_dot(loss, model, rankdir="TB", max_nodes=80)


def wrong_edges() -> Drawing:
    """A derivative that is wrong, found by `check_edges`."""
    cube = mg.primitive(lambda x, /: x**3, name="wrong_cube").vjp(x=lambda g, x: 2 * g * x**2)
    x = mg.Tensor([0.5, 1.5], requires_grad=True, name="x")
    with mg.trace():
        loss = np.tanh(cube(x)).sum()
    return mg.check_edges(loss)


def first_nan() -> Drawing:
    """The trap of a square root behind a `where`, found by `find_nan`."""
    x = mg.Tensor([0.0, 4.0], requires_grad=True, name="x")
    with mg.trace():
        loss = np.where(x.data > 0, np.sqrt(x), 0.0).sum()
        loss.backward()
    found = mg.find_nan(loss)
    assert found is not None
    return found.graph


def orders() -> Drawing:
    """y = x**3 at 2 and its derivatives 12 and 12: a lane for each pass."""
    x = mg.Tensor(2.0, requires_grad=True, name="x")
    with mg.trace():
        y = x**3
        y.backward(create_graph=True)
        first, x.grad = x.grad, None
        assert first is not None
        first.backward(create_graph=True)
        second = x.grad
    assert second is not None
    y.name, first.name, second.name = "y", "y'", "y''"
    return mg.draw_dot([second, first, y], tensors=True)


GRAPHS: dict[str, Callable[[], Drawing]] = {
    "lesson_graph": lesson_graph,
    "two_layer_graph": two_layer_graph,
    "wrong_edges": wrong_edges,
    "first_nan": first_nan,
    "orders": orders,
}


def readme() -> mg.Tensor:
    """What the README's first program computes, with the program's own lines."""
    text = (IMAGES.parents[1] / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    program = [line for line in text.splitlines(keepends=True) if not line.startswith("mg.explain(")]
    linecache.cache["readme.py"] = len(text), None, program, "readme.py"  # for the trace, which shows the lines
    variables: dict[str, Any] = {}
    exec(compile("".join(program), "readme.py", "exec"), variables)
    loss: mg.Tensor = variables["loss"]
    return loss


@contextlib.contextmanager
def opened(loss: mg.Tensor, **options: Any) -> Iterator[Any]:
    """The page of ``explain`` in a browser.

    Raises:
        MissingExtraError: playwright is not installed.
        FileNotFoundError: there is no browser.
    """
    playwright = import_extra("playwright.sync_api", "dev", "a picture of the stepper")
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise FileNotFoundError(f"a picture of the stepper needs a browser: none of {', '.join(BROWSERS)} is installed")
    with tempfile.TemporaryDirectory() as folder, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        page = browser.new_page(viewport=SIZE)
        page.goto(mg.explain(loss, Path(folder) / "explain.html", **options).resolve().as_uri())
        yield page
        browser.close()


def photograph_stepper(path: Path) -> None:
    """The lesson in the stepper: the second contribution to w has just been added to the first. Raises as ``opened``."""
    with mg.trace():
        loss, params = lesson()
    with opened(loss, params=params) as page:
        page.evaluate("go(timeline.arrivals(graph.nodes.findIndex(({ name }) => name === 'w'), 0)[1].step)")
        page.screenshot(path=path)


def photograph_arrays(path: Path) -> None:
    """A ReLU that is half dead: its value beside its gradient, as maps. Raises as ``opened``."""
    rng = np.random.default_rng(0)
    x, bias = rng.normal(size=(32, 8)), np.where(np.arange(16) < 7, -9.0, 0.5)
    w, b = mg.Tensor(rng.normal(size=(8, 16)), requires_grad=True), mg.Tensor(bias, requires_grad=True)
    with mg.trace():
        h = mg.relu(x @ w + b)
        loss = ((h.sum(axis=1) - 3.0) ** 2).mean()
    with opened(loss) as page:
        page.evaluate("go(timeline.count); select(graph.nodes.findIndex(({ name }) => name === 'h'))")
        page.evaluate("find('node-section').scrollIntoView()")
        page.screenshot(path=path)


def film(path: Path, page: Any, acts: Sequence[tuple[str, float]]) -> None:
    """Film what the page does, as an animated GIF: a script, then the seconds that are filmed, and so on."""
    image = import_extra("PIL.Image", "examples", "a film of the stepper")
    shots: list[Any] = []
    times: list[int] = []
    last = b""
    for script, seconds in acts:
        page.evaluate(script)
        for _ in range(round(seconds * 1000 / FRAME)):
            page.evaluate(TICK, FRAME)
            taken = page.screenshot()
            if taken == last:
                times[-1] += FRAME
                continue
            last = taken
            shot = image.open(io.BytesIO(taken)).convert("RGB")
            shots.append(shot.resize((WIDTH, WIDTH * shot.height // shot.width), image.Resampling.LANCZOS))
            times.append(FRAME)
    some = shots[
        :: max(1, len(shots) // 12)
    ]  # one palette for all, so that a picture need only store what differs from the last
    sheet = image.new("RGB", (WIDTH, len(some) * some[0].height))
    for i, shot in enumerate(some):
        sheet.paste(shot, (0, i * shot.height))
    own = list(dict.fromkeys(map(tuple, page.evaluate(OWN))))
    frequent = sheet.quantize(COLOURS - len(own), dither=image.Dither.NONE).getpalette()[: 3 * (COLOURS - len(own))]
    palette = image.new("P", (1, 1))
    palette.putpalette([*sum(own, ()), *frequent])
    shots = [shot.quantize(palette=palette, dither=image.Dither.NONE) for shot in shots]
    shots[0].save(path, save_all=True, append_images=shots[1:], duration=times, loop=0, optimize=True)


def film_stepper(path: Path) -> None:
    """The README's first program in large type: the whole, and every step. Raises as ``opened``."""
    with opened(readme()) as page:
        page.evaluate("toggleProjector()")
        page.evaluate(CLOCK)
        steps = page.evaluate("timeline.count")
        film(path, page, [("0", 2), *[(f"go({step})", 2) for step in range(1, steps + 1)], ("wholeProgram()", 3)])


def recurrence() -> mg.Tensor:
    """A recurrent network of 20 steps."""
    rng = np.random.default_rng(0)
    W, U = (mg.Tensor(rng.normal(size=shape) / 2, requires_grad=True) for shape in ((3, 4), (4, 4)))
    h: Any = np.zeros(4)
    for x in rng.normal(size=(20, 3)):
        h = np.tanh(x @ W + h @ U)
    loss: mg.Tensor = (h * h).sum()
    return loss


def film_flight(path: Path) -> None:
    """A recurrence as one picture, and the flight to one of its products. Raises as ``opened``."""
    with mg.trace():
        loss = recurrence()
    with opened(loss) as page:
        page.evaluate(CLOCK)
        turn = page.evaluate("timeline.turn")
        acts = [("0", 2), ("go(timeline.turn - 20)", 3), ("go(timeline.turn)", 2.5)]
        acts += [(f"go({turn + step})", 2) for step in range(1, 7)]
        film(path, page, [*acts, ("wholeProgram()", 4)])


PICTURES = {
    "stepper.png": photograph_stepper,
    "stepper_arrays.png": photograph_arrays,
    "stepper.gif": film_stepper,
    "stepper_flight.gif": film_flight,
}


def main() -> None:
    parser = argument_parser(__doc__, quick="the lesson's graph alone", out=None, device=False)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the pictures (default: out/)")
    options = parser.parse_args()
    folder = make_folder(options.out)
    for name, graph in GRAPHS.items():
        if name == "lesson_graph" or not options.quick:
            print(graph().render(folder / f"{name}.svg"))
    if not options.quick:
        try:
            for name, take in PICTURES.items():
                take(folder / name)
                print(folder / name)
        except (ImportError, FileNotFoundError) as error:
            print(f"no new {name}: {error}")


if __name__ == "__main__":
    run(main)
