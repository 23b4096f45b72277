"""Call a module as a function of its parameters, so that transforms such as ``grad`` can differentiate it.

A call runs a copy of the module tree with other parameters, and shares the arrays. The model keeps its parameters throughout,
so an exception, a generator or another thread cannot leave it in a wrong state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from types import CellType, FunctionType, MethodType
from typing import Any, TypeVar

from minigrad import ArgumentError, DTypeError, GraphError, ShapeError, Tensor
from minigrad.internal import Entry, array_of, as_array, entry_of, leaves, next_sequence_number, node_of, stand_in

from .module import Buffer, Module, Parameter, check_names, children

R = TypeVar("R")
State = Parameter | Buffer


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
    bound = model.__self__ if isinstance(model, MethodType) else model
    if not isinstance(bound, Module):
        raise ArgumentError(
            f"functional_call takes a Module or a method of one, got {type(model).__name__}: "
            "functional_call(model, parameters, x)"
        )
    own = bound._state_by_path()
    new = _checked(bound, own, parameters)
    copies = Copies(bound, {id(parameter): new[path] for path, parameter in own.items()})
    first = next_sequence_number()
    try:
        result: R = copies.of(model)(*args, **kwargs)
    finally:
        copies.hand_back({id(new[path]): parameter for path, parameter in own.items()})
    _check_reached(result, first, own, [*new.values(), *leaves((args, kwargs))])
    return result


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
    bound = model.__self__ if isinstance(model, MethodType) else model
    if not isinstance(bound, Module):
        raise ArgumentError(f"loss_of takes a Module or a method of one, got {type(model).__name__}")
    if not callable(loss):
        raise ArgumentError(f"loss must be a function of the output and the targets, got {type(loss).__name__}")

    def loss_of_batch(parameters: Mapping[str, Any], inputs: Any, *targets: Any) -> Any:
        given = inputs if isinstance(inputs, tuple) else (inputs,)
        return loss(functional_call(model, parameters, *given), *targets)

    return loss_of_batch


def _checked(model: Module, own: Mapping[str, State], parameters: Any) -> dict[str, State]:
    """Return ``parameters`` as Parameters and Buffers that share the arrays and the tape nodes of the values."""
    if not isinstance(parameters, Mapping):
        raise ArgumentError(
            f"parameters must be a dict by path, as model.state_dict() returns it, got {type(parameters).__name__}"
        )
    given = {path for path, tensor in own.items() if path in parameters or isinstance(tensor, Parameter)}
    check_names(
        f"the parameters do not fit {type(model).__name__}", [path for path in own if path in given], parameters
    )
    return {path: _stand_in(path, parameters.get(path, tensor), tensor) for path, tensor in own.items()}


def _stand_in(path: str, value: Any, parameter: State) -> State:
    try:
        array = array_of(value) if isinstance(value, Tensor) else as_array(value)
    except DTypeError as error:
        raise DTypeError(f"parameters['{path}']: {error}") from error.__cause__
    if array.shape != parameter.shape:
        raise ShapeError(f"parameters['{path}'] has shape {array.shape}, and the parameter has {parameter.shape}")
    if array.dtype.kind != parameter.dtype.kind:
        raise DTypeError(
            f"parameters['{path}'] has dtype {array.dtype}, and the parameter has {parameter.dtype}: convert it, "
            f"a.astype(np.{parameter.dtype})"
        )
    return stand_in(parameter, array, node_of(value) if isinstance(value, Tensor) else None)


class Copies:
    """A copy of the module tree in which some objects are replaced."""

    def __init__(self, model: Module | None, instead: dict[int, Any]) -> None:
        self._instead = instead  # from the id of an object of the model, which keeps it alive, to its replacement
        self._modules = {id(module) for module in model.modules()} if model is not None else set()
        self._made: list[
            tuple[Module, Module, dict[str, Any]]
        ] = []  # original, copy, and the first attributes of the copy

    def of(self, value: Any) -> Any:
        """Return ``value``, or a copy of it if something in it is replaced."""
        if id(value) in self._instead:
            return self._instead[id(value)]
        if isinstance(value, Module):
            return self._module(value) if id(value) in self._modules else value
        if isinstance(value, (dict, list, tuple)):
            return self._container(value)
        if isinstance(value, MethodType):
            owner = self.of(value.__self__)
            return value if owner is value.__self__ else MethodType(value.__func__, owner)
        if type(value) is functools.partial:
            parts = (value.func, value.args, value.keywords)
            function, args, keywords = new = tuple(map(self.of, parts))
            return value if _same(new, parts) else functools.partial(function, *args, **keywords)
        return self._function(value) if isinstance(value, FunctionType) and value.__closure__ else value

    def _module(self, module: Module) -> Module:
        copy = object.__new__(type(module))
        self._instead[id(module)] = copy
        vars(copy).update({name: self.of(part) for name, part in dict(vars(module)).items()})
        self._made.append((module, copy, dict(vars(copy))))
        return copy

    def _container(self, value: Any) -> Any:
        self._instead[id(value)] = value  # the end of the recursion if the container contains itself
        names, parts = zip(*children(value)) if value else ((), ())
        new = [self.of(part) for part in parts]
        if _same(new, parts):
            del self._instead[
                id(value)
            ]  # the container may be freed during the call, and another object may get its id
            return value
        if isinstance(value, dict):
            copy: Any = value.copy()
            copy.update(zip(names, new))
        elif isinstance(value, list):
            copy = value.copy()
            copy[:] = new
        else:
            copy = type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
        self._instead[id(value)] = copy
        return copy

    def _function(self, function: FunctionType) -> Any:
        """Replace the modules, parameters and bound methods that the function closes over, and no other values."""
        cells = function.__closure__ or ()
        held = [_content(cell) for cell in cells]
        new = [
            self.of(value) if isinstance(value, (Module, Parameter, Buffer, MethodType)) else value for value in held
        ]
        if _same(new, held):
            return function
        closure = tuple(
            cell if value is old else CellType(value) for cell, value, old in zip(cells, new, held, strict=True)
        )
        copy = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, closure)
        copy.__kwdefaults__ = function.__kwdefaults__
        return copy

    def hand_back(self, parameters: dict[int, Any]) -> None:
        """Repeat on the model the assignments to its copies; ``parameters`` maps id(replacement) to the model's own."""
        back = Copies(None, parameters | {id(copy): original for original, copy, _ in self._made})
        for original, copy, before in self._made:
            now = vars(copy)
            for name in before.keys() - now.keys():
                vars(original).pop(name, None)
            for name, value in now.items():
                if name not in before or before[name] is not value:
                    vars(original)[name] = back.of(value)


def _same(new: Iterable[Any], old: Iterable[Any]) -> bool:
    return all(value is before for value, before in zip(new, old, strict=True))


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable is not assigned yet
        return None


def _check_reached(result: Any, first: int, own: Mapping[str, State], allowed: Iterable[Any]) -> None:
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
