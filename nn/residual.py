"""Containers: a residual connection around a module, and modules that run one after the other."""

from collections.abc import Callable, Iterator
from typing import Any

from minigrad import ArgumentError, ShapeError, Tensor
from minigrad.internal import Array, TensorLike

from ._checks import as_given, check_callable, shown
from .module import Module


class Residual(Module):
    """A residual connection, ``x + module(x)``. He et al. 2016, arXiv:1512.03385, eq. 1.

    The gradient of x is the gradient of the result plus the gradient through the module, so in a deep stack
    there is also a direct path for the gradient to the first layer, around every module.

    ``module`` is a module or a function. The call takes x and the further arguments of the module.

    Raises:
        ShapeError: the result of the module does not have the shape of x.

    Example:
        >>> import nn
        >>> from minigrad import Tensor
        >>> x = Tensor([1.0, 2.0], requires_grad=True)
        >>> nn.Residual(lambda x: 0.5 * x)(x).sum().backward()
        >>> x.grad.tolist()
        [1.5, 1.5]
    """

    def __init__(self, module: Callable[..., Any]) -> None:
        check_callable(module=module)
        self.module = module

    def forward(self, x: Tensor | Array, *args: Any, **keywords: Any) -> Tensor:
        x = as_given(x, "x")
        change = self.module(x, *args, **keywords)
        if change.shape != x.shape:
            raise ShapeError(f"Residual's module must keep the shape: got {change.shape} for x of shape {x.shape}")
        return x + change


class Sequential(Module):
    """A chain of functions, ``f_n(... f_2(f_1(x)))``. It has a length and can be indexed and iterated over.

    Args:
        functions: modules, or plain functions such as ``minigrad.relu``.

    Raises:
        ArgumentError: an argument is not callable.

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
                raise ArgumentError(f"Sequential takes modules and functions, got {shown(function)} as argument {i}")
        self.layers = list(functions)

    def forward(self, x: "TensorLike") -> Any:
        for function in self.layers:
            x = function(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, i: int) -> Callable[..., Any]:
        return self.layers[i]

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self.layers)
