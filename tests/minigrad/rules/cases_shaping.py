"""Samples of the functions that rearrange arrays: shapes, joining, splitting, repeating, padding, diagonals.

A NumPy function that is a composition of others stands under the primitive it ends in; its label says which it is.
"""

from typing import Any

import numpy as np

from minigrad.rules import padding, shaping
from tests.lazy import torch
from tests.minigrad.rules.cases import Function, apart, case, normal

functional = torch.nn.functional

windows = np.lib.stride_tricks.sliding_window_view
Rows = list[tuple[str, str, Function, list[tuple[int, ...]], Any]]  # primitive, label, f, shapes, PyTorch's


def add(rows: Rows) -> None:
    for primitive, label, f, shapes, theirs in rows:
        case(primitive, f, *[normal(*shape) for shape in shapes], label=label, torch=f if theirs is True else theirs)


add([
    ("reshape", "order F", lambda x: np.reshape(x, (4, -1), order="F"), [(2, 3, 4)],
     lambda x: x.permute(2, 1, 0).reshape(6, 4).T),
    ("reshape", "method, order F", lambda x: x.reshape(3, 2, order="F"), [(2, 3)], lambda x: x.T.reshape(2, 3).T),
    ("reshape", "np.ravel", lambda x: np.ravel(x), [(2, 3)], torch.ravel),
    ("reshape", "np.ravel order F", lambda x: np.ravel(x, "F"), [(2, 3)], lambda x: x.T.ravel()),
    ("reshape", "np.ravel of 0-d", lambda x: np.ravel(x), [()], torch.ravel),
    ("transpose", "np.permute_dims", lambda x: np.permute_dims(x, (2, 0, 1)), [(2, 3, 4)], lambda x: x.permute(2, 0, 1)),
    ("transpose", "np.moveaxis", lambda x: np.moveaxis(x, 0, -1), [(2, 3, 4)], lambda x: torch.moveaxis(x, 0, -1)),
    ("transpose", "np.moveaxis, two", lambda x: np.moveaxis(x, (0, 1), (-1, 0)), [(2, 3, 0)],
     lambda x: torch.moveaxis(x, (0, 1), (-1, 0))),
    ("transpose", "np.rollaxis", lambda x: np.rollaxis(x, 2), [(2, 3, 4)], lambda x: x.permute(2, 0, 1)),
    ("transpose", "np.rollaxis to the end", lambda x: np.rollaxis(x, 0, 3), [(2, 3, 4)], lambda x: x.permute(1, 2, 0)),
    ("swapaxes", "np.matrix_transpose", lambda x: np.matrix_transpose(x), [(2, 3, 4)], lambda x: x.mT),
    ("swapaxes", "np.linalg.matrix_transpose", lambda x: np.linalg.matrix_transpose(x), [(3, 4)], lambda x: x.mT),
    ("reshape", "np.atleast_1d", lambda x: np.atleast_1d(x), [()], torch.atleast_1d),
    ("reshape", "np.atleast_2d", lambda x: np.atleast_2d(x), [(3,)], torch.atleast_2d),
    ("reshape", "np.atleast_3d", lambda x: np.atleast_3d(x), [(2, 3)], torch.atleast_3d),
    ("reshape", "np.atleast_3d of several", lambda x, y, z: np.atleast_3d(x, y, z), [(3,), (), (1, 2, 3, 1)],
     lambda x, y, z: torch.atleast_3d(x, y, z)),
    ("broadcast_to", "np.broadcast_arrays", lambda x, y, z: np.broadcast_arrays(x, y, z), [(2, 1), (3,), ()],
     torch.broadcast_tensors),
    ("broadcast_to", "np.broadcast_arrays, empty", lambda x, y: np.broadcast_arrays(x, y), [(0, 1), (3,)],
     torch.broadcast_tensors),
    ("broadcast_to", "np.meshgrid", lambda x, y: np.meshgrid(x, y), [(3,), (2,)],
     lambda x, y: torch.meshgrid(x, y, indexing="xy")),
    ("broadcast_to", "np.meshgrid ij", lambda x, y, z: np.meshgrid(x, y, z, indexing="ij"), [(3,), (2,), ()],
     lambda x, y, z: torch.meshgrid(x, y, z, indexing="ij")),
    ("reshape", "np.meshgrid sparse", lambda x, y, z: np.meshgrid(x, y, z, sparse=True), [(3,), (2,), (4,)],
     lambda x, y, z: (x.reshape(1, 3, 1), y.reshape(2, 1, 1), z.reshape(1, 1, 4))),
    ("copy", "function", lambda x: np.copy(x), [(2, 3)], torch.clone),
    ("copy", "method", lambda x: x.copy(), [()], torch.clone),
])  # fmt: skip

