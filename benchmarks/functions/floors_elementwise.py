"""The floors of elementwise functions, and of functions that move numbers: see :mod:`benchmarks.functions.floors`."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.functions.floors import FLOORS
from benchmarks.functions.lazy import special

__all__ = ["FLOORS"]


def _floor(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of the arrays, and of a cotangent of ones, as the floor of these works."""

    def register(calls: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:

            def prepared(*arrays: Any, name: str = name) -> Callable[[], Any]:
                floating = [a for a in arrays if a.dtype.kind == "f"]
                return lambda: calls(np.ones_like(floating[0]), *floating, name=name.removeprefix("special."))

            FLOORS[name] = prepared
        return calls

    return register


# Elementwise functions


@_floor("sin", "cos")
def _sine(g: Any, x: Any, name: str) -> Any:
    return np.sin(x), np.cos(x) * g


@_floor("sigmoid", "silu")
def _sigmoid(g: Any, x: Any, name: str) -> Any:
    e = np.exp(-np.abs(x))
    s = np.maximum(x >= 0, e) / (1 + e)
    return s, g * s * s


@_floor("remainder")
def _remainder(g: Any, x: Any, y: Any, name: str) -> Any:
    return np.remainder(x, y), g, g * np.rint(x / y)


@_floor("hypot")
def _hypot(g: Any, x: Any, y: Any, name: str) -> Any:
    h = np.hypot(x, y)
    return h, g * x / h, g * y / h


@_floor("logaddexp(0, x), softplus")
def _softplus(g: Any, x: Any, name: str) -> Any:
    e = np.exp(-np.abs(x))
    return np.maximum(x, 0) + np.log1p(e), g * np.maximum(x >= 0, e) / (1 + e)


@_floor("astype")
def _astype(g: Any, x: Any, name: str) -> Any:
    return x.astype(np.float16), x.astype(np.float16).astype(x.dtype)


# SciPy's special functions: the call, and a second one or an exponential for the derivative


@_floor("special.erf", "special.erfc", "special.erfinv", "special.ndtr", "special.ndtri")
def _special_and_exp(g: Any, x: Any, name: str) -> Any:
    return getattr(importlib.import_module("scipy.special"), name)(x), g * np.exp(x * x)


@_floor("special.erfcx", "special.logit")
def _special_alone(g: Any, x: Any, name: str) -> Any:
    return getattr(importlib.import_module("scipy.special"), name)(x), g * x / (x + 1)


@_floor(
    "special.expit", "special.i0", "special.i1", "special.i0e", "special.i1e", "special.gammaln", "special.log_ndtr"
)
def _special_twice(g: Any, x: Any, name: str) -> Any:
    special = importlib.import_module("scipy.special")
    other = {"i0": "i1", "i1": "i0", "i0e": "i1e", "i1e": "i0e", "gammaln": "psi", "log_ndtr": "erfcx"}.get(name, name)
    return getattr(special, name)(x), g * getattr(special, other)(x)


# One line each: the forward, then the gradients. ``g`` has the shape of the first floating array.


def _masked(x: Any, mask: Any) -> Any:
    out = np.zeros_like(x)
    np.copyto(out, x, where=mask)
    return out


def _placed(g: Any, *index: Any) -> Any:
    out = np.zeros_like(g)
    out[index] = g[index]
    return out


def _erf_and_exp(g: Any, x: Any) -> Any:
    return special.erf(x), g * np.exp(-x * x)


def _zeros(name: str) -> Callable[..., Any]:
    return lambda g, x: (getattr(np, name)(x), np.zeros_like(x))


_TRIANGLES: dict[tuple[int, ...], Any] = {}  # the masks by shape


def _triangle(x: Any) -> Any:
    return _TRIANGLES.setdefault(x.shape, np.tri(*x.shape) > 0)


def _log_of_sum(g: Any, x: Any, y: Any) -> Any:
    e = np.exp(-np.abs(x - y))
    larger, smaller = g / (1 + e), g * e / (1 + e)
    return np.maximum(x, y) + np.log1p(e), larger, smaller


def _arctan2(g: Any, x: Any, y: Any) -> Any:
    size = g / (x * x + y * y)
    return np.arctan2(x, y), y * size, x * size


def _softmax(g: Any, x: Any) -> Any:
    e, one = np.exp(x - x.max()), np.ones((x.shape[-1], 1), x.dtype)
    e *= 1 / (e @ one)
    d = g * e
    return e, e * (g - d @ one)


def _binary_cross_entropy(g: Any, t: Any, z: Any) -> Any:
    size = np.abs(z)
    e = np.exp(-size)
    return np.mean(size * t + np.log1p(e)), g * (t - e / (1 + e))


def _trapezoid(g: Any, x: Any) -> Any:
    dx = 0.5 * g
    dx[:, 1:] += dx[:, :-1]
    return 0.5 * (x[:, 1:] + x[:, :-1]).sum(-1), dx


def _prod(axis: int) -> Callable[..., Any]:
    def calls(g: Any, x: Any) -> Any:
        ans = np.prod(x, axis, keepdims=True)
        return ans, g[:1, :1] * ans / x

    return calls


def _var(g: Any, x: Any) -> Any:
    centred = x - x.mean()
    return (centred * centred).mean(), centred * (2 / x.size)


def _mean_squared_error(g: Any, x: Any, y: Any) -> Any:
    d = x - y
    dx = (2 / x.size) * d
    return (d * d).mean(), dx, -dx


def _negative_log_likelihood(g: Any, t: Any, x: Any) -> Any:
    places = np.arange(len(t)), t
    out = np.zeros(x.shape, x.dtype)
    out[places] = -1 / len(t)
    return -x[places].mean(), out


def _diagonal(g: Any, x: Any) -> Any:
    out, step = np.zeros(x.shape, x.dtype), x.shape[1] + 1
    diagonal = np.diagonal(x)
    out.ravel()[: step * len(diagonal) : step] = diagonal
    return diagonal, out


def _spread(axis: int, mean: bool = False) -> Callable[..., Any]:
    """A sum or mean along an axis: the gradient is a copy of the cotangent for each element."""

    def calls(g: Any, x: Any) -> Any:
        total = x.sum(axis, keepdims=True)
        share = total / x.shape[axis] if mean else total
        return share, np.array(np.broadcast_to(share, x.shape))

    return calls


def _cumprod(g: Any, x: Any) -> Any:
    ans = np.cumprod(x, -1)
    return ans, np.cumsum((g * ans)[:, ::-1], -1)[:, ::-1] / x


def _take(g: Any, i: Any, x: Any) -> Any:
    out = np.zeros_like(x)
    picked = np.take(x, i, 0)
    np.add.at(out.ravel(), (i[:, None] * x.shape[1] + np.arange(x.shape[1])).ravel(), picked.ravel())
    return out


def _cube(g: Any, x: Any) -> Any:
    t = x.swapaxes(-1, -2)
    return x @ x @ x, g @ t @ t + t @ g @ t + t @ t @ g


_LINES: dict[str, Callable[..., Any]] = {
    "exp": lambda g, x: (e := np.exp(x), g * e),
    "tanh": lambda g, x: (t := np.tanh(x), g * (1 - t * t)),
    "log": lambda g, x: (np.log(x), g / x),
    "x ** 0.5": lambda g, x: (r := np.sqrt(x), 0.5 * g / r),
    "x * y": lambda g, x, y: (x * y, g * y, g * x),
    "x + y": lambda g, x, y: (x + y, np.array(g), np.array(g)),
    "deg2rad": lambda g, x: (np.deg2rad(x), g * 2),
    "rad2deg": lambda g, x: (np.rad2deg(x), g * 2),
    "-x": lambda g, x: (-x, -g),
    "fmod": lambda g, x, y: (np.fmod(x, y), np.array(g), g * np.trunc(x / y)),
    "modf": lambda g, x: (np.modf(x), np.array(g)),
    "erf": _erf_and_exp,
    "gelu": lambda g, x: (x * special.erf(x), g * (x * np.exp(-x * x))),
    "sinc": lambda g, x: (u := x * np.pi, s := np.sin(u) / u, g * (np.cos(u) - s) / x),
    "arctan2": _arctan2,
    "logaddexp": _log_of_sum,
    "logaddexp2": _log_of_sum,
    "relu": lambda g, x: (np.maximum(x, 0), g * (x > 0)),
    "maximum(x, 0)": lambda g, x: (np.maximum(x, 0), g * (x > 0)),
    "softmax": _softmax,
    "binary_cross_entropy_with_logits": _binary_cross_entropy,
    "where": lambda g, m, x, y: (np.where(m, x, y), np.where(m, g, 0), np.where(m, 0, g)),
    "where(m, x, 0)": lambda g, m, x: (np.where(m, x, 0), np.where(m, g, 0)),
    **{name: _zeros(name) for name in ("floor", "ceil", "rint", "trunc", "sign", "round")},
    "special.psi": lambda g, x: (special.psi(x), g * special.zeta(2, x)),
    "special.polygamma": lambda g, x: (special.zeta(2, x), g * special.zeta(3, x)),
    "special.entr": lambda g, x: (special.entr(x), -g * (np.log(x) + 1)),
    "special.i1e": lambda g, x: (special.i1e(x), special.i0e(x), np.exp(x), g * special.iv(2, x)),
    "tril": lambda g, x: (_masked(x, _triangle(x)), _masked(g, _triangle(x))),
    "triu": lambda g, x: (_masked(x, _triangle(x)), _masked(g, _triangle(x))),
    "trapezoid": _trapezoid,
    "split": lambda g, x: (np.split(x, 2, 1), _placed(g, slice(None), slice(x.shape[1] // 2))),
    "roll": lambda g, x: (np.roll(x, 3, -1), np.roll(g, -3, -1)),
    "at[].set": lambda g, x, y: (
        z := x.copy(),
        z.__setitem__(slice(1, None), y[1:]),
        np.array(g),
        _placed(g, slice(1, None)),
    ),
    "broadcast_to": lambda g, x: (np.broadcast_to(x, (2, *x.shape)), g + g),
    "pool": lambda g, x: (x.mean(1), np.array(np.broadcast_to(g[:, :1] / x.shape[1], x.shape))),
    "sum": lambda g, x: (x.sum(), np.array(np.broadcast_to(g[0, 0], x.shape))),
    "prod, axis=0": _prod(0),
    "prod, axis=-1": _prod(-1),
    "cumprod": _cumprod,
    "take, embedding": _take,
    "matrix_power": _cube,
    "pad, reflect": lambda g, x: (np.pad(x, 1, "reflect"), np.array(g), g[:1] + g[:1], g[:, :1] + g[:, :1]),
    "var": _var,
    "mean_squared_error": _mean_squared_error,
    "negative_log_likelihood": _negative_log_likelihood,
    "diagonal": _diagonal,
    "sum, axis=0": _spread(0),
    "sum, axis=-1": _spread(-1),
    "einsum ij->i": _spread(-1),
    "nansum": lambda g, x: (np.nansum(x, -1), g * (x == x)),
    "mean, axis=0": _spread(0, mean=True),
    "mean, axis=-1": _spread(-1, mean=True),
    "copy": lambda g, x: (x.copy(), np.array(g)),
    "x + row": lambda g, x, y: (x + y, np.array(g), g.sum(0)),
    "diff": lambda g, x: (x[:, 1:] - x[:, :-1], g[:, 1:] - g[:, :-1]),
    "einsum ij->ji": lambda g, x: (x.T, np.array(g)),
}


def _with_cotangent(calls: Callable[..., Any]) -> Callable[..., Callable[[], Any]]:
    def prepared(*arrays: Any) -> Callable[[], Any]:
        g = np.ones_like(next(a for a in arrays if a.dtype.kind == "f"))
        return lambda: calls(g, *arrays)

    return prepared


FLOORS |= {name: _with_cotangent(calls) for name, calls in _LINES.items()}
