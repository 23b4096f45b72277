"""Modules one after the other, and around one of them a way past it."""

from collections.abc import Callable, Iterator
from typing import Any

from minigrad import ArgumentError, ShapeError, Tensor

from .module import Module


class Residual(Module):
    """``x + module(x)``: the identity, and what the module adds to it. He et al. 2016, arXiv:1512.03385, eq. 1.

    The gradient of x is that of the result plus what comes through the module, so a deep stack keeps the gradient of its
    last layer for its first.

    Calling it: x and whatever else the module takes.

    Raises:
        ShapeError: the module gives another shape than that of x.

    Example:
        >>> import nn
        >>> from minigrad import Tensor
        >>> x = Tensor([1.0, 2.0], requires_grad=True)
        >>> nn.Residual(lambda x: 0.5 * x)(x).sum().backward()
        >>> x.grad.tolist()
        [1.5, 1.5]
    """

    def __init__(self, module: Callable[..., Any]) -> None:
        self.module = module

    def forward(self, x: Any, *args: Any, **keywords: Any) -> Tensor:
        change = self.module(x, *args, **keywords)
        if change.shape != x.shape:
            raise ShapeError(f"Residual adds what its module gives to x: got {change.shape} for x of shape {x.shape}")
        return x + change


class Sequential(Module):
    """``f_n(... f_2(f_1(x)))``: each takes what the one before it gives.

    Args:
        functions: modules, or plain functions such as ``minigrad.relu``.

    It has a length and can be indexed and iterated over.

    Raises:
        ArgumentError: one of them cannot be called.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> from minigrad import relu
        >>> rng = np.random.default_rng(0)
        >>> net = nn.Sequential(nn.Affine(3, 8, rng=rng), relu, nn.Affine(8, 1, rng=rng))
        >>> net(np.ones((4, 3))).shape, len(net)
        ((4, 1), 3)
        >>> list(net.state_dict())
        ['layers.0.weight', 'layers.0.bias', 'layers.2.weight', 'layers.2.bias']
    """

    def __init__(self, *functions: Callable[..., Any]) -> None:
        for i, function in enumerate(functions):
            if not callable(function):
                raise ArgumentError(f"Sequential takes modules and functions, got {function!r} at place {i}")
        self.layers = list(functions)

    def forward(self, x: Any) -> Any:
        for function in self.layers:
            x = function(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, i: int) -> Callable[..., Any]:
        return self.layers[i]

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self.layers)