# Joining and splitting
add([
    ("concatenate", "np.vstack", lambda x, y: np.vstack([x, y]), [(2, 3), (3,)], lambda x, y: torch.vstack([x, y])),
    ("concatenate", "np.vstack of 0-d", lambda x, y: np.vstack((x, y)), [(), ()], lambda x, y: torch.vstack([x, y])),
    ("concatenate", "np.hstack", lambda x, y: np.hstack([x, y]), [(2, 3), (2, 1)], lambda x, y: torch.hstack([x, y])),
    ("concatenate", "np.hstack 1-d", lambda x, y: np.hstack([x, y, x]), [(3,), ()],
     lambda x, y: torch.hstack([x, y, x])),
    ("concatenate", "np.dstack", lambda x, y: np.dstack([x, y]), [(2, 3), (2, 3)], lambda x, y: torch.dstack([x, y])),
    ("concatenate", "np.column_stack", lambda x, y: np.column_stack([x, y]), [(3,), (3, 2)],
     lambda x, y: torch.column_stack([x, y])),
    ("concatenate", "np.block", lambda x, y, z: np.block([[x, y], [y.T, z]]), [(2, 2), (2, 3), (3, 3)],
     lambda x, y, z: torch.vstack([torch.hstack([x, y]), torch.hstack([y.T, z])])),
    ("concatenate", "np.block, one deep", lambda x, y: np.block([x, y]), [(3,), ()],
     lambda x, y: torch.hstack([x, y])),
    ("concatenate", "np.append", lambda x, y: np.append(x, y), [(2, 3), (2,)],
     lambda x, y: torch.concatenate([x.ravel(), y])),
    ("concatenate", "np.append axis=-1", lambda x, y: np.append(x, y, axis=-1), [(2, 3), (2, 0)],
     lambda x, y: torch.concatenate([x, y], -1)),
    ("split", "np.array_split", lambda x: np.array_split(x, 3), [(7, 2)], lambda x: torch.tensor_split(x, 3)),
    ("split", "np.array_split, more than there are", lambda x: np.array_split(x, 4, axis=1), [(2, 3)],
     lambda x: torch.tensor_split(x, 4, 1)),
    ("split", "np.array_split at", lambda x: np.array_split(x, [1, 4], 1), [(2, 5)],
     lambda x: torch.tensor_split(x, [1, 4], 1)),
    ("split", "np.vsplit", lambda x: np.vsplit(x, 2), [(4, 3)], lambda x: torch.vsplit(x, 2)),
    ("split", "np.hsplit", lambda x: np.hsplit(x, [1]), [(2, 3)], lambda x: torch.hsplit(x, [1])),
    ("split", "np.hsplit 1-d", lambda x: np.hsplit(x, 3), [(3,)], lambda x: torch.hsplit(x, 3)),
    ("split", "np.dsplit", lambda x: np.dsplit(x, 2), [(2, 3, 4)], lambda x: torch.dsplit(x, 2)),
    ("split", "np.unstack", lambda x: np.unstack(x), [(3, 2)], torch.unbind),
    ("split", "np.unstack axis=-1", lambda x: np.unstack(x, axis=-1)[1], [(2, 3)], lambda x: x[:, 1]),
])  # fmt: skip

