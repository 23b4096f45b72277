"""minigrad.numpy: NumPy's own functions under their names, and types that say what they give for Tensors."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

import minigrad.numpy as mnp
from docs.make_stubs import FOLDER, MODULES, page, public
from minigrad import Primitive, Tensor
from minigrad.engine.functions import Composite, PlainFunction
from minigrad.engine.registry import registry
from minigrad.numpy._names import names
from tests.minigrad.rules.table import CASES

ROOT = FOLDER.parents[1]
ROOMS = {"__init__": mnp, "linalg": mnp.linalg, "fft": mnp.fft}
TYPES: dict[str, Any] = {"Tensor": Tensor, "list[Tensor]": list, "tuple[Tensor, ...]": tuple, "Any": object}


@cache
def declared(text: str) -> dict[str, str]:
    """Each name of a stub with all that stands there of it; of NumPy's own that it hands on, nothing."""
    tree = ast.parse(text)
    found = {node.name: ast.unparse(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    return found | {
        alias.name: ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").split(".")[0] == "numpy"
        and node.module != "numpy.typing"
        for alias in node.names
    }


def stub(file: str) -> dict[str, str]:
    return declared((FOLDER / f"{file}.pyi").read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", MODULES)
def test_the_types_are_those_of_the_registry(file: str) -> None:
    ours, fresh = stub(file), declared(page(file))
    common = ours.keys() & fresh.keys()
    assert {name: ours[name] for name in common} == {name: fresh[name] for name in common}, "python -m docs.make_stubs"
    assert not fresh.keys() - ours.keys(), "run: python -m docs.make_stubs"
    assert [
        name for name in ours.keys() - fresh.keys() if hasattr(MODULES[file], name)
    ] == []  # other NumPys have others


@pytest.mark.parametrize("file", MODULES)
def test_what_runs_is_numpys_own_and_nothing_but_names(file: str) -> None:
    assert public(ROOMS[file]) and all(
        getattr(ROOMS[file], name) is getattr(MODULES[file], name) for name in public(ROOMS[file])
    )
    assert set(public(ROOMS[file])) == set(names(MODULES[file]))


def test_every_function_of_the_registry_is_there_under_its_name() -> None:
    inside = {id(function) for file in MODULES for function in names(MODULES[file]).values()}
    kinds = (Primitive, Composite, PlainFunction)
    missing = {
        getattr(function, "__name__", str(function))
        for function, implementation in registry.items()
        if isinstance(implementation, kinds) and id(function) not in inside and not _of_scipy(function)
    }
    assert missing == {"getitem", "sliding_window_view"}  # which NumPy has elsewhere


def _of_scipy(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return getattr(np, function.__name__, None) is not function
    return str(getattr(function, "__module__", "")).startswith("scipy")


@pytest.mark.parametrize("file", MODULES)
def test_every_argument_has_numpys_name(file: str) -> None:
    for name, text in stub(file).items():
        function = getattr(MODULES[file], name, None)
        try:
            theirs = inspect.signature(function).parameters  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue  # a C function that does not tell
        if not text or isinstance(function, np.ufunc) or "**kwargs" in text:
            continue
        (node,) = ast.parse(text).body
        assert isinstance(node, ast.FunctionDef)
        ours = {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
        variadic = any(p.kind is p.VAR_KEYWORD for p in theirs.values())
        assert ours <= theirs.keys() or variadic, f"{name}: {ours - theirs.keys()}"


def results() -> dict[str, str]:
    """The functions by ``numpy``'s path, with the type that is declared."""
    paths = {"__init__": "", "linalg": "linalg.", "fft": "fft."}
    return {
        paths[file] + name: re.search(r"-> (.*):\n", text)[1]  # type: ignore[index]
        for file in MODULES
        for name, text in stub(file).items()
        if text
    }


def test_the_declared_results_are_what_sample_calls_give() -> None:
    """Every function that the table of cases calls, whatever way it is written there, is watched while it is called."""
    expected, wrong, met = results(), [], set()

    def watch(path: str, function: Any) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            result = function(*args, **keywords)
            if any(
                isinstance(leaf, Tensor) for arg in args for leaf in (arg if isinstance(arg, (list, tuple)) else [arg])
            ):
                met.add(path)
                if not isinstance(result, TYPES[expected[path]]):
                    wrong.append((path, type(result).__name__))
            return result

        return call

    for path in expected:
        holder, _, name = path.rpartition(".")
        module = importlib.import_module(f"numpy.{holder}" if holder else "numpy")
        function = getattr(module, name, None)
        cases = [case for case in CASES if case.f is function]
        for case in cases[:3]:
            watch(path, function)(*[Tensor(array) for array in case.arrays()])
        if not cases and function is not None and not isinstance(function, np.ufunc):
            with mock.patch.object(module, name, watch(path, function)):
                for case in CASES:
                    if re.search(
                        rf"\b{name}\b", case.primitive + " " + " ".join(getattr(case.f, "__code__", test_code).co_names)
                    ):
                        try:
                            case.f(*[Tensor(array) for array in case.arrays()])
                        except Exception:  # what a case cannot do is for test_cases.py to say
                            continue
    assert wrong == []
    assert len(met) > 150, sorted(expected.keys() - met)


test_code = (lambda: None).__code__


PROGRAM = """\
import minigrad as mg
import minigrad.numpy as mnp
import nn
import numpy as np

rng = np.random.default_rng(0)
w = mg.Tensor([1.0, 2.0], requires_grad=True)
mnp.tanh(w).sum().backward()
mnp.where(w.numpy() > 0, w, 0.0).backward()
mnp.concatenate([w, w], axis=0).backward()
mnp.split(w, 2)[0].backward()
mnp.linalg.norm(w, axis=0).backward()
mnp.fft.fft(w).real.sum().backward()
index: np.intp | np.ndarray[tuple[int, ...], np.dtype[np.intp]] = mnp.argmax(w)
nn.Affine(2, 3, rng=rng)(w).sum().backward()
nn.MultiHeadAttention(4, 2, rng=rng)(np.ones((1, 2, 4)), causal=True).backward()
nn.cross_entropy(nn.Affine(2, 3, rng=rng)(w[None]), np.array([0])).backward()
"""


@pytest.mark.thorough
def test_mypy_knows_what_functions_and_layers_give(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="checks types: pip install mypy")
    (tmp_path / "program.py").write_text(PROGRAM + "nn.Affine(2, 3, rng=rng)(w, w)  # one too many\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        "--cache-dir",
        str(tmp_path / "cache"),
        "program.py",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, encoding="utf-8", env={"MYPYPATH": str(ROOT), "PATH": ""}
    )
    assert done.stdout.splitlines() == [
        f'program.py:{PROGRAM.count(chr(10)) + 1}: error: Too many arguments for "__call__" of "Module"  [call-arg]'
    ], done.stdout + done.stderr


def test_a_script_in_the_folder_above_finds_the_real_numpy(tmp_path: Path) -> None:
    """``python minigrad/tiny.py`` puts minigrad/ where Python looks first, and there is a folder ``numpy`` in it."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import numpy"
    code += "; import numpy.linalg; print(numpy.ones(2).sum(), numpy.__file__, sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT / "minigrad")], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["2.0", np.__file__]
    tiny = subprocess.run(
        [sys.executable, str(ROOT / "minigrad" / "tiny.py")], cwd=tmp_path, capture_output=True, text=True
    )
    assert tiny.returncode == 0, tiny.stderr
