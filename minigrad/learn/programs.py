"""Run small programs with a learner's functions, on plain numbers or on Tensors, and make the page of one."""

from __future__ import annotations

import ast
import contextlib
import linecache
import tempfile
from typing import Any

import numpy as np

from ..engine.tensor import Tensor
from ..errors import ArgumentError
from ..graph.pages.explain import page_data, stepper_page
from ..graph.pages.lesson import validated
from ..graph.record.capture import capture
from ..graph.record.trace import trace
from .counting import Calls, work
from .data import Code, decode, encode, part_of

HELPERS = {"np": np, "Calls": Calls, "work": work}  # names that the programs of tasks use
MOST_OPERATIONS = 200  # that a page of an answer shows


def make_function(text: str) -> Any:
    return eval(text, dict(HELPERS))


def run_program(program: str, names: dict[str, Any], file: str = "<check>") -> Any:
    """Run a program of ours; the value is that of its last line."""
    body = ast.parse(program).body
    last = body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), file, "exec"), names)
    return eval(compile(ast.Expression(last.value), file, "eval"), names)


def draw(names: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Run a program on Tensors, and make its page: the HTML, the step it is opened at, and the value and gradient on it."""
    given = {name: decode(data) for name, data in asked["inputs"].items()}
    inputs = {name: value if name in asked["fixed"] else _leaf(value, name) for name, value in given.items()}
    if asked["file"] != "<check>":
        show(asked["program"].rpartition("\n")[0], asked["file"])
    with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as scratch:
        with trace():
            result = run_program(asked["program"], {**HELPERS, **names, **inputs}, asked["file"])
        end = part_of(result, asked["part"])
        end.name = asked["end"]
        seed = decode(asked["seed"])
        end.backward(np.ones(end.shape) if seed is None or asked["at"] == "backward" else seed, retain_graph=True)
        # No ticks: what they say of the page's derivatives would be read as said of the answer.
        graph = capture(end, caller="explain")
        data = page_data(graph, False)
        if data["turn"] > MOST_OPERATIONS:
            raise ValueError(f"a page shows at most {MOST_OPERATIONS} operations")
        data["lesson"] = _that_fits(asked["lesson"], data)
        page = stepper_page(f"{scratch}/page.html", data, asked["language"], graph)
        html = page.read_text(encoding="utf-8")
    gradient = inputs[asked["leaf"]].grad.data if asked["leaf"] in inputs else None
    return {
        "html": html,
        "step": data["lesson"]["steps"][0]["at"],
        "end": encode(end.data),
        "gradient": encode(gradient),
    }


def _that_fits(lesson: dict[str, Any], data: dict[str, Any]) -> dict[str, Any] | None:
    """The lesson with the first of its steps that the program has, as the page reads it."""
    *first, last = ({**lesson, "steps": [step]} for step in lesson["steps"])
    for one in first:
        with contextlib.suppress(ArgumentError):
            return validated(one, data)
    return validated(last, data)


def _leaf(value: Any, name: str) -> Any:
    """Numbers and arrays of floats, also in lists, as Tensors with a name; code as a function."""
    if isinstance(value, Code):
        show(value, name)
        return run_program(value, dict(HELPERS), name)
    if isinstance(value, list):
        return [_leaf(item, f"{name}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f":
        return Tensor(value, requires_grad=True, name=name)
    return value


def show(text: str, file: str) -> None:
    """Have the page show a text that is in no file."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