# Turning and repeating
add([
    ("flip", "all", lambda x: np.flip(x), [(2, 3)], lambda x: torch.flip(x, (0, 1))),
    ("flip", "-1", lambda x: np.flip(x, -1), [(2, 3)], lambda x: torch.flip(x, (-1,))),
    ("flip", "two", lambda x: np.flip(x, (0, -1)), [(2, 3, 4)], lambda x: torch.flip(x, (0, 2))),
    ("flip", "empty", lambda x: np.flip(x, 0), [(2, 0)], lambda x: torch.flip(x, (0,))),
    ("getitem", "np.fliplr", lambda x: np.fliplr(x), [(2, 3)], torch.fliplr),
    ("getitem", "np.flipud", lambda x: np.flipud(x), [(3,)], lambda x: x.flip(0)),
    ("swapaxes", "np.rot90", lambda x: np.rot90(x), [(2, 3)], torch.rot90),
    ("swapaxes", "np.rot90 -1", lambda x: np.rot90(x, -1, (0, 2)), [(2, 3, 4)], lambda x: torch.rot90(x, -1, (0, 2))),
    ("flip", "np.rot90 2", lambda x: np.rot90(x, 2, (-1, 0)), [(2, 3)], lambda x: torch.rot90(x, 2)),
    ("getitem", "np.rot90 0", lambda x: np.rot90(x, 4), [(2, 3)], lambda x: torch.rot90(x, 4)),
    ("roll", "flat", lambda x: np.roll(x, 2), [(2, 3)], lambda x: torch.roll(x, 2)),
    ("roll", "axis=-1", lambda x: np.roll(x, -4, axis=-1), [(2, 3)], lambda x: torch.roll(x, -4, -1)),
    ("roll", "two", lambda x: np.roll(x, (1, -2), (0, 2)), [(2, 3, 4)], lambda x: torch.roll(x, (1, -2), (0, 2))),
    ("roll", "one shift, two axes", lambda x: np.roll(x, 1, (0, 1)), [(2, 3)], lambda x: torch.roll(x, (1, 1), (0, 1))),
    ("roll", "one axis twice", lambda x: np.roll(x, (1, 1), (1, 1)), [(2, 3)], lambda x: torch.roll(x, 2, 1)),
    ("roll", "0-d", lambda x: np.roll(x, 1), [()], lambda x: torch.roll(x, 0)),
    ("repeat", "flat", lambda x: np.repeat(x, 3), [(2, 3)], lambda x: torch.repeat_interleave(x, 3)),
    ("repeat", "0-d", lambda x: np.repeat(x, 3), [()], lambda x: torch.repeat_interleave(x, 3)),
    ("repeat", "axis=0", lambda x: x.repeat(2, axis=0), [(2, 3)], lambda x: torch.repeat_interleave(x, 2, 0)),
    ("repeat", "counts", lambda x: np.repeat(x, [1, 0, 2], axis=-1), [(2, 3)],
     lambda x: torch.repeat_interleave(x, torch.tensor([1, 0, 2]), -1)),
    ("repeat", "counts, flat", lambda x: np.repeat(x, np.array([2, 1, 3, 0])), [(2, 2)],
     lambda x: torch.repeat_interleave(x, torch.tensor([2, 1, 3, 0]))),
    ("repeat", "one count", lambda x: np.repeat(x, [2], 1), [(2, 3)], lambda x: torch.repeat_interleave(x, 2, 1)),
    ("repeat", "not at all", lambda x: np.repeat(x, 0, 1), [(2, 3)], lambda x: torch.repeat_interleave(x, 0, 1)),
    ("tile", "np.tile 2-d by an int", lambda x: np.tile(x, 2), [(2, 3)], lambda x: torch.tile(x, (2,))),
    ("tile", "np.tile, more axes", lambda x: np.tile(x, (2, 1, 3)), [(2, 3)], lambda x: torch.tile(x, (2, 1, 3))),
    ("tile", "np.tile, fewer axes", lambda x: np.tile(x, [3]), [(2, 1, 2)], lambda x: torch.tile(x, (3,))),
    ("tile", "np.tile 0-d", lambda x: np.tile(x, (2, 2)), [()], lambda x: torch.tile(x, (2, 2))),
    ("tile", "np.tile, none", lambda x: np.tile(x, (0, 2)), [(2, 3)], lambda x: torch.tile(x, (0, 2))),
    ("reshape", "np.resize, larger", lambda x: np.resize(x, (3, 5)), [(2, 3)],
     lambda x: torch.tile(x.ravel(), (3,))[:15].reshape(3, 5)),
    ("reshape", "np.resize, smaller", lambda x: np.resize(x, 4), [(2, 3)], lambda x: x.ravel()[:4]),
    ("sliding_window_view", "1-d", lambda x: windows(x, 3), [(5,)], lambda x: x.unfold(0, 3, 1)),
    ("sliding_window_view", "two axes", lambda x: windows(x, (2, 3), (1, -1)), [(2, 3, 4)],
     lambda x: x.unfold(1, 2, 1).unfold(2, 3, 1)),
    ("overlapped", "long windows", lambda w: shaping.overlapped(w, axis=1), [(2, 2, 3, 4)], None),
    ("overlapped", "many windows", lambda w: shaping.overlapped(w, axis=0), [(5, 2)], None),
])  # fmt: skip
case("sliding_window_view", lambda x: windows(x, (2, 2), (0, 0)), normal(4), label="one axis twice",
     torch=lambda x: x.unfold(0, 2, 1).unfold(0, 2, 1), host_only="CuPy takes no axis twice")  # fmt: skip

