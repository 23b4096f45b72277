"""The state of a model between two steps: what forward passes change, to undo a step that was stopped in its middle."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np

from minigrad import ArgumentError, Tensor
from minigrad.internal import array_of, to_host

from .dropout import Dropout
from .module import Buffer, Module, Parameter, children

NUMBERS = frozenset((int, float, bool))
CONSTANT = frozenset((str, type(None), Parameter))  # what most attributes are; no forward pass changes them
PLAIN = (np.ndarray, np.generic, Tensor)  # arrays that are neither parameters nor buffers


class StepState:
    """The buffers, random generators and numbers in a model's attributes, as they were between two steps.

    Forward passes change them, and an update changes the parameters. After a stop in the middle of a step, :meth:`put_back`
    undoes the step's forward passes, and a checkpoint file then holds the state before the step.
    """

    def __init__(self, model: Module) -> None:
        self._model = model
        self._numbers = {path: value for _, path, value in _values(model) if type(value) in NUMBERS}  # at the beginning
        self._arrays = {path: _host(value) for _, path, value in _values(model) if _is_plain(value)}
        self.take()

    def take(self, *, parameters: bool = False) -> None:
        """Copy the present state; with ``parameters``, those too, for a program that may change them outside an update."""
        kept: list[tuple[Any, Any, Any, Any]] = []
        seen, pending = {id(self._model)}, [cast(Any, vars(self._model))]
        for holder in pending:  # written out, because every step runs it: _values takes five times as long
            for name, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
                kind = type(value)
                if kind in NUMBERS:
                    kept.append((holder, name, value, None))
                elif kind not in CONSTANT and id(value) not in seen:
                    seen.add(id(value))
                    if isinstance(value, Module):
                        pending.append(vars(value))
                    elif isinstance(value, (dict, list, tuple)):
                        pending.append(value)
                    elif isinstance(value, Buffer):
                        kept.append((holder, name, value, array_of(value).copy(order="K")))
                    elif isinstance(value, np.random.Generator):
                        kept.append((holder, name, value, value.bit_generator.state))
        weights = (
            [(p, array_of(p), array_of(p).copy(order="K")) for p in self._model.parameters()] if parameters else []
        )
        self._kept, self._weights = kept, weights

    def put_back(self) -> None:
        """Give the model the state of the last :meth:`take`."""
        for holder, name, value, state in self._kept:
            if isinstance(value, Buffer):
                value.data = state
            elif isinstance(value, np.random.Generator):
                value.bit_generator.state = state
            if isinstance(holder, dict):  # the attributes of a module, too
                holder[name] = value
        for parameter, array, state in self._weights:
            array[...] = state
            parameter.data = array

    def collect(self) -> dict[str, Any]:
        """Return what a checkpoint file holds beside arrays and Dropout: generators, and the numbers that the run changed."""
        generators, numbers = {}, {}
        for holder, path, value in _values(self._model):
            counts = isinstance(holder, Dropout) and path.rpartition(".")[2] in (
                "key",
                "step",
            )  # has its own place there
            if isinstance(value, np.random.Generator):
                generators[path] = _as_lists(value.bit_generator.state)
            elif type(value) in NUMBERS and not counts and self._numbers.get(path) != value:
                numbers[path] = value
        return {"generators": generators, "numbers": numbers}

    def loading(self, generators: dict[str, Any], numbers: dict[str, Any]) -> Callable[[], None]:
        """Return a function that restores what :meth:`collect` returned, or raise an ArgumentError if it does not fit."""
        ours = {path: value for _, path, value in _values(self._model) if isinstance(value, np.random.Generator)}
        if ours.keys() != generators.keys():
            raise ArgumentError(f"it has the random generators {list(generators)}, and the model has {list(ours)}")
        for path, generator in ours.items():
            try:
                type(generator.bit_generator)().state = generators[path]
            except (TypeError, ValueError, KeyError) as error:
                raise ArgumentError(f"its state of the random generator {path!r} cannot be set: {error}") from error
        holders = {path: holder for holder, path in _holders(self._model)}
        ends = {path: path.rfind(".") + 1 for path in numbers}
        if missing := [path for path, end in ends.items() if not isinstance(holders.get(path[:end]), (Module, dict))]:
            raise ArgumentError(f"it has the numbers {missing}, and the model has no such modules")

        def load() -> None:
            for path, generator in ours.items():
                generator.bit_generator.state = generators[path]
            for path, end in ends.items():
                holder: Any = holders[path[:end]]
                attributes = vars(holder) if isinstance(holder, Module) else holder
                name = next((name for name in attributes if str(name) == path[end:]), path[end:])
                attributes[name] = numbers[path]
                self._numbers.pop(
                    path, None
                )  # every later file holds it, even if this model began with the same number

        return load

    def changed_arrays(self) -> list[str]:
        """Return the paths of arrays that are not buffers and whose values the run changed: no checkpoint file holds them.

        An array of another shape is not state but a table that grows as longer sequences come.
        """
        now = {path: _host(value) for _, path, value in _values(self._model) if _is_plain(value)}
        return [path for path, old in self._arrays.items() if path in now and _other_values(old, now[path])]


def _holders(model: Module) -> list[tuple[Any, str]]:
    """Return each module, dict, list and tuple in the model once, with the beginning of the paths of its values."""
    seen, found = {id(model)}, [(cast(Any, model), "")]
    for holder, path in found:
        for name, value in children(holder):
            if isinstance(value, (Module, dict, list, tuple)) and id(value) not in seen:
                seen.add(id(value))
                found.append((value, f"{path}{name}."))
    return found


def _values(model: Module) -> Iterator[tuple[Any, str, Any]]:
    """Yield (holder, path, value) for each value that may be state.

    Numbers in a list are left out: a list grows, so that its indices name no state. ``training`` is the mode of a module.
    """
    for holder, path in _holders(model):
        for name, value in children(holder):
            mode = name == "training" and isinstance(holder, Module)
            if type(value) not in NUMBERS or not (mode or isinstance(holder, (list, tuple))):
                yield holder, f"{path}{name}", value


def _is_plain(value: Any) -> bool:
    return isinstance(value, PLAIN) and not isinstance(value, (Parameter, Buffer))


def _host(value: Any) -> Any:
    return np.array(to_host(value.data if isinstance(value, Tensor) else value))


def _other_values(a: Any, b: Any) -> bool:
    return a.shape == b.shape and not np.array_equal(a, b, equal_nan={a.dtype.kind, b.dtype.kind} <= set("fc"))


def _as_lists(state: Any) -> Any:
    """Return the state of a bit generator for JSON, which has no arrays."""
    if isinstance(state, dict):
        return {name: _as_lists(value) for name, value in state.items()}
    return state.tolist() if isinstance(state, (np.ndarray, np.generic)) else state
