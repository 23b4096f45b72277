"""Optimizer: the base class of the optimizers, and the checks of their arguments."""

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from minigrad import ArgumentError, DTypeError, Entry, GraphError, ShapeError, Tensor
from minigrad.internal import Array, Division, missing_attribute, out_of_memory, same_place, to_host, update_in_blocks

from ._checks import as_number, beside, check_kind, shown
from .module import Module

MISSING = object()
Parameters = Iterable[Tensor] | Iterable[Mapping[str, Any]]


class Optimizer:
    """The base class of the optimizers.

    Args:
        parameters: leaf tensors of any shape, e.g. ``module.parameters()``; duplicates are ignored. Or groups with settings of
            their own: dictionaries with the tensors, ``"params"``, and if they differ ``"weight_decay"`` and ``"lr_scale"``,
            a factor of ``lr``. The last example decays no biases and no norms, whose parameters have one axis.
        lr: the learning rate, >= 0. It may be assigned at any time: ``optimizer.lr = 1e-4``.
        weight_decay: >= 0; the formulas use ``g + weight_decay * p`` instead of the gradient ``g``.

    A step of a float16 parameter is computed in float32, in which its state is kept, and rounded once: in float16 the squares
    of small gradients and an eps of 1e-8 are 0.

    Raises:
        ArgumentError: there are no parameters, a setting is out of its range, a group has a setting of another name, or a
            tensor is in two groups with different settings.
        GraphError: a tensor was computed, so it is not a parameter.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([4.0])
        >>> optimizer = nn.SGD([weight], lr=0.25)
        >>> for _ in range(3):
        ...     optimizer.zero_grad()
        ...     (weight * weight).sum().backward()
        ...     optimizer.step()
        >>> weight.item()  # 4, 2, 1, 0.5
        0.5
        >>> weight, bias = nn.Parameter([[4.0]]), nn.Parameter([4.0])
        >>> groups = [{"params": p, "weight_decay": 0.5 * (p.ndim > 1)} for p in (weight, bias)]
        >>> nn.AdamW(groups, lr=1e-3)
        AdamW(lr=0.001, betas=(0.9, 0.999), eps=1e-08, weight_decay=0.01; 2 tensors in 2 groups)
    """

    settings: tuple[str, ...] = ("lr", "weight_decay")  # the arguments of __init__; each is also an attribute
    decoupled = False  # whether the decay changes the parameter itself and not the gradient
    elementwise = False  # whether an update treats each element alone: parameters are then joined and divided for speed
    _division: Division | None = None
    _options: tuple[Any, ...] = ()  # the settings for which the state was made

    if not TYPE_CHECKING:  # with __getattr__, a type checker would accept every name

        def __getattr__(self, name: str) -> Any:
            """Raise the error for a missing attribute. For a name of another library, it says what to write."""
            return missing_attribute(self, "optimizer", name)

    def __init_subclass__(cls) -> None:
        """Find the settings: the arguments after ``parameters``; with ``**options``, also those of the class above."""
        super().__init_subclass__()
        arguments = list(inspect.signature(cls.__init__).parameters.values())[2:]
        named = [each.name for each in arguments if each.kind is not each.VAR_KEYWORD]
        above = cls.settings if len(named) < len(arguments) else ()
        cls.settings = tuple(dict.fromkeys((*named, *above)))
        if "lr" not in cls.settings:
            raise ArgumentError(f"{cls.__name__}.__init__ must take lr, which files hold, after the parameters")

    def __init__(self, parameters: Parameters, lr: float, *, weight_decay: float = 0.0) -> None:
        self.parameters, self.overrides = _in_groups(parameters)
        if not self.parameters:
            raise ArgumentError(f"{type(self).__name__} got no parameters")
        self.lr = lr
        self.weight_decay = as_number(0, weight_decay=weight_decay)
        self.state: list[dict[str, Any]] = [{} for _ in self.parameters]

    @property
    def lr(self) -> float:
        """The learning rate."""
        return self._lr

    @lr.setter
    def lr(self, value: float) -> None:
        self._lr = as_number(0, lr=value)

    def step(self) -> None:
        """Change each parameter that has a gradient.

        Raises:
            GraphError: a parameter is now a computed tensor.
            ShapeError: a parameter has another shape than its state. Nothing has been changed.
        """
        ready = self._ready()
        options = tuple(getattr(self, name, MISSING) for name in self.settings if name != "lr")
        if self._division is None or options != self._options or not self._division.is_current(ready, self.state):
            self._settings()  # raises if one is missing
            for i, p in ready:
                self.state[i] = self._prepared(i, p)
            self._division = Division(ready, self.state, self.overrides, self.elementwise)
            self._options = options
        for i, _ in ready:
            if "step" in self.state[i]:
                self.state[i]["step"] += 1
        for i, p, g, state in self._division.arrays(self.parameters, self.state):
            group = self._in_group(i)
            in_precision(group._update_whole if isinstance(p, np.ndarray) else group._update_part, p, g, state)

    def _in_group(self, i: int) -> Self:
        """Return the optimizer with the settings of the group of parameter i."""
        own = self.overrides[i]
        if not own:
            return self
        other = copy.copy(self)
        other.lr *= own.get("lr_scale", 1.0)
        other.weight_decay = own.get("weight_decay", self.weight_decay)
        return other

    def _ready(self) -> list[tuple[int, Array]]:
        """Return the index and the array of each parameter that has a gradient and is not frozen."""
        ready = []
        for i, parameter in enumerate(self.parameters):
            if type(parameter._node) is Entry:
                raise GraphError(
                    f"{type(self).__name__}.step(): parameter {i} was computed on the tape, and a step changes only leaves"
                )
            if parameter._grad is not None and parameter._node is not None:
                ready.append((i, parameter.data))
        return ready

    def _prepared(self, i: int, p: Array) -> dict[str, Any]:
        """Return the state of parameter ``i``, on its device. What it does not have yet is made by :meth:`_start`."""
        state, dtype = self.state[i], precision(p.dtype)
        try:
            new = self._started(np.empty(p.shape, dtype, like=p))
            for name, old in state.items():
                if name in new:  # else an option that was switched off has left it
                    new[name] = self._kept(i, p, old, new[name]) if hasattr(old, "dtype") else old
        except MemoryError as error:
            raise out_of_memory(error, f"the state of {type(self).__name__}", [p]) from error
        return new

    def _started(self, p: Array) -> dict[str, Any]:
        """Return :meth:`_start` of ``p``; raise unless updates can change, and files hold, all of it."""
        state, kind = self._start(p), type(self).__name__
        for name, value in state.items():
            if name == "step" and type(value) is int:
                continue
            if isinstance(value, np.generic) or not hasattr(value, "shape"):
                raise ArgumentError(
                    f"{kind}._start returns {shown(value)} for {name!r}: make it an array, np.zeros((), p.dtype, like=p); "
                    "only 'step' is an integer"
                )
            if self.elementwise and value.shape != p.shape:
                raise ShapeError(
                    f"{kind} is elementwise, and {name!r} of its state has shape {value.shape} for a parameter of {p.shape}: "
                    "leave elementwise out"
                )
        return state

    def _kept(self, i: int, p: Array, old: Array, new: Array) -> Array:
        """Return an array of the state of parameter ``i`` on the device of ``p`` and in the dtype of ``new``."""
        if old.shape != new.shape:
            raise ShapeError(
                f"parameter {i} of {type(self).__name__} now has shape {p.shape}, and its state has {old.shape}: make a new "
                "optimizer"
            )
        if same_place(old, p) and old.dtype == new.dtype:
            return old
        kept: Array = beside(to_host(old).astype(new.dtype, copy=False), p)
        return kept

    def _start(self, p: Array) -> dict[str, Any]:
        """Return the state of a parameter before its first step: arrays, for an array of its shape and the dtype of its state.

        An integer ``"step"``, 0 here, counts the steps, the present one included.
        """
        return {}

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        """Change ``p`` in place by its gradient ``g``, and the arrays in ``state``.

        A parameter of shape (), and an array of that shape in its state, have the shape (1,) here. If the class is
        ``elementwise``, ``p`` may be a part of a parameter, or hold several.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no _update(p, g, state): define it for step()")

    def _update_whole(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        """Update all elements of one parameter on the host, or of many small ones, with ``_update``."""
        if not p.ndim:  # NumPy would make scalars of arrays without axes, which cannot be changed in place
            state = {name: np.atleast_1d(v) if isinstance(v, np.ndarray) else v for name, v in state.items()}
            p, g = p.reshape(1), g.reshape(1)
        if self.elementwise:
            update_in_blocks(self._update_part, p, g, state)
        else:
            self._update_part(p, g, state)

    def _update_part(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        self._update(p, g, _UpdateState(state))

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_division": None}  # a copy has its own arrays

    def _decayed(self, p: Array, g: Array) -> Array:
        """Return the gradient plus the weight decay; if it is decoupled, decay ``p`` and return the gradient."""
        if self.decoupled and self.weight_decay:
            p *= 1 - self.lr * self.weight_decay
        return g + self.weight_decay * p if self.weight_decay and not self.decoupled else g

    def zero_grad(self) -> None:
        """Set the gradients of the parameters to None."""
        for parameter in self.parameters:
            parameter.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """Return the settings, and for each parameter, in order, a copy of its state (NumPy arrays and numbers)."""
        return {
            "optimizer": type(self).__name__,
            "settings": copy.deepcopy(self._given()),
            "parameters": [
                {name: np.array(to_host(v)) if hasattr(v, "dtype") else v for name, v in state.items()}
                for state in self.state
            ],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Load the settings and the state that ``state_dict`` of an optimizer of the same class returned.

        Raises:
            ArgumentError: the state is from another class of optimizer, or for another number of parameters.
            ShapeError, DTypeError: an array does not fit its parameter. After any of these errors nothing has been changed.
        """
        check_kind("a dictionary", saved=saved)
        if saved.keys() != {"optimizer", "settings", "parameters"} or saved["optimizer"] != type(self).__name__:
            raise ArgumentError(
                f"saved is not a state of {type(self).__name__}: {saved.get('optimizer', list(saved))!r}"
            )
        settings = dict(saved["settings"])
        if settings.keys() != self._given().keys():
            raise ArgumentError(f"the saved settings are {sorted(settings)}, not {sorted(self._given())}")
        overrides = settings.pop("overrides")
        if not len(saved["parameters"]) == len(overrides) == len(self.parameters):
            raise ArgumentError(
                f"the saved state is for {len(saved['parameters'])} parameters, and this {type(self).__name__} has "
                f"{len(self.parameters)}"
            )
        groups = [{"params": p, **own} for p, own in zip(self.parameters, overrides)]
        loaded = type(self)(groups, **settings)  # checks the settings
        for i, (parameter, state) in enumerate(zip(self.parameters, saved["parameters"])):
            start = loaded._started(np.empty(parameter.shape, precision(parameter.dtype))) if state else {}
            if not start.keys() <= state.keys():  # an option that was switched off since the last step has left more
                raise ArgumentError(f"the saved state of parameter {i} has {list(state)}, not {list(start)}")
            loaded.state[i] = {name: _fitting(state[name], value, parameter, i, name) for name, value in start.items()}
        vars(self).update(vars(loaded))

    def _given(self) -> dict[str, Any]:
        """Return the settings, with those of the groups."""
        return self._settings() | {"overrides": self.overrides}

    def _settings(self) -> dict[str, Any]:
        own = {name: getattr(self, name, MISSING) for name in self.settings}
        if lost := [name for name, value in own.items() if value is MISSING]:
            kind, name = type(self).__name__, lost[0]
            raise ArgumentError(
                f"{kind} takes {name!r} and does not keep it: write self.{name} = {name} in its __init__"
            )
        return own

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self._settings().items() if value is not False)
        groups = len({tuple(own.items()) for own in self.overrides})
        count = f"{len(self.parameters)} tensors" + (f" in {groups} groups" if groups > 1 else "")
        return f"{type(self).__name__}({settings}; {count})"


