"""Adam and AdamW on a GPU: all parameters of one dtype in one kernel launch.

It has not yet run on a real GPU: the tests compile the source and run it on a CPU.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import ArgumentError
from minigrad.rules._cuda_launch import contiguous, function
from minigrad.rules._cuda_source import PRELUDES

# The formulas of Adam._update and AdamW._decayed in nn/optim.py, which this must equal.
# table: (5, count), the addresses of the parameters, gradients, first and second moments, and the sizes.
_SOURCE = r"""
extern "C" __global__ void adam(const long long* table, long long count, double lr, double beta_1, double beta_2, double eps,
                                double weight_decay, long long decoupled, double correction_1, double correction_2) {
    const long long* entry = table + blockIdx.y;
    T* ps = (T*)entry[0];
    const T* gs = (const T*)entry[count];
    T *ms = (T*)entry[2 * count], *vs = (T*)entry[3 * count];
    long long size = entry[4 * count];
    A step = A(lr / correction_1), root = A(1 / sqrt(correction_2)), shrink = A(1 - lr * weight_decay);
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < size; i += (long long)gridDim.x * blockDim.x) {
        A p = A(ps[i]), g = A(gs[i]);
        if (decoupled) p *= shrink;
        else g += A(weight_decay) * p;
        A m = A(beta_1) * A(ms[i]) + A(1 - beta_1) * g, v = A(beta_2) * A(vs[i]) + A(1 - beta_2) * g * g;
        ms[i] = T(m), vs[i] = T(v);
        ps[i] = T(p - step * m / (sqrt(v) * root + A(eps)));
    }
}
"""
_THREADS = 256
_MOST_BLOCKS = 256  # for one parameter; a thread goes on to another element when it is done with one
_tables: dict[
    tuple[int, str], tuple[bytes, Any]
] = {}  # the latest of each device and dtype: as bytes, and on the device


def adam_step(
    parameters: Sequence[Any],
    gradients: Sequence[Any],
    first_moments: Sequence[Any],
    second_moments: Sequence[Any],
    *,
    lr: float,
    beta_1: float,
    beta_2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    correction_1: float,
    correction_2: float,
) -> None:
    """One step of Adam (``decoupled=False``) or AdamW (True), in place, for CuPy's arrays.

    With ``c_i = correction_i``, which is ``1 - beta_i**t`` in step t::

        p *= 1 - lr * weight_decay                  (decoupled; otherwise g += weight_decay * p)
        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g * g
        p -= lr / c_1 * m / (sqrt(v / c_2) + eps)

    The host does not wait for the device. The addresses of the arrays are sent there in one small copy, and again only
    when they change.

    Raises:
        ArgumentError: the lists are not of one length, or arrays that belong together not of one shape and, but for the
            gradients, one dtype, on one device; a dtype is not float16, float32 or float64. Nothing has been changed.
    """
    import cupy

    if not len(parameters) == len(gradients) == len(first_moments) == len(second_moments):
        raise ArgumentError("adam_step needs as many gradients and moments as parameters")
    groups: dict[tuple[int, str], list[tuple[Any, ...]]] = {}
    for i, arrays in enumerate(zip(parameters, gradients, first_moments, second_moments)):
        _check(i, *arrays)
        if arrays[0].size:
            groups.setdefault((arrays[0].data.device_id, arrays[0].dtype.name), []).append(arrays)
    rates = float(lr), float(beta_1), float(beta_2), float(eps), float(weight_decay)
    settings = *rates, int(decoupled), float(correction_1), float(correction_2)
    for where, group in groups.items():
        with cupy.cuda.Device(where[0]):
            _step(where, group, settings)


def _check(i: int, p: Any, g: Any, m: Any, v: Any) -> None:
    alike = p.shape == g.shape == m.shape == v.shape and p.dtype == m.dtype == v.dtype
    together = p.data.device_id == g.data.device_id == m.data.device_id == v.data.device_id
    if not alike or not together or p.dtype.name not in PRELUDES:
        described = ", ".join(f"{a.dtype} {a.shape} on cuda:{a.data.device_id}" for a in (p, g, m, v))
        raise ArgumentError(f"adam_step got arrays that do not fit together for parameter {i}: {described}")


def _step(where: tuple[int, str], group: list[tuple[Any, ...]], settings: tuple[float, ...]) -> None:
    laid_out = [(contiguous(p), contiguous(g, p.dtype), contiguous(m), contiguous(v)) for p, g, m, v in group]
    sizes = [arrays[0].size for arrays in laid_out]
    table = _on_device(where, np.array([*([a.data.ptr for a in arrays] for arrays in zip(*laid_out)), sizes], np.int64))
    blocks = min(-(-max(sizes) // _THREADS), _MOST_BLOCKS)
    for start in range(0, len(group), 65535):  # the most blocks along y
        grid = blocks, min(len(group) - start, 65535)
        function("adam", where[1], _SOURCE)(grid, (_THREADS,), (table[0, start:], len(group), *settings))
    for own, copies in zip(group, laid_out):  # of arrays that are not contiguous
        for i in (0, 2, 3):
            if copies[i] is not own[i]:
                own[i][...] = copies[i]


def _on_device(where: tuple[int, str], table: Any) -> Any:
    """The table beside the parameters; in a steady state the memory pool hands out the same addresses every step."""
    import cupy

    key = table.tobytes()
    entry = _tables.get(where)
    if entry is None or entry[0] != key:
        entry = _tables[where] = key, cupy.asarray(table)
    return entry[1]  # not what is in _tables now: that may be another thread's
