"""Sections about what a user may write: public names, commands, environment variables."""

import contextlib
import importlib
import inspect
import io
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from tests.proof.side import PACKAGES, Side, failed

Texts = Iterator[tuple[str, list[str]]]
MODULES = (
    *PACKAGES, "nn.functional", "nn.init", "nn.parallel", "minigrad.graph", "minigrad.numpy", "minigrad.numpy.fft",
    "minigrad.numpy.linalg", "minigrad.scipy_special", "minigrad.serialize", "minigrad.tiny",
)  # fmt: skip
IMPLIED = {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__slots__", "__orig_bases__",
           "__parameters__", "__abstractmethods__", "__match_args__", "__dataclass_params__", "__dataclass_fields__",
           "__firstlineno__", "__static_attributes__"}  # fmt: skip
COMMAND = re.compile(r"^ {4}([a-z][\w-]*)(?: {2,}|$)", re.MULTILINE)
VARIABLE = re.compile(r"""environ\b[^\n]*?["']([A-Z][A-Z0-9_]+)["']|["'](MINIGRAD_[A-Z0-9_]+)["']""")


def names(side: Side) -> Texts:
    """Public names with signatures and types, the help of each command, and the environment variables that are read."""
    for module in MODULES:
        yield module, list(lines_of(module))
    for words, text in commands(entry_point(side), ()):
        yield "command line", [f"--- {' '.join(words)}", text]
    sources = [path.read_text(encoding="utf-8") for package in PACKAGES for path in (side.root / package).rglob("*.py")]
    found = {name for text in sources for pair in VARIABLE.findall(text) for name in pair if name}
    yield "environment", sorted(found)


def lines_of(module: str) -> Iterator[str]:
    """Yield a line for each public name of a module, and for each public member of its classes."""
    try:
        space = importlib.import_module(module)
    except ModuleNotFoundError as error:
        yield failed(error)
        return
    public = getattr(space, "__all__", None) or [name for name in dir(space) if not name.startswith("_")]
    for name in sorted(public):
        value = getattr(space, name)
        home = str(getattr(value, "__module__", module)).partition(".")[0]
        if inspect.ismodule(value) or (not hasattr(space, "__all__") and home not in (*PACKAGES, "numpy")):
            continue  # imported for the module's own use
        yield f"{name}: {described(value)}"
        if inspect.isclass(value):
            yield from (f"{name}.{member}" for member in members(value))


def members(kind: type) -> Iterator[str]:
    """Yield the public members of a class, its own and the inherited ones of our packages."""
    for name in sorted(dir(kind)):
        private = name.startswith("_") and not re.fullmatch(r"__\w+__", name)
        owner = next((base for base in kind.__mro__ if name in vars(base)), object)
        if not private and name not in IMPLIED and owner.__module__.partition(".")[0] in PACKAGES:
            yield f"{name}: {described(inspect.getattr_static(kind, name))}"
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] in PACKAGES:
            typed = inspect.get_annotations(base).items()
            yield from sorted(f"{name} of type {what}" for name, what in typed if not name.startswith("_"))


def described(value: Any) -> str:
    """Return the kind of a value, and its signature or its bases or its value."""
    if isinstance(value, property):
        return f"property{signature(value.fget)}"
    if isinstance(value, staticmethod | classmethod):
        return f"{type(value).__name__}{signature(value.__func__)}"
    if inspect.isclass(value):
        return f"class({', '.join(base.__name__ for base in value.__bases__)}){signature(value)}"
    if callable(value):
        return f"{type(value).__name__}{signature(value)}"
    plain = isinstance(value, str | int | float | bool | tuple | None)
    return f"{type(value).__name__} = {value!r}" if plain else type(value).__name__


def signature(value: Any) -> str:
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return " without a signature"


def entry_point(side: Side) -> Callable[[list[str]], object]:
    """Return the function of the command ``minigrad``, as pyproject.toml names it."""
    project = tomllib.loads((side.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["scripts"]["minigrad"].partition(":")
    main: Callable[[list[str]], object] = getattr(importlib.import_module(module), name)
    return main


def commands(main: Callable[[list[str]], object], words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the help of a command and of the commands below it."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        try:
            main([*words, "--help"])
        except Exception as error:
            said.write(failed(error))
    yield ("minigrad", *words), said.getvalue()
    below = said.getvalue().partition("\ncommands:\n")[2].partition("\n\n")[0]
    for name in COMMAND.findall(below):
        yield from commands(main, (*words, name))
