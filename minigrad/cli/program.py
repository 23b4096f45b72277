"""A program of the user's own, run as Python would run it, for the tensor that it computes. For the command line."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .._source import of_library
from ..engine.observers import active
from ..engine.tape import Entry, Leaf
from ..engine.tensor import Tensor
from ..errors import ArgumentError, ShadowedError, in_the_way, said_by_minigrad
from ..graph.watch.first_bad import FirstBad, Stopped
from ..graph.watch.provenance import find_nan


@dataclass
class Computed:
    """What a program computed.

    Attributes:
        tensors: the first is the loss.
        params: a dict from name to Tensor, or a module; None if the program names none.
        keep: what must stay alive as long as this does.
    """

    tensors: list[Tensor]
    params: Any = None
    keep: Any = None

    @property
    def loss(self) -> Tensor:
        return self.tensors[0]


class Leaves:
    """Inside the block, keeps the tensors alive that something is computed from.

    A leaf's place on the tape points at it weakly; when a function has returned, its local tensors would be gone, and with
    them the gradients to show.
    """

    def __init__(self) -> None:
        self.tensors: dict[int, Tensor] = {}

    def __enter__(self) -> Leaves:
        active.enter(self)
        return self

    def __exit__(self, *error: object) -> None:
        active.leave(self)

    def record(self, entry: Entry, arrays: list[Any], answer: Any, seconds: float) -> None:
        """Called by the engine for each entry."""
        leaves = (node.tensor for node in entry.parents if type(node) is Leaf)
        self.tensors.update((id(leaf), leaf) for leaf in leaves if leaf is not None)


class NoLoss(ArgumentError):
    """The file has run, and has no variable ``loss``."""


class ProgramFailed(Exception):
    """The user's program raised, which is the cause of this."""

    def show(self) -> None:
        """Print the traceback of the program as Python would, beginning with the program's own first line."""
        error = self.__cause__
        assert error is not None
        sys.excepthook(type(error), error.with_traceback(_users(error.__traceback__)), error.__traceback__)
        said = said_by_minigrad(error)
        if said is not None and said is not error:
            print(f"\nminigrad: {said}", file=sys.stderr)  # NumPy's own sentence is the last one of the traceback


@dataclass(frozen=True)
class Target:
    """What the user asks to run: "FILE.py:function", or "FILE.py", whose variable ``loss`` counts then.

    Attributes:
        name: what the program sees as its ``__name__``. Of a function's file not ``__main__``, so that what is under
            ``if __name__ == "__main__":`` does not run.
    """

    file: Path
    function: str | None
    name: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Raises ArgumentError: there is no such file."""
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
    def as_python_would(self, arguments: Sequence[str]) -> Iterator[None]:
        """Inside the block the program finds its neighbours and its arguments as under ``python FILE.py ARGUMENTS``."""
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

    def run(self, watch: contextlib.AbstractContextManager[Any]) -> Computed:
        """Run the program inside ``watch``; of a function only the call, not the rest of its file.

        Raises:
            ArgumentError: the program is not such that it gives a tensor.
            ProgramFailed: it raised.
            SystemExit: it ended itself with an exit status that says failure.
        """
        if self.function is None:
            with watch, users_errors():
                variables = self._execute()
            return self._computed_by_the_file(variables)
        with users_errors():
            variables = self._execute()
        function = self._find(variables)
        try:
            with Leaves() as leaves, watch, users_errors():
                result = function()
        except SystemExit as stop:
            if stop.code:
                raise
            raise ArgumentError(f"{self.function}() called sys.exit() instead of returning the loss") from None
        except TypeError as error:  # a module, say, whose forward takes arguments
            raise ArgumentError(f"{self.function}() cannot be called without arguments: {error}") from None
        found = computed(result, f"{self.function}() returned", "return the loss")
        return Computed(found.tensors, found.params, leaves)

    def _execute(self) -> dict[str, Any]:
        """Run the file. Returns its global variables."""
        module = types.ModuleType(self.name)
        module.__file__ = str(self.file)
        sys.modules[self.name] = module
        try:
            code = compile(self.file.read_bytes(), str(self.file), "exec", dont_inherit=True)
        except ValueError as error:
            raise ArgumentError(f"'{self.file.name}' is no Python program ({error})") from None
        try:
            exec(code, module.__dict__)
        except SystemExit as stop:
            if stop.code:
                raise
        return module.__dict__

    def _find(self, variables: Mapping[str, Any]) -> Any:
        """The function, which can be called without arguments."""
        assert self.function is not None
        function = variables.get(self.function)
        if self.function not in variables:
            raise ArgumentError(f"'{self.file.name}' has no function '{self.function}'{self._instead(variables)}")
        if not callable(function):
            raise ArgumentError(
                f"'{self.function}' in '{self.file.name}' is no function but a {type(function).__name__}"
                f"{self._instead(variables)}"
            )
        try:
            signature = inspect.signature(function)
        except ValueError:  # a builtin that does not say
            return function
        try:
            signature.bind()
        except TypeError:
            raise ArgumentError(
                f"{self.function}{signature} needs arguments: write a function without any that calls it and returns "
                f"the loss, and name that one"
            ) from None
        return function

    def _instead(self, variables: Mapping[str, Any]) -> str:
        """Which functions the file has: the one that was probably meant, or some."""
        own = [value for value in variables.values() if inspect.isfunction(value) and value.__module__ == self.name]
        functions = [function.__name__ for function in own]
        meant = difflib.get_close_matches(self.function or "", functions, 1) or functions[:5]
        return f": did you mean {' or '.join(map(repr, meant))}?" if meant else ": it defines no function at all"

    def _computed_by_the_file(self, variables: Mapping[str, Any]) -> Computed:
        if "loss" not in variables:
            raise NoLoss(
                f"'{self.file.name}' has run and has no variable 'loss': give the tensor that name, or name a function "
                f"that returns it, {self.file.name}:function"
            )
        found = computed(variables["loss"], f"the variable 'loss' of '{self.file.name}' is", "name the loss so")
        return Computed(found.tensors, found.params or parameters_in(variables), variables)


def parameters_in(variables: Mapping[str, Any]) -> Any:
    """What names the parameters among a program's variables; None if nothing does."""
    return next(filter(_names_parameters, [variables.get(name) for name in ("params", "model")]), None)


