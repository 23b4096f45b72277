"""Where a NaN began, for every primitive: no tool fails, and what its sentence says about the operands there is true."""

import re
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import AnomalyError, Tensor
from minigrad.graph.pages.causes import causes_of
from minigrad.graph.record.capture import capture
from minigrad.graph.watch.provenance import Provenance, find_nan
from minigrad.guards.origin import first_bad, is_bad
from minigrad.rules.about import depends_elementwise
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

EVERY = 120  # one case of so many is in the ordinary suite
Planted = tuple[str, list[Any], float]
PRODUCTS = ["matmul: (2, 3), (3, 4)", "matmul: (3,), (5, 3, 4)", "matmul: (2, 1, 2, 3), (5, 3, 4)", "affine: (2, 5, 3)"]
ITERATIVE = {"svd", "svdvals", "eig", "eigvals", "eigh", "eigvalsh", "pinv", "lstsq"}
SAMPLE = [case for case in CASES if case.id in PRODUCTS or zlib.crc32(case.id.encode()) % EVERY == 0]


def planted(case: Case) -> Iterator[Planted]:
    """The operands with a NaN, an infinity or a zero in each of them, and all of them huge or tiny; and the last gradient."""
    plain = case.arrays()
    places = [i for i, array in enumerate(plain) if array.dtype.kind == "f" and array.size]
    endless = loops_at_infinity(case)
    for i in places:
        for number, seed in ((np.nan, 1.0), (0.0 if endless else np.inf, 1.0), (0.0, 0.0)):
            arrays = case.arrays()
            arrays[i].flat[arrays[i].size // 2] = number
            yield f"{number} in operand {i}", arrays, seed
    for scale in () if endless else (1e300, 1e-300):
        yield f"times {scale}", [a * scale if i in places else a for i, a in enumerate(plain)], 1.0


def leaves(arrays: list[Any]) -> list[Any]:
    """The floating ones as tracked tensors; labels and indices stay arrays."""
    return [Tensor(a, requires_grad=True, name=f"t{i}") if a.dtype.kind == "f" else a for i, a in enumerate(arrays)]


def loops_at_infinity(case: Case) -> bool:
    """Whether LAPACK decomposes something, which in some builds does not return from an infinity."""
    tensors = leaves(case.arrays())
    parts = [part for part in oracle.flat(case.f(*tensors)) if part.requires_grad]
    return any(entry.primitive.name in ITERATIVE for part in parts for entry in mg.tape(part))


def run(case: Case, arrays: list[Any], seed: Any) -> None:
    """Forward and backward with each tool; only what the function itself refuses may be raised."""
    plain_error: type[BaseException] | None = None
    try:
        with mg.trace():
            tensors = leaves(arrays)
            loss = sum(np.sum(part.real * seed) for part in oracle.flat(case.f(*tensors)))
        loss.backward()
    except (np.linalg.LinAlgError, mg.MinigradError, ValueError) as error:
        plain_error = type(error)
    try:
        with mg.detect_anomaly():
            tensors = leaves(arrays)
            again = sum(np.sum(part.real * seed) for part in oracle.flat(case.f(*tensors)))
            again.backward()
    except AnomalyError as error:
        assert len(str(error).splitlines()) > 1
    except Exception as error:
        assert type(error) is plain_error, error
    if plain_error is not None:
        return
    found = find_nan(loss)
    if found is not None:
        check(found)
    nodes = causes_of(capture(loss))
    culprits = [node for node in nodes if "culprit" in (node["bad"], node["badGradient"])]
    assert bool(culprits) >= (found is not None) and all(set(node["why"]) == {"en", "ja"} for node in culprits)
    assert not any("{" in text for node in culprits for text in node["why"].values())


def check(found: Provenance) -> None:
    """What it says is in the operands is there, and makes what it says is made."""
    text = str(found)
    assert found.cause and not found.cause.startswith("None")
    operands = {edge.argument: edge.value for edge in found.graph.edges if edge.target == found.node.id}
    value = found.node.value if found.edge is None else found.edge.raw
    bad = first_bad(value) if is_bad(value) else np.zeros(())
    place = re.search(r"not finite, (?:the first )?at \[([\d, ]*)\]", text)
    if place and bad.ndim:
        assert not np.isfinite(bad[tuple(map(int, place[1].split(",")))])
    there = re.search(r", where (.*)\.$", text, re.MULTILINE)
    if there:
        assert depends_elementwise(found.node.primitive)
    if there and found.edge is None and found.node.primitive.arguments:
        numbers = {part.split(" ")[0]: number(part.rpartition(" is ")[2]) for part in there[1].split(" and ")}
        assert set(numbers) == set(operands)
        made = found.node.primitive.function(
            *[numbers[name] for name in found.node.primitive.arguments if name in numbers]
        )
        assert not np.isfinite(made).all()


def number(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    return complex(text) if "j" in text else int(text) if text.lstrip("-").isdigit() else float(text)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.id)
def test_of_a_sample(case: Case) -> None:
    every(case)


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_of_every_case(case: Case) -> None:
    every(case)


def every(case: Case) -> None:
    for what, arrays, seed in planted(case):
        try:
            run(case, arrays, seed)
        except Exception as error:
            error.add_note(f"{what}, the gradient that arrives times {seed}")
            raise
