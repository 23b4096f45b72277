"""Samples of the functions that pick, leave out, put in and choose elements."""

import operator
from typing import Any

import numpy as np

import minigrad as mg
from tests.lazy import torch
from tests.minigrad.rules.cases import Function, Spec, apart, case, fixed, integers, mask, normal

# take and take_along_axis
case("take", lambda x: np.take(x, [5, -7, 2], axis=1, mode="wrap"), normal(2, 3), label="wrap",
     torch=lambda x: x[:, [2, 2, 2]])  # fmt: skip
case("take", lambda x, i: np.take(x, i, None, None, "wrap"), normal(2, 3), fixed([[7, -1]]), label="wrap, flat",
     torch=lambda x, i: x.ravel()[i % 6])  # fmt: skip
case("take", lambda x: x.take([9, -7, 1], axis=0, mode="clip"), normal(2, 3), label="clip",
     torch=lambda x: x[[1, 0, 1]])  # fmt: skip
ALONG: list[tuple[str, int | None, tuple[int, ...], tuple[int, ...]]] = [
    ("indices broadcast", 1, (3, 4), (1, 2)), ("arr broadcasts", 1, (1, 4), (3, 2)), ("flat", None, (2, 2), (5,)),
    ("none picked", 0, (3, 4), (0, 4)),
]  # fmt: skip
for _label, _axis, _shape, _indices in ALONG:
    case("take_along_axis", lambda x, i, a=_axis: np.take_along_axis(x, i, a), normal(*_shape), integers(4, *_indices),
         label=_label, torch=lambda x, i, a=_axis: torch.take_along_dim(x, i, a))  # fmt: skip

# choose, select, piecewise
case("where", lambda i, x, y: np.choose(i, [x, y]), integers(2, 2, 3), normal(2, 3), normal(3), label="np.choose",
     torch=lambda i, x, y: torch.where(i == 0, x, y))  # fmt: skip
case("where", lambda i, x, y: np.choose(i, (x, y, x), mode="wrap"), fixed([[-1, 3, 4], [0, 1, 2]]), normal(2, 3),
     normal(), label="np.choose wrap",
     torch=lambda i, x, y: torch.where(i % 3 == 0, x, torch.where(i % 3 == 1, y, x)))  # fmt: skip
case("where", lambda i, x: np.choose(i, x, mode="clip"), fixed([-5, 1, 9]), normal(3, 2, 3), label="np.choose clip",
     torch=lambda i, x: torch.stack([x[0, :, 0], x[1, :, 1], x[2, :, 2]], -1))  # fmt: skip
case("where", lambda m, n, x, y: np.select([m, n], [x, y], default=-1.5), mask(2, 3), mask(3), normal(2, 3), normal(),
     label="np.select", torch=lambda m, n, x, y: torch.where(m, x, torch.where(n, y, -1.5)))  # fmt: skip
case("where", lambda m, n, x: np.select([m, n], [1.5, x], x[0]), mask(2, 3), mask(2, 1), normal(2, 3),
     label="np.select of a number, default differentiated",
     torch=lambda m, n, x: torch.where(m, 1.5, torch.where(n, x, x[0])))  # fmt: skip
case("where", lambda x: np.piecewise(x, [x < -0.4, x > 0.4], [lambda v: -v, 2.0, lambda v: v * v * v]), apart(2, 5),
     label="np.piecewise", torch=lambda x: torch.where(x < -0.4, -x, torch.where(x > 0.4, 2.0, x**3)))  # fmt: skip
case("where", lambda x: np.piecewise(x, [x > -1, x > 0], [lambda v, a, b: a * v, lambda v, a, b: v**b], 3.0, b=2),
     apart(4), label="np.piecewise, the later counts",
     torch=lambda x: torch.where(x > 0, x**2, torch.where(x > -1, 3 * x, 0.0)))  # fmt: skip
case("where", lambda x: np.piecewise(x, [x > 100], [np.log, np.square]), normal(), label="np.piecewise 0-d",
     torch=torch.square)  # fmt: skip

