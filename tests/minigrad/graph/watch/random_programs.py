"""Random programs whose derivatives are right, for tools that judge derivatives: ``program(seed)``.

A program is a text of Python. Half of them fill in one of the ``KINDS``; the others compose the ``OPERATIONS`` freely.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from types import CodeType
from typing import Any

import numpy as np

import minigrad as mg

# Primitives with a kink, a jump or a vertical tangent inside their domain; what is smooth up to a pole is not among them.
KINKED = frozenset(
    re.findall(
        r"\w+",
        """absolute arctan2 cbrt ceil clip copysign eig eigh eigvalsh fabs floor floor_divide fmax fmin fmod heaviside hypot
        max maximum min minimum modf nan_to_num nanmax nanmin nanstd norm partition pinv relu remainder rint round sign sort
        std svd trunc""",
    )
)

# What stands in braces is drawn by the methods of `Draw`. n, m, k are lengths; top is the largest power of ten in reach.
KINDS = {
    "a mask by where before a softmax": """s = leaf({mixed(n, m, low=-3, high=2)})
p = mg.softmax(np.where({mask(n, m)}, s, {pick(-1e9, -1e30)}))\nloss = {loss("p")}""",
    "an additive mask": """s = leaf({mixed(n, m, low=-4, high=3)})
bias = np.where({mask(n, m)}, 0.0, {pick(-1e4, -1e9, -1e30)})\nloss = {loss("mg.log_softmax(s * 0.5 + bias)[:, 0]")}""",
    "fused attention": """q, k, v = leaf({normal(1, m, 4)}), leaf({normal(1, m, 4)}), leaf({mixed(1, m, 4)})
loss = {loss("mg.scaled_dot_product_attention(q, k, v)")}""",
    "cross entropy": """x, W, b = leaf({normal(n, 3)}), leaf({mixed(3, m)}), leaf({mixed(m)})
loss = mg.cross_entropy(mg.affine(x, W, b), np.array({labels(n, m)}))""",
    "squared prices": """x = leaf({near(1e4, n, m, spread=pick(1.0, 1e3))})
loss = {pick("(x ** 2).mean()", "((x - leaf(1e4)) ** 2).mean()")}""",
    "standardised house prices": """x, w = leaf({near(3e5, 5, spread=1e5)}), leaf({normal(5)})
z = (x - x.mean()) / (x.std() + {pick(0.0, 1e-8, 1.0)})\nloss = ((z * w - {mixed()}) ** 2).mean() * {scale(-3, 8)}""",
    "an RNN of 30 steps": """x, W, h = leaf({normal(30, 2)}), leaf({weights(3, pick(3.0, 1.0, 0.1))}), leaf({normal(3)})
U = leaf({mixed(2, 3, low=-3, high=1)})\nfor i in range(30):
    h = {pick("np.tanh(x[i] @ U + h @ W)", "x[i] @ U + h @ W", "mg.relu(x[i] @ U + h @ W)")}\nloss = {loss("h")}""",
    "layer_norm of tiny variance": """x = leaf({near(pick(0.0, 1.0, 1e4), n, 4, spread=scale(-8, 0))})
gamma, beta = leaf({normal(4)}), leaf({mixed(4)})\nloss = {loss("mg.layer_norm(x, gamma, beta)")}""",
    "division by small numbers": """x, y = leaf({mixed(n, m)}), leaf({mixed(m, low=-8, high=-2, zeros=0)})
r = x / y\nloss = {pick("np.sum(r)", "np.sum(r * np.reciprocal(y))", "np.mean(np.arctan(r))", "np.sum(1 / (1 + r * r))")}""",
    "logarithms of tiny numbers": """p = leaf({positive(n, m, low=-8, high=0)})
t = {pick("p", "p * 1e-20", "p / np.sum(p)", "p ** 4")}\ny = {pick("np.log(t)", "np.log2(t)", "np.log10(t)", "np.log1p(t)")}
loss = {pick("-np.sum(t * y)", "np.mean(y)", "np.mean(y ** 2)")}""",
    "powers": """x = leaf({positive(n, m, low=-4, high=4)})
y = x ** {pick(0.5, 1 / 3, -0.5, -1, -3, 7, 1.5, 0, 1, 2.0, -2.5)}\nz = y ** leaf({uniform(m, -1.5, 1.5)})
loss = {loss("z")}""",
    "integer powers of signed numbers": """x = leaf({mixed(n, m, zeros=0.2)})
