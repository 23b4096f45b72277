"""Find the public functions, constructors and methods of nn and models, with their parameters."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import models
import nn

PACKAGES = {"nn": nn, "nn.functional": nn.functional, "nn.init": nn.init, "models": models}


def public_callables() -> dict[str, Any]:
    """Return every public callable that has a parameter, by its name: ``nn.fit``, ``nn.Affine``, ``nn.Affine.forward``.

    What several classes or packages share is listed once, under its first name.
    """
    found: dict[str, Any] = {}
    for package, module in PACKAGES.items():
        for name in _public_names(module):
            thing = getattr(module, name)
            members = inspect.getmembers(thing, inspect.isroutine) if inspect.isclass(thing) else []
            hooks = (
                vars(nn.Callback) if inspect.isclass(thing) and issubclass(thing, nn.Callback) else ()
            )  # fit calls them
            own = [(f"{name}.{member}", each) for member, each in members if member not in hooks]
            for path, each in [(name, thing), *own]:
                if _counts(path, each) and not any(_plain(each) is _plain(other) for other in found.values()):
                    found[f"{package}.{path}"] = each
    return found


def _public_names(module: Any) -> list[str]:
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", "") == module.__name__]
    return list(getattr(module, "__all__", own))


def _counts(path: str, thing: Any) -> bool:
    """Return whether it is a public callable of these packages with a parameter."""
    ours = (getattr(thing, "__module__", None) or "").partition(".")[0] in ("nn", "models")
    name = path.rpartition(".")[2]
    calls = (
        name == "__call__" and thing is not nn.Module.__call__
    )  # else it is the call of a module, which runs its forward
    return ours and callable(thing) and (calls or not name.startswith("_")) and bool(parameters(thing))


def _plain(thing: Any) -> Any:
    return getattr(thing, "__func__", thing)


def parameters(thing: Any) -> list[tuple[str, str]]:
    """Return the parameters of a callable: the name, and the annotation as a text."""
    if inspect.isclass(thing):
        if not inspect.isfunction(thing.__init__) or thing.__init__ is nn.Module.__init__:
            return []  # it has no constructor of its own
        thing = thing.__init__
    return [each for each in _parameters(thing) if each[0] != "self"]


def _parameters(function: Any) -> Iterator[tuple[str, str]]:
    for parameter in inspect.signature(function).parameters.values():
        text = _text(parameter.annotation)
        if options := re.search(r"Unpack\[(\w+)\]", text):
            hints = getattr(nn.masks, options[1]).__annotations__
            yield from ((name, _text(hint)) for name, hint in hints.items())
        elif parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or not text.endswith("Any"):
            yield parameter.name, text


def _text(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
