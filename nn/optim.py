"""Optimizers, which change parameters in place by their gradients.

Parameters without a gradient (unused in this step, or frozen) are left alone, and so is what the optimizer remembers about
them. For different settings on different parameters make several optimizers.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import ArgumentError, DTypeError, Entry, GraphError, ShapeError, Tensor
from minigrad.device import out_of_memory, same_place, to_host

from ._checks import beside
from ._flat import Division, update_in_blocks
from ._speed import compiled_adam
from .module import Module

Array = Any


class Optimizer:
    """What the optimizers have in common.

    Args:
        parameters: tensors, e.g. ``module.parameters()``; one that comes twice counts once.
        lr: the learning rate, >= 0. It may be assigned at any time: ``optimizer.lr = 1e-4``.
        weight_decay: with it, ``g`` in the formulas is ``g + weight_decay * p``.

    Raises:
        ArgumentError: there are no parameters, or a setting is out of its range.
        GraphError: a tensor was computed, so that there is nothing to change.
    """

    settings: tuple[str, ...] = ("lr", "weight_decay")
    slots: tuple[str, ...] = ()  # what is remembered for each parameter
    _division: Division | None = None

    def __init__(self, parameters: Iterable[Tensor], lr: float, *, weight_decay: float = 0.0) -> None:
        self.parameters = distinct(parameters)
        if not self.parameters:
            raise ArgumentError(f"{type(self).__name__} got no parameters")
        self.lr = lr
        self.weight_decay = _number("weight_decay", weight_decay)
        self.state: list[dict[str, Any]] = [{} for _ in self.parameters]

    @property
    def lr(self) -> float:
        """The learning rate."""
        return self._lr

    @lr.setter
    def lr(self, value: float) -> None:
        self._lr = _number("lr", value)

    def step(self) -> None:
        """Change each parameter that has a gradient.

        Raises:
            GraphError: the parameters are computed ones now, as inside ``with precision:``.
            ShapeError: a parameter has another shape than what is remembered about it. Nothing has been changed.
        """
        ready = self._ready()
        slots = self._arrays()
        if self._division is None or not self._division.holds(ready, self.state, slots):
            self._prepare(ready)
            self._division = Division(ready, self.state, slots)
        division = self._division
        if "step" in self.slots:
            for i, _ in ready:
                self.state[i]["step"] += 1
        for i in division.alone:
            self._update_whole(self.parameters[i]._array, self._gradient(i), self.state[i])
        for i in division.on_device:
            self._update(self.parameters[i].data, self._gradient(i), self.state[i])
        for group in division.together:
            group.update(self._update_whole, self.parameters, self.state[group.members[0]])

    def _ready(self) -> list[tuple[int, Array]]:
        """The parameters that have a gradient and are not frozen: which, and their arrays, which are about to be written to."""
        ready = []
        for i, parameter in enumerate(self.parameters):
            if type(parameter._node) is Entry:
                raise GraphError(
                    f"{type(self).__name__}.step() inside `with precision:` would change copies in half precision: leave "
                    "the block first, and call precision.step()"
                )
            if parameter._grad is not None and parameter._node is not None:
                ready.append((i, parameter.data))
        return ready

    def _prepare(self, ready: Sequence[tuple[int, Array]]) -> None:
        """Make what is to be remembered about each parameter, zeros at first, and move it to where the parameter is."""
        names = self._arrays()
        for i, p in ready if names else ():
            state = self.state[i]
            last = state.get(names[-1])
            if last is not None and last.shape != p.shape:
                raise ShapeError(
                    f"parameter {i} of {type(self).__name__} has shape {p.shape} now, and what is remembered about it has "
                    f"{last.shape}: make a new optimizer"
                )
            if last is None or not same_place(last, p) or last.dtype != p.dtype:
                if "step" in self.slots:
                    state.setdefault("step", 0)
                try:
                    for name in names:
                        state[name] = _beside(state[name], p) if name in state else np.zeros_like(p, order="C")
                except MemoryError as error:
                    raise out_of_memory(error, f"the memory of {type(self).__name__}", [p]) from error

    def _gradient(self, i: int) -> Array:
        gradient = self.parameters[i].grad
        assert gradient is not None
        return gradient.data

    def _arrays(self) -> Sequence[str]:
        """The names of the arrays among the slots."""
        return [name for name in self.slots if name != "step"]

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        """Change ``p``, some of the numbers of some parameters, in place by its gradient ``g``, and what is remembered."""
        raise NotImplementedError(f"{type(self).__name__} defines no _update(p, g, state): it is what step() runs")

    def _update_whole(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        """As ``_update``, for all the numbers of a parameter on the host, or of many small ones."""
        update_in_blocks(self._update, p, g, state)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_division": None}  # the arrays of a copy lie apart

    def _decayed(self, p: Array, g: Array) -> Array:
        """The gradient with the weight decay in it."""
        return g + self.weight_decay * p if self.weight_decay else g

    def zero_grad(self) -> None:
        """Forget the gradients of the parameters."""
        for parameter in self.parameters:
            parameter.zero_grad()

    def state_dict(self) -> dict[str, Any]:
        """The settings, and for each parameter, in order, a copy of what is remembered (NumPy arrays and numbers)."""
        return {
            "optimizer": type(self).__name__,
            "settings": {name: getattr(self, name) for name in self.settings},
            "parameters": [
                {name: np.array(to_host(v)) if hasattr(v, "dtype") else v for name, v in state.items()}
                for state in self.state
            ],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Take over the settings and the memory that ``state_dict`` of such an optimizer gave.

        Raises:
            ArgumentError: it is of another optimizer, or of another number of parameters.
            ShapeError, DTypeError: an array does not fit its parameter. On any of these nothing has been changed.
        """
        if saved.keys() != {"optimizer", "settings", "parameters"} or saved["optimizer"] != type(self).__name__:
            raise ArgumentError(f"this is no state of {type(self).__name__}: {saved.get('optimizer', list(saved))!r}")
        if len(saved["parameters"]) != len(self.parameters):
            raise ArgumentError(
                f"the saved state is for {len(saved['parameters'])} parameters, and this {type(self).__name__} has "
                f"{len(self.parameters)}"
            )
        loaded = type(self)(self.parameters, **saved["settings"])  # checks the settings
        for i, (parameter, state) in enumerate(zip(self.parameters, saved["parameters"])):
            if state and state.keys() != set(self.slots):
                raise ArgumentError(f"the saved state of parameter {i} has {list(state)}, not {list(self.slots)}")
            loaded.state[i] = {name: _fitting(value, parameter, i, name) for name, value in state.items()}
        vars(self).update(vars(loaded))

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={getattr(self, name)}" for name in self.settings)
        return f"{type(self).__name__}({settings}; {len(self.parameters)} tensors)"


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum: ``b = momentum * b + g; p -= lr * b``.

    ``b`` starts as the first gradient (Polyak 1964, in the form of Sutskever et al. 2013 without Nesterov's).
    """

    settings = ("lr", "momentum", "weight_decay")
    slots = ("momentum",)

    def __init__(
        self, parameters: Iterable[Tensor], lr: float = 1e-2, *, momentum: float = 0.0, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.momentum = _number("momentum", momentum, below=1)

    def _arrays(self) -> Sequence[str]:
        return self.slots if self.momentum else ()

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        g = self._decayed(p, g)
        if self.momentum:
            b = state["momentum"]
            b *= self.momentum
            b += g
            g = b
        p -= self.lr * g


class AdaGrad(Optimizer):
    """Steps that shrink with all gradients so far: ``s += g * g; p -= lr * g / (sqrt(s) + eps)``.

    Duchi, Hazan and Singer 2011, JMLR 12, algorithm 1 with diagonal matrices.
    """

    settings = ("lr", "eps", "weight_decay")
    slots = ("sum",)

    def __init__(
        self, parameters: Iterable[Tensor], lr: float = 1e-2, *, eps: float = 1e-10, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.eps = _number("eps", eps)

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        g = self._decayed(p, g)
        total = state["sum"]
        total += g * g
        p -= self.lr * g / (np.sqrt(total) + self.eps)


class RMSProp(Optimizer):
    """Steps divided by the size of recent gradients, with momentum::

        v = alpha * v + (1 - alpha) * g * g
        b = momentum * b + g / (sqrt(v) + eps)
        p -= lr * b

    Tieleman and Hinton 2012, COURSERA: Neural Networks for Machine Learning, lecture 6.5.
    """

    settings = ("lr", "alpha", "eps", "momentum", "weight_decay")
    slots = ("v", "momentum")

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-2,
        *,
        alpha: float = 0.99,
        eps: float = 1e-8,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.alpha = _number("alpha", alpha, below=1)
        self.eps = _number("eps", eps)
        self.momentum = _number("momentum", momentum, below=1)

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        g = self._decayed(p, g)
        v, b = state["v"], state["momentum"]
        v *= self.alpha
        v += (1 - self.alpha) * g * g
        b *= self.momentum
        b += g / (np.sqrt(v) + self.eps)
        p -= self.lr * b


class Adam(Optimizer):
    """Adam: steps of about ``lr``, whatever the scale of the gradient. Kingma and Ba 2015, arXiv:1412.6980, algorithm 1.

    In step t, with the means corrected for having started at zero::

        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g * g
        p -= lr * m / (1 - beta_1**t) / (sqrt(v / (1 - beta_2**t)) + eps)
    """

    settings = ("lr", "betas", "eps", "weight_decay")
    slots = ("step", "m", "v")

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        beta_1, beta_2 = betas
        self.betas = (_number("betas[0]", beta_1, below=1), _number("betas[1]", beta_2, below=1))
        self.eps = _number("eps", eps)

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        beta_1, beta_2 = self.betas
        t, m, v = state["step"], state["m"], state["v"]
        g = self._decayed(p, g)
        change = g * (1 - beta_1)  # one array for every intermediate
        m *= beta_1
        m += change
        np.multiply(g, g, out=change)
        change *= 1 - beta_2
        v *= beta_2
        v += change
        # The corrections go with the numbers rather than with the arrays, which saves a pass over memory.
        np.sqrt(v, out=change)
        change *= 1 / math.sqrt(1 - beta_2**t)
        change += self.eps  # here, as in float16 the product of eps and a correction would be 0
        np.divide(m, change, out=change)
        change *= self.lr / (1 - beta_1**t)
        p -= change

    def _update_whole(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        step = compiled_adam() if p.dtype.char in "fd" and p.flags.carray else None
        if step is None:
            super()._update_whole(p, g, state)
            return
        corrections = [1 - beta ** state["step"] for beta in self.betas]
        step(p, self._decayed(p, g), state["m"], state["v"], self.lr, *self.betas, self.eps, *corrections)


class AdamW(Adam):
    """Adam with the weight decay apart from the gradient: first ``p -= lr * weight_decay * p``, then Adam's step.

    Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
    ) -> None:
        super().__init__(parameters, lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def _decayed(self, p: Array, g: Array) -> Array:
        if self.weight_decay:
            p *= 1 - self.lr * self.weight_decay
        return g


def _beside(array: Array, p: Array) -> Array:
    """What is remembered where the parameter is now, and in its dtype."""
    return beside(to_host(array).astype(p.dtype, copy=False), p)


def distinct(parameters: Iterable[Tensor]) -> list[Tensor]:
    """The parameters as a list, each once.

    Raises:
        ArgumentError: what was given is no iterable of tensors.
        GraphError: one of them was computed.
    """
    if isinstance(parameters, Module):
        raise ArgumentError(f"got a {type(parameters).__name__} for parameters: pass module.parameters()")
    found = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    for i, parameter in enumerate(found):
        if not isinstance(parameter, Tensor):
            raise ArgumentError(f"parameters must be tensors, got {type(parameter).__name__} at place {i}")
        if not parameter.is_leaf:
            raise GraphError(f"{parameter._describe()} at place {i} of parameters was computed: pass what it came from")
    return list({id(parameter): parameter for parameter in found}.values())


def _number(name: str, value: Any, below: float = math.inf) -> float:
    """``value`` as a Python float (NumPy's would promote float32 arrays), in [0, below)."""
    number = float(value)
    if not 0 <= number < below:
        raise ArgumentError(
            f"{name} must be " + (f"in [0, {below})" if below < math.inf else ">= 0") + f", got {value!r}"
        )
    return number


def _fitting(value: Any, parameter: Tensor, i: int, name: str) -> Any:
    """A remembered value for ``parameter``: a copy beside its data, or a plain number."""
    if name == "step":
        return int(value)
    array = np.array(value, order="C")
    if array.shape != parameter.shape:
        raise ShapeError(
            f"the saved '{name}' of parameter {i} has shape {array.shape}, the parameter {parameter.shape}"
        )
    if array.dtype != parameter.dtype:
        raise DTypeError(
            f"the saved '{name}' of parameter {i} has dtype {array.dtype}, the parameter {parameter.dtype}"
        )
    return beside(array, parameter.data)
