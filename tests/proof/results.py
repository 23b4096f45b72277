"""Sections about what is computed, drawn and written."""

import contextlib
import html
import importlib
import io
import json
import os
import re
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg
from tests.proof.interface import Texts
from tests.proof.programs import PROGRAMS
from tests.proof.side import Side, bits, digest, failed


def cases(side: Side) -> list[Any]:
    """Return the table of cases, from the file that names itself the table, and was filled by its imports."""
    for path in side.test_files("table.py"):
        found = getattr(side.load(path), "CASES", None)
        if found:
            return [case for case in found if side.takes(case.id)]
    raise LookupError("no file table.py below tests/ has CASES")


def projected(outputs: Any, seed: int) -> Any:
    """Return a number that depends on each element of the outputs, and not linearly."""
    rng = np.random.default_rng(seed)
    outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
    parts = [np.sum(o * (np.asarray(rng.uniform(0.5, 1.5, o.shape), o.dtype) + 0.5 * o)) for o in outputs]
    return sum(parts[1:], parts[0])


def derivatives(f: Callable[..., Any], arrays: list[Any], order: int) -> Iterator[str]:
    """Yield the bits of the values, of ``backward()``, and of both orders with ``create_graph``."""
    for create_graph in (False, True):
        given = [mg.Tensor(a, requires_grad=True) if a.dtype.kind in "fc" else a for a in arrays]
        inputs = [each for each in given if isinstance(each, mg.Tensor)]
        outputs = f(*given)
        if not create_graph:
            yield f"value {bits(outputs)}"
        projected(outputs, 1).backward(create_graph=create_graph)
        first = [each.grad for each in inputs if each.grad is not None]
        yield f"{'graph' if create_graph else 'first'} {bits(first)}"
    slope = projected(first, 2) if order > 1 and first else None
    if slope is not None and slope.requires_grad:
        for each in inputs:
            each.zero_grad()
        slope.backward()
        yield f"second {bits([each.grad for each in inputs if each.grad is not None])}"


def forward_mode(f: Callable[..., Any], arrays: list[Any]) -> str:
    places = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc"]

    def of_floating(*values: Any) -> Any:
        given = dict(zip(places, values, strict=True))
        return projected(f(*[given.get(i, a) for i, a in enumerate(arrays)]), 1)

    moved = [arrays[i] for i in places]
    return f"forward {bits(mg.jvp(of_floating, moved, [np.ones_like(a) for a in moved]))}"


def values(side: Side) -> Texts:
    """Bits of values and derivatives of the case table, in both precisions, with kernels and by the plain rules."""
    for case in cases(side):
        for dtype in (np.float64, np.float32):
            for mode in (contextlib.nullcontext, mg.reference_mode):
                said = [f"--- {case.id} {dtype.__name__} {'kernels' if mode is contextlib.nullcontext else 'rules'}"]
                with mode(), np.errstate(all="ignore"):
                    try:
                        said += derivatives(case.f, case.arrays(dtype), case.order)
                        said.append(forward_mode(case.f, case.arrays(dtype)))
                    except Exception as error:
                        said.append(failed(error))
                yield case.primitive, said


def computed(program: Callable[[], tuple[Any, dict[str, Any]]]) -> tuple[Any, dict[str, Any]]:
    with mg.trace():
        loss, named = program()
    loss.backward(retain_graph=True)
    return loss, named


def drawings(side: Side) -> Texts:
    """DOT text and tree text of the proof's programs."""
    looks: list[dict[str, Any]] = [{}, {"depth": 1}, {"max_nodes": 6}, {"tensors": True}, {"rankdir": "TB"}]
    for program in PROGRAMS:
        loss, named = computed(program)
        for look in looks:
            try:
                drawing = mg.draw_dot(loss, named, **look)
                said = [drawing.to_dot(), *([] if look else [drawing.picture().dot(), drawing.to_text()])]
            except mg.MinigradError as error:
                said = [failed(error)]
            yield program.__name__, [f"--- {look}", *said]


