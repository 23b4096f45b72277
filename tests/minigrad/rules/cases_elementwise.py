"""Samples of the elementwise functions that `cases.py` does not have, of the methods of ufuncs and of complex parts."""

from typing import Any

import numpy as np

from tests.lazy import torch
from tests.minigrad.rules.cases import apart, between, case, fixed, integers, normal, positive, wide


def inside(*shape: int) -> Any:
    """Within (-0.9, 0.9)."""
    return between(-0.9, 0.9, *shape)


def above_one(*shape: int) -> Any:
    return between(1.2, 3.0, *shape)


UNARY: list[tuple[str, Any, Any, Any]] = [
    ("tan", np.tan, inside, torch.tan), ("arcsin", np.arcsin, inside, torch.arcsin),
    ("arccos", np.arccos, inside, torch.arccos), ("arctan", np.arctan, wide, torch.arctan),
    ("sinh", np.sinh, normal, torch.sinh), ("cosh", np.cosh, normal, torch.cosh),
    ("arcsinh", np.arcsinh, wide, torch.arcsinh), ("arccosh", np.arccosh, above_one, torch.arccosh),
    ("arctanh", np.arctanh, inside, torch.arctanh), ("cbrt", np.cbrt, positive, None),
    ("sinc", np.sinc, wide, torch.sinc), ("deg2rad", np.deg2rad, wide, torch.deg2rad),
    ("rad2deg", np.rad2deg, inside, torch.rad2deg), ("fabs", np.fabs, apart, torch.abs),
    ("floor", np.floor, normal, torch.floor), ("ceil", np.ceil, normal, torch.ceil),
    ("trunc", np.trunc, normal, torch.trunc), ("rint", np.rint, positive, torch.round),
    ("round", np.round, positive, torch.round), ("nan_to_num", np.nan_to_num, normal, torch.nan_to_num),
]  # fmt: skip
for _shape in [(3, 4), (), (0, 2)]:
    for _name, _f, _spec, _torch in UNARY:
        case(_name, _f, _spec(*_shape), label=_shape, torch=_torch)
case("deg2rad", np.radians, wide(3), label="radians", torch=torch.deg2rad)
case("rad2deg", np.degrees, inside(3), label="degrees", torch=torch.rad2deg)
case("round", lambda x: x.round(1), normal(5), label="method, decimals=1", torch=lambda x: torch.round(x, decimals=1))
case("round", lambda x: np.around(x, decimals=-1), wide(3), label="around", torch=torch.zeros_like)
case("trunc", np.fix, normal(3), label="fix", torch=torch.trunc)
case("cbrt", np.cbrt, fixed([-8.0, -0.3, 2.0]), label="of negative numbers")
case("sinc", np.sinc, fixed([0.0, 1e-3, -0.0999, 0.1001, 1e-9]), label="near 0")
case("nan_to_num", lambda x: np.nan_to_num(x, nan=0.5, posinf=2.0, neginf=-2.0), fixed([1.0, np.nan, np.inf, -np.inf]),
     label="replaced", torch=lambda x: torch.nan_to_num(x, 0.5, 2.0, -2.0), order=0)  # fmt: skip
case("arcsinh", np.arcsinh, fixed([1e15, -1e15]), label="far out", torch=torch.arcsinh, order=0)

PAIRS: list[tuple[Any, Any]] = [((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2, 3)), ((0, 3), (1, 3))]
BINARY: list[tuple[str, Any, Any, Any]] = [
    ("hypot", normal, positive, torch.hypot), ("arctan2", normal, positive, torch.arctan2),
    ("logaddexp", normal, normal, torch.logaddexp), ("logaddexp2", normal, normal, torch.logaddexp2),
    ("fmax", normal, normal, torch.fmax), ("fmin", normal, normal, torch.fmin),
    ("copysign", apart, normal, torch.copysign), ("fmod", wide, positive, torch.fmod),
    ("heaviside", apart, normal, None),
]  # fmt: skip
for _name, _x, _y, _torch in BINARY:
    for _shape, _other in PAIRS:
        case(_name, getattr(np, _name), _x(*_shape), _y(*_other), label=f"{_shape}, {_other}", torch=_torch)
    _f = getattr(np, _name)
    case(_name, lambda x, f=_f: f(x, x), positive(2, 3), label="with itself", order=0,
         torch=(lambda x, f=_torch: f(x, x)) if _torch else torch.ones_like)  # fmt: skip
    case(_name, lambda x, f=_f: f(x, 0.75), apart(3), label="with a number",
         torch=None if _torch in (None, torch.copysign) else lambda x, f=_torch: f(x, torch.tensor(0.75).to(x)))  # fmt: skip
case("arctan2", np.arctan2, fixed([1.0, -1.0, 2.0, 1e-200]), fixed([-2.0, -3.0, 0.0, -1.0]), label="all round", order=0,
     torch=torch.arctan2)  # fmt: skip
case("logaddexp", np.logaddexp, fixed([1e4, -1e4, 700.0]), fixed([-1e4, -1e4, 710.0]), label="large", order=0,
     torch=torch.logaddexp)  # fmt: skip
