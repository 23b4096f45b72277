"""The local derivatives whose rule is no lambda, or is NumPy's plumbing, as formulas for people; see ``formulas.py``.

``y`` in a text is the output, unless an argument is called so: then it is ``out``. Behind the first comma outside of
parentheses there are words; ``JAPANESE`` says them in Japanese. A test evaluates every expression against its rule, so they
are written another way than the rules where there is one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.sums import unbroadcast
from ...rules.attention import attention_weights, scale_of, split_heads  # noqa: F401 - expressions read them
from ...rules.axes import count, expand, from_last, from_rows, rows_of, to_last  # noqa: F401 - expressions read them
from ...rules.neural import softmax
from ...rules.special import erf

# --- what the expressions are made of -------------------------------------------------------------------------------


def transposed(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def places(shape: tuple[int, ...]) -> Any:
    """The number of each element, so that what moves elements can say where each one came from."""
    return np.arange(math.prod(shape)).reshape(shape)


def added_at(g: Any, numbers: Any, shape: tuple[int, ...]) -> Any:
    """Zeros of ``shape``, with each element of ``g`` added at the element of that number."""
    summed = np.bincount(np.ravel(numbers), np.ravel(g), math.prod(shape))
    return summed[: math.prod(shape)].reshape(shape)


def others(rows: Any) -> Any:
    """(..., n, n): row i is ``rows`` with its i-th element replaced by 1."""
    return np.where(np.eye(rows.shape[-1], dtype=bool), 1, rows[..., None, :])


def sinc_slope(x: Any) -> Any:
    """``(cos(pi x) - sinc(x)) / x``, which is -pi times the integral of t sin(pi x t) over t from 0 to 1."""
    points, weights = np.polynomial.legendre.leggauss(40)
    t = (points + 1) / 2
    return -math.pi * np.sum(weights / 2 * t * np.sin(math.pi * t * np.expand_dims(x, -1)), axis=-1)


def share(hit: Any, axis: Any, initial: Any) -> Any:
    """1 where ``hit``, divided by how many are along ``axis``; the initial value may be one of them."""
    return hit / (np.sum(hit, axis=axis, keepdims=True) + initial)


def reciprocal(y: Any) -> Any:
    """``1 / y``, and 0 for 0."""
    return np.where(y == 0, 0, 1 / np.where(y == 0, 1, y))


def back_in_order(g: Any, a: Any, ans: Any, shape: tuple[int, ...], axis: int | None) -> Any:
    """The k-th smallest of ``ans`` came from where ``a`` has its k-th smallest."""
    g, a, ans = (to_last(x, axis) for x in (g, a, ans))
    rank = np.argsort(np.argsort(ans, kind="stable"))
    came_from = np.take_along_axis(np.argsort(a, kind="stable"), rank, axis=-1)
    return from_last(added_at(g, np.take_along_axis(places(a.shape), came_from, axis=-1), a.shape), shape, axis)


def softmax_of(a: Any, axis: Any) -> Any:
    """The softmax; where the largest are infinite, they share it."""
    top = np.max(a, axis=axis, keepdims=True)
    return np.where(np.isinf(top), share(a == top, axis, False), softmax(np.where(np.isinf(top), 0, a), axis=axis))


def gelu_slope(x: Any, approximate: str) -> Any:
    """``Phi(x) + x phi(x)``; or the derivative of ``x (1 + tanh(u)) / 2`` with ``u = sqrt(2 / pi) (x + 0.044715 x^3)``."""
    if approximate == "none":
        return 0.5 * (1 + erf(x / math.sqrt(2))) + x * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    t = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)


def normed(x: Any, eps: float) -> Any:
    return (x - np.mean(x, axis=-1, keepdims=True)) / deviation(x, eps)


def deviation(x: Any, eps: float) -> Any:
    return np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)


def centred(g: Any, z: Any) -> Any:
    """What is left of ``g`` when its mean, and its part along ``z``, are taken away."""
    return g - np.mean(g, axis=-1, keepdims=True) - z * np.mean(g * z, axis=-1, keepdims=True)


def joined(x: Any, shape: tuple[int, ...]) -> Any:
    """(..., heads, length, d) -> (..., length, heads * d), summed over a batch that ``shape`` does not have."""
    x = np.swapaxes(x, -3, -2)
    return unbroadcast(x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1]), shape)


def weights(query: Any, key: Any, mask: Any, bias: Any, scale: float | None, heads: int) -> Any:
    return attention_weights(split_heads(query, heads), split_heads(key, heads), mask, bias, scale)


def scores_gradient(
    g: Any, query: Any, key: Any, value: Any, mask: Any, bias: Any, scale: float | None, heads: int
) -> Any:
    """``w * (h - sum(h * w))`` with ``h = g @ value^T``: the cotangent of the scores, scale and bias in them."""
    w, h = weights(query, key, mask, bias, scale, heads), split_heads(g, heads) @ transposed(split_heads(value, heads))
    return w * (h - np.sum(h * w, axis=-1, keepdims=True))


NAMES: dict[str, Any] = globals().copy()  # what an expression may read

# --- the tables: operation.argument, or the operation alone if it takes any number of them ---------------------------

# The text, and the expression.
FORMULAS: dict[str, tuple[str, str]] = {
    "absolute.x": (
        "g * sign(x)",
        "g * (np.conjugate(x) / np.where(ans == 0, 1, ans) if np.iscomplexobj(x) else np.sign(x))",
    ),
    "nan_to_num.x": ("where(isfinite(x), g, 0)", "np.where(np.isfinite(x), g, 0)"),
    "sign.x": ("0", "np.zeros_like(g)"),
    "sinc.x": (
        "g * (cos(pi x) - sinc(x)) / x",
        "g * sinc_slope(x)",
    ),
    "gelu.x": (
        "g * (Phi(x) + x * phi(x)), Phi and phi the normal distribution and its density",
        "g * gelu_slope(x, approximate)",
    ),
    "logsumexp.a": (
        "g * softmax(a)",
        "expand(g, a_shape, axis) * softmax_of(a, axis)",
    ),
    "cumsum.a": (
        "g, summed from each place to the end",
        "from_last(np.flip(np.cumsum(np.flip(to_last(g, axis), -1), -1), -1), a_shape, axis)",
    ),
    "cumprod.a": (
        "g * prod(others), summed from each place to the end",
        "from_last(np.sum(np.triu(np.cumprod(others(to_last(a, axis)), axis=-1)) * to_last(g, axis)[..., None, "
        ":], axis=-1), a_shape, axis)",
    ),
    "concatenate": (
        "g, the part of this operand",
        "np.split(g, np.cumsum([np.size(a) for a in args])[:-1])[i].reshape(np.shape(args[i])) if axis is None "
        "else np.split(g, np.cumsum([np.shape(a)[axis] for a in args])[:-1], axis=axis)[i]",
    ),
    "take.a": (
        "g, added where the elements were taken, 0 elsewhere",
        "added_at(g, np.take(places(a_shape), indices, axis=axis), a_shape)",
    ),
    "take_along_axis.arr": (
        "g, added where the elements were taken, 0 elsewhere",
        "added_at(g, np.take_along_axis(places(arr_shape), indices, axis=axis), arr_shape)",
    ),
    "repeat.a": (
        "g, summed over the copies",
        "added_at(g, np.repeat(places(a_shape), repeats, axis), a_shape)",
    ),
    "diagonal.a": (
        "g, on the diagonal, 0 elsewhere",
        "added_at(g, np.diagonal(places(a_shape), offset, axis1, axis2), a_shape)",
    ),
    "transpose.a": (
        "g, with the axes put back",
        "np.transpose(g, None if axes is None else np.argsort([axis % g.ndim for axis in axes]).tolist())",
    ),
    "roll.a": ("g, rolled back", "np.roll(g, np.negative(shift), axis)"),
    "sliding_window_view.x": (
        "g, summed over the windows",
        "added_at(g, np.lib.stride_tricks.sliding_window_view(places(x_shape), window, axis), x_shape)",
    ),
    "matmul.x": (
        "g @ y^T",
        "g[..., None] * y if y.ndim == 1 else np.matmul(g[..., None, :], transposed(y))[..., 0, :] if "
        "len(x_shape) == 1 else np.matmul(g, transposed(y))",
    ),
    "matmul.y": (
        "x^T @ g",
        "g[..., None] * x if len(y_shape) == 1 else x[:, None] * g[..., None, :] if x.ndim == 1 else "
        "unbroadcast(np.matmul(transposed(x), g), y_shape) if len(y_shape) == 2 else np.matmul(transposed(x), g)",
    ),
    "affine.x": (
        "g @ weight^T",
        "unbroadcast(np.matmul(g, transposed(weight)), x_shape)",
    ),
    "affine.weight": (
        "x^T @ g",
        "np.outer(x, g) if x.ndim == 1 else unbroadcast(np.matmul(transposed(x), g), weight_shape)",
    ),
    "affine.bias": (
        "g, summed over the rows",
        "unbroadcast(g, g.shape[-1:] if len(bias_shape) == 1 < g.ndim else bias_shape)",
    ),
    "layer_norm.x": (
        "(h - mean(h) - z * mean(h * z)) / sqrt(var(x) + eps), h = g * gamma, z = (x - mean(x)) / sqrt(var(x) + eps)",
        "unbroadcast(centred(g * gamma, normed(x, eps)) / deviation(x, eps), x_shape)",
    ),
    "layer_norm.gamma": (
        "g * (x - mean(x)) / sqrt(var(x) + eps), summed over the rows",
        "unbroadcast(g * normed(x, eps), gamma_shape)",
    ),
    "layer_norm.beta": (
        "g, summed over the rows",
        "unbroadcast(g, beta_shape)",
    ),
    "cross_entropy.logits": (
        "g * (softmax(logits) - one_hot(labels)), divided by the number of labels for their mean",
        "(g * np.ones(labels.shape) / (labels.size if reduction == 'mean' else 1))[..., None] * (softmax(logits) "
        "- (np.arange(logits.shape[-1]) == labels[..., None]))",
    ),
    "attention.query": (
        "s @ key, s = scale * w * (h - sum(h * w)), h = g @ value^T, w the attention weights",
        "joined(scores_gradient(g, query, key, value, mask, bias, scale, num_heads) "
        "* scale_of(query.shape[-1] // num_heads, scale) @ split_heads(key, num_heads), query_shape)",
    ),
    "attention.key": (
        "s^T @ query, s = scale * w * (h - sum(h * w)), h = g @ value^T, w the attention weights",
        "joined(transposed(scores_gradient(g, query, key, value, mask, bias, scale, num_heads)) "
        "* scale_of(query.shape[-1] // num_heads, scale) @ split_heads(query, num_heads), key_shape)",
    ),
    "attention.value": (
        "w^T @ g, w the attention weights",
        "joined(transposed(weights(query, key, mask, bias, scale, num_heads)) @ split_heads(g, num_heads), value_shape)",
    ),
    "attention.bias": (
        "w * (h - sum(h * w)), h = g @ value^T, w the attention weights",
        "unbroadcast(scores_gradient(g, query, key, value, mask, bias, scale, num_heads), bias_shape)",
    ),
    "solve.a": (
        "-(inv(a)^T @ g) @ y^T",
        "-np.multiply.outer(g @ np.linalg.inv(a), ans) if g.ndim == 1 == ans.ndim and a.ndim == 2 else "
        "-(np.linalg.inv(transposed(a)) @ g[..., None]) * ans[..., None, :] if len(b_shape) == 1 else "
        "-np.linalg.inv(transposed(a)) @ g @ transposed(ans)",
    ),
    "solve.b": (
        "inv(a)^T @ g",
        "(np.linalg.inv(transposed(a)) @ g[..., None])[..., 0] if len(b_shape) == 1 else "
        "np.linalg.inv(transposed(a)) @ g",
    ),
}

# The text for the expression of the rule itself.
SHOWN: dict[str, str] = {
    "modf.x": "g, that of the fractional part",
    "imag.val": "-i * g",
    "maximum.x": "g * (x > y) + 0.5 * g * (x == y)",
    "maximum.y": "g * (y > x) + 0.5 * g * (x == y)",
    "minimum.x": "g * (x < y) + 0.5 * g * (x == y)",
    "minimum.y": "g * (y < x) + 0.5 * g * (x == y)",
    "clip.a": "where(a_min <= a <= a_max, g, 0)",
    "clip.a_min": "where(a < a_min, g, 0)",
    "clip.a_max": "where(a > a_max, g, 0)",
    "reshape.a": "g, in the shape of before",
    "squeeze.a": "g, in the shape of before",
    "expand_dims.a": "g, in the shape of before",
    "swapaxes.a": "g, with the axes swapped back",
    "flip.m": "g, flipped back",
    "stack": "g, the part of this operand",
    "split.ary": "g, that of all parts joined",
    "getitem.x": "g, put where the elements were picked, 0 elsewhere",
    "scatter_add.updates": "g, picked at the index",
    "pad.array": "g, without the padding",
    "dot.a": "g @ b^T",
    "dot.b": "a^T @ g",
    "inner.a": "g @ b",
    "inner.b": "g^T @ a",
    "outer.a": "g @ b",
    "outer.b": "a @ g",
    "vdot.a": "conj(g * b)",
    "vdot.b": "g * conj(a)",
    "tensordot.a": "g * b, summed over the axes that only b brought",
    "tensordot.b": "a * g, summed over the axes that only a brought",
    "convolve.a": "correlate(g, v)",
    "convolve.v": "correlate(g, a)",
    "inv.a": "-y^T @ g @ y^T",
    "det.a": "g * y * inv(a)^T",
    "fft.a": "fft(g), in the length of before",
    "ifft.a": "ifft(g), in the length of before",
    "fftshift.x": "g, shifted back",
    "ifftshift.x": "g, shifted back",
    "rfft.a": "fft(g), the real part, in the length of before",
}

# What is no formula of one line.
IN_WORDS: dict[str, str] = {
    "pad_mode.array": "g, each padded element added to what it was made from",
    "einsum": "einsum(g, others), to the axes of this operand",
    "kron.a": "g * b, summed over the block of each element",
    "kron.b": "a * g, summed over all blocks",
    "cross.a": "b × g",
    "cross.b": "g × a",
    "matrix_power.a": "(a^T)^k @ g @ (a^T)^(n - 1 - k), summed over k",
    "norm.x": "g * x / y, for the 2-norm; for another one its derivative",
    "slogdet.a": "g * inv(a)^T, g that of the logarithm",
    "pinv.a": "g, by the formula of Golub and Pereyra for the pseudo-inverse",
    "cholesky.a": "L^-T @ F(L^T @ g) @ L^-1, F the lower triangle with half of its diagonal",
    "qr.a": "g, that of Q and of R, by solving with R",
    "eigh.a": "V @ (diag(gw) + (V^T @ gV) / (w_j - w_i)) @ V^T, gw and gV the gradients of values and vectors",
    "eigvalsh.a": "V @ diag(g) @ V^T, V the eigenvectors",
    "eig.a": "V^-T @ (diag(gw) + (V^T @ gV) / (w_j - w_i)) @ V^T, gw and gV the gradients of values and vectors",
    "svd.a": "U @ (diag(gs) + t) @ V^T, gs the gradient of the singular values, t what turns U and V",
    "irfft.a": "conj(rfft(g)), mirrored frequencies counted twice",
}

# --- formulas that several operations share -------------------------------------------------------------------------

for _name in ("power", "float_power"):
    FORMULAS[f"{_name}.x"] = "g * y * x^(y - 1)", "g * np.where(y == 0, 0, y * np.power(x, y - 1.0))"
    FORMULAS[f"{_name}.y"] = "g * out * log(x)", "g * ans * np.log(np.where((x == 0) & (y >= 0), 1.0, x))"
for _name in ("sort", "partition"):
    FORMULAS[f"{_name}.a"] = "g, back in the order of a", "back_in_order(g, a, ans, a_shape, axis)"
for _name in ("max", "min", "nanmax", "nanmin"):
    FORMULAS[f"{_name}.a"] = (
        f"where(a == {_name}(a), g, 0), shared by ties",
        "expand(g, a_shape, axis) * share((a == expand(ans, a_shape, axis)) & where, axis, "
        "False if initial is None else expand(ans, a_shape, axis) == initial)",
    )


def _reductions(prefix: str, where: str) -> None:
    """``np.sum`` and its kin; or ``np.nansum`` and its kin, which leave out what is NaN."""
    g, y, n = "expand(g, a_shape, axis)", "expand(ans, a_shape, axis)", f"count(a_shape, axis, {where})"
    centred = f"np.conjugate(a - np.mean(a, axis=axis, keepdims=True, where={where}))"
    freedom = f"(({n} - ddof) * ({n} > ddof))"
    product = f"from_rows(np.prod(others(rows_of(np.where({where}, a, 1), axis)), axis=-1), a_shape, axis)"
    for name, text, expression in [
        ("sum", "g, spread over the summed axes", g),
        ("mean", "g / n, spread over the averaged axes", f"{g} / {n}"),
        ("var", "2 * g * (a - mean(a)) / (n - ddof)", f"2 * {g} * {centred} / {freedom}"),
        ("std", "g * (a - mean(a)) / ((n - ddof) * y)", f"{g} * {centred} / {freedom} * reciprocal({y})"),
        ("prod", "g * prod(others)", f"{g} * initial * {product}"),
    ]:
        FORMULAS[f"{prefix}{name}.a"] = text, f"np.where({where}, np.broadcast_to({expression}, a_shape), 0)"


_reductions("", "where")
_reductions("nan", "~np.isnan(a) & where")


# --- the words in Japanese ------------------------------------------------------------------------------------------

JAPANESE: dict[str, str] = {
    "that of the fractional part": "小数部分のもの",
    "Phi and phi the normal distribution and its density": "Phi と phi は正規分布とその密度",
    "spread over the summed axes": "和を取った軸に広げる",
    "spread over the averaged axes": "平均を取った軸に広げる",
    "shared by ties": "同点なら等分",
    "summed from each place to the end": "その位置から最後までの和",
    "back in the order of a": "a の順に戻す",
    "in the shape of before": "元の形に",
    "with the axes put back": "軸を元の順に",
    "with the axes swapped back": "軸を入れ替えて元に",
    "flipped back": "反転して元に",
    "rolled back": "回して元に",
    "shifted back": "ずらして元に",
    "the part of this operand": "この引数の分",
    "that of all parts joined": "全部分のものをつなぐ",
    "put where the elements were picked, 0 elsewhere": "選んだ位置に置く、他は 0",
    "added where the elements were taken, 0 elsewhere": "取り出した位置に足す、他は 0",
    "picked at the index": "添字の位置のもの",
    "summed over the copies": "コピーについての和",
    "on the diagonal, 0 elsewhere": "対角線に置く、他は 0",
    "without the padding": "余白を除く",
    "each padded element added to what it was made from": "余白の分を元の要素に足す",
    "summed over the windows": "窓についての和",
    "summed over the axes that only b brought": "b だけの軸についての和",
    "summed over the axes that only a brought": "a だけの軸についての和",
    "to the axes of this operand": "この引数の軸へ",
    "summed over the block of each element": "各要素の区画での和",
    "summed over all blocks": "全区画についての和",
    "summed over k": "k についての和",
    "summed over the rows": "行についての和",
    "divided by the number of labels for their mean": "平均なら個数で割る",
    "s = scale * w * (h - sum(h * w)), h = g @ value^T, w the attention weights": (
        "s = scale * w * (h - sum(h * w))、h = g @ value^T、w はアテンションの重み"
    ),
    "h = g @ value^T, w the attention weights": "h = g @ value^T、w はアテンションの重み",
    "w the attention weights": "w はアテンションの重み",
    "for the 2-norm; for another one its derivative": "2 ノルムのとき、他はそのノルムの微分",
    "g that of the logarithm": "g は対数のもの",
    "by the formula of Golub and Pereyra for the pseudo-inverse": "擬似逆行列についての Golub と Pereyra の式による",
    "F the lower triangle with half of its diagonal": "F は下三角と対角の半分",
    "that of Q and of R, by solving with R": "Q と R のもの、R で解く",
    "gw and gV the gradients of values and vectors": "gw と gV は固有値とベクトルの勾配",
    "V the eigenvectors": "V は固有ベクトル",
    "gs the gradient of the singular values, t what turns U and V": "gs は特異値の勾配、t は U と V の回転の分",
    "in the length of before": "元の長さに",
    "the real part, in the length of before": "実部を元の長さに",
    "mirrored frequencies counted twice": "対になる周波数は 2 倍",
}