# compress, extract, delete, insert
Rows = list[tuple[str, str, Function, list[Spec], Function]]
ROWS: Rows = [
    ("take", "np.compress", lambda x, m: np.compress(m, x, axis=1), [normal(2, 3), fixed([True, False, True])],
     lambda x, m: x[:, m]),
    ("take", "compress, a short list", lambda x: x.compress([0, 1]), [normal(2, 3)], lambda x: x.ravel()[1:2]),
    ("take", "np.compress, nothing", lambda x: np.compress([False], x), [normal(2, 3)], lambda x: x.ravel()[:0]),
    ("take", "np.extract", lambda x, m: np.extract(m, x), [normal(2, 3), fixed([[1, 0, 1], [0, 0, 1]])],
     lambda x, m: x[m.bool()]),
    ("take", "np.delete int", lambda x: np.delete(x, -2, axis=1), [normal(2, 3)], lambda x: x[:, [0, 2]]),
    ("take", "np.delete flat", lambda x: np.delete(x, [0, 4]), [normal(2, 3)], lambda x: x.ravel()[[1, 2, 3, 5]]),
    ("take", "np.delete slice", lambda x: np.delete(x, slice(0, 3, 2), -1), [normal(2, 3)], lambda x: x[:, [1]]),
    ("take", "np.delete mask", lambda x, m: np.delete(x, m, 0), [normal(3, 2), fixed([True, False, True])],
     lambda x, m: x[~m]),
    ("take", "np.delete all", lambda x: np.delete(x, slice(None)), [normal(2, 2)], lambda x: x.ravel()[:0]),
    ("take", "np.insert row", lambda x, y: np.insert(x, 1, y, axis=0), [normal(2, 3), normal(3)],
     lambda x, y: torch.cat([x[:1], y[None], x[1:]])),
    ("take", "np.insert column", lambda x, y: np.insert(x, 1, y, axis=1), [normal(2, 3), normal(2)],
     lambda x, y: torch.cat([x[:, :1], y[:, None], x[:, 1:]], 1)),
    ("take", "np.insert block", lambda x, y: np.insert(x, [1], y, axis=1), [normal(2, 3), normal(2, 2)],
     lambda x, y: torch.cat([x[:, :1], y, x[:, 1:]], 1)),
    ("take", "np.insert several", lambda x, y: np.insert(x, [3, 0, 3], y, axis=-1), [normal(2, 3), normal(3)],
     lambda x, y: torch.cat([y[1:2].expand(2, 1), x, y[[0, 2]].expand(2, 2)], 1)),
    ("take", "np.insert flat", lambda x, y: np.insert(x, -1, y), [normal(2, 2), normal()],
     lambda x, y: torch.cat([x.ravel()[:3], y[None], x.ravel()[3:]])),
    ("take", "np.insert slice of numbers", lambda x: np.insert(x, slice(0, 3, 2), 2.0), [normal(3)],
     lambda x: torch.cat([torch.full_like(x[:1], 2.0), x[:2], torch.full_like(x[:1], 2.0), x[2:]])),
    ("astype", "np.full_like, fill differentiated", lambda x: np.full_like(x, x.sum()), [normal(2, 3)],
     lambda x: x.sum().expand(2, 3)),
]  # fmt: skip
for _primitive, _label, _f, _specs, _torch in ROWS:
    case(_primitive, _f, *_specs, label=_label, torch=_torch)

case("astype", lambda y: np.full_like(y, y[0], shape=(2, 2)), normal(3), label="np.full_like, another shape",
     torch=lambda y: y[0].expand(2, 2))  # fmt: skip

# t.at[index]


