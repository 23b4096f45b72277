"""How much of an array is on a page: all numbers, or a map by the stated rule and a summary, within the page's size."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import ArgumentError, Tensor
from minigrad.graph.pages import tensors
from minigrad.graph.pages.explain import page_data
from minigrad.graph.pages.tensors import Tensors
from minigrad.graph.record.capture import capture
from minigrad.graph.record.model import Edge, Graph, Node

RNG = np.random.default_rng(0)
WORDS = ["the", "cat", "sat"]


def furthest(block: Any) -> Any:
    """The entry furthest from zero; NaN before infinity before a number, and of equal ones the first."""
    rank = [(math.isnan(v), math.isinf(v), 0.0 if math.isnan(v) or math.isinf(v) else abs(v)) for v in block.ravel()]
    return block.ravel()[rank.index(max(rank))]


def blocks(array: Any, side: int) -> Any:
    """The map of a matrix, block by block."""
    high, wide = (math.ceil(n / side) for n in array.shape)
    rows, columns = range(0, array.shape[0], high), range(0, array.shape[1], wide)
    return np.array([[furthest(array[i : i + high, j : j + wide]) for j in columns] for i in rows])


@pytest.mark.parametrize("shape", [(100, 70), (65, 3), (3, 500), (64, 64), (129, 129)])
@pytest.mark.parametrize("side", [8, 64])
def test_a_cell_is_the_entry_of_its_block_furthest_from_zero(shape: tuple[int, int], side: int) -> None:
    array = RNG.normal(size=shape)
    array[1, 1], array[2, 2], array[0, 2] = np.nan, -np.inf, 0.0
    about = tensors.array(array, 0, side)
    assert about is not None
    rows, columns = about["grid"]
    assert rows <= side and columns <= side
    found = about["cells"].reshape(rows, columns)
    np.testing.assert_allclose(found, blocks(array, side), rtol=1e-6)
    high, wide = about["block"]
    for i, j in itertools.product(range(rows), range(columns)):  # `at` says which entry it is
        at = about["at"][i * columns + j]
        np.testing.assert_allclose(found[i, j], array[i * high + at // wide, j * wide + at % wide], rtol=1e-6)


def test_each_slice_has_its_map_and_the_last_leading_axis_is_kept_first() -> None:
    array = RNG.normal(size=(32, 4, 70, 70))
    about = tensors.array(array, 64, 64)
    assert about is not None
    assert about["grid"].tolist() == [3, 4, 35, 35]  # of 4 * 64 * 64 cells
    cells = about["cells"].reshape(about["grid"])
    for i, j in itertools.product(range(3), range(4)):
        np.testing.assert_allclose(cells[i, j], blocks(array[i, j], 64), rtol=1e-6)


def test_a_summary_is_numpys() -> None:
    array = RNG.normal(size=(30, 20)) * (RNG.uniform(size=(30, 20)) < 0.5)
    array[:, 3] = 0
    array[0, 0], array[1, 1] = np.nan, np.inf
    about = tensors.array(array)
    assert about is not None
    finite = array[np.isfinite(array)]
    expected = [finite.min(), finite.mean(), finite.max(), np.sum(array == 0), 1, 1]
    np.testing.assert_allclose([about[k] for k in ("min", "mean", "max", "zeros", "nans", "infs")], expected)
    assert about["dead"] == 1 and np.isnan(about["norm"])
    clean = tensors.array(np.nan_to_num(array, posinf=2.0))
    assert clean is not None
    assert clean["norm"] == pytest.approx(np.linalg.norm(np.nan_to_num(array, posinf=2.0)))
    assert clean["sumMost"] == pytest.approx(np.nan_to_num(array, posinf=2.0).sum(axis=-1).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, bool, complex])
def test_any_number_has_a_map(dtype: Any) -> None:
    array = (RNG.normal(size=(9, 10)) * 3).astype(dtype)
    about = tensors.array(array)
    assert about is not None
    np.testing.assert_allclose(about["cells"].reshape(9, 10), np.abs(array) if dtype is complex else array, rtol=1e-6)
    assert tensors.array(None) is None and tensors.array(np.array(["text"])) is None


def test_numbers_too_large_or_too_small_for_single_precision_stay() -> None:
    about = tensors.array(np.array([[1e300] * 40, [1e-300] * 40, [-1.7e308] * 40]))
    assert about is not None and about["infs"] == 0 and np.isfinite(about["cells"]).all()
    assert about["cells"].min() == -1.7e308 and about["cells"].reshape(3, 40)[1, 0] == 1e-300


# --- the page's size ---


def layers(count: int, size: int) -> Any:
    x: Any = Tensor(RNG.normal(size=(size, size)), requires_grad=True, name="x")
    with mg.trace():
        for _ in range(count):
            x = np.tanh(x) * 1.01
        return x.sum()


def test_a_page_without_large_arrays_has_no_limit_for_maps() -> None:
    """The lines of a graph of many scalars alone fill the page."""
    node, edges = Node(0, "operation", "sum", "x", (), "float64"), [Edge(0, 0, "x", None, ())] * 10_000
    found = Tensors(Graph([node], edges))
    assert (found.side, found.left) == (tensors.SIDES[0], 0)
    large = Node(1, "input", None, "y", (100,), "float64", value=np.ones(100))
    assert Tensors(Graph([node, large], edges)).side == tensors.SIDES[-1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("count", "size", "side", "left"), [(20, 100, 64, 0), (120, 200, 32, 0), (1500, 65, 8, 1)])
def test_a_page_takes_at_most_8_megabytes_and_says_what_it_left_out(
    count: int, size: int, side: int, left: int, tmp_path: Path
) -> None:
    loss = layers(count, size)
    page = mg.explain(loss, tmp_path / "page.html", check=False)
    assert page.stat().st_size < 8_000_000
    maps = page_data(capture(loss), False)["maps"]
    assert maps["side"] == side and (maps["left"] > 0) == bool(left) and maps["left"] < maps["count"]


def test_values_that_can_be_moved_have_all_their_numbers() -> None:
    x, constant = Tensor(RNG.normal(size=(50, 90)), requires_grad=True), RNG.normal(size=(90, 1000))
    with mg.trace():
        loss = (x @ constant[:, :50]).sum()
    data = page_data(capture(loss), False)
    assert all("values" in value for node in data["nodes"] for value in node["values"])


# --- show ---


def shown(show: Any) -> Any:
    images, query = RNG.normal(size=(5, 12)), Tensor(RNG.normal(size=(2, 3, 8)), requires_grad=True, name="query")
    w = Tensor(RNG.normal(size=(12, 1)), requires_grad=True, name="w")
    with mg.trace():
        a: Any = mg.scaled_dot_product_attention(query, query, query, num_heads=2)
        scores = query @ query.swapaxes(1, 2)
        loss = a.sum() + scores.sum() + (images @ w).sum()
    nodes = page_data(capture(loss, {"scores": scores, "a": a}), False, show)["nodes"]
    return {node["name"]: node for node in nodes}


def test_a_value_is_shown_as_the_reader_asks() -> None:
    nodes = shown(
        {"query": "image", "w": (4, 3), "scores": WORDS, "a": [WORDS, ["1", "2", "3"]]} | {"w": [["r"] * 12, ["c"]]}
    )
    assert nodes["query"]["show"] == {"grey": True}
    assert nodes["scores"]["show"] == {"tokens": [WORDS, WORDS]}
    assert nodes["a"]["show"] == {"tokens": [WORDS, ["1", "2", "3"]]}
    assert shown({"images": (3, 4)})["images"]["show"] == {"grey": True, "shape": (5, 3, 4)}


def test_attention_has_its_weights() -> None:
    node = shown(None)["a"]
    weights = np.array(node["weights"]["values"]).reshape(node["weights"]["shape"])
    assert weights.shape == (2, 2, 3, 3)
    np.testing.assert_allclose(weights.sum(-1), 1)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("show", "words"),
    [
        ({"nothing": "image"}, "no such value. It has "),
        ({"w": (5, 5)}, r"'w'.*\(5, 5\) does not fit the shape \(12, 1\)"),
        ({"scores": ["one", "two"]}, r"'scores'.*\['one', 'two'\] does not fit the shape \(2, 3, 3\)"),
        ({"scores": [1, 2]}, "does not fit"),
        ({"loss": "image"}, r"'image' does not fit the shape \(\)"),
        ({"w": "picture"}, "'picture' does not fit"),
        ({"w": 3}, "takes for show"),
        ("image", "a dict for show, .* got str"),
    ],
)
def test_what_cannot_be_shown(show: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        shown(show)
