"""The base class of layers and networks, and the classes of their parameters and buffers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, Self, TypeVar, cast

import numpy as np

from minigrad import ArgumentError, DTypeError, ShapeError, Tensor
from minigrad.internal import (
    active,
    array_of,
    as_array,
    missing_attribute,
    node_of,
    recorders,
    scope,
    stand_in,
    to_device,
    to_host,
    untracked_array,
)

from ._checks import check_dtype, check_kind, given
from ._copies import Copies
from ._tables import html_table

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
DType = np.typing.DTypeLike  # a dtype for NumPy, such as np.float32; in quotes, help() shows its name
DETACH = "load t.detach(), or differentiate nn.functional_call(module, parameters, x)"


class _Runs(Protocol[P, R_co]):
    """A type for type checkers: the call of a module has the signature of its ``forward``."""

    @property
    def forward(self) -> Callable[P, R_co]: ...


class Parameter(Tensor):
    """A tensor that requires a gradient and that ``Module.parameters()`` lists, for optimizers to train.

    ``p.requires_grad = False`` freezes it: it stays in the state dict, and optimizers skip it.

    Its ``data`` may have any shape. ``dtype`` is that of the data by default; graphs and messages show ``name``.

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

    def __init__(self, data: Any, *, dtype: DType | None = None, name: str | None = None) -> None:
        check_kind("a text", **given(name=name))
        super().__init__(data, True, dtype=None if dtype is None else check_dtype(dtype), name=name)


class Buffer(Tensor):
    """A tensor that a module keeps with its parameters, and that optimizers do not train, such as a running mean.

    It requires no gradient. It is in the state dict and in checkpoint files, and ``.to`` and ``.astype`` convert it. To change
    it, assign its ``data``.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> class Centre(nn.Module):
        ...     def __init__(self):
        ...         self.mean = nn.Buffer(np.zeros(2))
        ...
        ...     def forward(self, x):
        ...         return x - self.mean
        >>> layer = Centre()
        >>> layer.mean.data = np.array([1.0, 2.0])
        >>> list(layer.parameters()), list(layer.state_dict())
        ([], ['mean'])
    """

    __slots__ = ()

    def __init__(self, data: Any, *, dtype: DType | None = None, name: str | None = None) -> None:
        check_kind("a text", **given(name=name))
        super().__init__(data, False, dtype=None if dtype is None else check_dtype(dtype, "biufc"), name=name)


