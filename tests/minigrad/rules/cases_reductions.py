"""Samples of reductions, running sums and products, sorting, differences, interpolation and convolution."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from tests.lazy import torch
from tests.minigrad.rules.cases import Spec, apart, between, case, fixed, normal, positive

functional = torch.nn.functional

Function = Callable[..., Any]
ZEROS: list[Spec] = [
    fixed([[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 0.5], [1.0, 2.0, 0.5, -2.0]]), fixed([[0.0, 0.0], [0.0, 0.0]]),
]  # fmt: skip

# --- sum and its kin with where= and initial= ---

SELECTED: list[tuple[str, Any, dict[str, Any]]] = [
    ("sum", np.sum, {"initial": 2.0}), ("prod", np.prod, {"initial": 2.0}), ("mean", np.mean, {}),
    ("var", np.var, {"ddof": 0.5}), ("std", np.std, {}), ("max", np.max, {"initial": -9.0}), ("min", np.min, {"initial": 9.0}),
]  # fmt: skip
SELECTION = np.array([[True, False, True, True], [True, True, False, True], [False, True, True, True]])
for _name, _f, _options in SELECTED:
    for _axis in (None, 0, (-1, 0)):
        case(_name, lambda x, f=_f, a=_axis, o=_options: f(x, axis=a, where=SELECTION, **o), apart(3, 4),
             label=f"where axis={_axis}", host_only="CuPy's reductions have no where=")  # fmt: skip
    case(_name, lambda x, f=_f, o=_options: f(x, axis=1, keepdims=True, where=np.array([True, False, True, True]), **o),
         apart(3, 4), label="where broadcasts, keepdims", host_only="CuPy's reductions have no where=")  # fmt: skip
case("max", lambda x: np.max(x, axis=0, initial=0.1), apart(3, 4), label="initial", host_only="CuPy has no initial=",
     torch=lambda x: torch.clamp(x.amax(0), min=0.1))  # fmt: skip
case("min", lambda x: np.min(x, initial=-0.1), apart(3, 4), label="initial", host_only="CuPy has no initial=")
case("max", lambda x: np.max(x, initial=1.0, axis=0), normal(0, 3), label="initial of nothing", host_only="no initial=")
case("sum", lambda x: np.sum(x, where=np.zeros((2, 3), bool)), normal(2, 3), label="where nothing",
     host_only="CuPy's reductions have no where=")  # fmt: skip
case("max", lambda x: np.ptp(x, axis=1), apart(3, 4), label="ptp", torch=lambda x: x.amax(1) - x.amin(1))
case("max", lambda x: np.ptp(x, keepdims=True), apart(3, 4), label="ptp keepdims")

# --- products and running ones ---

AXES: list[tuple[tuple[int, ...], Any]] = [
    ((2, 3, 4), None), ((2, 3, 4), 1), ((2, 3, 2), (0, 2)), ((2, 3, 2), (-1, 0)), ((3,), 0), ((), None), ((2, 0, 3), 2),
    ((2, 0), 1), ((1, 3), 0),
]  # fmt: skip
for _shape, _axis in AXES:
    for _keep in (False, True):
        _one = isinstance(_axis, int) and 0 not in _shape
        case("prod", lambda x, a=_axis, k=_keep: np.prod(x, axis=a, keepdims=k), normal(*_shape),
             label=f"{_shape} axis={_axis}" + " keepdims" * _keep,
             torch=(lambda x, a=_axis, k=_keep: torch.prod(x, a, k)) if _one else None)  # fmt: skip
for _number, _zeros in enumerate(ZEROS):
    case("prod", lambda x: x.prod(axis=1), _zeros, label=f"zeros {_number}", torch=lambda x: x.prod(1))
    case("prod", lambda x: np.prod(x, axis=0), _zeros, label=f"zeros axis=0 {_number}", torch=lambda x: x.prod(0))
    case("cumprod", lambda x: np.cumprod(x, axis=1), _zeros, label=f"zeros {_number}", torch=lambda x: x.cumprod(1))
    case(
        "cumprod", lambda x: np.cumprod(x), _zeros, label=f"zeros flat {_number}", torch=lambda x: x.ravel().cumprod(0)
    )
case("prod", lambda x: np.prod(x), between(0.8, 1.2, 37), label="long", torch=lambda x: torch.prod(x))
RUNNING: list[tuple[str, Any, Any]] = [("cumsum", np.cumsum, torch.cumsum), ("cumprod", np.cumprod, torch.cumprod)]
for _name, _f, _torch in RUNNING:
    for _shape, _axis in [((2, 3, 4), 1), ((2, 3, 4), -1), ((5,), 0), ((2, 0), 1), ((0, 2), 1), ((3, 1), -1)]:
        case(_name, lambda x, f=_f, a=_axis: f(x, axis=a), normal(*_shape), label=f"{_shape} axis={_axis}",
             torch=lambda x, f=_torch, a=_axis: f(x, dim=a))  # fmt: skip
    case(_name, lambda x, f=_f: f(x), normal(2, 3), label="flat", torch=lambda x, f=_torch: f(x.ravel(), dim=0))
    case(_name, lambda x, f=_f: f(x), normal(), label="0-d", torch=lambda x, f=_torch: f(x.ravel(), dim=0))
    case(_name, lambda x, n=_name: getattr(x, n)(axis=0), between(0.5, 1.5, 19, 2), label="method, long",
         torch=lambda x, f=_torch: f(x, dim=0))  # fmt: skip

# --- logsumexp ---

for _shape, _axis in [((2, 3, 4), None), ((2, 3, 4), (0, 2)), ((2, 3), -1), ((), None), ((0, 3), 1)]:
    for _keep in (False, True):
        _dim = tuple(range(len(_shape))) if _axis is None else _axis
        case("logsumexp", lambda x, a=_axis, k=_keep: mg.logsumexp(x, axis=a, keepdims=k), normal(*_shape),
             label=f"{_shape} axis={_axis}" + " keepdims" * _keep,
             torch=None if not _shape else lambda x, d=_dim, k=_keep: torch.logsumexp(x, d, k))  # fmt: skip
case("logsumexp", lambda x: mg.logsumexp(x, axis=1), fixed([[1e4, 9999.0, -1e4], [-1e4, -1e4, -1e4]]), label="large",
     torch=lambda x: torch.logsumexp(x, 1), order=0)  # fmt: skip
case("logsumexp", lambda x: np.logaddexp.reduce(x, axis=1) if isinstance(x, mg.Tensor) else mg.logsumexp(x, axis=1),
     normal(2, 3), label="logaddexp.reduce", torch=lambda x: torch.logsumexp(x, 1))  # fmt: skip

# --- what is NaN does not count ---

HOLES: list[tuple[str, Any, Any]] = [
    ("nansum", np.nansum, torch.nansum), ("nanmean", np.nanmean, torch.nanmean), ("nanvar", np.nanvar, None),
    ("nanstd", np.nanstd, None), ("nanmax", np.nanmax, None), ("nanmin", np.nanmin, None), ("nanprod", np.nanprod, None),
]  # fmt: skip
GAPS = fixed([[True, False, False, False], [False, False, True, False], [False, True, False, False]])
for _name, _f, _torch in HOLES:
    for _axis in (None, 1, (0, -1)):
        for _keep in (False, True):
            case(_name, lambda x, m, f=_f, a=_axis, k=_keep: f(np.where(m, np.nan, x), axis=a, keepdims=k), apart(3, 4),
                 GAPS, label=f"{_f.__name__} axis={_axis}" + " keepdims" * _keep,
                 torch=_torch and (lambda x, m, f=_torch, a=_axis, k=_keep:
                     f(torch.where(m, math.nan, x), dim=(0, 1) if a is None else a, keepdim=k)))  # fmt: skip
case("nanvar", lambda x, m: np.nanvar(np.where(m, np.nan, x), axis=0, ddof=1), normal(3, 4), GAPS, label="ddof=1")
case("nanmean", lambda x, m: np.nanmean(np.where(m, np.nan, x), axis=0, where=SELECTION), normal(3, 4), GAPS,
     label="where", host_only="CuPy's reductions have no where=")  # fmt: skip
case("nanmax", lambda x: np.nanmax(x, axis=1), fixed([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]), label="ties", order=0,
     torch=lambda x: torch.amax(x, 1))  # fmt: skip
case("nansum", lambda x: np.nansum(x, axis=0), normal(0, 3), label="empty")
case("cumsum", lambda x, m: np.nancumsum(np.where(m, np.nan, x), axis=1), normal(3, 4), GAPS, label="nancumsum")
case("cumprod", lambda x, m: np.nancumprod(np.where(m, np.nan, x), axis=0), normal(3, 4), GAPS, label="nancumprod")
case("between", lambda x, m: np.nanmedian(np.where(m, np.nan, x), axis=0), apart(3, 4), GAPS, label="nanmedian")
case(
    "between",
    lambda x, m: np.nanquantile(np.where(m, np.nan, x), 0.25, axis=1),
    apart(3, 4),
    GAPS,
    label="nanquantile",
)
case(
    "between",
    lambda x, m: np.nanpercentile(np.where(m, np.nan, x), 40, axis=0),
    apart(3, 4),
    GAPS,
    label="nanpercentile",
)

# --- sorting ---

for _shape, _axis in [((3, 4), -1), ((3, 4), 0), ((2, 3, 4), 1), ((0, 3), 0), ((2, 0), 1), ((4,), -1)]:
    case("sort", lambda x, a=_axis: np.sort(x, axis=a), apart(*_shape), label=f"{_shape} axis={_axis}",
         torch=lambda x, a=_axis: torch.sort(x, dim=a).values)  # fmt: skip
case("sort", lambda x: np.sort(x, axis=None), apart(3, 4), label="flat", torch=lambda x: torch.sort(x.ravel()).values)
case(
    "sort",
    np.sort,
    fixed([2.0, 1.0, 2.0, 1.0]),
    label="ties",
    torch=lambda x: torch.sort(x, stable=True).values,
    order=0,
)
case("partition", lambda x: np.partition(x, 2, axis=1), apart(3, 7), label="axis=1", order=2)
case(
    "partition",
    lambda x: np.partition(x, (1, 3), axis=0),
    apart(6, 2),
    label="two, axis=0",
    host_only="the order inside a part is open, and CuPy's is another",
)
case("partition", lambda x: np.partition(x, (1, 3), axis=0)[1::2][:2], apart(6, 2), label="two, what is in its place")
case("partition", lambda x: np.partition(x, 4, axis=None), apart(3, 3), label="flat")
case("take", np.unique, fixed([[3.0, 1.0, 3.0], [2.0, 1.0, 2.0]]), label="unique", order=0,
     torch=lambda x: x.ravel()[[1, 3, 0]])  # fmt: skip
case("take", lambda x: np.unique(x, axis=0), apart(3, 2), label="unique rows")
QUANTILES: list[tuple[str, Function, Any]] = [
    ("median", np.median, lambda x: torch.quantile(x, 0.5)),
    ("median axis=1", lambda x: np.median(x, axis=1), lambda x: torch.quantile(x, 0.5, dim=1)),
    ("median axis=(0, 1) keepdims", lambda x: np.median(x, axis=(1, 0), keepdims=True),
     lambda x: torch.quantile(x, 0.5).reshape(1, 1)),
    ("quantile", lambda x: np.quantile(x, 0.25), lambda x: torch.quantile(x, 0.25)),
    ("quantile axis=0", lambda x: np.quantile(x, 1, axis=0), lambda x: torch.quantile(x, 1.0, dim=0)),
    ("percentile keepdims", lambda x: np.percentile(x, 40, axis=1, keepdims=True),
     lambda x: torch.quantile(x, 0.4, dim=1, keepdim=True)),
]  # fmt: skip
for _shape in [(3, 4), (2, 5)]:
    for _label, _f, _torch in QUANTILES:
        case("between", _f, apart(*_shape), label=f"{_shape} {_label}", torch=_torch)
case(
    "between",
    lambda x: np.quantile(x, np.array([[0.1, 0.5], [0.0, 1.0]], x.dtype), axis=0),
    apart(5, 2),
    label="many quantiles",
)

METHODS = [
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "median_unbiased", "normal_unbiased", "linear", "lower", "higher", "midpoint", "nearest",
]  # fmt: skip
for _method in METHODS:  # dtypes but float64 have other last digits, which the values of float64 show to be right
    case("between", lambda x, m=_method: np.quantile(x, [0.0, 0.2, 0.5, 0.7, 1.0], axis=0, method=m).astype(x.dtype),
         apart(5, 2), label=f"quantile, {_method}")  # fmt: skip
    case("between", lambda x, k, m=_method: np.nanpercentile(np.where(k, np.nan, x), 40, axis=1, method=m),
         apart(3, 4), GAPS, label=f"nanpercentile, {_method}")  # fmt: skip

# --- differences ---

DIFFERENCES: list[tuple[str, Function, Any]] = [
    ("diff", np.diff, torch.diff),
    ("diff n=2 axis=0", lambda x: np.diff(x, n=2, axis=0), lambda x: torch.diff(x, n=2, dim=0)),
    ("diff with ends", lambda x: np.diff(x, axis=-1, prepend=x[:, 1:3], append=x[0, 0]),
     lambda x: torch.diff(x, prepend=x[:, 1:3], append=x[0, 0].expand(4, 1))),
    ("ediff1d", np.ediff1d, lambda x: torch.diff(x.ravel())),
    ("ediff1d with ends", lambda x: np.ediff1d(x, to_end=x[0], to_begin=x[0, 0]),
     lambda x: torch.cat([x[0, :1], torch.diff(x.ravel()), x[0]])),
    ("gradient", lambda x: np.gradient(x), lambda x: torch.gradient(x)),
    ("gradient axis=1, step", lambda x: np.gradient(x, 0.5, axis=1), lambda x: torch.gradient(x, spacing=0.5, dim=1)[0]),
    ("gradient steps", lambda x: np.gradient(x, 0.5, 2.0, axis=(-1, 0), edge_order=2),
     lambda x: torch.gradient(x, spacing=(0.5, 2.0), dim=(-1, 0), edge_order=2)),
    ("gradient even coordinates", lambda x: np.gradient(x, np.arange(4) * 0.5, axis=0),
     lambda x: torch.gradient(x, spacing=0.5, dim=0)[0]),
    ("gradient coordinates", lambda x: np.gradient(x, np.array([0.0, 0.5, 0.75, 2.0, 2.25]), axis=1),
     lambda x: torch.gradient(x, spacing=(torch.tensor([0.0, 0.5, 0.75, 2.0, 2.25]).to(x),), dim=1)[0]),
]  # fmt: skip
HOST_INPUT = {"gradient even coordinates", "gradient coordinates"}
for _label, _f, _torch in DIFFERENCES:
    case(
        "subtract",
        _f,
        normal(4, 5),
        label=_label,
        torch=_torch,
        host_only="host coordinates" if _label in HOST_INPUT else "",
    )
case("divide", lambda y, x: np.gradient(y, x, edge_order=2), normal(5), fixed([0.0, 0.5, 0.75, 2.0, 2.25]),
     label="gradient in y and x")  # fmt: skip
case("sum", lambda y, x: np.trapezoid(y, x), normal(2, 5), fixed([0.0, 0.5, 0.75, 2.0, 2.25]), label="trapezoid",
     torch=torch.trapezoid)  # fmt: skip
case("sum", lambda y, x: np.trapezoid(y, x, axis=0), normal(3, 2), normal(3, 2), label="trapezoid axis=0",
     torch=lambda y, x: torch.trapezoid(y, x, dim=0))  # fmt: skip
case(
    "sum",
    lambda y: np.trapezoid(y, dx=0.5),
    normal(4),
    label="trapezoid dx",
    torch=lambda y: torch.trapezoid(y, dx=0.5),
)

# --- average ---

case("mean", lambda a: np.average(a, axis=1), normal(2, 3), label="average", torch=lambda a: a.mean(1))
case("sum", lambda a, w: np.average(a, weights=w), normal(2, 3), positive(2, 3), label="average with weights",
     torch=lambda a, w: (a * w).sum() / w.sum())  # fmt: skip
case("sum", lambda a, w: np.average(a, axis=0, weights=w, returned=True), normal(3, 2), positive(3),
     label="average, 1-D weights, returned", torch=lambda a, w: (w @ a / w.sum(), w.sum().expand(2)))  # fmt: skip
case("sum", lambda a, w: np.average(a, axis=(2, 0), weights=w, keepdims=True), normal(3, 2, 4), positive(4, 3),
     label="average, axes", torch=lambda a, w: (a * w.T[:, None]).sum((0, 2), True) / w.sum())  # fmt: skip

# --- interpolation ---

KNOTS, HEIGHTS = fixed([0.0, 1.0, 1.5, 3.0]), normal(4)
INTERP: list[tuple[str, dict[str, Any]]] = [
    ("plain", {}), ("left and right", {"left": -7.0, "right": 8.0}), ("period", {"period": 3.5})
]  # fmt: skip
for _label, _options in INTERP:
    case("interp", lambda x, xp, fp, o=_options: np.interp(x, xp, fp, **o).astype(np.result_type(x, xp, fp)),
         fixed([[0.3, 2.0, -1.0], [3.2, 1.2, 0.7]]), KNOTS, HEIGHTS, label=f"interp {_label}")  # fmt: skip

# --- convolution ---

for _n, _m in [(5, 3), (3, 5), (4, 4), (1, 3), (6, 2), (2, 5)]:
    for _mode in ("full", "same", "valid"):
        case("convolve", lambda a, v, m=_mode: np.convolve(a, v, m), normal(_n), normal(_m), label=f"{_n}, {_m} {_mode}",
             torch=None if _mode != "full" else lambda a, v, p=_m - 1:
                 functional.conv1d(a[None], v.flip(0)[None, None], padding=p)[0])  # fmt: skip
        case("convolve", lambda a, v, m=_mode: np.correlate(a, v, m), normal(_n), normal(_m),
             label=f"correlate {_n}, {_m} {_mode}")  # fmt: skip
case("convolve", lambda a: np.convolve(a, a), normal(4), label="with itself")

# --- equal steps ---

STEPS: list[tuple[str, Function, Function | None]] = [
    ("linspace", lambda x, y: np.linspace(x, y, 4), lambda x, y: torch.stack([x + (y - x) * i / 3 for i in range(4)])),
    ("linspace axis=-1", lambda x, y: np.linspace(x, y, 3, axis=-1),
     lambda x, y: torch.stack([x + y * 0, (x + y) / 2, y + x * 0], -1)),
    ("linspace without the end", lambda x, y: np.linspace(x, y, num=2, endpoint=False, retstep=True),
     lambda x, y: (torch.stack([x + 0 * y, (x + y) / 2]), (y - x) / 2)),
    ("linspace, one point", lambda x, y: np.linspace(x, y, 1), lambda x, y: (x + 0 * y)[None]),
    ("linspace, no point", lambda x, y: np.linspace(x, y, 0), None),
]  # fmt: skip
for _label, _f, _torch in STEPS:
    for _x, _y in [((3,), (2, 1)), ((), ())]:
        case("subtract", _f, normal(*_x), normal(*_y), label=f"{_label} {_x} {_y}", torch=_torch)
case("subtract", lambda x: np.linspace(0, x, 5), normal(2), label="linspace from a number",
     torch=lambda x: torch.stack([x * i / 4 for i in range(5)]))  # fmt: skip
case("power", lambda x, y: np.logspace(x, y, 3, base=2.0), normal(2), normal(2), label="logspace",
     torch=lambda x, y: torch.stack([2**x, 2 ** ((x + y) / 2), 2**y]))  # fmt: skip

# --- the array API's names ---

for _ddof in (0, 1, 1.5):
    for _f, _torch in [(np.var, torch.var), (np.std, torch.std), (np.nanvar, torch.var), (np.nanstd, torch.std)]:
        case(_f.__name__, lambda x, f=_f, d=_ddof: f(x, axis=0, correction=d), normal(4, 2), label=f"correction={_ddof}",
             torch=None if _ddof == 1.5 else lambda x, f=_torch, d=_ddof: f(x, 0, correction=d),
             host_only="CuPy's has no correction=")  # fmt: skip
case("cumsum", lambda x: np.cumulative_sum(x), normal(4), label="cumulative_sum", torch=lambda x: torch.cumsum(x, 0))
case("cumprod", lambda x: np.cumulative_prod(x, axis=-1, include_initial=True), normal(2, 3), label="cumulative_prod",
     torch=lambda x: torch.cat([torch.ones_like(x[:, :1]), torch.cumprod(x, 1)], 1))  # fmt: skip
case("cumsum", lambda x: np.cumulative_sum(x, axis=0, include_initial=True), normal(2, 3), label="cumulative_sum, initial",
     torch=lambda x: torch.cat([torch.zeros_like(x[:1]), torch.cumsum(x, 0)]))  # fmt: skip
case("real", lambda x: np.real_if_close(x + 1e-14j * x), normal(2, 3), label="real_if_close")
