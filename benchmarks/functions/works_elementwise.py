"""Elementwise functions, complex numbers and Fourier transforms."""

from __future__ import annotations

import numpy as np

from benchmarks.functions.inputs import between, normal, row_vector, true_or_false
from benchmarks.functions.lazy import F, torch
from benchmarks.functions.work import add

positive = between(0.5, 2)
unit = between(-0.9, 0.9)

# Arithmetic
add("x + y", lambda x, y: x + y, lambda x, y: x + y, normal, normal)
add("x + row", lambda x, y: x + y, lambda x, y: x + y, normal, row_vector)
add("x - y", lambda x, y: x - y, lambda x, y: x - y, normal, normal)
add("x * y", lambda x, y: x * y, lambda x, y: x * y, normal, normal)
add("x * row", lambda x, y: x * y, lambda x, y: x * y, normal, row_vector)
add("x / y", lambda x, y: x / y, lambda x, y: x / y, normal, positive)
add("-x", lambda x: -x, lambda x: -x)
add("+x", lambda x: +x, lambda x: torch.clone(x))
add("x ** 2", lambda x: x**2, lambda x: x**2)
add("x ** 3", lambda x: x**3, lambda x: x**3)
add("x ** -1", lambda x: x**-1, lambda x: x**-1, positive)
add("x ** 0.5", lambda x: x**0.5, lambda x: x**0.5, positive)
add("x ** 1.7", lambda x: x**1.7, lambda x: x**1.7, positive)
add("x ** y", lambda x, y: x**y, lambda x, y: x**y, positive, normal)
add("2 ** x", lambda x: 2**x, lambda x: 2**x)
add("float_power", lambda x, y: np.float_power(x, y), None, positive, normal)
add("square", lambda x: np.square(x), lambda x: torch.square(x))
add("reciprocal", lambda x: np.reciprocal(x), lambda x: torch.reciprocal(x), positive)
add("floor_divide", lambda x, y: np.floor_divide(x, y), None, normal, positive)
add("remainder", lambda x, y: np.remainder(x, y), lambda x, y: torch.remainder(x, y), normal, positive)
add("fmod", lambda x, y: np.fmod(x, y), lambda x, y: torch.fmod(x, y), normal, positive)
add("modf", lambda x: np.modf(x)[0], lambda x: torch.frac(x))
add("ldexp", lambda x: np.ldexp(x, 3), lambda x: torch.ldexp(x, torch.tensor(3)))
add("deg2rad", lambda x: np.deg2rad(x), lambda x: torch.deg2rad(x))
add("rad2deg", lambda x: np.rad2deg(x), lambda x: torch.rad2deg(x))
add("sqrt", lambda x: np.sqrt(x), lambda x: torch.sqrt(x), positive)
add("cbrt", lambda x: np.cbrt(x), None, positive)
add("astype", lambda x: x.astype(np.float16), lambda x: x.to(torch.float16))

# Exponentials, logarithms, trigonometry
for name in ("exp", "exp2", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arctan", "arcsinh", "sinc"):
    add(name, lambda x, name=name: getattr(np, name)(x), lambda x, name=name: getattr(torch, name)(x))
for name in ("log", "log2", "log10", "log1p"):
    add(name, lambda x, name=name: getattr(np, name)(x), lambda x, name=name: getattr(torch, name)(x), positive)
for name in ("arcsin", "arccos", "arctanh"):
    add(name, lambda x, name=name: getattr(np, name)(x), lambda x, name=name: getattr(torch, name)(x), unit)
add("arccosh", lambda x: np.arccosh(x), lambda x: torch.arccosh(x), between(1.1, 3))
add("logaddexp", lambda x, y: np.logaddexp(x, y), lambda x, y: torch.logaddexp(x, y), normal, normal)
add("logaddexp(0, x), softplus", lambda x: np.logaddexp(0.0, x), lambda x: F.softplus(x))
add("logaddexp2", lambda x, y: np.logaddexp2(x, y), lambda x, y: torch.logaddexp2(x, y), normal, normal)
add("hypot", lambda x, y: np.hypot(x, y), lambda x, y: torch.hypot(x, y), normal, normal)
add("arctan2", lambda x, y: np.arctan2(x, y), lambda x, y: torch.atan2(x, y), normal, normal)

# Kinks and steps
for name in ("abs", "fabs", "sign", "floor", "ceil", "rint", "trunc"):
    in_torch = {"fabs": "abs", "rint": "round"}.get(name, name)
    add(name, lambda x, name=name: getattr(np, name)(x), lambda x, name=in_torch: getattr(torch, name)(x))
for name in ("maximum", "minimum", "fmax", "fmin", "copysign", "heaviside"):
    add(
        name,
        lambda x, y, name=name: getattr(np, name)(x, y),
        None if name == "heaviside" else lambda x, y, name=name: getattr(torch, name)(x, y),
        normal,
        normal,
    )
add("maximum(x, 0)", lambda x: np.maximum(x, 0), lambda x: torch.clamp(x, min=0))
add("round", lambda x: np.round(x, 1), lambda x: torch.round(x, decimals=1))
add("clip", lambda x: np.clip(x, -1, 1), lambda x: torch.clamp(x, -1, 1))
add("nan_to_num", lambda x: np.nan_to_num(x), lambda x: torch.nan_to_num(x))
add("where", lambda m, x, y: np.where(m, x, y), lambda m, x, y: torch.where(m, x, y), true_or_false, normal, normal)
add("where(m, x, 0)", lambda m, x: np.where(m, x, 0), lambda m, x: torch.where(m, x, 0), true_or_false, normal)
add("x[x > 0]", lambda x: x[x > 0], lambda x: x[x > 0])

# Complex numbers
add("real", lambda x: np.real(x * 1j), lambda x: torch.real(x * 1j))
add("imag", lambda x: np.imag(x * 1j), lambda x: torch.imag(x * 1j))
add("conjugate", lambda x: np.real(np.conjugate(x * 1j)), lambda x: torch.real(torch.conj(x * 1j)))
for name in ("fft", "ifft"):
    add(
        name,
        lambda x, name=name: np.real(getattr(np.fft, name)(x)),
        lambda x, name=name: torch.real(getattr(torch.fft, name)(x)),
    )
add("rfft", lambda x: np.real(np.fft.rfft(x)), lambda x: torch.real(torch.fft.rfft(x)))
add("irfft", lambda x: np.fft.irfft(x), lambda x: torch.fft.irfft(x))
add("fft2", lambda x: np.real(np.fft.fft2(x)), lambda x: torch.real(torch.fft.fft2(x)))
add("fftshift", lambda x: np.fft.fftshift(x), lambda x: torch.fft.fftshift(x))
add("ifftshift", lambda x: np.fft.ifftshift(x), lambda x: torch.fft.ifftshift(x))
