"""Module: a piece of a network that knows its parameters. Parameter: a tensor that is trained."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, ParamSpec, Protocol, Self, TypeVar, cast

import numpy as np

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from minigrad.internal import active, plain_array, recorders, scope, to_device, to_host

from ._tables import html_table

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
DETACH = "load t.detach(), or differentiate by nn.functional_call(module, parameters, x)"


class _Runs(Protocol[P, R_co]):
    """To type checkers: calling a module takes what its ``forward`` takes, and gives what that gives."""

    @property
    def forward(self) -> Callable[P, R_co]: ...


class Parameter(Tensor):
    """A tensor that belongs to a module and is trained: it requires a gradient and is found by ``Module.parameters()``.

    ``p.requires_grad = False`` freezes it: it stays in the state dict, and optimizers leave it alone. Its data may have any
    shape.

    Raises:
        DTypeError: the data are integers, which have no derivative.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([1.0, 2.0])
        >>> (weight * weight).sum().backward()
        >>> weight.grad.tolist()
        [2.0, 4.0]
    """

    __slots__ = ()

    def __init__(self, data: Any, *, dtype: Any = None, name: str | None = None) -> None:
        super().__init__(data, True, dtype=dtype, name=name)


def _missing_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} defines no forward(): it is what calling the module runs")


class Module:
    """What layers and networks are made of.

    Assign parameters and other modules, or lists, tuples and dicts of them, to attributes, and write ``forward``.
    Everything is found by looking through the attributes in the order of their assignment, so there is nothing to
    register. The name of a parameter is the path to it: ``"layers.0.weight"``. What is assigned in two places (tied
    weights) is one parameter, with the name of the first.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> class Net(nn.Module):
        ...     def __init__(self, rng):
        ...         self.layers = [nn.Affine(2, 8, rng=rng), nn.Affine(8, 1, rng=rng)]
        ...
        ...     def forward(self, x):
        ...         return self.layers[1](np.tanh(self.layers[0](x)))
        >>> net = Net(np.random.default_rng(0))
        >>> net(np.ones((4, 2))).shape
        (4, 1)
        >>> [path for path, _ in net.named_parameters()]
        ['layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'layers.1.bias']
    """

    training = True  # set on the instance by train() and eval()

    forward: Callable[..., Any] = _missing_forward

    def __call__(self: _Runs[P, R_co], *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run ``forward``. Inside ``with trace():`` its operations are recorded as this module's, under its path."""
        if recorders and any(hasattr(context, "record") for context in active.contexts):
            with scope(self, cast(Module, self)._path_in_trace()):
                return self.forward(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _path_in_trace(self) -> str:
        """The path from the module whose call is outermost; of that one itself, its class."""
        for owner, _ in active.scopes:
            if isinstance(owner, Module):
                paths = (path for path, module in owner.named_modules() if module is self)
                return next(paths, type(self).__name__) or type(self).__name__
        return type(self).__name__

    # What it holds

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Each parameter once, with its path, depth first in the order of the attributes."""
        return ((path, found) for path, found in _walk(self, "", set()) if isinstance(found, Parameter))

    def parameters(self) -> Iterator[Parameter]:
        """Each parameter once, in the order of :meth:`named_parameters`."""
        return (parameter for _, parameter in self.named_parameters())

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        """This module, whose path is ``""``, and each module in it once, with its path."""
        return ((path, found) for path, found in _walk(self, "", set()) if isinstance(found, Module))

    def modules(self) -> Iterator[Module]:
        """This module and each module in it once."""
        return (module for _, module in self.named_modules())

    @property
    def num_parameters(self) -> int:
        """How many numbers are in the parameters, tied ones counted once."""
        return sum(parameter.size for parameter in self.parameters())

    # State

    def state_dict(self) -> dict[str, np.ndarray[Any, Any]]:
        """A copy of every parameter as a NumPy array on the host, by path."""
        return {path: np.array(p.numpy(), order="C") for path, p in self._parameters_by_path().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Copy the arrays of ``state`` into the parameters of the same paths.

        For a partial load merge the two first: ``module.load_state_dict(module.state_dict() | some_of_it)``.

        Raises:
            ArgumentError: keys are missing or unexpected.
            ShapeError, DTypeError: an array has another shape or dtype than its parameter.
            UnsupportedError: a Tensor requires a gradient, which would be lost: :func:`functional_call` keeps it.
                On any of these no parameter has been changed.
        """
        parameters = self._parameters_by_path()
        check_names(f"the state dict does not fit {type(self).__name__}", parameters, state)
        arrays = {path: _fitting(path, state[path], parameter) for path, parameter in parameters.items()}
        for path, parameter in parameters.items():
            parameter.data = np.array(arrays[path], like=parameter.data)

    def _parameters_by_path(self) -> dict[str, Parameter]:
        by_path: dict[str, Parameter] = {}
        for path, parameter in self.named_parameters():
            if path in by_path:
                raise ArgumentError(
                    f"two parameters of {type(self).__name__} have the path {path!r}: rename an attribute"
                )
            by_path[path] = parameter
        return by_path

    def astype(self, dtype: Any) -> Self:
        """Convert the parameters, in place, to a floating ``dtype``. Make optimizers afterwards."""
        for parameter in self.parameters():
            parameter.data = parameter.data.astype(dtype)
        return self

    def to(self, device: str) -> Self:
        """Move the parameters and their gradients, in place, to ``"cpu"`` or ``"cuda"`` (``"cuda:1"``: the second GPU).

        What an optimizer remembers about them follows at its next step.

        Raises:
            ArgumentError, MissingExtraError, DeviceError: there is no such device.
            OutOfMemoryError: they do not fit there. On any of these nothing has been moved.
        """
        moved = []
        for parameter in self.parameters():
            gradient = None if parameter.grad is None else to_device(parameter.grad.data, device)
            moved.append((parameter, to_device(parameter.data, device), gradient))
        for parameter, array, gradient in moved:
            parameter.data = array
            if parameter.grad is None or gradient is not parameter.grad.data:
                parameter.grad = gradient
        return self

    def train(self, mode: bool = True) -> Self:
        """Switch to training (``Dropout`` drops), here and in every module inside."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self) -> Self:
        """Switch to evaluation (``Dropout`` does nothing), here and in every module inside."""
        return self.train(False)

    def zero_grad(self) -> None:
        """Forget the gradients of the parameters."""
        for parameter in self.parameters():
            parameter.zero_grad()

    # What it looks like

    def extra_repr(self) -> str:
        """The settings to show in the parentheses of ``repr``."""
        return ""

    def _repr_html_(self) -> str:
        """What a notebook shows: a row for each module inside, with its settings and the number of its parameters."""
        rows = [
            [path or "(all)", f"{type(module).__name__}({module.extra_repr()})", f"{module.num_parameters:,}"]
            for path, module in self.named_modules()
        ]
        caption = f"{type(self).__name__}: {self.num_parameters:,} parameters"
        return html_table(caption, ["path", "module", "parameters"], rows, most=40)

    def __repr__(self) -> str:
        lines: list[str] = []
        enclosing: list[str] = []  # the paths of the modules around the current one
        for path, module in self.named_modules():
            while enclosing and not path.startswith(enclosing[-1]):
                enclosing.pop()
            label = path.removeprefix(enclosing[-1]) + ": " if enclosing else ""
            count = module.num_parameters
            size = f"  {count:,} parameter{'s' * (count != 1)}" if count else ""
            lines.append(f"{'  ' * len(enclosing)}{label}{type(module).__name__}({module.extra_repr()}){size}")
            enclosing.append(path + "." if path else "")
        return "\n".join(lines)


def _walk(value: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Every Module and Parameter in ``value``, each once, before what is inside it."""
    if not isinstance(value, (Module, Parameter, dict, list, tuple)) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (Module, Parameter)):
        yield path, value
    for name, child in children(value):
        yield from _walk(child, f"{path}.{name}" if path else str(name), seen)


def children(value: Any) -> Iterable[tuple[Any, Any]]:
    """What a module, a dict, a list or a tuple holds, by name or number; anything else holds nothing."""
    if isinstance(value, Module):
        return vars(value).items()
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, (list, tuple)) else ()