# Diagonals and triangles
add([
    ("diagonal", "2-d", lambda x: np.diagonal(x), [(2, 3)], lambda x: torch.diagonal(x)),
    ("diagonal", "below", lambda x: x.diagonal(-1), [(4, 2)], lambda x: torch.diagonal(x, -1)),
    ("diagonal", "axes", lambda x: np.diagonal(x, 1, 2, 0), [(2, 3, 4)], lambda x: torch.diagonal(x, 1, 2, 0)),
    ("diagonal", "negative axes", lambda x: np.diagonal(x, 1, axis1=-2, axis2=-1), [(2, 3, 4)],
     lambda x: torch.diagonal(x, 1, -2, -1)),
    ("diagonal", "outside", lambda x: np.diagonal(x, 5), [(2, 3)], lambda x: x[:0].ravel()),
    ("diagonal", "np.diag of a matrix", lambda x: np.diag(x, 1), [(3, 4)], lambda x: torch.diag(x, 1)),
    ("diagonal", "np.linalg.diagonal", lambda x: np.linalg.diagonal(x, offset=-1), [(2, 3, 3)],
     lambda x: torch.diagonal(x, -1, -2, -1)),
    ("scatter_add", "np.diag of a vector", lambda x: np.diag(x), [(3,)], torch.diag),
    ("scatter_add", "np.diag above", lambda x: np.diag(x, 2), [(3,)], lambda x: torch.diag(x, 2)),
    ("scatter_add", "np.diag below", lambda x: np.diag(x, -1), [(0,)], lambda x: torch.diag(x, -1)),
    ("scatter_add", "np.diagflat", lambda x: np.diagflat(x, -1), [(2, 2)], lambda x: torch.diagflat(x, -1)),
    ("tril", "2-d", lambda x: np.tril(x), [(3, 4)], torch.tril),
    ("tril", "k=-1", lambda x: np.tril(x, -1), [(2, 3, 3)], lambda x: torch.tril(x, -1)),
    ("tril", "of a vector, as each row", lambda x: np.tril(x), [(3,)], lambda x: torch.tril(x.expand(3, 3))),
    ("triu", "2-d", lambda x: np.triu(x), [(3, 4)], torch.triu),
    ("triu", "k=1", lambda x: np.triu(x, 1), [(2, 3, 3)], lambda x: torch.triu(x, 1)),
    ("triu", "empty", lambda x: np.triu(x, k=1), [(0, 3)], lambda x: torch.triu(x, 1)),
    ("diagonal", "np.trace", lambda x: np.trace(x), [(3, 3)], torch.trace),
    ("diagonal", "trace, axes", lambda x: x.trace(1, 1, 2), [(2, 3, 4)],
     lambda x: torch.diagonal(x, 1, 1, 2).sum(-1)),
    ("diagonal", "np.linalg.trace", lambda x: np.linalg.trace(x), [(2, 3, 3)],
     lambda x: torch.diagonal(x, 0, 1, 2).sum(-1)),
])  # fmt: skip

