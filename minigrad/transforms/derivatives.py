"""Forward mode, Jacobians, Hessians, and products of the Hessian with vectors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tree import leaves, map_leaves
from ..engine.modes import enable_grad
from ..engine.tape import cotangent_of, sweep, to_sweep, wengert_list
from ..engine.tensor import Tensor, make_tensor
from ..engine.types import Node
from ..errors import GraphError, UnsupportedError
from .forward_mode import push
from .grad import Argnum, Recorded, check_arguments, check_no_step, choose, grad, is_tracked, result, seeds_of

_AT_ONCE = 1 << 21  # numbers: as many directions are pushed together as this allows for the largest array on the tape


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``f(*primals)`` and its derivative ``J @ tangents``, the change of the output when the inputs move along ``tangents``.

    Forward mode: ``f`` is recorded, and one walk along the tape from its beginning carries the tangents to the output. It costs
    about as much as ``f`` once more, and the memory of the tape; see
    :mod:`minigrad.transforms.forward_mode`. Hooks are not called: they
    see cotangents.

    Args:
        primals: the arguments of ``f``, a tuple or list.
        tangents: as ``primals``, with arrays of the same shapes.

    Raises:
        ArgumentError, ShapeError, DTypeError: ``tangents`` is not like ``primals``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> value, change = mg.jvp(lambda x: x**2, [np.array([1.0, 2.0, 3.0])], [np.array([1.0, 0.0, 0.0])])
        >>> change  # while the first element moves alone
        array([2., 0., 0.])
    """
    check_arguments(primals, tangents, "primals", "tangents")
    run = Recorded(f, primals)
    tangents = map_leaves(lambda t, v: t._cotangent(v, "a tangent"), run.inputs, tuple(tangents))
    as_tensor = run.as_tensor or any(isinstance(v, Tensor) for v in leaves(tangents))
    return run.value(), _pushed(run, tangents, as_tensor)


def _pushed(run: Recorded, tangents: Any, as_tensor: bool) -> Any:
    """The tangent of the output, from those of the inputs."""
    create_graph = run.records(tangents)
    starts = seeds_of(run.inputs, tangents, create_graph, "a tangent")
    ends = [t._node for t in leaves(run.output) if is_tracked(t)]
    with enable_grad():
        found = push(starts, ends, create_graph=create_graph)

    def along(t: Any) -> Any:
        if not isinstance(t, Tensor):
            return np.zeros_like(t)
        return result(None if t._node is None else cotangent_of(t._node, found), t, as_tensor)

    return map_leaves(along, run.output)


