"""Packages that few tests need: imported by the first test that uses one, so that collecting the tests costs nothing.

While tests are collected, `torch.tanh` is a stand-in that remembers the path: tables may name functions of PyTorch, and
calling a stand-in calls the function. In a running test, `torch.tanh` is the function itself. Where PyTorch is not installed,
a test that comes to need it is skipped.
"""

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

WITHOUT_TORCH = "compares with PyTorch: pip install torch==2.13.0"
collecting = False  # conftest.py sets it
collected: set[str] = set()  # the packages that collecting the tests had imported in the end; conftest.py sets it


@functools.cache
def resolve(path: str) -> Any:
    """The module, or what a module holds, at a dotted path."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        missing = str(error.name)
        if missing == "torch":
            pytest.skip(WITHOUT_TORCH)
        if "." not in path or not f"{path}.".startswith(f"{missing}."):
            raise
    holder, _, name = path.rpartition(".")
    return getattr(resolve(holder), name)


@dataclass(frozen=True)
class Lazy:
    dotted: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked of any object, by pytest and copy among others
            raise AttributeError(name)
        path = f"{self.dotted}.{name}"
        return Lazy(path) if collecting else resolve(path)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return resolve(self.dotted)(*args, **keywords)


torch: Any = Lazy("torch")
peer_torch: Any = Lazy("benchmarks.peer_torch")
scipy: Any = Lazy("scipy")
scipy_special: Any = Lazy("minigrad.scipy_special")
safetensors: Any = Lazy("safetensors")
emoji: Any = Lazy("emoji")
font_manager: Any = Lazy("matplotlib.font_manager")


def based_on(base: Lazy) -> Any:
    """For a class with a base of PyTorch's, which is made with the first object: `@based_on(torch.nn.Module)`."""

    def decorate(body: type) -> Callable[..., Any]:
        make = functools.cache(lambda: type(body.__name__, (body, resolve(base.dotted)), {}))
        return lambda *args, **keywords: make()(*args, **keywords)

    return decorate
