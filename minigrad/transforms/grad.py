"""Gradients of functions: ``grad``, ``value_and_grad``, ``elementwise_grad`` and ``vjp``; and of a tape: ``autograd_grad``.

A transform gives each input a fresh node on the tape, runs the function, and sweeps back to those nodes. It changes no
``.grad``. Transforms nest: in ``grad(lambda x: x * grad(lambda y: x + y)(x))`` the inner sweep ends at the inner node, so the
two derivatives cannot be confused.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._tree import check_structure, leaves, map_leaves
from ..engine.arrays import as_array, copied
from ..engine.methods import values_of
from ..engine.modes import ensure_recording, recording
from ..engine.tape import Leaf, Output, cotangent_of, entry_of, sweep, wengert_list
from ..engine.tensor import Tensor, at_new_node, make_tensor
from ..engine.types import Array, Node, TensorLike
from ..errors import ArgumentError, DTypeError, GraphError, ShapeError, UnsupportedError, covered
from ..guards.inplace import fingerprint, handed_out

Argnum = int | tuple[int, ...]
STEPS = "integers and booleans have no derivative (if the function returns a constant, write 0.0 rather than 0)"


class Recorded:
    """One call of ``f``, recorded from fresh nodes for its inputs.

    Attributes:
        inputs, starts: Tensors like the arguments of ``f``, and their nodes.
        output, ends: the return value of ``f`` (Tensors, or values that depend on no Tensor), and its nodes.
        connected: True if the results stay on the caller's tape: ``output`` then depends on a tensor that is tracked there.
    """

    def __init__(self, f: Callable[..., Any], primals: Sequence[Any]) -> None:
        outside = recording()
        with ensure_recording():
            self.inputs = map_leaves(_fresh, tuple(primals))
            arrays = [t._array for t in leaves(self.inputs)]
            before = [fingerprint(array) for array in arrays]
            try:
                output = f(*map_leaves(_itself, self.inputs))  # f may change the containers that it gets
            except (ValueError, TypeError) as error:
                if (said := covered(error)) is None:
                    raise
                raise said from None
            self.output = map_leaves(_itself, output)  # and those that it returned
            if [fingerprint(array) for array in arrays] != before:
                raise GraphError(
                    "an input of the function was changed in place while the function ran, so the gradient would be wrong: "
                    "let the function write to a copy (np.copy), or pass a copy if it writes through another variable"
                )
        for leaf in leaves(self.output):
            _check_output(leaf)
        self.primals = tuple(primals)
        self.starts = [t._node for t in leaves(self.inputs)]
        self.ends = [t._node for t in leaves(self.output) if isinstance(t, Tensor) and t._node is not None]
        self.connected = outside and _reaches_outside(primals, self.starts, self.ends)
        self.as_tensor = any(isinstance(leaf, Tensor) for leaf in leaves(primals))

    def value(self) -> Any:
        """Return the output: as Tensors if an input is a Tensor or the output stays on the tape, and otherwise as arrays."""
        return map_leaves(lambda t: _outcome(t, self.connected, self.as_tensor), self.output)

    def pull(self, output: Any, cotangent: Any, what: str = "a cotangent") -> tuple[Any, ...]:
        """Return the cotangents of the inputs for the cotangent of ``output``, which is ``self.output`` or a part of it."""
        differentiable = map_leaves(lambda t: t if kind_of(t)[1].kind in "fc" else None, output)
        try:
            check_structure(differentiable, cotangent, what)
        except ArgumentError as error:
            if len(leaves(differentiable)) == len(leaves(output)):
                raise
            raise ArgumentError(
                f"{error}; pass None as the cotangent of an integer or boolean output: {STEPS}"
            ) from None
        create_graph = self.records(cotangent)
        seeds = seeds_of(differentiable, cotangent, create_graph, what)
        with ensure_recording():
            found = sweep(seeds, create_graph=create_graph, retain_graph=True, wanted=self.starts)
        gradients: tuple[Any, ...] = map_leaves(
            lambda t, primal: result(found.get(t._node), t, isinstance(primal, Tensor)), self.inputs, self.primals
        )
        return gradients

    def records(self, direction: Any) -> bool:
        """Return whether to record a sweep from ``direction``, the cotangents or tangents that the caller passed."""
        return recording() and (self.connected or any(is_tracked(g) for g in leaves(direction)))


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """Return ``f(*primals)`` and its pullback, which maps a cotangent of the output to cotangents of the inputs.

    Inputs and output may be nested lists, tuples and dicts of arrays. Tensors give Tensors, and NumPy arrays give NumPy arrays.
    There is one exception: if ``f`` also depends on another tensor that requires a gradient, the results stay connected to that
    tensor and are Tensors (run under ``no_grad()`` to avoid this).

    Raises:
        DTypeError: an input is not floating or complex.
        ArgumentError, ShapeError: (from the pullback) the structure or a shape of the cotangent differs from the output's.
            Integer and boolean outputs need None.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> value, pullback = mg.vjp(lambda a, b: a * b, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
        >>> value
        array([3., 8.])
        >>> pullback(np.array([1.0, 10.0]))  # one cotangent per input
        (array([ 3., 40.]), array([ 1., 20.]))
    """
    run = Recorded(f, primals)
    for t in leaves((run.inputs, run.output)):
        if isinstance(t, Tensor):
            handed_out(t)  # the caller holds their arrays and may write to them before calling the pullback
    return run.value(), lambda cotangent: run.pull(run.output, cotangent)


def _itself(leaf: Any) -> Any:
    return leaf


def check_arguments(primals: Any, others: Any, primals_name: str, others_name: str) -> None:
    for name, value in ((primals_name, primals), (others_name, others)):
        if not isinstance(value, (tuple, list)):
            raise ArgumentError(
                f"{name} must be a tuple or list with one item for each argument of the function, got {type(value).__name__}"
            )
    check_structure(list(primals), list(others), others_name)


def is_tracked(value: object) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def _fresh(primal: Any) -> Tensor:
    """Return the input at a new node of the tape, which is connected to the old node if the input is tracked."""
    if isinstance(primal, Tensor) and primal.requires_grad:
        return at_new_node(primal)
    try:
        array = primal._array if isinstance(primal, Tensor) else as_array(primal)
    except DTypeError as error:
        raise _no_argument(primal, error) from error.__cause__
    if array.dtype.kind not in "fc":
        raise DTypeError(
            f"cannot differentiate with respect to {primal!r} of dtype {array.dtype}: pass floats (3.0 rather than 3)"
        )
    return make_tensor(array, Leaf(None, array.shape, array.dtype))


def _no_argument(primal: Any, error: DTypeError) -> DTypeError:
    """Return the error for an argument that is not an array; for a module, the message says how to pass its arrays."""
    if hasattr(primal, "state_dict"):
        return DTypeError(
            f"cannot differentiate with respect to an object of class {type(primal).__name__}: pass its arrays as a "
            "separate argument and differentiate with respect to that. For a module of nn write "
            "mg.grad(lambda parameters: nn.functional_call(module, parameters, x).sum())(module.state_dict())"
        )
    return DTypeError(f"cannot differentiate with respect to an argument: {error}")


def _check_output(leaf: Any) -> None:
    """Raise if ``leaf`` is an object of another library that holds a Tensor, because it would count as a constant."""
    inside = None if isinstance(leaf, (Tensor, np.ndarray)) else getattr(leaf, "data", None)
    if is_tracked(inside):
        raise UnsupportedError(
            f"the function returned a {type(leaf).__name__} around a Tensor, whose derivative would be lost: return the "
            f"Tensor, which is the .data of the {type(leaf).__name__}"
        )


def _reaches_outside(primals: Any, starts: list[Any], ends: list[Any]) -> bool:
    """Return whether an input is tracked, or the outputs depend on a tracked tensor that is not an input."""
    if any(is_tracked(leaf) for leaf in leaves(primals)):
        return True
    first = min((node.seq for node in starts), default=0)
    others = [entry_of(node) for node in nodes_before(ends, first) if node is not None and node not in starts]
    # A node older than our inputs comes from outside. A newer leaf comes from outside only if a Tensor owns it.
    # A leaf that no Tensor owns was the input of a transform that ``f`` called and that has returned.
    return any(node.seq < first or (type(node) is Leaf and node.owner is not None) for node in others)


def nodes_before(ends: Sequence[Node], since: float = -1) -> list[Node]:
    """Return ``ends`` and the nodes that led to them, from number ``since`` on; also older ones, and None for constants."""
    return [*ends, *(parent for entry in wengert_list(ends, since) for parent in entry.parents)]


def as_constant(value: Any) -> Tensor:
    """Return ``value`` as it is if it is a Tensor, and an array as a constant Tensor."""
    return value if isinstance(value, Tensor) else make_tensor(value, None)


def seeds_of(output: Any, cotangent: Any, create_graph: bool, what: str) -> dict[Any, Any]:
    """Return the cotangent of each node of ``output``, from which a sweep starts."""
    seeds: dict[Any, Any] = {}

    def seed(t: Any, g: Any) -> None:
        if not is_tracked(t):
            if g is not None and np.shape(g) != np.shape(t):
                raise ShapeError(f"{what} has shape {np.shape(g)} for an array of shape {np.shape(t)}")
            return
        g = t._cotangent(g, what)
        value = as_constant(g) if create_graph else values_of(g)
        seeds[t._node] = seeds[t._node] + value if t._node in seeds else value

    map_leaves(seed, output, cotangent)
    return seeds


def result(gradient: Array | None, start: Tensor, as_tensor: bool) -> Any:
    """Return a cotangent as a Tensor or an array, like its input; zeros if the output does not depend on that input."""
    if gradient is None:
        gradient = np.zeros_like(start._array)
    if isinstance(gradient, Tensor):
        return gradient if as_tensor or gradient.requires_grad else gradient._array
    gradient = copied(gradient)
    return make_tensor(gradient, None) if as_tensor else gradient[()]


def _outcome(t: Any, connected: bool, as_tensor: bool) -> Any:
    if not isinstance(t, Tensor) or (connected and t.requires_grad):
        return t
    return t.detach() if as_tensor else t._array[()]


def choose(
    f: Callable[..., Any], argnum: Argnum, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """Return ``f`` as a function of the arguments that ``argnum`` names, and those arguments.

    Raises:
        ArgumentError: there is no such argument, or ``argnum`` names one twice.
    """
    numbers = (argnum,) if isinstance(argnum, int) else tuple(argnum)
    if any(not -len(args) <= i < len(args) for i in numbers):
        raise ArgumentError(f"argnum={argnum!r}, but the function was called with {len(args)} positional argument(s)")
    numbers = tuple(i % len(args) for i in numbers)
    if len(set(numbers)) < len(numbers):
        raise ArgumentError(f"argnum={argnum!r} names an argument twice")

    def of_chosen(*values: Any) -> Any:
        complete = list(args)
        for i, value in zip(numbers, values):
            complete[i] = value
        return f(*complete, **kwargs)

    return of_chosen, [args[i] for i in numbers]


def kind_of(value: Any) -> tuple[Any, np.dtype[Any]]:
    """Return the shape and dtype of an array or number; the shape is None for a container."""
    if isinstance(value, (list, tuple, dict)) or value is None:
        return None, np.dtype(object)
    return getattr(value, "shape", ()), getattr(value, "dtype", np.dtype(type(value)))


def value_and_grad(f: Callable[..., Any], argnum: Argnum = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that computes ``f(*args)`` and its gradient with respect to argument ``argnum`` (a tuple for several).

    ``f`` must return one real floating-point number. For complex inputs the gradient is ``df/dx - i df/dy``, as in JAX. The
    results are Tensors or arrays as for :func:`vjp`. For example, the gradient of a model with respect to its input is a Tensor
    that depends on the parameters, so a penalty on that gradient can be differentiated with respect to the parameters.

    With ``has_aux=True``, as in JAX, ``f`` returns ``(loss, aux)``, and the result is ``((loss, aux), gradient)``. ``aux`` may
    be anything, such as predictions or a count. It adds nothing to the gradient.

    Raises (when called):
        UnsupportedError: ``f`` did not return a real floating-point scalar, or with ``has_aux`` a tuple of it and ``aux``.
        ArgumentError: there is no argument ``argnum``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> loss = lambda w, x: np.sum((w * x - 1) ** 2)
        >>> value, gradients = mg.value_and_grad(loss, argnum=(0, 1))(np.array([1.0, 2.0]), np.array([2.0, 1.0]))
        >>> float(value), gradients
        (2.0, (array([4., 2.]), array([2., 4.])))
        >>> with_aux = lambda w: (np.sum(w**2), {"largest": np.max(w)})
        >>> (value, aux), gradient = mg.value_and_grad(with_aux, has_aux=True)(np.array([1.0, 2.0]))
        >>> float(aux["largest"]), gradient
        (2.0, array([2., 4.]))
    """

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        run = Recorded(*choose(f, argnum, args, kwargs))
        returned, output = run.value(), run.output
        value = returned
        if has_aux:
            if not isinstance(returned, tuple) or len(returned) != 2:
                raise UnsupportedError(
                    f"has_aux=True needs a function that returns a tuple (loss, aux), got {type(returned).__name__}: return "
                    "both, or leave out has_aux"
                )
            value, output = returned[0], output[0]
        check_no_step(value, "grad")
        shape, dtype = kind_of(value)
        if shape != () or dtype.kind != "f":
            raise UnsupportedError(
                f"grad needs a function that returns one real number, got {type(value).__name__} of shape {shape} and dtype "
                f"{dtype}: sum() it, or use vjp with a cotangent"
            )
        return returned, _gradient(run, output, value, argnum)

    return transformed


def grad(f: Callable[..., Any], argnum: Argnum = 0, *, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that computes the gradient of ``f`` with respect to argument ``argnum``; see :func:`value_and_grad`.

    With ``has_aux=True``, ``f`` returns ``(loss, aux)``, and the result is ``(gradient, aux)``.

    Example:
        >>> import minigrad as mg
        >>> float(mg.grad(lambda x: x**3)(2.0))
        12.0
        >>> float(mg.grad(mg.grad(lambda x: x**3))(2.0))
        12.0
    """
    both = value_and_grad(f, argnum, has_aux=has_aux)

    @functools.wraps(f)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        returned, found = both(*args, **kwargs)
        return (found, returned[1]) if has_aux else found

    return gradient


def elementwise_grad(f: Callable[..., Any], argnum: Argnum = 0) -> Callable[..., Any]:
    """Return a function that differentiates each output element with respect to the same element of argument ``argnum``.

    ``f`` must work element by element, like a ufunc: ``elementwise_grad(np.tanh)(x)`` is ``1 - np.tanh(x)**2``. The result
    is the gradient of the *sum* of the output. For any other ``f`` it is not the elementwise derivative: use :func:`jacobian`.

    Raises (when called):
        UnsupportedError: ``f`` did not return a real floating-point array.
        ShapeError: the shape of the output is not that of the argument.
        ArgumentError: there is no argument ``argnum``.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> mg.elementwise_grad(lambda x: x**2)(np.array([1.0, 2.0, 3.0]))
        array([2., 4., 6.])
    """

    @functools.wraps(f)
    def transformed(*args: Any, **kwargs: Any) -> Any:
        run = Recorded(*choose(f, argnum, args, kwargs))
        value = run.value()
        check_no_step(value, "elementwise_grad")
        shape, dtype = kind_of(value)
        if shape is None or dtype.kind != "f":
            raise UnsupportedError(
                f"elementwise_grad needs a function that returns a real array, got {type(value).__name__} of dtype {dtype}"
            )
        for argument in run.primals:
            if kind_of(argument)[0] != shape:
                raise ShapeError(
                    f"elementwise_grad needs an output of the same shape as its argument, {kind_of(argument)[0]}, got {shape}: "
                    "use jacobian for a function that does not work element by element"
                )
        return _gradient(run, run.output, value, argnum)

    return transformed


def check_no_step(output: Any, transform: str) -> None:
    """Raise if ``output`` contains an integer or a boolean."""
    for leaf in leaves(output):
        dtype = kind_of(leaf)[1]
        if dtype.kind in "biu":
            raise UnsupportedError(f"{transform} got an output of dtype {dtype}: {STEPS}")


def _gradient(run: Recorded, output: Any, value: Any, argnum: Argnum) -> Any:
    """Return the gradient of the sum of ``output``, which has the ``value``: one, or a tuple if ``argnum`` is a tuple."""
    gradients = run.pull(output, np.ones_like(values_of(value)))
    return gradients[0] if isinstance(argnum, int) else gradients


def autograd_grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: TensorLike | Sequence[TensorLike | None] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of ``outputs`` with respect to ``inputs`` (leaves or computed tensors). No ``grad`` is changed.

    Args:
        grad_outputs: one cotangent per output. None stands for 1, if the output has one element. The gradients of several
            outputs are added.
        retain_graph: keep the graph, so that it can be differentiated again.
        create_graph: record the backward pass too, so that the gradients can be differentiated; implies ``retain_graph``.
        allow_unused: return None for an input that the outputs do not depend on, instead of raising.

    Returns:
        A tuple with one Tensor per input.

    Raises:
        GraphError: an output or an input requires no gradient, an input is unused, the graph was already freed, or a
            cotangent is missing for an output of several elements.
        ArgumentError, ShapeError, DTypeError: ``grad_outputs`` does not fit.

    An error that is found before the backward pass starts leaves tensors and graph unchanged.

    Example:
        >>> import minigrad as mg
        >>> x = mg.Tensor(3.0, requires_grad=True)
        >>> (first,) = mg.autograd_grad(x**3, x, create_graph=True)
        >>> (second,) = mg.autograd_grad(first, x)
        >>> first.item(), second.item(), x.grad
        (27.0, 18.0, None)
    """
    outputs, inputs = _tensors(outputs, "outputs"), _tensors(inputs, "inputs")
    if grad_outputs is None:
        cotangents: tuple[Any, ...] = (None,) * len(outputs)
    else:
        cotangents = tuple(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else (grad_outputs,)
    if len(cotangents) != len(outputs):
        raise ArgumentError(f"grad_outputs has {len(cotangents)} item(s) for {len(outputs)} output(s)")
    with ensure_recording() if create_graph else contextlib.nullcontext():
        seeds = seeds_of(outputs, cotangents, create_graph, "grad_outputs")
        oldest = min((entry_of(t._node).seq for t in inputs), default=0)
        used = {_key(node) for node in nodes_before([t._node for t in outputs], oldest)}
        for i, t in enumerate(inputs):
            if not allow_unused and _key(t._node) not in used:
                raise _unused(i, t)
        found = sweep(
            seeds,
            create_graph=create_graph,
            retain_graph=retain_graph or create_graph,
            wanted=[t._node for t in inputs],
        )
        gradients = [cotangent_of(t._node, found) for t in inputs]
        for i, (t, g) in enumerate(zip(inputs, gradients)):
            if g is None and not allow_unused:  # a rule returned None
                raise _unused(i, t)
        return tuple(
            g if g is None else at_new_node(g) if create_graph else make_tensor(copied(g), None) for g in gradients
        )


def _tensors(value: Any, name: str) -> tuple[Tensor, ...]:
    several = isinstance(value, (tuple, list))
    tensors = tuple(value) if several else (value,)
    for i, t in enumerate(tensors):
        which = f"{name}[{i}]" if several else name
        if not isinstance(t, Tensor):
            raise ArgumentError(f"autograd_grad needs a Tensor for {which}, got {type(t).__name__}")
        if t._node is None:
            why = "make it with requires_grad=True, or compute it from such a tensor outside no_grad()"
            if name == "outputs":
                why += (
                    ", and a gradient in it with create_graph=True. The gradient of a linear function is a constant even then, "
                    "whose derivative is 0: leave such an output out (if t.requires_grad)"
                )
            raise GraphError(f"{which}, {t._describe()}, does not require a gradient: {why}")
    return tensors


def _key(node: Node) -> Any:
    """Return a key of a node of the tape; several Output objects may stand for the same node."""
    return (node.entry, node.index) if type(node) is Output else node


def _unused(i: int, tensor: Tensor) -> GraphError:
    return GraphError(
        f"inputs[{i}], {tensor._describe()}, was not used to compute the outputs: pass allow_unused=True to get None for it"
    )
