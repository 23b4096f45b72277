"""Which functions of a module of NumPy's work on Tensors."""

from types import ModuleType
from typing import Any

from .. import rules as _  # noqa: F401 - fills the registry
from ..engine.functions import Composite, PlainFunction
from ..engine.primitive import Primitive
from ..engine.registry import registry


def names(module: ModuleType) -> dict[str, Any]:
    """By each of their names in ``module``: ``abs`` and ``absolute``, ``concat`` and ``concatenate``."""
    functions = {name: value for name, value in vars(module).items() if callable(value) and not name.startswith("_")}
    kinds = (Primitive, Composite, PlainFunction)
    return {name: f for name, f in functions.items() if not isinstance(f, type) and isinstance(registry.get(f), kinds)}