loss = {loss(pick("x ** 2", "x ** 3", "x ** 3.0", "x ** 4") + " + np.square(x) - 2 * x")}""",
    "huge exponentials": """x = leaf({uniform(n, -2.3 * top, 2.25 * top)})
y = np.exp(x)\nloss = {pick("np.sum(y)", "np.log(np.sum(y))", "mg.logsumexp(x)", "np.sum(y / (1 + y))", "np.exp2(x).sum()")}""",
    "a difference of almost equals": """x = leaf({mixed(n, m, low=-2, zeros=0)})
y = x * (1 + {scale(-12, -3)})\nd = {pick("x - y", "x * x - y * y", "np.exp(-x * x) - np.exp(-y * y)", "np.cos(x) - np.cos(y)")}
loss = {loss("d")}""",
    "a difference of logsumexps": """x = leaf({mixed(n, m, low=-3, high=pick(2, 8))})
loss = np.sum(mg.logsumexp(x + {scale(-9, 0)} * leaf({normal(m)}), axis=-1) - mg.logsumexp(x, axis=-1))""",
    "var of nearly equal numbers": """x = leaf({near(pick(1.0, 1e4, 1e8), 5, spread=scale(-7, 1))})
loss = {pick("np.var(x)", "np.std(x)", "np.mean(x * x) - np.mean(x) ** 2", "np.var(x, ddof=1) / np.mean(x)")}""",
    "running sums and products": """x = leaf({mixed(n, 5, low=-5, high=4)})
y = np.{pick("cumsum", "cumprod", "maximum.accumulate", "diff")}(x, axis=-1)
loss = {pick("np.sum(y)", "np.sum(y[..., -1])", "np.mean(np.cumsum(y, axis=0))", "np.sum(np.tanh(y))")}""",
    "products with zeros": """x = leaf({kinky(n, m)})
loss = np.sum(np.prod(x, axis=-1)) + {pick("np.prod(x)", "np.sum(np.cumprod(x[0]))", "np.nanprod(x + 1)")}""",
    "einsum and its kin": """a, b, v = leaf({mixed(n, m)}), leaf({mixed(m, k, low=-8, high=3)}), leaf({mixed(k)})
c = {pick("a @ b", "np.einsum('ij,jk->ik', a, b)", "np.tensordot(a, b, axes=1)", "np.dot(a, b)", "np.inner(a, b.T)")}
d = np.outer(c @ v, v) + np.einsum("ij,j->i", c, v)[:, None] * c\nloss = {loss("d")}""",
    "moving things about": """a, b = leaf({mixed(n, m)}), leaf({mixed(n, m)})
c = {pick("np.concatenate([a, b, a])", "np.stack([a, b]).reshape(-1, a.shape[1])", "np.vstack([a.T.reshape(a.shape), b])")}
d = {pick("c[::-1]", "c[:, [0, 0, -1]]", "np.roll(c, 1, axis=0)", "np.tile(c, 2)", "c.at[0].set(b[-1])", "np.flip(c)")}
e = np.broadcast_to(d[:1], d.shape) + {pick("np.tril(d)", "np.where(d > 0, d, 0)", "np.repeat(d, 2, axis=0)[::2]")}
loss = {loss("np.pad(e.T, 1) * np.take(e, 0)")}""",
    "a linear system": """A, b = leaf({matrix(3, pick(1, 1e3, 1e6))}), leaf({mixed(3, low=-4, high=4)})
x = {pick("np.linalg.solve(A, b)", "np.linalg.inv(A) @ b", "np.linalg.solve(A.T @ A, A.T @ b)")}\nloss = {loss("x")}""",
    "determinants": """A = leaf({matrix(3, pick(1, 1e3, 1e6))}) * {pick(1.0, 1e-3, 1e4)}
loss = {pick("np.linalg.det(A)", "np.linalg.slogdet(A)[1]", "np.linalg.norm(A) + np.trace(A)", "np.sum(np.linalg.inv(A))")}""",
    "a Gaussian with a covariance": """M, x = leaf({matrix(3, pick(1, 1e3))}), leaf({normal(3)})
