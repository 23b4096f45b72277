"""Optimizers, which change parameters in place by their gradients.

A step leaves parameters without a gradient (unused in this step, or frozen) and their state unchanged. :class:`Optimizer` says
how groups of parameters get a weight decay or a learning rate of their own.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad import ArgumentError
from minigrad.internal import Array, compiled_adam, zeros

from ._checks import as_number, check_kind
from .optimizer import Optimizer, Parameters, both


class SGD(Optimizer):
    """Stochastic gradient descent with momentum: ``b = momentum * b + g; p -= lr * b``.

    ``b`` starts at zero, and ``momentum`` is in [0, 1). With ``nesterov=True`` the step looks one momentum step ahead:
    ``p -= lr * (g + momentum * b)``, with the new ``b``. Source: Polyak 1964; Sutskever et al. 2013, equations 3 and 4, in the
    form of PyTorch. See :class:`Optimizer` for the other arguments.

    Raises:
        ArgumentError: ``nesterov`` without ``momentum``, or as :class:`Optimizer` says.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([10.0])
        >>> optimizer = nn.SGD([weight], lr=1.0, momentum=0.5)
        >>> weight.sum().backward()
        >>> for _ in range(3):  # with the gradient 1 the steps are 1, 1.5, 1.75
        ...     optimizer.step()
        >>> weight.item()
        5.75
    """

    elementwise = True

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-2,
        *,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float = 0.0,
    ) -> None:
        check_kind("True or False", nesterov=nesterov)
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.momentum = as_number(0, 1, ")", momentum=momentum)
        self.nesterov = bool(nesterov)
        if self.nesterov and not self.momentum:
            raise ArgumentError(
                "nesterov=True needs a momentum above 0, got 0.0: SGD(parameters, momentum=0.9, nesterov=True)"
            )

    def _start(self, p: Array) -> dict[str, Any]:
        return {"momentum": zeros(p.shape, p)} if self.momentum else {}

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        g = self._decayed(p, g)
        if self.momentum:
            b = state["momentum"]
            b *= self.momentum
            b += g
            g = g + self.momentum * b if self.nesterov else b
        p -= self.lr * g


class AdaGrad(Optimizer):
    """AdaGrad, whose steps shrink as squared gradients add up: ``s += g * g; p -= lr * g / (sqrt(s) + eps)``.

    Source: Duchi, Hazan and Singer 2011, JMLR 12, algorithm 1 with diagonal matrices. See :class:`Optimizer` for the other
    arguments and the errors.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0])
        >>> optimizer = nn.AdaGrad([weight], lr=1.0)
        >>> weight.sum().backward()
        >>> for _ in range(3):  # with the gradient 1 the steps are 1, 1 / sqrt(2), 1 / sqrt(3)
        ...     optimizer.step()
        >>> round(weight.item(), 3)
        -2.284
    """

    elementwise = True

    def __init__(
        self, parameters: Parameters, lr: float = 1e-2, *, eps: float = 1e-10, weight_decay: float = 0.0
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.eps = as_number(0, eps=eps)

    def _start(self, p: Array) -> dict[str, Any]:
        return {"sum": zeros(p.shape, p)}

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        g = self._decayed(p, g)
        total = state["sum"]
        total += g * g
        p -= self.lr * g / (np.sqrt(total) + self.eps)


class RMSProp(Optimizer):
    """RMSProp, which divides each step by the root mean square of recent gradients, with momentum::

        v = alpha * v + (1 - alpha) * g * g
        b = momentum * b + g / (sqrt(v) + eps)
        p -= lr * b

    Source: Tieleman and Hinton 2012, COURSERA: Neural Networks for Machine Learning, lecture 6.5. ``alpha`` and ``momentum``
    are in [0, 1). See :class:`Optimizer` for the other arguments and the errors.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0, 0.0])
        >>> (weight * [1.0, 1000.0]).sum().backward()
        >>> nn.RMSProp([weight], lr=0.01).step()  # the first step: lr / sqrt(1 - alpha)
        >>> weight.numpy().round(3)
        array([-0.1, -0.1])
    """

    elementwise = True

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-2,
        *,
        alpha: float = 0.99,
        eps: float = 1e-8,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.alpha = as_number(0, 1, ")", alpha=alpha)
        self.eps = as_number(0, eps=eps)
        self.momentum = as_number(0, 1, ")", momentum=momentum)

    def _start(self, p: Array) -> dict[str, Any]:
        return {"v": zeros(p.shape, p), "momentum": zeros(p.shape, p)}

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        g = self._decayed(p, g)
        v, b = state["v"], state["momentum"]
        v *= self.alpha
        v += (1 - self.alpha) * g * g
        b *= self.momentum
        b += g / (np.sqrt(v) + self.eps)
        p -= self.lr * b


class Adam(Optimizer):
    """Adam, whose steps are about ``lr`` at any scale of the gradient. Kingma and Ba 2015, arXiv:1412.6980, algorithm 1.

    In step t = 1, 2, ... the update is::

        m = beta_1 * m + (1 - beta_1) * g
        v = beta_2 * v + (1 - beta_2) * g * g
        p -= lr * m / (1 - beta_1**t) / (sqrt(v / (1 - beta_2**t)) + eps)

    The divisions by ``1 - beta**t`` correct the means m and v, which start at zero. ``betas`` are two numbers in [0, 1). With
    ``amsgrad=True``, the greatest v so far takes the place of v in the third line, so that a rare large gradient is not
    forgotten: Reddi, Kale and Kumar 2018, arXiv:1904.09237, algorithm 2, with the corrections, as in PyTorch. See
    :class:`Optimizer` for the other arguments and the errors.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0, 0.0])
        >>> (weight * [1.0, 1000.0]).sum().backward()
        >>> nn.Adam([weight], lr=0.1).step()
        >>> weight.numpy().round(3)
        array([-0.1, -0.1])
    """

    elementwise = True

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.betas = both("betas", betas)
        self.eps = as_number(0, eps=eps)
        check_kind("True or False", amsgrad=amsgrad)
        self.amsgrad = bool(amsgrad)

    def _start(self, p: Array) -> dict[str, Any]:
        names = ("m", "v", "v_max") if self.amsgrad else ("m", "v")
        return {"step": 0, **{name: zeros(p.shape, p) for name in names}}

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        beta_1, beta_2 = self.betas
        t, m, v = state["step"], state["m"], state["v"]
        g = self._decayed(p, g)
        change = g * (1 - beta_1)  # this one array holds every intermediate result
        m *= beta_1
        m += change
        np.multiply(g, g, out=change)
        change *= 1 - beta_2
        v *= beta_2
        v += change
        # The corrections are applied to scalars rather than to arrays, which saves a pass over memory.
        np.sqrt(np.maximum(state["v_max"], v, out=state["v_max"]) if self.amsgrad else v, out=change)
        change *= 1 / math.sqrt(1 - beta_2**t)
        change += self.eps
        np.divide(m, change, out=change)
        change *= self.lr / (1 - beta_1**t)
        p -= change

    def _update_whole(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        step = compiled_adam() if p.dtype == np.float32 and p.flags.carray and not self.amsgrad else None
        if step is None:
            super()._update_whole(p, g, state)
            return
        corrections = [1 - beta ** state["step"] for beta in self.betas]
        step(p, self._decayed(p, g), state["m"], state["v"], self.lr, *self.betas, self.eps, *corrections)


class AdamW(Adam):
    """Adam with decoupled weight decay: first ``p -= lr * weight_decay * p``, then Adam's step on the gradient alone.

    Source: Loshchilov and Hutter 2019, arXiv:1711.05101, algorithm 2. See :class:`Adam` for the arguments and the errors.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([4.0])
        >>> (0.0 * weight).sum().backward()  # the gradient is 0, so only the decay acts
        >>> nn.AdamW([weight], lr=0.1, weight_decay=0.5).step()
        >>> round(weight.item(), 3)  # Adam, which adds the decay to the gradient, would step by lr to 3.9
        3.8
    """

    decoupled = True

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-3,
        *,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(parameters, lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad)


class Lion(Optimizer):
    """Lion, whose steps have the size ``lr`` in every element, in the direction of a sign. It keeps one array per parameter::

        c = beta_1 * m + (1 - beta_1) * g
        p -= lr * (sign(c) + weight_decay * p)
        m = beta_2 * m + (1 - beta_2) * g

    Source: Chen et al. 2023, arXiv:2302.06675, algorithm 2. Its authors use a learning rate that is 3 to 10 times smaller than
    AdamW's, and a weight decay that is as many times larger. ``betas`` are two numbers in [0, 1). See :class:`Optimizer` for
    the other arguments and the errors.

    Example:
        >>> import nn
        >>> weight = nn.Parameter([0.0, 0.0])
        >>> (weight * [1.0, -1000.0]).sum().backward()
        >>> nn.Lion([weight], lr=0.1).step()
        >>> weight.numpy()
        array([-0.1,  0.1])
    """

    elementwise = True
    decoupled = True

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-4,
        *,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(parameters, lr, weight_decay=weight_decay)
        self.betas = both("betas", betas)

    def _start(self, p: Array) -> dict[str, Any]:
        return {"m": zeros(p.shape, p)}

    def _update(self, p: Array, g: Array, state: Mapping[str, Any]) -> None:
        beta_1, beta_2 = self.betas
        m, g = state["m"], self._decayed(p, g)
        p -= self.lr * np.sign(beta_1 * m + (1 - beta_1) * g)
        m *= beta_2
        m += (1 - beta_2) * g