def _missing_forward(self: Module, *args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(f"{type(self).__name__} defines no forward(), which calling the module runs: write one")


class Module:
    """The base class of layers and networks.

    A subclass assigns parameters, buffers and other modules, or lists, tuples and dicts of them, to attributes, and defines
    ``forward``. Nothing has to be registered: methods such as :meth:`parameters` search the attributes in the order of their
    assignment. The name of a parameter is its path, such as ``"layers.0.weight"``. A parameter that two attributes share (tied
    weights) is listed once, under its first path.

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

    if not TYPE_CHECKING:  # with __getattr__, a type checker would accept every name

        def __getattr__(self, name: str) -> Any:
            """Raise the error for a missing attribute. For a name of another library, it says what to write."""
            return missing_attribute(self, "module", name)

    def __call__(self: _Runs[P, R_co], *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run ``forward``. Inside ``with trace():``, its operations are recorded under the path of this module."""
        if recorders and any(hasattr(context, "record") for context in active.contexts):
            with scope(self, cast(Module, self)._path_in_trace()):
                return self.forward(*args, **kwargs)
        return self.forward(*args, **kwargs)

    def _path_in_trace(self) -> str:
        """Return the path from the module of the outermost call, or the class name if that is this module."""
        for outer in active.scopes:
            if isinstance(outer[0], Module):
                paths = outer.notes.get(Module, {})  # of the modules inside, found once for each outermost call
                if id(self) not in paths:
                    paths = outer.notes[Module] = {id(module): path for path, module in outer[0].named_modules()}
                return paths.get(id(self)) or type(self).__name__
        return type(self).__name__

    def named_parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Iterate over each parameter once, with its path, depth first in the order of the attributes."""
        return ((path, found) for path, found in _walk(self, "", set()) if isinstance(found, Parameter))

    def parameters(self) -> Iterator[Parameter]:
        """Iterate over each parameter once, in the order of :meth:`named_parameters`."""
        return (parameter for _, parameter in self.named_parameters())

    def named_buffers(self) -> Iterator[tuple[str, Buffer]]:
        """Iterate over each :class:`Buffer` once, with its path, in the order of :meth:`named_parameters`."""
        return ((path, found) for path, found in _walk(self, "", set()) if isinstance(found, Buffer))

    def buffers(self) -> Iterator[Buffer]:
        """Iterate over each :class:`Buffer` once, in the order of :meth:`named_buffers`."""
        return (buffer for _, buffer in self.named_buffers())

    def named_modules(self) -> Iterator[tuple[str, Module]]:
        """Iterate over this module, whose path is ``""``, and over each module inside once, with its path."""
        return ((path, found) for path, found in _walk(self, "", set()) if isinstance(found, Module))

    def modules(self) -> Iterator[Module]:
        """Iterate over this module and over each module inside once."""
        return (module for _, module in self.named_modules())

    @property
    def num_parameters(self) -> int:
        """The number of elements of all parameters. Tied parameters count once."""
        return sum(parameter.size for parameter in self.parameters())

    def state_dict(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return a dict from path to parameter or buffer, each a copy as a NumPy array on the host."""
        return {path: np.array(p.numpy(), order="C") for path, p in self._state_by_path().items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Copy the arrays of ``state`` into the parameters and buffers of the same paths. An error leaves all unchanged.

        To load only some parameters, merge the dicts first: ``module.load_state_dict(module.state_dict() | some)``.

        Raises:
            ArgumentError: keys are missing or unexpected.
            ShapeError, DTypeError: an array has another shape or dtype than its parameter.
            UnsupportedError: a Tensor requires a gradient, which would be lost; :func:`functional_call` keeps it.
        """
        check_kind("a dictionary", state=state)
        parameters = self._state_by_path()
        check_names(f"the state dict does not fit {type(self).__name__}", parameters, state)
        arrays = {path: _fitting(path, state[path], parameter) for path, parameter in parameters.items()}
        for path, parameter in parameters.items():
            parameter.data = np.array(arrays[path], like=parameter.data)

    def _state_by_path(self) -> dict[str, Parameter | Buffer]:
        by_path: dict[str, Parameter | Buffer] = {}
        for path, parameter in _walk(self, "", set()):
            if isinstance(parameter, Module):
                continue
            if path in by_path:
                raise ArgumentError(
                    f"two parameters of {type(self).__name__} have the path {path!r}: rename an attribute"
                )
            by_path[path] = parameter
        return by_path

    def replaced(self, values: Mapping[str, Any]) -> Self:
        """Return a copy of this module with other parameters, buffers or modules at some paths. This module does not change.

        The copy has modules of its own and shares the other parameters and the arrays of the other buffers: what its calls
        assign to a buffer stays in the copy. An object in several places, such as a tied weight, is replaced in all of them.

        Args:
            values: a dict by path. For a parameter or a buffer, an array or a Tensor of its shape, in any precision; gradients
                flow to a Tensor. For a module, another module or a function.

        Raises:
            ArgumentError: nothing in the module has one of the paths.
            ShapeError, DTypeError: a shape differs from that of the parameter, or one of the two is real and the other complex.

        Example:
            >>> import numpy as np
            >>> import nn
            >>> net = nn.Sequential(nn.Affine(2, 2, rng=np.random.default_rng(0)), np.tanh)
            >>> identity = net.replaced({"layers.0.weight": np.eye(2), "layers.0.bias": np.zeros(2)})
            >>> identity([0.0, 100.0]).tolist()
            [0.0, 1.0]
        """
        check_kind("a dictionary", values=values)
        copy: Self = self._copies(values).of(self)
        return copy

    def _copies(self, values: Mapping[str, Any], name: str = "values", states: dict[str, Any] | None = None) -> Copies:
        """Return what :meth:`replaced` copies with; error messages call the values ``name``."""
        states = self._state_by_path() if states is None else states
        others = {} if values.keys() <= states.keys() else dict(self.named_modules())
        known = [path for path in values if path in states or path in others]
        check_names(f"{type(self).__name__} has no such parts", known, values)
        pairs: list[tuple[Any, Any]] = [(others[path], values[path]) for path in known if path not in states]
        for path, state in states.items():
            if path in values or isinstance(state, Buffer):
                pairs.append((state, _in_place_of(state, values.get(path, state), f"{name}['{path}']")))
        return Copies(self.modules(), pairs)

    def _put(self, modules: Mapping[str, Module]) -> None:
        """Replace the modules at some paths in this module itself."""
        own = dict(self.named_modules())
        Copies(own.values(), [(own[path], module) for path, module in modules.items()]).put()

    def astype(self, dtype: DType) -> Self:
        """Convert the parameters and the floating buffers to a floating ``dtype`` in place. Create optimizers later."""
        dtype = check_dtype(dtype)
        for parameter in self._state_by_path().values():
            if parameter.dtype.kind not in "biu":
                parameter.data = parameter.data.astype(dtype)
        return self

    def to(self, device: str) -> Self:
        """Move the parameters, their gradients and the buffers to ``"cpu"``, ``"cuda"`` or, for the second GPU, ``"cuda:1"``.

        They move in place. An optimizer moves its state for them at its next step.

        Raises:
            ArgumentError, MissingExtraError, DeviceError: there is no such device.
            OutOfMemoryError: the memory of the device is too small. If an error is raised, nothing has been moved.
        """
        check_kind("a text", device=device)
        moved = []
        for parameter in self._state_by_path().values():
            gradient = None if parameter.grad is None else to_device(parameter.grad.data, device)
            moved.append((parameter, to_device(parameter.data, device), gradient))
        for parameter, array, gradient in moved:
            parameter.data = array
            if parameter.grad is None or gradient is not parameter.grad.data:
                parameter.grad = gradient
        return self

    def train(self, mode: bool = True) -> Self:
        """Set this module and all modules inside to training, in which ``Dropout`` drops elements."""
        check_kind("True or False", mode=mode)
        for module in self.modules():
            module.training = mode
            if mode:
                vars(module).pop("_held", None)  # nn.fit left it, see nn/_modes.py
        return self

    def eval(self) -> Self:
        """Set this module and all modules inside to evaluation, in which ``Dropout`` is the identity."""
        return self.train(False)

    def zero_grad(self) -> None:
        """Set the gradient of every parameter to None."""
        for parameter in self.parameters():
            parameter.zero_grad()

    def extra_repr(self) -> str:
        """Return the settings that ``repr`` shows in parentheses."""
        return ""

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows, a row per module with its settings and its number of parameters."""
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


_WALKED = (Module, Parameter, Buffer, dict, list, tuple)


def _walk(value: Any, path: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Iterate over every Module, Parameter and Buffer in ``value`` with its path, each once, the outer before the inner."""
    if not isinstance(value, _WALKED) or id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (Module, Parameter, Buffer)):
        yield path, value
    for name, child in children(value):
        if isinstance(child, _WALKED):  # asked here too, because a generator for every number and string takes longer
            yield from _walk(child, f"{path}.{name}" if path else str(name), seen)


def modules_outside(model: Module, closed: Iterable[Module]) -> Iterator[Module]:
    """Iterate over the modules that can be reached from ``model`` without passing through one of ``closed``."""
    return (found for _, found in _walk(model, "", {id(module) for module in closed}) if isinstance(found, Module))


def children(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the pairs (name or index, item) of a module, dict, list or tuple, and nothing for any other value."""
    if isinstance(value, Module):
        return vars(value).items()
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, (list, tuple)) else ()


def own_parameters(value: Any, path: str = "") -> Iterator[tuple[str, Parameter]]:
    """Yield the parameters of a module, with their paths, that are not inside of another module."""
    for name, child in children(value):
        if isinstance(child, Parameter):
            yield f"{path}{name}", child
        elif isinstance(child, (dict, list, tuple)):
            yield from own_parameters(child, f"{path}{name}.")


@contextmanager
def evaluating(module: Module) -> Iterator[None]:
    """Set a module to evaluation mode inside the block; then give each module inside its own mode again."""
    before = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in before:
            part.training = mode


def check_names(what: str, needed: Collection[str], passed: Collection[str]) -> None:
    """Raise an ArgumentError that begins with ``what`` unless ``passed`` contains exactly the ``needed`` names."""
    missing = [name for name in needed if name not in passed]
    unexpected = [name for name in passed if name not in needed]
    if missing or unexpected:
        kinds = (("missing", missing), ("unexpected", unexpected))
        listed = "; ".join(f"{kind}: {_listed(names)}" for kind, names in kinds if names)
        raise ArgumentError(f"{what}: {listed}")


def _listed(paths: list[str], most: int = 5) -> str:
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(map(repr, paths[:most])) + more


def _in_place_of(state: Parameter | Buffer, value: Any, name: str) -> Parameter | Buffer:
    """Return a Parameter or a Buffer that shares the array and the tape node of ``value``, or raise unless its shape fits."""
    try:
        array = array_of(value) if isinstance(value, Tensor) else as_array(value)
    except DTypeError as error:
        raise DTypeError(f"{name}: {error}") from error.__cause__
    if array.shape != state.shape:
        raise ShapeError(f"{name} has shape {array.shape}, and the parameter has {state.shape}")
    if array.dtype.kind != state.dtype.kind:
        raise DTypeError(
            f"{name} has dtype {array.dtype}, and the parameter has {state.dtype}: convert it, a.astype(np.{state.dtype})"
        )
    return stand_in(state, array, node_of(value) if isinstance(value, Tensor) else None)


def _fitting(path: str, value: Any, parameter: Parameter | Buffer) -> Any:
    """Return ``value`` as a NumPy array, or raise an error unless it has the shape and the dtype of the parameter."""
    if isinstance(value, Tensor):
        value = untracked_array(value, f"load_state_dict of '{path}',", DETACH)
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