L = np.linalg.cholesky(M @ M.T + {pick(1e-3, 1.0)} * np.eye(3))\nz = np.linalg.solve(L, x)
loss = 0.5 * np.sum(z * z) + np.sum(np.log(np.diagonal(L)))""",
    "waves of huge arguments": """x, f = leaf({mixed(n, m)}), leaf({scale(0, 8)})
y = np.sin(x * f) * np.cos({pick("f", "x", "1e8 * x", "x / f")})\nloss = {loss("y + np.arctan2(x, f)")}""",
    "smooth activations": """x, W = leaf({mixed(n, 3, low=-6, high=4)}), leaf({normal(3, m)})
h = mg.{pick("gelu", "silu", "erf", "sigmoid")}(x @ W)\ng = {pick("np.logaddexp(0, h)", "np.log1p(np.exp(-h))", "np.tanh(h)")}
loss = {loss("g * mg.gelu(h, approximate='tanh')" if rng.random() < 0.5 else "g * h")}""",
    "saturation": """x = leaf({mixed(n, m, low=-2, high=8)})
y = {pick("np.tanh(x)", "mg.sigmoid(x)", "mg.softmax(x)", "1 - np.tanh(x) ** 2", "mg.erf(x)", "mg.logsumexp(x, axis=0)")}
loss = {pick("np.sum(y)", "np.mean(y * y)", "np.sum(y * x)", "np.sum(1 - y)")}""",
    "several outputs": """x = leaf({mixed(n, 6)})\na, b, c = np.split(x, 3, axis=1)
{pick("u, v = np.modf(np.tanh(c) * 3)", "u, v = b * c, np.exp(-np.abs(c))", "u, v = np.unstack(c, axis=1)")}
loss = np.sum(a * mg.sigmoid(b)) + {loss("u")} - {loss("v")}""",
    "complex numbers": """z, w = leaf({spiral(n)}), leaf({mixed(n, low=-3, high=3)})
y = z * np.conj(z * w) + np.exp(1j * w)\nloss = {loss(pick("np.abs(y)", "np.real(y * y)", "np.imag(y) - np.real(z)"))}""",
    "a spectrum": """x = leaf({mixed(8)})\ny = {pick("np.fft.rfft(x)", "np.fft.fft(x) * np.fft.ifft(x)")}
loss = {loss(pick("np.real(y) ** 2 + np.imag(y) ** 2", "np.abs(y)", "np.imag(y)"))}""",
    "a ReLU network on its kinks": """x = leaf({kinky(n, 3)})\nW, V = leaf({kinky(3, m)}), leaf({normal(m, 2)})
h = mg.relu(x @ W + {pick(0.0, 1e-9, -1e-9)})\nloss = {loss("mg.relu(h @ V) - np.abs(x[:, :2])")}""",
    "clip at its limits": """x = leaf({kinky(n, m)})
y = np.clip(x, {pick(-1.0, 0.0, 1e-9)}, {pick(1.0, 2.5)}) * np.minimum(np.maximum(x, 0.0), 1.0)\nloss = {loss("y")}""",
    "order, with ties": """x = leaf({pick(kinky(n, 5), mixed(n, 5))})
y = {pick("np.sort(x)", "np.max(x, axis=-1)", "np.median(x, axis=-1)", "np.quantile(x, 0.3)", "np.ptp(x)", "x.min(0)")}
loss = {loss("np.maximum(y, y * 1.0) + np.fmin(y, 1.0)")}""",
    "distances": """x, c = leaf({mixed(n, 2, low=-3, high=6)}), leaf({mixed(m, 2)})
d = x[:, None] - c
r = {pick("np.sqrt((d * d).sum(-1) + 1e-12)", "np.linalg.norm(d, axis=-1)", "np.hypot(d[..., 0], d[..., 1])")}
loss = {pick("np.sum(r)", "np.sum(np.exp(-r))", "np.sum(np.min(r, axis=1))", "np.mean(1 / (r + 1e-3))")}""",
    "binary cross entropy": """z = leaf({mixed(n, m)})\nt = np.array({mask(n, m)}) * 1.0
loss = (np.maximum(z, 0) - z * t + np.log1p(np.exp(-np.abs(z)))).mean()""",
    "a robust regression": """x, w, b = leaf({mixed(5, 2, low=-3, high=5)}), leaf({normal(2)}), leaf({mixed()})
e = x @ w + b - const({mixed(5)})\na = np.abs(e)\nloss = np.mean(np.where(a < 1, 0.5 * e * e, a - 0.5))""",
    "atoms at a distance": """x = leaf({positive(n, 3, low=-0.7, high=1)})\ns = {scale(-1, 0)} / np.sqrt((x * x).sum(-1))