def jacobian(f: Callable[..., Any], argnum: Argnum = 0, *, holomorphic: bool = False) -> Callable[..., Any]:
    """A function that returns all partial derivatives of ``f(*args)`` by argument ``argnum`` (or several, a tuple).

    For arrays it gives an array of shape ``(*output.shape, *argument.shape)``. It takes the cheaper side: forward mode, where
    the output has as many elements as the argument or more, and otherwise a reverse pass for each element of the output.
    Where the output or the argument is a container, the result is one too: in the place of each array of the output stands a
    container like the argument.

    Args:
        holomorphic: inputs and outputs are complex, ``f`` is complex-differentiable, and the derivatives are ``df/dz``. (For
            other complex functions differentiate by the real and the imaginary part.)

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
        inputs, outputs = (sum(_size(t) for t in leaves(tree)) for tree in (run.inputs, run.output))
        by_columns = inputs <= outputs and not _hooked(run)
        with enable_grad():
            try:
                found = (_by_columns if by_columns else _by_rows)(run, create_graph=run.records(()))
            except GraphError:
                if not by_columns:
                    raise
                found = _by_rows(run, create_graph=run.records(()))  # a rule that cannot be transposed, on arrays alone

        def of_output(output: Any) -> Any:
            def by(t: Tensor, primal: Any) -> Any:
                as_tensor = isinstance(primal, Tensor)
                derivatives = found.get((id(output), t._node))
                return _zeros(output, t, as_tensor) if derivatives is None else result(derivatives, t, as_tensor)

            by_inputs = map_leaves(by, run.inputs, run.primals)
            return by_inputs[0] if isinstance(argnum, int) else by_inputs

        return map_leaves(of_output, run.output)

    return transformed


Found = dict[tuple[int, Node], Any]  # by the output's id and the input's node an array of the shapes of both


def _hooked(run: Recorded) -> bool:
    """Whether a hook wants to see cotangents, which only a sweep has."""
    ends = [t._node for t in leaves(run.output) if is_tracked(t)]
    return any(node.hooks is not None for node in (*wengert_list(ends), *run.starts))


def _by_columns(run: Recorded, create_graph: bool) -> Found:
    """Forward: every direction of an input is pushed, many at once."""
    found: Found = {}
    ends = {id(t): t for t in leaves(run.output) if isinstance(t, Tensor) and t._node is not None and t.size}
    nodes = [t._node for t in ends.values()]
    most = max((int(np.prod(entry.shape)) for entry in wengert_list(nodes)), default=1)
    for t in leaves(run.inputs):
        step = max(1, _AT_ONCE // max(most, _size(t)))
        columns: dict[int, list[Any]] = {key: [] for key in ends}
        for first in range(0, _size(t), step):
            count = min(step, _size(t) - first)
            each = np.zeros_like(t._array, shape=(count, _size(t)), order="C")
            each.reshape(-1)[first :: _size(t) + 1] = 1  # down the diagonal
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


def _by_rows(run: Recorded, create_graph: bool) -> Found:
    """Reverse: a sweep for each element of the output, all along the same way."""
    found: Found = {}
    for t in leaves(run.output):
        if not isinstance(t, Tensor) or t._node is None:
            continue
        way = to_sweep([t._node], set(run.starts))
        rows: list[Any] = []
        for i in range(t.size):
            one = np.zeros_like(t._array, order="C")
            one.reshape(-1)[i] = 1
            seed = {t._node: make_tensor(one, None) if create_graph else one}
            rows.append(sweep(seed, create_graph=create_graph, retain_graph=True, wanted=run.starts, way=way))
        for start in leaves(run.inputs):
            if rows and start._node in rows[0]:
                stacked = np.stack([row[start._node] for row in rows])
                found[id(t), start._node] = stacked.reshape(t.shape + start.shape)
    return found


def _size(t: Any) -> int:
    return int(np.prod(np.shape(t)))


def _zeros(output: Any, t: Tensor, as_tensor: bool) -> Any:
    zeros = np.zeros_like(t._array, shape=np.shape(output) + t.shape)
    return Tensor(zeros, copy=False) if as_tensor else zeros[()]


def _check_kind(what: str, tree: Any, holomorphic: bool) -> None:
    for leaf in leaves(tree):
        dtype = leaf.dtype if hasattr(leaf, "dtype") else np.dtype(type(leaf))
        if (dtype.kind == "c") != holomorphic:
            way_out = (
                "with holomorphic=True inputs and outputs are complex"
                if holomorphic
                else "pass holomorphic=True if the function is complex-differentiable, or differentiate by the real and the "
                "imaginary part"
            )
            raise UnsupportedError(f"jacobian: an {what} has dtype {dtype}: {way_out}")


def hessian(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """A function that returns all second partial derivatives of ``f(*args)`` with respect to argument ``argnum``.

    For an ``f`` that returns one number and an argument of shape ``(n,)`` that is the matrix ``(n, n)``; in general the
    shape is ``(*output.shape, *argument.shape, *argument.shape)``, and containers nest as in :func:`jacobian`, of which
    this is the jacobian: ``n`` directions are pushed through the recorded gradient. For a product with a vector: :func:`hvp`.

    Raises (when called): as :func:`jacobian`.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
        array([[4., 2.],
               [2., 0.]])
    """
    return jacobian(jacobian(f, argnum), argnum)


def hvp(f: Callable[..., Any], primals: Sequence[Any], vectors: Sequence[Any]) -> tuple[Any, ...]:
    """The Hessian of ``f`` at ``primals`` times ``vectors``, without the Hessian: the change of the gradient along ``vectors``.

    Forward over reverse: the gradient is recorded, and the vectors are pushed through it (Pearlmutter 1994).

    Args:
        f: returns one real number.
        primals: its arguments, a tuple or list; all are differentiated.
        vectors: as ``primals``, with arrays of the same shapes.

    Returns:
        A tuple like ``primals``.

    Raises:
        UnsupportedError: ``f`` returned something other than a real scalar.
        ArgumentError, ShapeError, DTypeError: ``vectors`` is not like ``primals``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.hvp(lambda x: x[0] ** 2 * x[1], [np.array([1.0, 2.0])], [np.array([1.0, 0.0])])  # the first column
        (array([4., 2.]),)
    """
    check_arguments(primals, vectors, "primals", "vectors")
    product: tuple[Any, ...] = jvp(grad(f, tuple(range(len(primals)))), primals, vectors)[1]
    return product
