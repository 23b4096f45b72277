"""The [source] links of public names under which there is no ``def`` or ``class``: primitives, and functions of two names."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import minigrad
from docs.site_pages import public


def setup(app: Any) -> None:
    app.connect("viewcode-follow-imported", _module)
    app.connect("viewcode-find-source", _source)


def shown(value: Any) -> Any:
    """Whose source is shown: of a primitive its forward function, below which the derivative stands."""
    return value.function if isinstance(value, minigrad.Primitive) else value


def otherwise_called() -> dict[str, dict[str, str]]:
    """By module the public names that are declared there under other names, with those."""
    found: dict[str, dict[str, str]] = {}
    for path, value in public().items():
        name, source = path.rpartition(".")[2], shown(value)
        if not inspect.ismodule(source) and source.__name__ != name:
            found.setdefault(source.__module__, {})[name] = source.__name__
    return found


def _module(app: Any, package: str, name: str) -> str | None:
    value = public().get(f"{package}.{name}")
    return shown(value).__module__ if isinstance(value, minigrad.Primitive) else None


def _source(app: Any, module: str) -> tuple[str, dict[str, Any]] | None:
    """The text of a module and where in it what stands, for viewcode; None leaves it to viewcode itself."""
    names = otherwise_called().get(module)
    if names is None:
        return None
    pycode: Any = importlib.import_module("sphinx.pycode")  # tests ask for the names above without Sphinx
    analyzer = pycode.ModuleAnalyzer.for_module(module)
    tags = analyzer.find_tags()
    return analyzer.code, tags | {name: tags[declared] for name, declared in names.items()}
