"""Functions of nested containers."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import minigrad as mg


class Pair(NamedTuple):
    left: Any
    right: Any


def test_the_containers_stay_and_the_leaves_change() -> None:
    tree = {"b": [1, (2, None)], "a": Pair(3, {})}
    assert mg.tree_map(lambda leaf: 10 * leaf, tree) == {"b": [10, (20, None)], "a": Pair(30, {})}
    assert mg.tree_map(lambda x, y, z: (x, y, z), [1], ["one"], [{"a": 1}]) == [(1, "one", {"a": 1})]
    assert mg.tree_map(len, "leaf") == 4


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ([1], r"others\[1\] must be nested like \['int', 'int'\], got \['int'\]"),
        ({"a": 1}, r"others\[1\] must be nested like \['int', 'int'\], got \{'a': 'int'\}"),
        ([1, None], r"others\[1\] must be nested like"),
    ],
)
def test_another_structure_is_refused(other: Any, said: str) -> None:
    with pytest.raises(mg.ArgumentError, match=said):
        mg.tree_map(lambda *leaves: leaves, [1, 2], [3, 4], other)


def test_no_gradient_goes_back_through_stop_gradient() -> None:
    def loss(p: Any) -> Any:
        fixed = mg.stop_gradient({"w": p["w"], "name": "fixed"})
        assert fixed["name"] == "fixed"
        return np.sum(p["w"] ** 2 * fixed["w"])

    w = np.array([1.0, -2.0])
    np.testing.assert_array_equal(mg.grad(loss)({"w": w})["w"], 2 * w * w)
    second = mg.jacobian(mg.grad(lambda x: np.sum(x**2 * mg.stop_gradient(x))))(w)
    np.testing.assert_array_equal(second, np.diag(2 * w))  # the second time, too, it counts as a constant
    assert mg.stop_gradient(w) is w
