"""Random programs whose derivatives are right, for tools that judge derivatives: ``program(seed)``.

A program is a text of Python. Half of them fill in one of the ``KINDS``; the others compose the operations freely.
All these are in ``random_programs.toml``.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

import minigrad as mg

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
KINKED = frozenset(TABLE["kinked"])
KINDS: dict[str, str] = TABLE["kinds"]


@dataclass(frozen=True)
class Program:
    """Hold a text of Python and what runs it: ``run`` makes the leaves and returns the loss."""

    seed: int
    text: str
    run: Callable[[], mg.Tensor]


class Draw:
    """Draw what stands in the texts, as Python; ``tidy`` numbers have four digits, so that a listing can be read."""

    def __init__(self, rng: np.random.Generator, top: int) -> None:
        self.rng, self.top = rng, top
        self.n, self.m, self.k = (int(length) for length in rng.choice([1, 2, 3, 3, 4], 3))

    def tidy(self, values: Any) -> str:
        return repr(np.array([float(f"{v:.3e}") for v in np.ravel(values)]).reshape(np.shape(values)).tolist())

    def mixed(self, *shape: int, low: float = -8, high: float = 8, zeros: float = 0.06) -> str:
        """Draw both signs, magnitudes over many decades (or within two); some are 0, -0 or equal to another."""
        if self.rng.random() < 0.3:
            low = self.rng.uniform(low, high)
            high = min(high, low + 2)
        values = 10 ** self.rng.uniform(low, high, shape) * self.rng.choice([-1, 1], shape)
        if self.rng.random() < 0.3:
            values = np.where(self.rng.random(shape) < 0.5, values, np.ravel(values)[0])
        return self.tidy(np.where(self.rng.random(shape) < zeros, self.rng.choice([0.0, -0.0], shape), values))

    def positive(self, *shape: int, low: float, high: float) -> str:
        return self.tidy(10 ** self.rng.uniform(low, high, shape))

    def kinky(self, *shape: int) -> str:
        return self.tidy(self.rng.choice([0.0, -0.0, 1e-9, -1e-9, 1.0, 1.0 + 1e-9, -1.0, 2.5, 2.5, 7e3], shape))

    def normal(self, *shape: int) -> str:
        return self.tidy(self.rng.normal(size=shape))

    def uniform(self, n: int, low: float, high: float) -> str:
        return self.tidy(self.rng.uniform(low, high, n))

    def near(self, value: float, *shape: int, spread: float) -> str:
        return repr((value + float(spread) * self.rng.normal(size=shape)).tolist())

    def weights(self, n: int, norm: float) -> str:
        values = self.rng.normal(size=(n, n))
        return self.tidy(values * norm / np.linalg.norm(values, 2))

    def matrix(self, n: int, condition: float) -> str:
        left, right = np.linalg.qr(self.rng.normal(size=(2, n, n))).Q
        return repr((left * np.geomspace(1, 1 / condition, n) @ right).tolist())

    def spiral(self, n: int) -> str:
        return repr((10 ** self.rng.uniform(-4, 4, n) * np.exp(1j * self.rng.uniform(-3, 3, n))).tolist())

    def mask(self, *shape: int) -> str:
        values = self.rng.random(shape) < 0.6
        values[..., 0] = True
        return repr(values.tolist())

    def labels(self, n: int, classes: int) -> str:
        return repr(self.rng.integers(classes, size=n).tolist())

    def scale(self, low: float, high: float) -> str:
        return self.tidy(10 ** self.rng.uniform(low, high))

    def integer(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def pick(self, *options: Any) -> Any:
        return options[self.integer(0, len(options))]

    def loss(self, y: str) -> str:
        weighed = "np.sum({0} * np.cos(np.arange(np.size({0}))).reshape(np.shape({0})))"
        many = [weighed, "np.mean(np.abs({0}))", "np.sqrt(np.mean({0} ** 2) + 1e-9)", "mg.logsumexp(np.ravel({0}))"]
        return str(self.pick("np.sum({0})", "np.mean({0})", "np.mean({0} ** 2)", *many)).format(f"({y})")


def _names(single: bool, wrap: Callable[[Any], Any]) -> dict[str, Any]:
    def array(values: Any) -> Any:
        found = np.array(values)
        return found if found.dtype.kind == "c" else found.astype(np.float32 if single else np.float64)

    return {"np": np, "mg": mg, "const": array, "leaf": lambda values: wrap(array(values))}


def _run(code: CodeType, single: bool) -> mg.Tensor:
    names = _names(single, lambda values: mg.Tensor(values, requires_grad=True))
    if "special" in code.co_names:
        import minigrad.scipy_special as special

        names["special"] = special
    exec(code, names)
    return names["loss"]


def _of_kind(draw: Draw, kind: str) -> str:
    space = {name: getattr(draw, name) for name in dir(draw) if not name.startswith("_")}
    return re.sub(r"\{(.*?)\}", lambda found: str(eval(found[1], dict(space))), KINDS[kind])


def _filled(text: str, operands: dict[str, str]) -> str:
    return re.sub(r"\b[abc]\b", lambda found: operands[found[0]], text)


def _free(draw: Draw, single: bool) -> str:
    """Compose operations, each tried on plain arrays: few may be infinite, and none large."""
    names, lines = _names(single, np.copy), []
    made: list[str] = []
    unused: set[str] = set()
    limit = 1e12 if single else 10 ** draw.pick(12.0, 20.0, 60.0)

    def add(text: str, used: list[str]) -> None:
        try:
            value = np.asarray(eval(text, names))
        except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            return  # the shapes do not fit
        if 0 < value.size <= 16 and value.ndim < 4 and (np.max(np.abs(value)) < limit or draw.rng.random() < 0.002):
            made.append(f"t{len(made)}")
            names[made[-1]] = value
            lines.append(f"{made[-1]} = {text}")
            unused.difference_update(used)
            unused.add(made[-1])

    n, m = draw.n, draw.m
    for _ in range(draw.integer(1, 4)):
        values = draw.pick(draw.mixed, draw.mixed, draw.kinky, draw.normal)
        add(f"leaf({values(*draw.pick((), (n,), (m, n), (n, m)))})", [])
    wanted = len(made) + draw.integer(3, 26)
    for _ in range(4 * wanted):
        if len(made) < wanted:
            a, b = (made[-min(int(draw.rng.geometric(often)), len(made))] for often in (0.6, 0.3))
            c = draw.mixed() if draw.rng.random() < 0.6 else f"const({draw.mixed(*names[a].shape)})"
            text = (
                f"leaf({draw.mixed(*names[a].shape)})"
                if draw.rng.random() < 0.06
                else str(draw.pick(*TABLE["operations"]))
            )
            text = _filled(text, {"a": a, "b": b, "c": c})
            add(text, [name for name in (a, b) if re.search(rf"\b{name}\b", text)])
    ends = [draw.loss(name) if np.abs(names[name]).max() < 80 else f"np.mean({name})" for name in sorted(unused)]
    return "\n".join([*lines, f"loss = {' + '.join(ends)}"])


def program(seed: int) -> Program:
    """Return the program of this seed: always the same, its leaves and constants written into its text."""
    rng = np.random.default_rng(seed)
    single = bool(rng.random() < 0.15)
    draw = Draw(rng, 35 if single else 300)
    kind = "free" if rng.random() < 0.5 else str(rng.choice(list(KINDS)))
    if kind == "special functions" and find_spec("scipy") is None:
        kind = "smooth activations"
    with np.errstate(all="ignore"):
        body = _free(draw, single) if kind == "free" else _of_kind(draw, kind)
    text = f"# seed {seed}: {kind}, {'float32' if single else 'float64'}\n{body}"
    return Program(seed, text, partial(_run, compile(text, f"<program {seed}>", "exec"), single))
