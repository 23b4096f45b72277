"""Modules that are imported when one of their functions is called: each process imports only its own library."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Lazy:
    module: str

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self.module), name)


mg: Any = Lazy("minigrad")
nn: Any = Lazy("nn")
scipy_special: Any = Lazy("minigrad.scipy_special")
special: Any = Lazy("scipy.special")
torch: Any = Lazy("torch")
F: Any = Lazy("torch.nn.functional")
