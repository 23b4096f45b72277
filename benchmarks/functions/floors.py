"""What NumPy needs at least: the calls that forward and backward of a function cannot do without, written by hand.

Each function takes the arrays and returns what is timed. Nothing is recorded or checked, and no array is made that the
rule could avoid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FLOORS: dict[str, Callable[..., Callable[[], Any]]] = {}


# Reductions and layers. The cotangent of the result is ``g``.


def _cumsum(axis: int) -> Callable[..., Callable[[], Any]]:
    def floor(x: Any) -> Callable[[], Any]:
        g = np.cos(x)

        def run() -> Any:
            np.cumsum(x, axis)
            return np.flip(np.cumsum(np.flip(g, axis), axis), axis)

        return run

    return floor


def _log_softmax(x: Any) -> Callable[[], Any]:
    g, one = np.cos(x), np.ones((x.shape[-1], 1), x.dtype)

    def run() -> Any:
        ans = x - np.take_along_axis(x, np.argmax(x, -1, keepdims=True), -1)
        e = np.exp(ans)
        total = e @ one
        ans -= np.log(total)
        share = e * (g @ one / total)
        return np.subtract(g, share, out=share)

    return run


def _layer_norm(x: Any, gamma: Any, beta: Any) -> Callable[[], Any]:
    g, share = np.cos(x), np.full((x.shape[-1], 1), 1 / x.shape[-1], x.dtype)

    def run() -> Any:
        y = x - x @ share
        y -= y @ share
        inverse = 1 / np.sqrt(np.square(y) @ share)
        y *= inverse
        ans = y * gamma
        ans += beta
        d = g * y
        sums = d.sum(0), g.sum(0)
        np.multiply(y, d @ share, out=d)
        d += g @ share
        np.subtract(g * gamma, d, out=d)
        d *= inverse
        return ans, d, sums

    return run


FLOORS |= {
    "cumsum": _cumsum(-1),
    "cumsum, axis=0": _cumsum(0),
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
}


# --- products, Fourier transforms, and places ---


def _fourier(forward: str, backward: str = "") -> Callable[..., Callable[[], Any]]:
    """Return the floor of a transform whose derivative is another one, of a complex array unless both are real."""

    def floor(x: Any) -> Callable[[], Any]:
        there, back = getattr(np.fft, forward), getattr(np.fft, backward or forward)
        g = there(x) if backward == "rfft" else x.astype(np.result_type(x, np.complex64))
        return lambda: (there(x), back(g).real)

    return floor


def _cross(x: Any, y: Any) -> Callable[[], Any]:
    return lambda: (np.cross(x, y), np.cross(y, x), np.cross(x, y))


def _dot(x: Any, y: Any) -> Callable[[], Any]:
    return lambda: (np.dot(x, y), x * x[0], y * x[0])


def _by_vector(x: Any, y: Any) -> Callable[[], Any]:
    g = x[:, 0].copy()
    return lambda: (x @ y, np.multiply.outer(g, y), g @ x)


def _take_along_axis(i: Any, x: Any) -> Callable[[], Any]:
    places, g = (i + np.arange(0, x.size, x.shape[1])[:, None]).ravel(), x.ravel()

    def run() -> None:
        np.take_along_axis(x, i, -1)
        np.add.at(np.zeros(x.size, x.dtype), places, g)

    return run


def _windows(x: Any) -> Callable[[], Any]:
    windows = np.lib.stride_tricks.sliding_window_view(x, 5, axis=1)
    return lambda: (windows.sum(-1), np.zeros_like(x), [x[:, :-4] + x[:, :-4] for _ in range(5)])


FLOORS |= {
    "cross": _cross,
    "dot": _dot,
    "vdot": _dot,
    "x @ vector": _by_vector,
    "take_along_axis": _take_along_axis,
    "sliding_window_view": _windows,
    "fft": _fourier("fft"),
    "ifft": _fourier("ifft"),
    "rfft": _fourier("rfft", "fft"),
    "irfft": _fourier("irfft", "rfft"),
    "fft2": _fourier("fft2"),
}


# Linear algebra: NumPy has no way to use the factors of a first call in a second one, and computes in one thread.


def _t(x: Any) -> Any:
    return x.swapaxes(-1, -2)


def _with_inverse(forward: Callable[[Any], Any]) -> Callable[[Any], Callable[[], Any]]:
    """det and slogdet: the gradient is a multiple of the inverse."""

    def floor(x: Any) -> Callable[[], Any]:
        g = np.ones((*x.shape[:-2], 1, 1), x.dtype)
        return lambda: (forward(x), g * _t(np.linalg.inv(x)))

    return floor


def _inv(x: Any) -> Callable[[], Any]:
    def run() -> Any:
        ans = np.linalg.inv(x)
        return ans, _t(ans) @ x @ _t(ans)

    return run


def _solve(x: Any, y: Any) -> Callable[[], Any]:
    def run() -> Any:
        ans = np.linalg.solve(x, y)
        w = np.linalg.solve(_t(x), y)
        return ans, w, w @ _t(ans)

    return run


def _cholesky(x: Any) -> Callable[[], Any]:
    def run() -> Any:
        total = x + _t(x)
        ans = np.linalg.cholesky(total)
        inverse = np.linalg.inv(ans)
        ga = _t(inverse) @ (_t(ans) @ x) @ inverse
        return ans, ga + _t(ga)

    return run


def _eigvalsh(x: Any) -> Callable[[], Any]:
    def run() -> Any:
        total = x + _t(x)
        values, (_, v) = np.linalg.eigvalsh(total), np.linalg.eigh(total)
        ga = v @ _t(v)
        return values, ga + _t(ga)

    return run


def _qr(x: Any) -> Callable[[], Any]:
    def run() -> Any:
        q, r = np.linalg.qr(x)
        return np.linalg.solve(r, _t(q @ (r @ _t(x))))

    return run


FLOORS |= {
    "det": _with_inverse(np.linalg.det),
    "slogdet": _with_inverse(np.linalg.slogdet),
    "inv": _inv,
    "solve": _solve,
    "cholesky": _cholesky,
    "eigvalsh": _eigvalsh,
    "qr": _qr,
}

# Views: PyTorch's gradient is a view of the caller's cotangent, and ours is the caller's to change, so it is a copy.


def _view(forward: Callable[[Any], Any], backward: Callable[[Any], Any]) -> Callable[[Any], Callable[[], Any]]:
    def floor(x: Any) -> Callable[[], Any]:
        g = np.ascontiguousarray(forward(x))
        return lambda: (forward(x), np.array(backward(g)))

    return floor


def _joined(forward: Callable[[Any], Any]) -> Callable[[Any, Any], Callable[[], Any]]:
    def floor(x: Any, y: Any) -> Callable[[], Any]:
        g = np.ascontiguousarray(forward([x, y])).reshape(2, *x.shape)
        return lambda: (forward([x, y]), np.array(g[0]), np.array(g[1]))

    return floor


def _reshape(x: Any) -> Callable[[], Any]:
    g = np.ones(x.size, x.dtype)
    return lambda: (x.reshape(-1), np.array(g.reshape(x.shape)))


FLOORS |= {
    "reshape": _reshape,
    "transpose": _view(np.transpose, np.transpose),
    "swapaxes": _view(np.transpose, np.transpose),
    "expand_dims": _view(lambda x: x[:, None], lambda g: g[:, 0]),
    "squeeze": _view(lambda x: x[None][0], lambda g: g),
    "concatenate": _joined(np.concatenate),
    "stack": _joined(np.stack),
}