def check_names(what: str, needed: Collection[str], given: Collection[str]) -> None:
    """Raise an ArgumentError that begins with ``what`` unless the names that are given are those that are needed."""
    missing = [name for name in needed if name not in given]
    unexpected = [name for name in given if name not in needed]
    if missing or unexpected:
        kinds = (("missing", missing), ("unexpected", unexpected))
        listed = "; ".join(f"{kind}: {_listed(names)}" for kind, names in kinds if names)
        raise ArgumentError(f"{what}: {listed}")


def _listed(paths: list[str], most: int = 5) -> str:
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(map(repr, paths[:most])) + more


def _fitting(path: str, value: Any, parameter: Parameter) -> Any:
    """``value`` as a NumPy array of the parameter's shape and dtype."""
    if isinstance(value, Tensor):
        value = plain_array(value, f"load_state_dict of '{path}',", DETACH)
    array = np.asarray(to_host(value))
    if array.shape != parameter.shape:
        raise ShapeError(
            f"the state dict has shape {array.shape} for '{path}', and the parameter has {parameter.shape}"
        )
    if array.dtype != parameter.dtype:
        raise DTypeError(
            f"the state dict has dtype {array.dtype} for '{path}', and the parameter has {parameter.dtype}: convert the "
            f"array, array.astype(np.{parameter.dtype}), or the module, module.astype(np.{array.dtype})"
        )
    return array
