"""Call a module as a function of its parameters, so that transforms such as ``grad`` can differentiate it.

A call runs a copy with other parameters (:meth:`nn.Module.replaced`). The model keeps its parameters throughout, so an
exception, a generator or another thread cannot leave it in a wrong state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MethodType
from typing import Any, TypeVar

from minigrad import ArgumentError, GraphError, Tensor
from minigrad.internal import Entry, entry_of, leaves, next_sequence_number, node_of

from .module import Buffer, Module, Parameter, check_names

R = TypeVar("R")


def functional_call(model: Callable[..., R], parameters: Mapping[str, Any], /, *args: Any, **kwargs: Any) -> R:
    """Return ``model(*args, **kwargs)``, computed with ``parameters`` instead of the parameters of the model.

    ``model`` is a module or a method of a module, such as ``model.loss``. ``parameters`` is a dict by path, as
    ``model.state_dict()`` returns it; its values are floating arrays or Tensors of any precision, in the shapes of the
    parameters. Buffers may be left out: then the call uses the values of the model's. Transforms such as ``grad``, ``jvp`` and
    ``hessian`` can differentiate with respect to this dict. New parameters such as
    ``{path: p - lr * g[path] for path, p in parameters.items()}`` may be on the tape, so the steps of an optimizer can be
    differentiated, and ``model.load_state_dict`` stores the last of them.

    Pass ``model.state_dict() | some`` to replace only some parameters. Tied weights have one entry, under their first path. On
    a device, pass ``{path: p.data for path, p in model.named_parameters()}``.

    The parameters of the model, their ``grad``, its buffers and its optimizers do not change: the averages of a ``BatchNorm``
    stay as they are. Otherwise the call behaves like
    ``model(*args, **kwargs)``: it depends on train and eval mode, and the model keeps the attributes that ``forward`` assigns,
    such as the number of calls from which ``Dropout`` makes its masks. (If ``forward`` is a generator, it does not keep them.)

    Raises:
        ArgumentError: ``model`` is not a module or a method of one, or parameters are missing or unexpected.
        ShapeError, DTypeError: a shape differs from that of the parameter, or one of the two is real and the other complex.
        GraphError: ``forward`` used a parameter of the model itself. It must reach its parameters through attributes, lists,
            tuples, dicts, bound methods, and the variables that a function closes over.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> import nn
        >>> layer = nn.Affine(2, 1, rng=np.random.default_rng(0), dtype=np.float64)
        >>> x = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> gradient = mg.grad(lambda p: nn.functional_call(layer, p, x).sum())(layer.state_dict())
        >>> {path: g.tolist() for path, g in gradient.items()}
        {'weight': [[4.0], [6.0]], 'bias': [2.0]}
    """
    bound = _module_of(model, "functional_call", ": functional_call(model, parameters, x)")
    own = bound._state_by_path()
    if not isinstance(parameters, Mapping):
        raise ArgumentError(
            f"parameters must be a dict by path, as model.state_dict() returns it, got {type(parameters).__name__}"
        )
    needed = [path for path, tensor in own.items() if path in parameters or isinstance(tensor, Parameter)]
    check_names(f"the parameters do not fit {type(bound).__name__}", needed, parameters)
    copies = bound._copies(parameters, "parameters", own)
    first = next_sequence_number()
    try:
        result: R = copies.of(model)(*args, **kwargs)
    finally:
        copies.hand_back()
    _check_reached(result, first, own, [*(new for _, new in copies.pairs), *leaves((args, kwargs))])
    return result


def _module_of(model: Any, function: str, remedy: str = "") -> Module:
    """Return ``model``, or the module of which it is a method."""
    bound = model.__self__ if isinstance(model, MethodType) else model
    if not isinstance(bound, Module):
        raise ArgumentError(f"{function} takes a Module or a method of one, got {type(model).__name__}{remedy}")
    return bound


def loss_of(model: Callable[..., Any], loss: Callable[..., Any]) -> Callable[..., Any]:
    """Return the loss of ``model`` as a function ``(parameters, inputs, *targets)``, for transforms and ``write_numpy``.

    Its value is ``loss(model(inputs), *targets)``, computed with ``parameters`` instead of those of the model, as by
    :func:`functional_call`. If ``inputs`` is a tuple, the model gets its items.

    Raises:
        ArgumentError: ``model`` is not a module or a method of one, or ``loss`` cannot be called.

    Example:
        >>> import numpy as np
        >>> import minigrad as mg
        >>> import nn
        >>> layer = nn.Affine(2, 3, rng=np.random.default_rng(0), dtype=np.float64)
        >>> batch = np.ones((4, 2)), np.array([0, 1, 2, 0])
        >>> program = mg.write_numpy(nn.loss_of(layer, nn.cross_entropy), layer.state_dict(), *batch, argnum=0)
        >>> value, gradients = program(layer.state_dict(), *batch)
        >>> {path: g.shape for path, g in gradients.items()}
        {'weight': (2, 3), 'bias': (3,)}
    """
    _module_of(model, "loss_of")
    if not callable(loss):
        raise ArgumentError(f"loss must be a function of the output and the targets, got {type(loss).__name__}")

    def loss_of_batch(parameters: Mapping[str, Any], inputs: Any, *targets: Any) -> Any:
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        return loss(functional_call(model, parameters, *given), *targets)

    return loss_of_batch


def _check_reached(result: Any, first: int, own: Mapping[str, Parameter | Buffer], allowed: Iterable[Any]) -> None:
    """Raise if an entry recorded after number ``first`` used a parameter of the model itself."""
    foreign = {id(node_of(t)) for t in allowed if isinstance(t, Tensor)}
    own_nodes = {path: node_of(parameter) for path, parameter in own.items()}
    nodes = {id(node): path for path, node in own_nodes.items() if node is not None and id(node) not in foreign}
    waiting = [node_of(t) for t in leaves(result) if isinstance(t, Tensor)] if nodes else []
    seen: set[int] = set()
    while waiting:
        node = entry_of(waiting.pop())
        if id(node) in nodes:
            raise GraphError(
                f"forward used the model's own parameter '{nodes[id(node)]}', because functional_call did not find it in the "
                "model: reach it by an attribute, self.layer, or a list, tuple or dict of layers in an attribute"
            )
        if type(node) is Entry and node.seq > first and id(node) not in seen:
            seen.add(id(node))
            waiting += node.parents
