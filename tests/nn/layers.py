"""What the tests of the layers share: random weights, PyTorch's counterparts with the same ones, gradients by any path."""

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import Tensor, check_grads
from nn import Module, to_torch_state
from tests.lazy import torch

Arrays = dict[str, np.ndarray]


def assert_close(got: Any, expected: Any, name: str = "") -> None:
    """Equal to 1e-10: in double precision, apart from the order of additions."""
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-10, err_msg=name)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def randomized(module: Module, seed: int = 1) -> Any:
    """The module with random values in every parameter, biases and gains too."""
    generator = rng(seed)
    for parameter in module.parameters():
        parameter.data = (0.5 * generator.standard_normal(parameter.shape)).astype(parameter.dtype)
    return module


def value(tensor: Tensor) -> np.ndarray:
    return tensor.data


def gradient(tensor: Tensor) -> np.ndarray:
    assert tensor.grad is not None
    return tensor.grad.data


# The same arrays under PyTorch's names.


def torch_state(module: Module, of: Callable[[Tensor], np.ndarray] = value) -> Arrays:
    """The values of the parameters, or their gradients."""
    return to_torch_state(module, gradients=of is gradient)


def prefixed(prefix: str, state: Arrays) -> Arrays:
    return {f"{prefix}.{name}": array for name, array in state.items()}


def to_torch(array: np.ndarray, requires_grad: bool = False) -> Any:
    return torch.tensor(array, requires_grad=requires_grad)


def twins(*arrays: np.ndarray) -> tuple[list[Tensor], list[Any]]:
    """The arrays twice, with gradients: as our tensors, and as PyTorch's."""
    return [Tensor(a, requires_grad=True) for a in arrays], [to_torch(a, True) for a in arrays]


def load(theirs: Any, weights: Module | Arrays) -> Any:
    """PyTorch's module with these weights, or those of our module, in double precision."""
    theirs = theirs.double()
    state = torch_state(weights) if isinstance(weights, Module) else weights
    theirs.load_state_dict({name: to_torch(array) for name, array in state.items()})
    return theirs


def assert_same(ours: list[Tensor], theirs: list[Any], modules: Any = None, state_of: Any = torch_state) -> None:
    """Backward from ``ours[0]`` and ``theirs[0]``: equal values, and equal gradients of what follows and of all weights."""
    (y, *inputs), (torch_y, *torch_inputs) = ours, theirs
    assert_close(y.numpy(), torch_y.detach().numpy())
    cotangent = rng(9).standard_normal(y.shape)
    y.backward(cotangent)
    torch_y.backward(to_torch(cotangent))
    for x, torch_x in zip(inputs, torch_inputs, strict=True):
        assert_close(gradient(x), torch_x.grad.numpy())
    if modules is not None:
        module, torch_module = modules
        expected = {name: p.grad.numpy() for name, p in torch_module.named_parameters()}
        gradients = state_of(module, gradient)
        assert gradients.keys() == expected.keys()
        for name, array in gradients.items():
            assert_close(array, expected[name], name)


def assert_equals_pytorch(ours: Callable[..., Any], theirs: Any, *arrays: np.ndarray, **keywords: Any) -> None:
    """`assert_same` of both functions of these arrays; of two modules, with all weights. The keywords are ours alone."""
    tensors, torch_tensors = twins(*arrays)
    modules = (ours, theirs) if isinstance(ours, Module) and isinstance(theirs, torch.nn.Module) else None
    assert_same([ours(*tensors, **keywords), *tensors], [theirs(*torch_tensors), *torch_tensors], modules)


def check_module(module: Module, *args: np.ndarray, **keywords: Any) -> None:
    """``check_grads`` with respect to the inputs and to every parameter, at first and second order."""

    def call(parameters: Any, *inputs: Any) -> Any:
        return module.replaced(parameters)(*inputs, **keywords)

    check_grads(call, ({path: p.data for path, p in module.named_parameters()}, *args))