# Padding. PyTorch lists the widths from the last axis backwards, and pads no leading axis except with a constant.
WIDTHS: list[tuple[str, Any, tuple[int, ...]]] = [
    ("1", 1, (2, 3)),
    ("pairs", ((0, 1), (2, 3)), (2, 3)),
    ("5", 5, (2, 2)),
]
for _label, _width, _shape in WIDTHS:
    _flat = np.broadcast_to(np.asarray(_width), (2, 2))[::-1].ravel().tolist()
    case("pad", lambda x, w=_width: np.pad(x, w), normal(*_shape), label=_label,
         torch=lambda x, w=_flat: functional.pad(x, w))  # fmt: skip
case("pad", lambda x: np.pad(x, (1, 2), constant_values=(3.0, 4.0)), normal(3), label="constant_values",
     torch=lambda x: functional.pad(functional.pad(x, (1, 0), value=3.0), (0, 2), value=4.0))  # fmt: skip
case("pad", lambda x: np.pad(x, 1), normal(2, 0), label="empty", torch=lambda x: functional.pad(x, (1, 1, 1, 1)))
case("copy", lambda x: np.pad(x, 1), normal(), label="np.pad of 0-d", torch=torch.clone)

MODES: list[tuple[str, dict[str, Any]]] = [
    ("edge", {}), ("reflect", {}), ("reflect", {"reflect_type": "odd"}), ("symmetric", {}),
    ("symmetric", {"reflect_type": "odd"}), ("wrap", {}), ("linear_ramp", {}), ("linear_ramp", {"end_values": (2, -1)}),
    ("mean", {}), ("mean", {"stat_length": (1, 2)}), ("maximum", {}), ("maximum", {"stat_length": 2}),
    ("minimum", {"stat_length": ((1, 2), (3, 1))}), ("median", {}),
]  # fmt: skip
for _mode, _options in MODES:
    for _label, _width, _shape in [("2", 2, (3, 4)), ("pairs", ((0, 1), (2, 6)), (2, 3))]:
        case("pad_copies" if _mode in ("edge", "reflect", "symmetric", "wrap") and not _options else "pad_mode",
             lambda x, w=_width, m=_mode, o=_options: np.pad(x, w, m, **o), apart(*_shape),
             label=f"{_mode} {_options or ''} {_label}")  # fmt: skip
for _mode, _theirs in [("edge", "replicate"), ("reflect", "reflect"), ("wrap", "circular")]:
    case("pad_copies", lambda x, m=_mode: np.pad(x, ((0, 0), (2, 1)), m), normal(2, 3), label=f"{_mode} like PyTorch",
         torch=lambda x, m=_theirs: functional.pad(x, (2, 1), mode=m))  # fmt: skip
case("pad_mode", lambda x: np.pad(x, ((0, 0), (1, 0)), "maximum"), lambda rng: np.array([[1.0, 3.0, 3.0]]), label="ties",
     torch=lambda x: torch.cat([torch.amax(x, 1, keepdim=True), x], 1), order=0)  # fmt: skip
case("fold", lambda g: padding.fold(g, shape=(3,), width=((2, 1),), mode="reflect"), normal(6), label="reflect",
     torch=lambda g: torch.stack([g[2], g[1] + g[3] + g[5], g[0] + g[4]]))  # fmt: skip
case("pad_copies", lambda x: np.pad(x, 3, "reflect"), normal(1), label="reflect of one element",
     torch=lambda x: x.expand(7))  # fmt: skip
