"""What the tests of the fast paths share: small models and their losses, and NumPy's kernels."""

import contextlib
import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import nn
from minigrad.engine.kernels import Kernel
from minigrad.engine.observers import Replaceable
from minigrad.engine.registry import primitives
from minigrad.kernels import numpy as numpy_kernels_of_rules
from models import GPT, ClassifierConfig, GPTConfig, TransformerClassifier


def draw(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(dtype)


IDS = np.random.default_rng(0).integers(1, 40, (8, 11))
TOKENS = np.arange(11) < np.random.default_rng(1).integers(1, 12, 8)[:, None]  # the others are padding


def classifier_loss(norm: Any, activation: str, dtype: Any) -> tuple[nn.Module, Callable[[], Any]]:
    config = ClassifierConfig(
        40, 3, d_model=12, num_heads=3, num_layers=2, norm=norm, activation=activation, dropout=0.1
    )
    model = TransformerClassifier(config, rng=np.random.default_rng(2), dtype=dtype)
    return model, lambda: nn.cross_entropy(model(IDS, TOKENS), IDS[:, 0] % 3)


def gpt_loss(norm: Any, activation: str, dtype: Any) -> tuple[nn.Module, Callable[[], Any]]:
    config = GPTConfig(vocab_size=40, window=10, d_model=12, num_layers=2, num_heads=3, dropout=0.1)
    model = GPT(config, rng=np.random.default_rng(2), dtype=dtype)
    return model, lambda: nn.cross_entropy(model(IDS[:, :-1]), IDS[:, 1:], ignore_index=7, label_smoothing=0.1)


def decoder_loss(norm: Any, activation: str, dtype: Any) -> tuple[nn.Module, Callable[[], Any]]:
    """Causal and padded at once, and attention to something else."""
    rng = np.random.default_rng(2)
    layer = nn.TransformerDecoderLayer(12, 3, 20, rng=rng, norm=norm, activation=activation, dtype=dtype)
    x, memory = draw(8, 11, 12, dtype=dtype), draw(8, 5, 12, dtype=dtype)
    seen = np.arange(5) < np.array([5, 3, 1, 0, 2, 5, 4, 5])[:, None]  # a row without anything to see
    return layer, lambda: (layer(x, memory, key_mask=TOKENS, memory_key_mask=seen) ** 2).mean()


def training_losses(make: Any, *settings: Any, steps: int = 20) -> list[float]:
    model, loss = make(*settings)
    optimizer = nn.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        nn.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        losses.append(value.item())
    return losses


def numpy_kernels() -> list[tuple[str, Kernel]]:
    """Those with a backward of their own."""
    found = [(name, p.kernels.get(np.ndarray)) for name, p in list(primitives.items())]
    return [(name, kernel) for name, kernel in found if kernel is not None and kernel.backward is not None]


@functools.cache
def modules_of_kernels() -> list[ModuleType]:
    folder = numpy_kernels_of_rules
    return [
        importlib.import_module(f"{folder.__name__}.{found.name}") for found in pkgutil.iter_modules(folder.__path__)
    ]


@contextlib.contextmanager
def of_any_size() -> Iterator[None]:
    """Let the kernels take arrays of any size: each module says with ``LEAST`` from which one on they pay."""
    with pytest.MonkeyPatch.context() as patch:
        of_scipy = sys.modules.get("minigrad.kernels.scipy_special")  # None if SciPy's cases are not run
        for module in [*modules_of_kernels(), *filter(None, [of_scipy])]:
            for name in vars(module):
                if name.startswith("LEAST"):
                    patch.setattr(module, name, 0)
        yield


def replaceables() -> dict[str, Replaceable]:
    """The formulas of the rules and the engine that kernels are attached to, by name."""
    holders = [
        value
        for name, module in list(sys.modules.items())
        if name.startswith("minigrad.")
        for value in vars(module).values()
    ]
    found = [value for value in holders if isinstance(value, Replaceable)]
    return {replaceable.__name__: replaceable for replaceable in found if replaceable.faster}


def forget_plans() -> None:
    """Let what was derived from the kernels be derived anew: it holds their functions."""
    for p in list(primitives.values()):
        for plans in (p._plans, *(kernel.plans for kernel in p.kernels.values())):
            plans.clear()
