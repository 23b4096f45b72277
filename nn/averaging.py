"""WeightAverage: an average of the weights that a model had in training, which often predicts better than the last ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad import ArgumentError
from minigrad.internal import Array, to_host

from ._checks import as_number, beside, check_kind
from .module import Module
from .optimizer import precision
from .training import Callback, Training


class WeightAverage(Callback):
    """An exponential moving average (EMA) of a model's parameters: ``a = decay * a + (1 - decay) * p`` after each step.

    The average begins with the parameters at the first ``update``. Buffers are not averaged. As a callback of :func:`fit` it is
    updated after each step, and the checkpoint files hold it. Source: Polyak and Juditsky 1992,
    SIAM J. Control Optim. 30(4), for the idea; the exponential form is that of Tarvainen and Valpola 2017, arXiv:1703.01780,
    section 2. PyTorch has it as ``swa_utils.AveragedModel`` with ``get_ema_multi_avg_fn(decay)``.

    Args:
        model: the model in training: ``nn.fit(..., callbacks=[average])``. In a loop of your own, call ``update`` after each
            ``optimizer.step()``.
        decay: in [0, 1). The average looks back over about ``1 / (1 - decay)`` steps.

    Raises:
        ArgumentError: ``decay`` is out of its range, ``applied`` is entered before the first ``update``, or ``update`` is
            called while the average is applied.

    Example:
        >>> import nn
        >>> model = nn.Sequential(nn.LayerNorm(1))
        >>> average = nn.WeightAverage(model, decay=0.5)
        >>> for value in (0.0, 1.0, 2.0):
        ...     model.layers[0].weight.data[:] = value
        ...     average.update()
        >>> with average.applied():  # 0, then 0.5, then 1.25
        ...     print(model.layers[0].weight.item())
        1.25
        >>> model.layers[0].weight.item()
        2.0
    """

    def __init__(self, model: Module, decay: float = 0.999) -> None:
        check_kind("a Module", Module, model=model)
        self.decay = as_number(0, 1, ")", decay=decay)
        self._parameters = list(model.parameters())
        self._averages: list[
            Array
        ] = []  # in the parameters' order; of float16 ones in float32, where small steps count
        self._applied = False

    def update(self) -> None:
        """Take the present parameters into the average."""
        if self._applied:
            raise ArgumentError("the average is applied: leave `with average.applied():` before the next update")
        if not self._averages:
            self._averages = [parameter.data.astype(precision(parameter.dtype)) for parameter in self._parameters]
        for average, parameter in zip(self._averages, self._parameters):
            average *= self.decay
            average += (1 - self.decay) * parameter.data.astype(average.dtype, copy=False)

    def after_update(self, run: Training) -> None:
        self.update()

    def state(self) -> dict[str, Any]:
        return {str(i): np.array(to_host(average)) for i, average in enumerate(self._averages)}

    def load(self, run: Training, saved: dict[str, Any]) -> None:
        forms = [(parameter.shape, precision(parameter.dtype)) for parameter in self._parameters]
        arrays = [saved[name] for name in map(str, range(len(saved))) if name in saved]
        if saved and [(array.shape, array.dtype) for array in arrays] != forms:
            raise ArgumentError("it has an average of other weights: resume without this WeightAverage")
        self._averages = [beside(array, parameter.data) for array, parameter in zip(arrays, self._parameters)]

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the averages inside the block, to validate it or to save it; then its own parameters again."""
        if not self._averages:
            raise ArgumentError("there is no average yet: call update() after a training step first")
        if self._applied:
            raise ArgumentError("the average is applied already")
        own = [parameter.data.copy() for parameter in self._parameters]
        self._applied = True
        try:
            self._put(self._averages)
            yield
        finally:
            self._put(own)
            self._applied = False

    def _put(self, arrays: list[Array]) -> None:
        for parameter, array in zip(self._parameters, arrays):
            parameter.data[...] = array