class Changed:
    """``x.at[index]`` of an array, by NumPy alone."""

    def __init__(self, array: np.ndarray, index: Any = None) -> None:
        self.array, self.index = array, index

    def __getitem__(self, index: Any) -> "Changed":
        return Changed(self.array, index)

    def _written(self, start: np.ndarray, write: Function, values: Any) -> np.ndarray:
        write(start, self.index, np.array(values, order="C"))  # of other layouts NumPy may write the last value first
        return start

    def set(self, values: Any) -> np.ndarray:
        return self._written(self.array.copy(), operator.setitem, values)

    def add(self, values: Any) -> np.ndarray:
        return self._written(self.array.copy(), np.add.at, values)

    def multiply(self, values: Any) -> np.ndarray:
        return self._written(self.array.copy(), np.multiply.at, values)


def with_at(x: Any, values: Any) -> Any:
    if isinstance(x, mg.Tensor) or isinstance(values, mg.Tensor):
        return (x if isinstance(x, mg.Tensor) else mg.Tensor(x)).at
    return Changed(x)


AT: list[tuple[str, Function, list[Any], tuple[int, ...]]] = [
    ("int", lambda: 1, [], (4,)), ("slice", lambda: np.s_[:, 1:3], [], (3, 2)),
    ("slice, broadcast", lambda: np.s_[:, 1:3], [], (2,)), ("element", lambda: (1, -1), [], ()),
    ("None and Ellipsis", lambda: (None, ..., 2), [], (1, 3)), ("all, broadcast", lambda: ..., [], (1, 4)),
    ("list of columns", lambda: (slice(None), [3, 0]), [], (3, 2)), ("rows", lambda i: i, [[2, 0]], (2, 4)),
    ("rows, broadcast", lambda i: i, [[2, -3]], (4,)), ("a number", lambda i: i, [[2, 0]], ()),
    ("two arrays", lambda i, j: (i, j), [[0, 1, 2], [3, 3, -1]], (3,)), ("none picked", lambda i: i[:0], [[0]], (0, 4)),
    ("mask", lambda m: m, [np.arange(12).reshape(3, 4) % 3 == 0], (4,)), ("2-d", lambda i: i, [[[0], [2]]], (2, 1, 4)),
    ("mask of rows", lambda m: m, [[True, False, True]], (2, 4)),
]  # fmt: skip
REPEATED: list[tuple[str, Function, list[Any], tuple[int, ...]]] = [
    ("rows", lambda i: i, [[1, -2, 0, 1]], (4, 4)), ("a number", lambda i: i, [[1, 1, 1]], ()),
    ("elements", lambda i, j: (i, j), [[0, 2, 0, 0], [3, 1, 3, -1]], (4,)),
    ("columns", lambda i: (slice(None), i), [[[0, 1], [1, 0]]], (3, 2, 2)),
]  # fmt: skip


def put(x: Any, values: Any, index: Any, accumulate: bool) -> Any:
    """PyTorch's: without accumulate its derivative holds where no place is named twice."""
    out = x.clone()
    out[index] = out[index] + values if accumulate else values
    return out


for _label, _at, _arrays, _values in AT + [(f"{label}, repeated", at, i, values) for label, at, i, values in REPEATED]:
    _inputs = [normal(3, 4), normal(*_values), *map(fixed, _arrays)]
    _once = "repeated" not in _label
    case("set_at", lambda x, v, *i, at=_at: with_at(x, v)[at(*i)].set(v), *_inputs, label=f"set: {_label}",
         torch=(lambda x, v, *i, at=_at: put(x, v, at(*i), False)) if _once else None)  # fmt: skip
    case("add_at", lambda x, v, *i, at=_at: with_at(x, v)[at(*i)].add(v), *_inputs, label=f"add: {_label}",
         torch=(lambda x, v, *i, at=_at: put(x, v, at(*i), True)) if _once else None)  # fmt: skip
    case("multiply_at", lambda x, v, *i, at=_at: with_at(x, v)[at(*i)].multiply(v), *_inputs, label=f"multiply: {_label}",
         torch=(lambda x, v, *i, at=_at: put(x, v * x[at(*i)], at(*i), False)) if _once else None)  # fmt: skip