def pages(side: Side) -> Texts:
    """The data in the stepper pages of the proof's programs."""
    for program in PROGRAMS:
        loss, named = computed(program)
        path = side.scratch / f"{program.__name__}.html"
        mg.explain(loss, path, named)
        blocks = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', path.read_text("utf-8"), re.S)
        for block in blocks:
            yield program.__name__, [json.dumps(json.loads(html.unescape(block)), indent=1, ensure_ascii=False)]


def written(side: Side) -> Texts:
    """The text of each written program, and what it computes on two sets of data."""
    for name, item in sorted(to_write(side), key=lambda pair: pair[0]):
        if side.takes(name):
            yield "programs", [f"--- {name}", *of_item(item)]
    for case in cases(side):
        arrays = case.arrays(np.float64)
        smaller = [array * array.dtype.type(0.9) if array.dtype.kind in "fc" else array for array in arrays]
        yield f"case {case.primitive}", [f"--- {case.id}", *written_and_run(loss_of(case.f), [arrays, smaller], [])]
    for page in sorted((side.root / "docs").rglob("*.md")):
        if "write_numpy(" in page.read_text(encoding="utf-8"):
            yield "pages", [f"--- {page.name}", *of_page(side, page)]


def to_write(side: Side) -> Iterator[tuple[str, Any]]:
    """Yield the items of the tables of programs, by name.

    A table is a dict or list in a file of a folder ``codegen`` below tests/, whose items have a function and its examples.
    """
    seen = set[int]()
    for path in side.test_files():
        if path.parent.name != "codegen" or path.name.startswith(("test_", "__")):
            continue
        for table in list(vars(side.load(path)).values()):
            listed = enumerate(table) if type(table) is list else ()
            for key, item in table.items() if isinstance(table, dict) else listed:
                if id(item) not in seen and (hasattr(item, "examples") or hasattr(item, "second")):
                    seen.add(id(item))
                    yield key if isinstance(key, str) else f"loop {item.function.__name__}", item


def of_item(item: Any) -> Iterator[str]:
    """Yield the program of an item, and its results on two sets of data; those of a loop have other sizes."""
    if hasattr(item, "second"):
        first, second = item.arrays(10, 3), item.arrays(*item.second)
        return written_and_run(item.function, [first, second], [second])
    getattr(item, "fresh", lambda: None)()  # put back what other programs have left
    function = item.function if hasattr(item, "function") else item.forward
    return written_and_run(function, [item.examples(0), item.examples(1)], [])


def loss_of(f: Callable[..., Any]) -> Callable[..., Any]:
    def loss(*args: Any) -> Any:
        found = f(*args)
        parts = found if isinstance(found, list | tuple) else [found]
        return sum(np.sum(np.sin(part) * part) for part in parts)

    return loss


def written_and_run(function: Callable[..., Any], sets: list[Any], sizes: list[Any]) -> Iterator[str]:
    try:
        program = mg.write_numpy(function, *sets[0], sizes=sizes)
    except Exception as error:
        yield failed(error)
        return
    yield from text_and_results(program, sets)


def text_and_results(program: Any, sets: list[Any]) -> Iterator[str]:
    yield str(program.source)
    for data in sets:
        try:
            with np.errstate(all="ignore"):
                yield bits(program(*data))
        except Exception as error:
            yield failed(error)


def of_page(side: Side, page: Path) -> Iterator[str]:
    """Run the programs of a page in one namespace, and yield what they wrote."""
    right, found = mg.write_numpy, list[str]()

    def recording(f: Any, *examples: Any, **options: Any) -> Any:
        program = right(f, *examples, **options)
        found.extend(text_and_results(program, [examples]))
        return program

    space: dict[str, Any] = {"__name__": page.stem}
    before = Path.cwd()
    os.chdir(side.scratch)
    mg.write_numpy = recording
    try:
        for number, block in enumerate(re.findall(r"^```py\n(.*?)^```", page.read_text("utf-8"), re.S | re.M)):
            file = side.scratch / f"{page.stem}_{digest(block)}.py"
            file.write_text(block, encoding="utf-8")
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(block, str(file), "exec"), space)
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                found.append(f"block {number}, {Path(last.filename).name}: {failed(error)}")
    finally:
        mg.write_numpy = right
        os.chdir(before)
        importlib.invalidate_caches()
    yield from found