class _UpdateState(dict[str, Any]):
    """The state that an update gets. An assignment changes the array: it may be a view of the one that is kept."""

    def __setitem__(self, name: str, value: Any) -> None:
        if value is not self[name]:  # as it is after `state["m"] *= 0.9`
            self[name][...] = value


def _in_groups(parameters: Parameters) -> tuple[list[Tensor], list[dict[str, float]]]:
    """Return each parameter once, in order, and for each the settings of its group."""
    given: Any = parameters if isinstance(parameters, Tensor | Module) else as_list(parameters)
    groups = (
        given if isinstance(given, list) and any(isinstance(each, Mapping) for each in given) else [{"params": given}]
    )
    found: dict[int, tuple[Tensor, dict[str, float]]] = {}
    for group in groups:
        if not isinstance(group, Mapping) or not {"params"} <= group.keys() <= {"params", "lr_scale", "weight_decay"}:
            got = list(group) if isinstance(group, Mapping) else type(group).__name__
            raise ArgumentError(
                "a group has 'params' and, if they differ, 'weight_decay' and 'lr_scale', a factor of the optimizer's lr; got "
                f"{got}: make another optimizer if other settings differ"
            )
        own = {name: as_number(0, **{name: group[name]}) for name in sorted(group.keys() - {"params"})}
        for parameter in distinct(group["params"]):
            if found.setdefault(id(parameter), (parameter, own))[1] != own:
                raise ArgumentError(
                    f"{parameter._describe()} is in two groups with different settings: leave it out of one of them"
                )
    return [parameter for parameter, _ in found.values()], [own for _, own in found.values()]