loss = np.sum(4 * (s ** 12 - s ** 6)) + {scale(-8, 8)} * np.sum(s)""",
    "compound interest": """r, c = leaf({positive(n, low=-8, high=-0.5)}), leaf({mixed(n)})
g = (1 + r) ** {integer(2, 360)}\nloss = np.sum(c * (g - 1) / r) + np.mean(np.log(g))""",
    "likelihoods": """x, s = leaf({mixed(n, m, low=-4, high=2)}), leaf({positive(m, low=-6, high=2)})
loss = {pick("np.mean(0.5 * (x / s) ** 2 + np.log(s))", "np.sum(np.exp(np.tanh(x)) - np.log(s) * x)")}""",
    "special functions": """x = leaf({positive(n, m, low=-5, high=2)})
y = special.{pick("gammaln", "psi", "erfc", "ndtr", "log_ndtr", "j0", "expit", "i0e", "rgamma")}(x)\nloss = {loss("y")}""",
}

# For free compositions: a and b are what was computed before, c is a constant.
OPERATIONS = """a + b|a - b|a * b|a * b + a|a / b|a / (b * b + 1e-8)|a + c|a * c|c / a|c - a|-a|a ** 2|a ** 3|a * a * a
a @ b|a @ a.T|np.exp(a)|np.exp(-a * a)|np.expm1(a)|np.exp2(a)|np.log(a)|np.log1p(a)|np.log(np.abs(a) + 1e-12)
np.sqrt(a * a + c * c + 1e-9)|np.tanh(a)|mg.sigmoid(a)|mg.silu(a)|mg.gelu(a)|mg.erf(a)|np.logaddexp(a, b)|np.sin(a)
np.cos(a)|np.sin(1e8 * a)|np.arctan(a)|np.arcsinh(a)|np.sinc(a)|np.sinh(a)|np.cosh(a)|np.reciprocal(a)|np.square(a)
np.power(np.abs(a) + 1e-6, 0.7)|(a * a + 1) ** -1.5|mg.relu(a)|np.abs(a)|np.maximum(a, b)|np.minimum(a, c)
np.clip(a, -1.0, 1.0)|np.clip(a, b, b)|np.hypot(a, b)|np.arctan2(a, b)|np.where(a > b, a, b)
np.where(a > 0, a, 0.01 * a)|np.floor(a)|np.sign(a) * b|np.remainder(a, 3.0)|np.fmax(a, b)|np.copysign(a, b)|np.sort(a)
np.max(a, axis=0)|np.median(a)|np.min(a)|np.std(a)|np.linalg.norm(a)|np.sort(a.ravel())[::-1]|np.cbrt(a)|np.sum(a)
np.sum(a, axis=0)|np.sum(a, axis=-1, keepdims=True)|np.mean(a)|np.mean(a, axis=-1)|np.var(a)|np.var(a, axis=-1)
np.prod(a, axis=-1)|np.cumsum(a)|np.cumprod(a, axis=-1)|mg.logsumexp(a)|mg.softmax(a)|mg.log_softmax(a)|a - a.mean()
a / np.sum(a)|(a - a.mean()) / (a.std() + 1e-5)|a - np.max(a)|a.T|a.reshape(-1)|np.stack([a, a])|np.concatenate([a, b])
np.concatenate([a, a])|a[0]|a[-1]|a[::-1]|a[..., None]|a[None]|np.outer(a, b)|np.tensordot(a, b, axes=1)
np.einsum("...i,...i->...", a, b)|np.vdot(a, a)|a.astype(np.float32)|a.astype(np.float64)|np.roll(a, 1)|np.tile(a, 2)
np.squeeze(a)|np.diff(a)|np.tril(a)|np.linalg.inv(a @ a.T + 1e-3)|np.linalg.det(a @ a.T)
np.linalg.solve(a.T @ a + np.eye(a.shape[1]), b)|np.broadcast_to(a, (2,) + a.shape)|np.take(a, [0, 0, -1])"""
OPERATION = re.split(r"[|\n]", OPERATIONS)


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
            text = f"leaf({draw.mixed(*names[a].shape)})" if draw.rng.random() < 0.06 else str(draw.pick(*OPERATION))
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
