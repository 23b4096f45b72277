"""What a work is, and what the families share: libraries that are imported when they are used, weights, training steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.plain_model import Plain
from benchmarks.step import Step

# How far a peer's losses and outputs may be from PyTorch's. Gradients through ReLU may be further: inputs that one library
# rounds to just above zero the other rounds to just below.
LOSS, OUTPUT, RELU_GRADIENTS = 1e-6, 1e-5, 1e-3


class Lazy:
    """A module that is imported when something of it is asked for: each peer's process holds its own library only.

    What has been asked for once is an attribute like any other, so that no step pays for it.
    """

    def __init__(self, dotted: str) -> None:
        self._dotted = dotted

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(importlib.import_module(self._dotted), name)
        setattr(self, name, value)
        return value


torch: Any = Lazy("torch")
F: Any = Lazy("torch.nn.functional")
mg: Any = Lazy("minigrad")
nn: Any = Lazy("nn")
models: Any = Lazy("models")
peer_torch: Any = Lazy("benchmarks.peer_torch")
torch_gpt: Any = Lazy("benchmarks.real.torch_gpt")
peer_minigrad: Any = Lazy("benchmarks.peer_minigrad")
peer_written: Any = Lazy("benchmarks.peer_written")
autograd: Any = Lazy("autograd")
anp: Any = Lazy("autograd.numpy")
peer_jax: Any = Lazy("benchmarks.peer_jax")
jax: Any = Lazy("jax")
jnp: Any = Lazy("jax.numpy")


@dataclass(frozen=True)
class Work:
    """One work: what it is in words, and how each of the two libraries builds it from the same sizes.

    Attributes:
        sizes: a dataclass of numbers; any of them can be changed in the work's name.
        loss: how far the loss of the first step may be from PyTorch's, relatively.
        output: the same of what :attr:`Step.gradients` gives, as the length of the difference over the length.
        others: how those of :data:`benchmarks.harness.OPTIONAL` that can do it build it.
    """

    title: str
    minigrad: Callable[[Any], Step]
    torch: Callable[[Any], Step]
    sizes: Any
    loss: float = LOSS
    output: float = OUTPUT
    others: dict[str, Callable[[Any], Step]] = field(default_factory=dict)


def plainly(plain: Callable[[Any], Plain], *libraries: str) -> dict[str, Callable[[Any], Step]]:
    """What these libraries build of a work in plain functions, each in its own; for :attr:`Work.others`."""

    def build(name: str, sizes: Any) -> Any:
        return peer(name).step(plain(sizes))

    return {name: partial(build, name) for name in libraries}


def peer(name: str) -> Any:
    """The module of a library, "jax", which is imported when it is used."""
    return importlib.import_module(f"benchmarks.peer_{name}")


def with_sizes(work: Work, changes: Iterable[str]) -> Any:
    """The sizes of a work, some of them changed: ``["B=1", "D=100"]``.

    Raises:
        TypeError, ValueError: there is no such size, or it is no such number.
    """
    pairs = [change.partition("=")[::2] for change in changes]
    kinds = {name: type(value) for name, value in vars(work.sizes).items()}
    if unknown := [name for name, _ in pairs if name not in kinds]:
        raise TypeError(f"{unknown[0]!r} is no size of this work: it has {', '.join(kinds)}")
    return replace(work.sizes, **{name: kinds[name](value) for name, value in pairs})


def drawn(shapes: dict[str, tuple[int, ...]], seed: int = 1234) -> dict[str, Any]:
    """Weights of these shapes by name, float32; none is 0 or 1, so that each of them shows in the outputs.

    Drawn with ``RandomState``, whose stream is the same in every version of NumPy.
    """
    random = np.random.RandomState(seed)
    found = {}
    for name, shape in shapes.items():
        array = random.randn(*shape)
        if len(shape) == 1:
            array = 0.1 * array + ("norm.weight" in name)
        else:
            array *= 0.3 if is_table(name) else shape[-2] ** -0.5
        found[name] = array.astype(np.float32)
    return found


def is_table(name: str) -> bool:
    """Whether rows are looked up in it, so that neither library turns it."""
    return name.endswith(("embedding.weight", "positions.weight", "tokens.weight", "token_types.weight", "class_token"))


def minigrad_training(model: Any, loss_of: Callable[[int], Any], optimizer: Any, clip: float = 0.0) -> Step:
    """Forward, backward, clipping if asked for, and the optimizer."""

    def run(i: int) -> Any:
        optimizer.zero_grad()
        loss = loss_of(i)
        loss.backward()
        if clip:
            nn.clip_grad_norm(model.parameters(), clip)
        optimizer.step()
        return loss

    return Step(run, lambda: {name: p.grad.numpy().copy() for name, p in model.named_parameters()})


def torch_training(
    P: dict[str, Any],
    loss_of: Callable[[int], Any],
    optimizer: Any,
    gradients: Callable[[dict[str, Any]], dict[str, Any]],
    clip: float = 0.0,
) -> Step:
    def run(i: int) -> Any:
        optimizer.zero_grad()
        loss = loss_of(i)
        loss.backward()
        if clip:
            torch.nn.utils.clip_grad_norm_(P.values(), clip)
        optimizer.step()
        return loss

    return Step(run, lambda: gradients(P))