def as_list(parameters: Any) -> list[Any]:
    """Return the parameters as a list, or raise an ArgumentError if they are no list of anything."""
    if not isinstance(parameters, Iterable) or isinstance(parameters, (str, Mapping)):
        raise ArgumentError(f"parameters must be tensors, such as module.parameters(), got {shown(parameters)}")
    return list(parameters)


def distinct(parameters: Iterable[Tensor]) -> list[Tensor]:
    """Return the parameters as a list without duplicates; raise unless they are leaf tensors."""
    if isinstance(parameters, Module):
        raise ArgumentError(f"got a {type(parameters).__name__} for parameters: pass module.parameters()")
    found = [parameters] if isinstance(parameters, Tensor) else as_list(parameters)
    for i, parameter in enumerate(found):
        if not isinstance(parameter, Tensor):
            raise ArgumentError(f"parameters must be tensors, got {type(parameter).__name__} at index {i}")
        if not parameter.is_leaf:
            raise GraphError(f"{parameter._describe()} at index {i} of parameters was computed: pass leaf tensors only")
    return list({id(parameter): parameter for parameter in found}.values())


def precision(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which parameters are updated, at least float32: in float16, 1e-8 and squares of 1e-4 are 0."""
    return np.promote_types(dtype, np.float32) if dtype.kind == "f" else dtype


def in_precision(update: Callable[..., None], p: Array, g: Array, state: Mapping[str, Any]) -> None:
    """Run ``update(p, g, state)`` in the :func:`precision` of ``p``, and round the result once."""
    dtype = precision(p.dtype)
    if p.dtype == dtype:
        update(p, g, state)
        return
    changed = p.astype(dtype)
    update(changed, g.astype(dtype), state)
    p[...] = changed


def both(name: str, values: Any) -> tuple[float, float]:
    """Return a pair of numbers in [0, 1), such as ``betas``."""
    if not isinstance(values, (tuple, list)) or len(values) != 2:
        raise ArgumentError(f"{name} must be two numbers in [0, 1), got {shown(values)}")
    first, second = (as_number(0, 1, ")", **{f"{name}[{i}]": value}) for i, value in enumerate(values))
    return first, second


def _fitting(value: Any, start: Any, parameter: Tensor, i: int, name: str) -> Any:
    """Return a saved value like ``start``: a copy of an array on the parameter's device, or an integer."""
    if not hasattr(start, "dtype"):
        return int(value)
    array = np.array(value, order="C")
    if array.shape != start.shape:
        raise ShapeError(
            f"the saved '{name}' of parameter {i} has shape {array.shape}, but the parameter needs {start.shape}"
        )
    if array.dtype != start.dtype:
        raise DTypeError(
            f"the saved '{name}' of parameter {i} has dtype {array.dtype}, but the state of a {parameter.dtype} parameter has "
            f"{start.dtype}"
        )
    return beside(array, parameter.data)