case("fmax", np.fmax, fixed([1.0, np.nan]), fixed([np.nan, 2.0]), label="NaN", torch=torch.fmax, order=0)
case("fmin", np.fmin, fixed([1.0, np.nan]), fixed([np.nan, 2.0]), label="NaN", torch=torch.fmin, order=0)
case("heaviside", np.heaviside, fixed([-1.0, 0.0, 2.0]), normal(3), label="at the step", order=0,
     torch=lambda x, h: torch.where(x == 0, h, (x > 0).to(h)))  # fmt: skip
case("fmod", np.fmod, fixed([-5.3, 5.3, -5.3]), fixed([2.0, -2.0, -2.0]), label="signs", torch=torch.fmod)
case("remainder", lambda x, y: np.divmod(x, y)[1], wide(2, 3), positive(3), label="divmod", torch=torch.remainder)
case("floor_divide", lambda x, y: divmod(x, y)[0], wide(2, 3), positive(3), label="builtin divmod")
case("modf", np.modf, normal(2, 3), label="both parts", torch=lambda x: (torch.frac(x), torch.trunc(x)))
case("modf", lambda x: np.modf(x)[0], normal(3), label="the fraction", torch=torch.frac)
case("modf", lambda x: np.modf(x)[1], normal(3), label="the whole part", torch=torch.trunc)
case("ldexp", np.ldexp, normal(2, 3), integers(5, 3), label="(2, 3), (3,)", torch=torch.ldexp)
case("ldexp", lambda x: np.ldexp(x, -2), normal(), label="0-d")
# float_power computes in double precision, whatever it is given
case("float_power", lambda x, y: np.float_power(x, y).astype(np.result_type(x, y)), positive(2, 3), normal(3),
     label="(2, 3), (3,)", torch=torch.pow)  # fmt: skip
case("float_power", lambda x: np.float_power(x, 3).astype(x.dtype), normal(2, 3), label="x, 3", torch=lambda x: x**3)
case("power", lambda x, y: x**y, fixed([0.0, 0.0, 1.5, 0.0]), fixed([0.0, 2.0, 0.0, 3.0]), label="0 ** y, x ** 0",
     torch=torch.pow, order=0)  # fmt: skip
case("power", lambda x, y: x**y, positive(3), fixed([0.0, 1.0, 2.0]), label="whole exponents")

# --- complex parts: real inputs and outputs, complex numbers between them ---

case("real", lambda x: np.real(x * (1 + 2j)), normal(2, 3), label="function", torch=lambda x: torch.real(x * (1 + 2j)))
case("real", lambda x: (x * (x + 2j)).real, normal(2, 3), label="attribute", torch=lambda x: torch.real(x * (x + 2j)))
case("real", lambda x: np.real(x), normal(2), label="of real numbers", torch=lambda x: x * 1)
case("imag", lambda x: np.imag(np.exp(x * (1 + 2j))), normal(2, 3), label="function",
     torch=lambda x: torch.imag(torch.exp(x * (1 + 2j))))  # fmt: skip
case("imag", lambda x: (x * (3 - 2j)).imag, normal(), label="attribute", torch=lambda x: torch.imag(x * (3 - 2j)))
case("conjugate", lambda x: ((x * (1 + 2j)).conj() * (x + 1j)).imag, normal(3), label="conj",
     torch=lambda x: torch.imag((x * (1 + 2j)).conj() * (x + 1j)))  # fmt: skip
case("imag", lambda x: np.angle(np.exp(x * (0.5 + 1j)) + 2), normal(3), label="angle",
     torch=lambda x: torch.angle(torch.exp(x * (0.5 + 1j)) + 2))  # fmt: skip
case("imag", lambda x: np.angle(x + 2j, deg=True), normal(3), label="angle in degrees",
     torch=lambda x: torch.rad2deg(torch.angle(x + 2j)))  # fmt: skip

# --- methods of ufuncs ---

METHODS: list[tuple[str, str, Any, Any]] = [
    ("sum", "reduce axis=0", lambda x: np.add.reduce(x), lambda x: x.sum(0)),
    ("sum", "reduce axis=None", lambda x: np.add.reduce(x, axis=None), lambda x: x.sum()),
    ("sum", "reduce keepdims", lambda x: np.add.reduce(x, (0, -1), keepdims=True), lambda x: x.sum((0, -1), True)),
    ("prod", "reduce", lambda x: np.multiply.reduce(x, axis=1), lambda x: x.prod(1)),
    ("max", "reduce", lambda x: np.maximum.reduce(x, axis=-1), lambda x: x.amax(-1)),
    ("min", "reduce", lambda x: np.minimum.reduce(x), lambda x: x.amin(0)),
    ("cumsum", "accumulate", lambda x: np.add.accumulate(x), lambda x: x.cumsum(0)),
    ("cumprod", "accumulate", lambda x: np.multiply.accumulate(x, axis=1), lambda x: x.cumprod(1)),
    ("subtract", "outer", lambda x: np.subtract.outer(x, x[0]), lambda x: x[..., None] - x[0]),
]
for _name, _label, _f, _torch in METHODS:
    case(_name, _f, apart(3, 4), label=_label, torch=_torch)
case("hypot", lambda x, y: np.hypot.outer(x, y), positive(2, 2), positive(3), label="outer",
     torch=lambda x, y: torch.hypot(x[..., None], y))  # fmt: skip
