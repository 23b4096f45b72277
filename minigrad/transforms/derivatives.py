"""Forward mode, Jacobians, Hessians, and products of the Hessian with vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tree import leaves, map_leaves
from ..device import zeros
from ..engine.modes import ensure_recording
from ..engine.tape import cotangent_of, entries_between, sweep, wengert_list
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Node
from ..errors import GraphError, UnsupportedError
from .forward_mode import push
from .grad import Argnum, Recorded, check_arguments, check_no_step, choose, grad, kind_of, result, seeds_of

_AT_ONCE = 1 << 21  # elements; bounds the number of directions pushed together times the largest array on the tape


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """Return ``f(*primals)`` and ``J @ tangents``, the change of the output when the inputs move along ``tangents``.

    In forward mode, ``f`` is recorded and one walk from the start of the tape carries the tangents to the output. The walk
    costs about as much as ``f`` and needs the memory of the tape; see :mod:`minigrad.transforms.forward_mode`. Hooks are not
    called, because they take cotangents.

    Args:
        primals: the arguments of ``f``, a tuple or list.
        tangents: a container like ``primals``, with arrays of the same shapes.

    Raises:
        ArgumentError, ShapeError, DTypeError: ``tangents`` does not have the structure, shapes and dtypes of ``primals``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> value, change = mg.jvp(lambda x: x**2, [np.array([1.0, 2.0, 3.0])], [np.array([1.0, 0.0, 0.0])])
        >>> change  # only the first element moves
        array([2., 0., 0.])
    """
    check_arguments(primals, tangents, "primals", "tangents")
    run = Recorded(f, primals)
    tangents = map_leaves(lambda t, v: t._cotangent(v, "a tangent"), run.inputs, tuple(tangents))
    as_tensor = run.as_tensor or any(isinstance(v, Tensor) for v in leaves(tangents))
    create_graph = run.records(tangents)
    starts = seeds_of(run.inputs, tangents, create_graph, "a tangent")
    with ensure_recording():
        found = push(starts, run.ends, create_graph=create_graph)

    def along(t: Any) -> Any:
        return result(cotangent_of(t._node, found), t, as_tensor) if isinstance(t, Tensor) else np.zeros_like(t)

    return run.value(), map_leaves(along, run.output)


def jacobian(f: Callable[..., Any], argnum: Argnum = 0, *, holomorphic: bool = False) -> Callable[..., Any]:
    """Return a function that computes all partial derivatives of ``f(*args)`` with respect to argument ``argnum``.

    A tuple ``argnum`` names several arguments. For arrays the result has shape ``(*output.shape, *argument.shape)``. The
    cheaper mode is used: forward mode if the output has at least as many elements as the argument, and otherwise one reverse
    pass per element of the output. For containers, each array of the output is replaced by a container like the argument.

    Args:
        holomorphic: inputs and outputs are complex, ``f`` is complex-differentiable, and the derivatives are ``df/dz``.
            Differentiate other complex functions with respect to the real and the imaginary part.

    Raises (when called):
        UnsupportedError: an input or output is complex without ``holomorphic``, or real with it; or an output is an integer
            or a boolean.
        ArgumentError: there is no argument ``argnum``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
        array([[2., 0.],
               [0., 4.]])
    """

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        run = Recorded(*choose(f, argnum, args, kwargs))
        check_no_step(run.output, "jacobian")
        _check_kind("input", run.inputs, holomorphic)
        _check_kind("output", run.output, holomorphic)
        inputs, outputs = (sum(np.size(t) for t in leaves(tree)) for tree in (run.inputs, run.output))
        hooked = any(node.hooks is not None for node in (*wengert_list(run.ends), *run.starts))  # for reverse mode only
        by_columns = inputs <= outputs and not hooked
        with ensure_recording():
            try:
                found = (_by_columns if by_columns else _by_rows)(run, create_graph=run.records(()))
            except GraphError:
                if not by_columns:
                    raise
                found = _by_rows(run, create_graph=run.records(()))  # for a rule that cannot be transposed

        def of_output(output: Any) -> Any:
            def by(t: Tensor, primal: Any) -> Any:
                as_tensor = isinstance(primal, Tensor)
                derivatives = found.get((id(output), t._node))
                if derivatives is None:
                    derivatives = zeros(np.shape(output) + t.shape, t._array)
                return result(derivatives, t, as_tensor)

            by_inputs = map_leaves(by, run.inputs, run.primals)
            return by_inputs[0] if isinstance(argnum, int) else by_inputs

        return map_leaves(of_output, run.output)

    return transformed


_Jacobians = dict[tuple[int, Node], Any]  # the Jacobian for each pair of an output's id and an input's node


def _by_columns(run: Recorded, create_graph: bool) -> _Jacobians:
    """Push every direction of each input in forward mode, many at once."""
    found: _Jacobians = {}
    ends = {id(t): t for t in leaves(run.output) if isinstance(t, Tensor) and t._node is not None and t.size}
    nodes = [t._node for t in ends.values()]
    most = max((int(np.prod(entry.shape)) for entry in wengert_list(nodes)), default=1)
    for t in leaves(run.inputs):
        step = max(1, _AT_ONCE // max(most, np.size(t)))
        columns: dict[int, list[Any]] = {key: [] for key in ends}
        for first in range(0, np.size(t), step):
            count = min(step, np.size(t) - first)
            each = zeros((count, np.size(t)), t._array)
            each.reshape(-1)[first :: np.size(t) + 1] = 1  # the diagonal
            directions = each.reshape(count, *t.shape)
            start = make_tensor(directions, None) if create_graph else directions
            pushed = push({t._node: start}, nodes, create_graph=create_graph, directions=count)
            for key, end in ends.items():
                moved = cotangent_of(end._node, pushed)
                if moved is not None:
                    columns[key].append(np.moveaxis(moved, 0, -1))
        for key, parts in columns.items():
            if parts:
                found[key, t._node] = np.concatenate(parts, axis=-1).reshape(ends[key].shape + t.shape)
    return found


def _by_rows(run: Recorded, create_graph: bool) -> _Jacobians:
    """Sweep in reverse mode once per element of the output, each time over the same entries."""
    found: _Jacobians = {}
    for t in leaves(run.output):
        if not isinstance(t, Tensor) or t._node is None:
            continue
        entries = entries_between([t._node], set(run.starts))
        rows: list[Any] = []
        for i in range(t.size):
            one = np.zeros_like(t._array, order="C")
            one.reshape(-1)[i] = 1
            seed = {t._node: make_tensor(one, None) if create_graph else one}
            rows.append(sweep(seed, create_graph=create_graph, retain_graph=True, wanted=run.starts, entries=entries))
        for start in leaves(run.inputs):
            if rows and start._node in rows[0]:
                stacked = np.stack([row[start._node] for row in rows])
                found[id(t), start._node] = stacked.reshape(t.shape + start.shape)
    return found


def _check_kind(what: str, tree: Any, holomorphic: bool) -> None:
    for leaf in leaves(tree):
        dtype = kind_of(leaf)[1]
        if (dtype.kind == "c") != holomorphic:
            remedy = (
                "with holomorphic=True inputs and outputs are complex"
                if holomorphic
                else "pass holomorphic=True if the function is complex-differentiable, or differentiate with respect to the "
                "real and the imaginary part"
            )
            raise UnsupportedError(f"jacobian: an {what} has dtype {dtype}: {remedy}")


def hessian(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """Return a function that computes all second partial derivatives of ``f(*args)`` with respect to argument ``argnum``.

    For an ``f`` that returns one number and an argument of shape ``(n,)``, the result is the matrix ``(n, n)``. In general
    the shape is ``(*output.shape, *argument.shape, *argument.shape)``. Containers nest as in :func:`jacobian`, and the errors
    are the same. ``n`` directions are pushed through the recorded gradient. For a product with a vector use :func:`hvp`.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
        array([[4., 2.],
               [2., 0.]])
    """
    return jacobian(jacobian(f, argnum), argnum)


def hvp(f: Callable[..., Any], primals: Sequence[Any], vectors: Sequence[Any]) -> tuple[Any, ...]:
    """Return the Hessian of ``f`` at ``primals`` times ``vectors`` without computing the Hessian.

    The product is the change of the gradient along ``vectors``. It is computed forward over reverse: the gradient is recorded,
    and the vectors are pushed through it (Pearlmutter 1994).

    Args:
        f: a function that returns one real number.
        primals: the arguments of ``f``, a tuple or list; all are differentiated.
        vectors: a container like ``primals``, with arrays of the same shapes.

    Returns:
        A tuple like ``primals``.

    Raises:
        UnsupportedError: ``f`` returned something other than a real scalar.
        ArgumentError, ShapeError, DTypeError: ``vectors`` does not have the structure, shapes and dtypes of ``primals``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.hvp(lambda x: x[0] ** 2 * x[1], [np.array([1.0, 2.0])], [np.array([1.0, 0.0])])  # the first column
        (array([4., 2.]),)
    """
    check_arguments(primals, vectors, "primals", "vectors")
    product: tuple[Any, ...] = jvp(grad(f, tuple(range(len(primals)))), primals, vectors)[1]
    return product
