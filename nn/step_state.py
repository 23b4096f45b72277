"""The state of a training between two steps: a checkpoint file holds it, and a step that was stopped is put back to it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from minigrad import ArgumentError, Tensor
from minigrad.internal import array_of, to_host

from .dropout import Dropout
from .history import History
from .module import Buffer, Module, Parameter
from .optimizer import Optimizer
from .weights_file import Arrays, divided, named_in_errors, part, put_weights, same, same_model, weights

NUMBERS = frozenset((int, float, bool))
CONSTANT = frozenset((str, type(None), Parameter))  # what most attributes are; no forward pass changes them
PLAIN = (np.ndarray, np.generic, Tensor)  # arrays that are neither parameters nor buffers
MASKS = ("key", "step")  # the numbers of a Dropout that make its masks


# A module, dict, list or tuple of the model: itself, its items, the index of the holder around it, and its name there.
Holder = tuple[Any, Any, int, Any]


class StepState:
    """All that a run of ``fit`` changes, as it is between two steps.

    The parameters, the optimizer's state, the history and ``updates`` change in updates alone, which are never divided. A
    forward pass changes buffers, random generators, and numbers in attributes and dicts of modules. :meth:`take` copies these,
    :meth:`put_back` undoes what a stopped step has changed in them, and :meth:`collect` returns everything for a file.
    """

    def __init__(self, model: Module, optimizer: Optimizer) -> None:
        self.model, self.optimizer = model, optimizer
        self.history = History()
        self.updates = 0  # in the current epoch
        self.take()
        self._first_numbers = self._numbers()
        self._first_arrays = {path: _host(value) for path, value in self._kept_by_path(PLAIN)}

    def take(self, *, parameters: bool = False) -> None:
        """Copy the present state; with ``parameters``, those too, for a program that may change them outside an update."""
        holders: list[Holder] = [(self.model, vars(self.model), 0, "")]  # tuples, because every step makes them
        kept: list[tuple[int, Any, Any, Any]] = []  # the index of the holder, the name there, the value, and its copy
        seen = {id(self.model)}
        for i, (_, items, _, _) in enumerate(holders):  # grows in the loop
            for name, value in items.items() if isinstance(items, dict) else enumerate(items):
                kind = type(value)
                if kind in NUMBERS:
                    kept.append((i, name, value, None))
                elif kind not in CONSTANT and id(value) not in seen:
                    seen.add(id(value))
                    if isinstance(value, Module):
                        holders.append((value, vars(value), i, name))
                    elif isinstance(value, (dict, list, tuple)):
                        holders.append((value, value, i, name))
                    elif isinstance(value, Buffer):
                        kept.append((i, name, value, array_of(value).copy(order="K")))
                    elif isinstance(value, np.random.Generator):
                        kept.append((i, name, value, value.bit_generator.state))
                    elif isinstance(value, PLAIN) and not isinstance(value, Parameter):
                        kept.append((i, name, value, None))
        own = [(p, array_of(p), array_of(p).copy(order="K")) for p in self.model.parameters()] if parameters else []
        self._holders, self._kept, self._parameters = holders, kept, own

    def put_back(self) -> None:
        """Give the model the state of the last :meth:`take`."""
        for i, name, value, state in self._kept:
            if isinstance(value, Buffer):
                value.data = state
            elif isinstance(value, np.random.Generator):
                value.bit_generator.state = state
            if isinstance(items := self._holders[i][1], dict):  # the attributes of a module, too
                items[name] = value
        for parameter, array, state in self._parameters:
            array[...] = state
            parameter.data = array

    def collect(self) -> tuple[Arrays, dict[str, Any]]:
        """Return what a checkpoint file holds: arrays by name, and JSON values.

        Of the numbers, these are a Dropout's, and those that the run has changed: the others are settings of the model.
        """
        arrays, about = weights(self.model)
        saved = self.optimizer.state_dict()
        counts = []
        for i, state in enumerate(saved["parameters"]):
            memory, numbers = divided(f"optimizer.{i}.", state)
            arrays |= memory
            counts.append(numbers)
        arrays["losses"] = np.array(self.history.losses, np.float64)
        first, masks = self._first_numbers, self._masks()
        return arrays, about | {
            "optimizer": {"name": saved["optimizer"], "settings": saved["settings"], "numbers": counts},
            "generators": {
                path: _as_lists(generator.bit_generator.state)
                for path, generator in self._kept_by_path(np.random.Generator)
            },
            "numbers": {
                path: value for path, value in self._numbers().items() if path in masks or first.get(path) != value
            },
            "metrics": self.history.metrics,
            "updates": self.updates,
        }

    def loading(self, path: Path, arrays: Arrays, about: dict[str, Any]) -> Callable[[], None]:
        """Return a function that restores the model and the optimizer from what :meth:`collect` returned.

        Raise a CheckpointError, with nothing changed, if it does not fit.
        """
        same_model(path, self.model, about)
        same(path, "the model's weights", _forms(part("model.", arrays)), _forms(self.model.state_dict()))
        with named_in_errors(path):
            optimizer = self._loaded_optimizer(path, arrays, about["optimizer"])
            generators = self._fitting_generators(about["generators"])
            holders = self._fitting_holders(about["numbers"])

        def load() -> None:
            put_weights(path, self.model, arrays)
            vars(self.optimizer).update(vars(optimizer))
            for generator, state in generators:
                generator.bit_generator.state = state
            for number, (items, name) in holders.items():
                items[name] = about["numbers"][number]
                # Every later file holds it, even if this model began with the same number.
                self._first_numbers.pop(number, None)

        return load

    def _loaded_optimizer(self, path: Path, arrays: Arrays, saved: dict[str, Any]) -> Optimizer:
        settings = self.optimizer._given()
        same(path, "the optimizer", saved["name"], type(self.optimizer).__name__)
        same(path, "the number of the optimizer's tensors", len(saved["numbers"]), len(self.optimizer.parameters))
        same(path, "the list of the optimizer's settings", sorted(saved["settings"]), sorted(settings))
        for name in settings.keys() - {"lr"}:  # lr may change during training
            same(path, f"{name} of the optimizer", saved["settings"][name], settings[name])
        memory = [counts | part(f"optimizer.{i}.", arrays) for i, counts in enumerate(saved["numbers"])]
        optimizer = copy.copy(self.optimizer)
        optimizer.load_state_dict({"optimizer": saved["name"], "settings": saved["settings"], "parameters": memory})
        return optimizer

    def _fitting_generators(self, saved: dict[str, Any]) -> list[tuple[np.random.Generator, Any]]:
        ours = dict(self._kept_by_path(np.random.Generator))
        if ours.keys() != saved.keys():
            raise ArgumentError(f"it has the random generators {list(saved)}, and the model has {list(ours)}")
        for path, generator in ours.items():
            try:
                type(generator.bit_generator)().state = saved[path]
            except (TypeError, ValueError, KeyError) as error:
                raise ArgumentError(f"its state of the random generator {path!r} cannot be set: {error}") from error
        return [(generator, saved[path]) for path, generator in ours.items()]

    def _fitting_holders(self, numbers: dict[str, Any]) -> dict[str, tuple[dict[Any, Any], Any]]:
        """Return for each number by its path the dict that holds it, and its name there."""
        dicts = {self._path(i, ""): items for i, (_, items, *_) in enumerate(self._holders) if isinstance(items, dict)}
        places = {path: path.rfind(".") + 1 for path in numbers}
        if missing := [path for path, end in places.items() if path[:end] not in dicts]:
            raise ArgumentError(f"it has the numbers {missing}, and the model has no such modules")
        if missing := sorted(self._masks() - numbers.keys()):
            raise ArgumentError(f"it lacks the numbers {missing} of the model's Dropout layers")
        found = {}
        for path, end in places.items():
            holder, name = dicts[path[:end]], path[end:]
            found[path] = holder, next((own for own in holder if str(own) == name), name)
        return found

    def changed_arrays(self) -> list[str]:
        """Return the paths of arrays that are not buffers and whose values the run changed: no checkpoint file holds them.

        An array of another shape is not state but a table that grows as longer sequences come.
        """
        now = dict(self._kept_by_path(PLAIN))
        return [
            path for path, old in self._first_arrays.items() if path in now and _other_values(old, _host(now[path]))
        ]

    def _path(self, i: int, name: Any) -> str:
        """Return the path of the value that holder ``i`` has under ``name``."""
        path = str(name)
        while i:
            _, _, i, outer = self._holders[i]
            path = f"{outer}.{path}"
        return path

    def _numbers(self) -> dict[str, int | float | bool]:
        """Return the numbers by path. A list grows, so that its indices name no state; ``training`` is a module's mode."""
        found = {}
        for i, name, value, _ in self._kept:
            owner, items, *_ = self._holders[i]
            if type(value) in NUMBERS and isinstance(items, dict) and (name != "training" or owner is items):
                found[self._path(i, name)] = value
        return found

    def _masks(self) -> set[str]:
        dropouts = [i for i, (owner, *_) in enumerate(self._holders) if isinstance(owner, Dropout)]
        return {self._path(i, name) for i in dropouts for name in MASKS}

    def _kept_by_path(self, kind: Any) -> list[tuple[str, Any]]:
        kept = self._kept
        return [(self._path(i, name), v) for i, name, v, _ in kept if isinstance(v, kind) and not isinstance(v, Buffer)]


def _forms(arrays: Arrays) -> dict[str, str]:
    return {name: f"{array.dtype} {array.shape}" for name, array in arrays.items()}


def _host(value: Any) -> Any:
    return np.array(to_host(value.data if isinstance(value, Tensor) else value))


def _other_values(a: Any, b: Any) -> bool:
    return a.shape == b.shape and not np.array_equal(a, b, equal_nan={a.dtype.kind, b.dtype.kind} <= set("fc"))


def _as_lists(state: Any) -> Any:
    """Return the state of a bit generator for JSON, which has no arrays."""
    if isinstance(state, dict):
        return {name: _as_lists(value) for name, value in state.items()}
    return state.tolist() if isinstance(state, (np.ndarray, np.generic)) else state
