"""Sample calls of SciPy's special functions. Importing this module adds them to the table."""

import functools
from typing import Any

import numpy as np

from tests.lazy import scipy_special as special, torch
from tests.minigrad.rules import cases
from tests.minigrad.rules.cases import Spec, apart, between, normal, positive, wide

T = torch.special
rules: Any = special._rules  # through the public module, which also attaches the kernels
scipys = rules._special  # SciPy's own, once minigrad has declared their rules
case = functools.partial(cases.case, host_only="SciPy computes on the host")


def unit(*shape: int) -> Spec:
    return between(0.1, 0.9, *shape)


def signed_unit(*shape: int) -> Spec:
    return between(-0.9, 0.9, *shape)


# PyTorch's digamma and trigamma are less accurate than the tests ask for: finite differences alone check them.
UNARY: list[tuple[str, Any, Any]] = [
    ("erf", wide, T.erf), ("erfc", wide, T.erfc), ("erfcx", normal, T.erfcx), ("erfinv", signed_unit, T.erfinv),
    ("erfcinv", unit, None), ("ndtr", wide, T.ndtr), ("ndtri", unit, T.ndtri), ("log_ndtr", wide, T.log_ndtr),
    ("expit", wide, T.expit), ("log_expit", wide, torch.nn.functional.logsigmoid), ("logit", unit, T.logit),
    ("gamma", positive, None), ("gammaln", positive, None), ("loggamma", positive, None),
    ("rgamma", positive, None), ("psi", positive, None),
    ("entr", positive, T.entr), ("j0", wide, None), ("j1", wide, None), ("y0", positive, None), ("y1", positive, None),
    ("i0", normal, T.i0), ("i1", normal, T.i1), ("i0e", apart, T.i0e), ("i1e", apart, T.i1e),
]  # fmt: skip
for _name, _spec, _torch in UNARY:
    for _shape in [(3, 4), (), (0, 2)]:
        case(f"special.{_name}", getattr(scipys, _name), _spec(*_shape), label=_shape, torch=_torch)
for _name in ("gamma", "gammaln", "rgamma", "psi"):  # between the poles, where the gamma function is negative
    case(f"special.{_name}", getattr(special, _name), between(-1.8, -1.2, 5), label="negative")

BINARY: list[tuple[str, Any, Any, Any]] = [
    ("beta", positive, positive, None), ("betaln", positive, positive, None), ("xlogy", normal, positive, T.xlogy),
    ("xlog1py", normal, positive, T.xlog1py), ("rel_entr", positive, positive, None), ("kl_div", positive, positive, None),
]  # fmt: skip
for _name, _x, _y, _torch in BINARY:
    for _shape, _other in [((3, 4), (4,)), ((), (2, 3)), ((0, 3), (1, 3)), ((2, 1), (1, 3))]:
        case(f"special.{_name}", getattr(scipys, _name), _x(*_shape), _y(*_other), label=f"{_shape}, {_other}",
             torch=_torch)  # fmt: skip
    _f = getattr(special, _name)
    case(f"special.{_name}", lambda x, f=_f: f(x, x), positive(3), label="with itself")
case("special.xlogy", lambda x: special.xlogy(x, np.asarray(0.5, x.dtype)), normal(3), label="a number",
     torch=lambda x: T.xlogy(x, 0.5))  # fmt: skip

for _n in (0, 1, 2, 3):
    case("special.polygamma", lambda x, n=_n: special.polygamma(n, x), positive(3, 2), label=_n)
case("special.zeta", lambda q: special.zeta(2.5, q), positive(3, 2), label=2.5)
for _a in (0.5, 1.0, 2.5):
    case("special.gammainc", lambda x, a=_a: special.gammainc(np.asarray(a, x.dtype), x), positive(3), label=_a,
         torch=lambda x, a=_a: T.gammainc(torch.tensor(a, dtype=x.dtype), x))  # fmt: skip
    case("special.gammaincc", lambda x, a=_a: special.gammaincc(np.asarray(a, x.dtype), x), positive(3), label=_a)
    case("special.betainc", lambda x, a=_a: special.betainc(a, 1.5, x), unit(3), label=_a)
for _v in (0, 1, 2.5):
    case("special.jv", lambda z, v=_v: special.jv(v, z), positive(3), label=_v)
    case("special.iv", lambda z, v=_v: special.iv(v, z), positive(3), label=_v)

# What the derivatives of others are made of.
for _n in (1, 2):
    case("special.erfc_ratio", lambda x, n=_n: rules._erfc_ratio(x, n=n), wide(3, 4), label=_n)
    case("special.power_iv", lambda x, n=_n: rules._power_iv(x, n=n), wide(3, 4), label=_n)
    case("special.i0e_ratio", lambda x, n=_n: rules._i0e_ratio(x, n=n), positive(3, 4), label=_n)
    case("special.i1e_step", lambda x, n=_n: rules._i1e_step(x, n=n), positive(3, 4), label=_n)
case("special.hazard", lambda x: rules._hazard(x), wide(3, 4), label="(3, 4)")
case("special.hazard_slope", lambda x: rules._hazard_slope(x), wide(3, 4), label="(3, 4)")
case("special.density", lambda x: rules._density(1.5, 0.5, 0.25, x), unit(3, 4), label="between 0 and 1")
case("special.density", lambda x: rules._density(1.5, np.inf, 0.25, x), positive(3, 4), label="from 0 on")

case("logsumexp", lambda x: special.logsumexp(x, (0, 1), keepdims=True), normal(3, 4), label="of SciPy",
     torch=lambda x: torch.logsumexp(x, (0, 1), True))  # fmt: skip
case("softmax", lambda x: special.softmax(x), normal(2, 3), label="of SciPy",
     torch=lambda x: torch.softmax(x.ravel(), 0).reshape(x.shape))  # fmt: skip
case("log_softmax", lambda x: special.log_softmax(x), normal(2, 3), label="of SciPy",
     torch=lambda x: torch.log_softmax(x.ravel(), 0).reshape(x.shape))  # fmt: skip