def first_bad_step(
    compute: Callable[[FirstBad], Computed], variables: Callable[[], Mapping[str, Any]]
) -> tuple[Computed, int | None]:
    """What a program computes; or its first step that is not finite, if there is one.

    Args:
        compute: runs the program.
        variables: gives the program's global variables.

    Returns:
        What was found, and the number of its step, from 0; None if the program has but one, or no bad one.

    Raises:
        ProgramFailed: and whatever else ends a program, unless a bad step explains it; then the traceback is shown.
    """
    watch = FirstBad()
    found: Computed | None = None
    keep: Any = None
    try:
        found = keep = compute(watch)
        tensor = watch.tensor()
    except (ProgramFailed, ArgumentError, Stopped, SystemExit, KeyboardInterrupt) as stop:
        tensor = watch.tensor(failed=True)
        if tensor is None or find_nan(tensor) is None:
            raise
        keep = stop  # and with it the locals of the program
        if isinstance(stop, ProgramFailed):
            stop.show()
    step = watch.step if watch.steps > 1 or found is None else None
    if found is not None and (tensor is None or tensor._node is found.loss._node):
        return found, step
    assert tensor is not None
    tensor.name = "loss"
    return Computed([tensor], found.params if found is not None else parameters_in(variables()), keep), step


def computed(result: Any, what: str, remedy: str) -> Computed:
    """A Tensor, a list of them, or a pair of one of these and parameters, as tensors and parameters.

    Args:
        what, remedy: the beginning and the end of the sentence that says what it is instead.

    Raises:
        ArgumentError: it is something else.
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
        found = f"an empty {type(result).__name__}" if not result else f"{found} with something else than Tensors"
    raise ArgumentError(
        f"{what} {found}, not a Tensor: {remedy} (a list of Tensors, or a pair (loss, params), will do too)"
    )


@contextlib.contextmanager
def users_errors() -> Iterator[None]:
    """What the program raises inside the block becomes ProgramFailed.

    Raises:
        ProgramFailed
    """
    try:
        yield
    except Exception as error:
        if _users(error.__traceback__) is None and not isinstance(error, SyntaxError):
            raise  # no line of the program is involved
        if said := _shadow(error):
            error.add_note(said)
        raise ProgramFailed from error


def _shadow(error: Exception) -> str | None:
    """What to say of an error that comes from the user's having an ``nn`` or ``models`` of their own."""
    module = ""
    if isinstance(error, AttributeError) and isinstance(error.obj, types.ModuleType):
        module = error.obj.__name__
    elif isinstance(error, ImportError):
        module = error.name or ""
    package = module.partition(".")[0]
    return in_the_way(package) if package in ("nn", "models") and not isinstance(error, ShadowedError) else None


def _users(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback from the program's own first line on; None if it has none of its lines."""
    while traceback is not None and _ours(traceback):
        traceback = traceback.tb_next
    return traceback


def _ours(traceback: TracebackType) -> bool:
    module = str(traceback.tb_frame.f_globals.get("__name__", ""))
    return module == "contextlib" or of_library(module)


def _names_parameters(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "named_parameters")
