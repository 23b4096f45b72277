"""Lists readable formulas for rules that are not a lambda, or that are mostly NumPy plumbing (see ``formulas.py``).

``y`` in a text is the output, or ``out`` if an argument is called y. Words follow the first comma outside of parentheses.
"""

from __future__ import annotations

import json

from .html import asset

# The Japanese translations of the words in these texts and in equations.py
JAPANESE: dict[str, str] = json.loads(asset("formulas_words.json"))["ja"]

# The keys are operation.argument, or the operation alone if its number of arguments varies.
TEXTS: dict[str, str] = {
    "absolute.x": "g * sign(x)",
    "nan_to_num.x": "where(isfinite(x), g, 0)",
    "sign.x": "0",
    "remainder.y": "-g * floor_divide(x, y)",
    "logaddexp.x": "g * sigmoid(x - y)",
    "logaddexp.y": "g * sigmoid(y - x)",
    "logaddexp2.x": "g * sigmoid((x - y) * log(2))",
    "logaddexp2.y": "g * sigmoid((y - x) * log(2))",
    "hypot.x": "g * (x / out)",
    "hypot.y": "g * (y / out)",
    "interp.x": "g * (y1 - y0) / (x1 - x0)",
    "interp.x0": "-g * (y1 - y0) * (x1 - x) / (x1 - x0)^2",
    "interp.x1": "-g * (y1 - y0) * (x - x0) / (x1 - x0)^2",
    "interp.y0": "g * (x1 - x) / (x1 - x0)",
    "interp.y1": "g * (x - x0) / (x1 - x0)",
    "special.erfcx.x": "g * (2 * x * y - 2 / sqrt(pi))",
    "special.log_ndtr.x": "g * exp(-(x * x / 2 + y)) / sqrt(2 * pi)",
    "special.rgamma.x": "-g * y * psi(x)",
    "special.density.x": "g * y * (e / x - f / (1 - x)), with 1 in place of f / (1 - x) for an infinite f",
    "special.i0e.x": "g * (i1e(x) - sign(x) * y)",
    "special.i1e.x": "g * (0.5 * (i0e(x) + ive(2, x)) - sign(x) * y)",
    "special.gammainc.x": "g * x^(a - 1) * exp(-x) / gamma(a)",
    "special.gammaincc.x": "-g * x^(a - 1) * exp(-x) / gamma(a)",
    "special.betainc.x": "g * x^(a - 1) * (1 - x)^(b - 1) / beta(a, b)",
    "special.i1.x": "g * 0.5 * (i0(x) + iv(2, x))",
    "arctan2.y": "g * x / (x * x + y * y)",
    "arctan2.x": "-g * y / (x * x + y * y)",
    "sinc.x": "g * (cos(pi x) - sinc(x)) / x",
    "gelu.x": "g * (Phi(x) + x * phi(x)), with the normal distribution Phi and its density phi",
    "logsumexp.a": "g * softmax(a)",
    "cumsum.a": "g, summed from each position to the end",
    "cumprod.a": "g * prod(others), summed from each position to the end",
    "concatenate": "g, the part of this operand",
    "take.a": "g, added at the selected elements, 0 elsewhere",
    "take_along_axis.arr": "g, added at the selected elements, 0 elsewhere",
    "repeat.a": "g, summed over the copies",
    "diagonal.a": "g, on the diagonal, 0 elsewhere",
    "transpose.a": "g, with the axes in their original order",
    "roll.a": "g, rolled back",
    "sliding_window_view.x": "g, summed over the windows",
    "matmul.x": "g @ y^T",
    "matmul.y": "x^T @ g",
    "affine.x": "g @ weight^T",
    "affine.weight": "x^T @ g",
    "affine.bias": "g, summed over the rows",
    "layer_norm.x": (
        "(h - mean(h) - z * mean(h * z)) / sqrt(var(x) + eps), h = g * gamma, z = (x - mean(x)) / sqrt(var(x) + eps)"
    ),
    "layer_norm.gamma": "g * (x - mean(x)) / sqrt(var(x) + eps), summed over the rows",
    "layer_norm.beta": "g, summed over the rows",
    "cross_entropy.logits": "g * (softmax(logits) - one_hot(labels)), divided by the number of labels for the mean",
    "attention.query": "s @ key, s = scale * w * (h - sum(h * w)), h = g @ value^T, with attention weights w",
    "attention.key": "s^T @ query, s = scale * w * (h - sum(h * w)), h = g @ value^T, with attention weights w",
    "attention.value": "w^T @ g, with attention weights w",
    "attention.bias": "w * (h - sum(h * w)), h = g @ value^T, with attention weights w",
    "solve.a": "-(inv(a)^T @ g) @ y^T",
    "solve.b": "inv(a)^T @ g",
    "modf.x": "g, the gradient of the fractional part",
    "imag.val": "-i * g",
    "maximum.x": "g * (x > y) + 0.5 * g * (x == y)",
    "maximum.y": "g * (y > x) + 0.5 * g * (x == y)",
    "minimum.x": "g * (x < y) + 0.5 * g * (x == y)",
    "minimum.y": "g * (y < x) + 0.5 * g * (x == y)",
    "clip.a": "where(a_min <= a <= a_max, g, 0)",
    "clip.a_min": "where(a < a_min, g, 0)",
    "clip.a_max": "where(a > a_max, g, 0)",
    "reshape.a": "g, in the original shape",
    "squeeze.a": "g, in the original shape",
    "expand_dims.a": "g, in the original shape",
    "swapaxes.a": "g, with the axes swapped back",
    "flip.m": "g, flipped back",
    "stack": "g, the part of this operand",
    "split.ary": "g, concatenated from the gradients of all parts",
    "getitem.x": "g, at the selected elements, 0 elsewhere",
    "overlapped.windows": "the windows of g",
    "scatter_add.updates": "g, at the index",
    "pad.array": "g, without the padding",
    "dot.a": "g @ b^T",
    "dot.b": "a^T @ g",
    "inner.a": "g @ b",
    "inner.b": "g^T @ a",
    "outer.a": "g @ b",
    "outer.b": "a @ g",
    "vdot.a": "conj(g * b)",
    "vdot.b": "g * conj(a)",
    "tensordot.a": "g * b, summed over the axes that only b has",
    "tensordot.b": "a * g, summed over the axes that only a has",
    "convolve.a": "correlate(g, v)",
    "convolve.v": "correlate(g, a)",
    "inv.a": "-y^T @ g @ y^T",
    "det.a": "g * y * inv(a)^T",
    "fft.a": "fft(g), in the original length",
    "ifft.a": "ifft(g), in the original length",
    "fftshift.x": "g, shifted back",
    "ifftshift.x": "g, shifted back",
    "rfft.a": "fft(g), the real part, in the original length",
    "pad_copies.array": "g, with each padded element added to its source",
    "fold.padded": "g, padded in the same way",
    "tile.A": "g, summed over the copies",
    "between.a": "g * share, added at the selected elements, 0 elsewhere",
    "pad_mode.array": "g, with each padded element added to its source",
    "einsum": "einsum(g, others), with the axes of this operand",
    "kron.a": "g * b, summed over the block of each element",
    "kron.b": "a * g, summed over all blocks",
    "cross.a": "b × g",
    "cross.b": "g × a",
    "matrix_power.a": "(a^T)^k @ g @ (a^T)^(n - 1 - k), summed over k",
    "norm.x": "g * x / y, for the 2-norm; other norms have their own derivatives",
    "slogdet.a": "g * inv(a)^T, with the gradient g of the logarithm",
    "lstsq.a": (
        "(b - a @ x) @ g^T @ pinv(a) @ pinv(a)^T - pinv(a)^T @ g @ x^T, with the solution x of full rank and its gradient g"
    ),
    "lstsq.b": "pinv(a)^T @ g, with the gradient g of the solution",
    "pinv.a": "g, put into Golub and Pereyra's formula for pseudo-inverses",
    "cholesky.a": "L^-T @ F(L^T @ g) @ L^-1, where F keeps the lower triangle and half of the diagonal",
    "qr.a": "g, the gradients of Q and R, combined by solving with R",
    "eigvalsh.a": "V @ diag(g) @ V^T, with the eigenvectors V",
    "svd.a": "U @ (diag(gs) + t) @ V^T, with the gradient gs of the singular values and the part t from U and V",
    "irfft.a": "conj(rfft(g)), with mirrored frequencies counted twice",
}

