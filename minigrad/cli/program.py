"""Run the user's program as Python would and return the tensor that it computes, for the command line."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .._source import of_library
from ..engine.observers import active
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor
from ..errors import ArgumentError, ShadowedError, in_the_way, said_by_minigrad
from ..graph.record.trace import trace


@dataclass
class Computed:
    """The result of a program.

    Attributes:
        tensors: the computed tensors; the first is the loss.
        params: a dict from name to Tensor, or a module; None if the program names no parameters.
        keep: objects that must stay alive as long as this result.
    """

    tensors: list[Tensor]
    params: Any = None
    keep: Any = None

    @property
    def loss(self) -> Tensor:
        return self.tensors[0]


class Leaves:
    """A context that keeps alive the tensors from which operations inside the block compute.

    A leaf of the tape refers to its tensor weakly. Without this context, the local tensors of a function would be gone after
    its return, and with them the gradients to show.
    """

    def __init__(self) -> None:
        self.tensors: dict[int, Tensor] = {}

    def __enter__(self) -> Leaves:
        active.enter(self)
        return self

    def __exit__(self, *error: object) -> None:
        active.leave(self)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Keep the leaf tensors of a new entry; the engine calls this."""
        leaves = (node.tensor for node in entry.parents if type(node) is Leaf)
        self.tensors.update((id(leaf), leaf) for leaf in leaves if leaf is not None)


class NoLoss(ArgumentError):
    """The file has run and has no variable ``loss``."""


class ProgramFailed(Exception):
    """The user's program raised an error, which is the cause of this one."""

    @property
    def of_the_program(self) -> BaseException | None:
        return self.__cause__

    def show(self) -> None:
        """Print the traceback as Python would, but start it at the first line of the program."""
        error = self.__cause__
        assert error is not None
        sys.excepthook(type(error), error.with_traceback(_users(error.__traceback__)), error.__traceback__)
        said = said_by_minigrad(error)
        if said is not None and said is not error:
            print(f"\nminigrad: {said}", file=sys.stderr)  # the traceback ends with NumPy's message