for _name, _left in (("eigh", "V"), ("eig", "V^-T")):
    TEXTS[f"{_name}.a"] = (
        f"{_left} @ (diag(gw) + (V^T @ gV) / (w_j - w_i)) @ V^T, "
        "with the gradients gw of the eigenvalues and gV of the eigenvectors"
    )
for _name in ("power", "float_power"):
    TEXTS[f"{_name}.x"] = "g * y * x^(y - 1)"
    TEXTS[f"{_name}.y"] = "g * out * log(x)"
for _name in ("sort", "partition"):
    TEXTS[f"{_name}.a"] = "g, in the original order of a"
for _name in ("max", "min", "nanmax", "nanmin"):
    TEXTS[f"{_name}.a"] = f"where(a == {_name}(a), g, 0), divided equally among ties"
for _prefix in ("", "nan"):  # np.nansum and similar functions leave out NaNs
    TEXTS[f"{_prefix}sum.a"] = "g, broadcast over the summed axes"
    TEXTS[f"{_prefix}mean.a"] = "g / n, broadcast over the averaged axes"
    TEXTS[f"{_prefix}var.a"] = "2 * g * (a - mean(a)) / (n - ddof)"
    TEXTS[f"{_prefix}std.a"] = "g * (a - mean(a)) / ((n - ddof) * y)"
    TEXTS[f"{_prefix}prod.a"] = "g * prod(others)"