@dataclass(frozen=True)
class Target:
    """The program to run: "FILE.py:function", or "FILE.py" with a variable ``loss``.

    Attributes:
        name: the ``__name__`` of the program. For a function it is not ``__main__``, so that the code under
            ``if __name__ == "__main__":`` does not run.
    """

    file: Path
    function: str | None
    name: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Parse TARGET; raise ArgumentError if there is no such file."""
        file, colon, function = text.rpartition(":")
        if not colon or not function.isidentifier() or Path(text).is_file():  # C:\lesson.py has a colon too
            file, function = text, ""
        if Path(file).is_dir():
            raise ArgumentError(f"'{file}' is a folder: name a file in it, FILE.py:function")
        if not Path(file).is_file():
            raise ArgumentError(f"there is no file '{file}' (the folder is {Path.cwd()})")
        stem = Path(file).stem
        name = "__main__" if not function else f"{stem}_of_the_user" if stem in sys.modules else stem
        return cls(Path(file).absolute(), function or None, name)

    @contextlib.contextmanager
    def surroundings(self, arguments: Sequence[str]) -> Iterator[None]:
        """Set ``sys.path`` and ``sys.argv`` inside the block as ``python FILE.py ARGUMENTS`` does."""
        path, argv = list(sys.path), sys.argv
        before = sys.modules.get(self.name)
        sys.path.insert(0, str(self.file.resolve().parent))
        sys.argv = [str(self.file), *arguments]
        try:
            yield
        finally:
            sys.path[:], sys.argv = path, argv
            sys.modules.pop(self.name, None)
            if before is not None:
                sys.modules[self.name] = before

    def load(self) -> Any:
        """Run the file and return what ``function`` names in it.

        Raises:
            ArgumentError: the file has nothing of this name.
            ProgramFailed: the program raised an error.
        """
        with users_errors():
            variables = self.execute()
        if self.function in variables:
            return variables[self.function]
        own = [value for value in variables.values() if inspect.isfunction(value) and value.__module__ == self.name]
        functions = [function.__name__ for function in own]
        meant = difflib.get_close_matches(self.function or "", functions, 1) or functions[:5]
        instead = f"did you mean {' or '.join(map(repr, meant))}?" if meant else "it defines no function at all"
        raise ArgumentError(f"'{self.file.name}' has no name '{self.function}': {instead}")

    def compute(self, watch: trace | None = None) -> Computed:
        """Run the program inside ``watch``, a trace by default; for a function, only the call runs inside it.

        Raises:
            ArgumentError: the program does not compute a tensor.
            ProgramFailed: the program raised an error.
            SystemExit: the program ended itself with an exit status other than 0.
        """
        found = self._run(watch or trace())
        found.loss.name = found.loss.name or "loss"
        return found

    def _run(self, watch: trace) -> Computed:
        if self.function is None:
            with watch, users_errors():
                variables = self.execute()
            return self._computed_by_the_file(variables)
        function = self.load()
        try:
            with Leaves() as leaves, watch, users_errors():
                result = function()
        except SystemExit as stop:
            if stop.code:
                raise
            raise ArgumentError(f"{self.function}() called sys.exit() instead of returning the loss") from None
        except TypeError as error:  # no line of the program took part
            raise ArgumentError(
                f"{self.function}() cannot be called ({error}): name a function that needs no arguments and returns the loss"
            ) from None
        found = computed(result, f"{self.function}() returned", "return the loss")
        return Computed(found.tensors, found.params, leaves)

    def execute(self) -> dict[str, Any]:
        """Run the file and return its global variables.

        Raises:
            SystemExit: the program ended itself with an exit status other than 0.
        """
        module = types.ModuleType(self.name)
        module.__file__ = str(self.file)
        sys.modules[self.name] = module
        try:
            code = compile(self.file.read_bytes(), str(self.file), "exec", dont_inherit=True)
        except ValueError as error:
            raise ArgumentError(f"'{self.file.name}' is not a Python program ({error})") from None
        try:
            exec(code, module.__dict__)
        except SystemExit as stop:
            if stop.code:
                raise
        return module.__dict__

    def _computed_by_the_file(self, variables: Mapping[str, Any]) -> Computed:
        if "loss" not in variables:
            raise NoLoss(
                f"'{self.file.name}' has run and has no variable 'loss': give the tensor that name, or name a function "
                f"that returns it, {self.file.name}:function"
            )
        found = computed(variables["loss"], f"the variable 'loss' of '{self.file.name}' is", "give the loss that name")
        return Computed(found.tensors, found.params or parameters_in(variables), variables)


def parameters_in(variables: Mapping[str, Any]) -> Any:
    """Return the variable ``params`` or ``model`` if it names the parameters, else None."""
    return next(filter(_names_parameters, [variables.get(name) for name in ("params", "model")]), None)


def computed(result: Any, what: str, remedy: str) -> Computed:
    """Convert a Tensor, a list of Tensors, or a pair of one of these and parameters.

    Args:
        what, remedy: the beginning and the end of the error message.

    Raises:
        ArgumentError: ``result`` is something else.
    """
    params = None
    if isinstance(result, tuple) and len(result) == 2 and not isinstance(result[1], Tensor):
        result, params = result
        if params is not None and not _names_parameters(params):
            raise ArgumentError(
                f"{what} a pair whose second part is of type {type(params).__name__}: it must be a dict from name to Tensor, "
                "or a module"
            )
    tensors = list(result) if isinstance(result, (tuple, list)) else [result]
    if tensors and all(isinstance(tensor, Tensor) for tensor in tensors):
        return Computed(tensors, params)
    found = "None" if result is None else f"a {type(result).__name__}"
    if isinstance(result, (tuple, list)):
        found = f"an empty {type(result).__name__}" if not result else f"{found} with items that are not Tensors"
    raise ArgumentError(
        f"{what} {found}, not a Tensor: {remedy} (a list of Tensors, or a pair (loss, params), is accepted too)"
    )


@contextlib.contextmanager
def users_errors() -> Iterator[None]:
    """Turn an error of the program inside the block into ProgramFailed.

    Raises:
        ProgramFailed: a line of the program took part in the error.
    """
    try:
        yield
    except Exception as error:
        if _users(error.__traceback__) is None and not isinstance(error, SyntaxError):
            raise  # no line of the program took part
        if said := _shadow(error):
            error.add_note(said)
        raise ProgramFailed from error


def _shadow(error: Exception) -> str | None:
    """Explain an error that arises because the user has another ``nn`` or ``models``; None for other errors."""
    module = ""
    if isinstance(error, AttributeError) and isinstance(error.obj, types.ModuleType):
        module = error.obj.__name__
    elif isinstance(error, ImportError):
        module = error.name or ""
    package = module.partition(".")[0]
    return in_the_way(package) if package in ("nn", "models") and not isinstance(error, ShadowedError) else None


def _users(traceback: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first line of the program on; None if it has no such line."""
    while traceback is not None and _ours(traceback):
        traceback = traceback.tb_next
    return traceback


def _ours(traceback: TracebackType) -> bool:
    module = str(traceback.tb_frame.f_globals.get("__name__", ""))
    return module == "contextlib" or of_library(module)


def _names_parameters(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "named_parameters")
