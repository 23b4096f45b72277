"""The rules compute without reading data: no value that only a device knows decides what they do next.

A question, such as ``if array:`` or ``int(array)``, makes the host wait for a GPU, and it would freeze today's answer into a
recorded program. This file lists every question that is left. A check of the user's data asks one.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import OutOfRangeError, Tensor
from minigrad.device import check_range
from minigrad.engine import plan
from tests import fake_device
from tests.fake_device import FakeArray, host_syncs
from tests.lazy import scipy_special as special
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

# The cases that ask one question, and why.
ONCE: dict[str, list[str]] = {
    "is a label no class": [
        *(f"cross_entropy: {shape} {how}" for shape in ("()", "(5,)", "(2, 3)") for how in ("mean", "sum", "none")),
        "cross_entropy: large",
    ],
    "is an index no choice": ["where: np.choose"],
    "do the weights sum to 0": ["sum: average with weights", "sum: average, 1-D weights, returned", "sum: average, axes"],
    "does the loss depend on the phase of a vector": [
        "eig: complex vectors of a real matrix", "eigh: complex 23", "eigh: complex 24", "eig: complex 26",
        "svd: complex 27", "svd: complex 28", "svd: complex 29",
    ],
    "does the loss depend on arbitrary vectors": [
        *(f"svd: {label} full" for label in ("3 x 3 ()", "4 x 2 ()", "2 x 4 ()", "3 x 2 (2,)", "2 x 3 (2, 1)", "1 x 1 ()"))
    ],
    "is a determinant 0": [
        "det: ()", "det: (2,)", "det: (2, 1)", "det: 0 x 0", "det: 1 x 1", "det: singular", "det: zero",
        "det: one of two singular", "det: complex 12",
    ],
    "is the result real": ["real: real_if_close"],  # its dtype depends on data
}  # fmt: skip
# The cases that compute with shapes which depend on data, and those whose functions wait inside of CuPy.
MASKS = ("mask", "no", "mask of rows", "mask of two axes", "mask and ints")
WAITS: dict[str, list[str]] = {
    "take: np.delete mask": ["get"],
    "getitem: True": ["boolean mask"] * 2,
    **{f"getitem: {label} (array)": ["boolean mask"] * 2 for label in MASKS},
    "where: np.piecewise": ["boolean mask"] * 8,
    "where: np.piecewise, the later counts": ["boolean mask"] * 8,
    "where: np.piecewise 0-d": ["boolean mask"] * 5,
    **{f"set_at: set: {label}": ["boolean mask"] * 6 for label in ("mask", "mask of rows")},
    **{f"add_at: add: {label}": ["boolean mask"] * 3 for label in ("mask", "mask of rows")},
    **{f"multiply_at: multiply: {label}": ["boolean mask"] * 7 for label in ("mask", "mask of rows")},
    **{f"take: np.{name}": ["flatnonzero"] for name in ("compress", "extract")},
    **{f"take: {name}": ["unique"] for name in ("unique", "unique rows")},
    **{f"{name}: {name} axis={axis}{keep}": [name] for name in ("nanmax", "nanmin") for axis in (None, 1, (0, -1))
       for keep in ("", " keepdims")},
    "nanmax: ties": ["nanmax"],
    # polyfit warns of a rank that is too small, cov of weights below 0 and of too few degrees of freedom, as NumPy's do
    **{f"lstsq: polyfit{of}": ["int"] for of in ("", " of two", " w", " cov")},
    "matmul: cov aweights": ["bool"] * 3,
    "matmul: cov fweights": ["bool"] * 2,
}  # fmt: skip
# The cases whose second derivatives compute with a function that asks.
SECOND = [
    "eig: complex values of a real matrix", "svd: equal values", "eigvalsh: complex 22", "eig: complex 25",
    "norm: complex 32",
]  # fmt: skip
LISTED: dict[str, list[str]] = {**{case: ["bool"] for cases in ONCE.values() for case in cases}, **WAITS}

RNG = np.random.default_rng(0)
ON_DEVICE = [case for case in CASES if not case.host_only]
HOST_OPERAND = (
    "special.gammainc",
    "special.xlogy: a number",
)  # the other argument of these cases is an array on the host
SCIPY = [case for case in CASES if case.host_only.startswith("SciPy") and not case.id.startswith(HOST_OPERAND)]
pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # since NumPy 2.5


def home(value: Any) -> np.ndarray:
    """Return the values as a NumPy array, and ask nothing."""
    value = value.data if isinstance(value, Tensor) else value
    return value._array.copy() if isinstance(value, FakeArray) else np.asarray(value)


def noting(name: str, convert: Callable[[np.ndarray], Any]) -> Callable[[FakeArray], Any]:
    """Return a conversion of the fake array that notes its name."""

    def read(array: FakeArray) -> Any:
        host_syncs.append(name)
        return convert(array._array)

    return read


@pytest.fixture(autouse=True)
def only_the_rules_ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Name each conversion. The tests convert nothing, and the engine does not ask whether a lost derivative is zero."""
    for convert in (bool, int, float, complex):
        monkeypatch.setattr(FakeArray, f"__{convert.__name__}__", noting(convert.__name__, convert))
    for name in ("item", "tolist", "tobytes"):
        monkeypatch.setattr(FakeArray, name, noting(name, getattr(np.ndarray, name)))
    monkeypatch.setattr(oracle, "home", home)
    monkeypatch.setattr(plan, "refuse_results_off_the_tape", lambda *_: None)
    host_syncs.clear()
    yield
    host_syncs.clear()


def asked(compute: Callable[..., Any], f: Callable[..., Any], arrays: oracle.Arrays) -> list[str]:
    """Return what ``f`` and its derivatives ask on the strict device; check that their numbers are those of the host."""
    host_syncs.clear()
    got = compute(f, arrays, fake_device.asarray)
    questions = list(host_syncs)
    oracle.assert_agrees(got, compute(f, arrays))
    return questions


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", ON_DEVICE, ids=lambda case: case.id)
def test_a_case_asks_only_what_is_listed(case: Case) -> None:
    assert asked(oracle.by_backward, case.f, case.arrays()) == LISTED.get(case.id, [])


@pytest.mark.sampled(9)
@pytest.mark.parametrize("case", ON_DEVICE, ids=lambda case: case.id)
def test_the_second_order_asks_nothing_else(case: Case) -> None:
    assert bool(asked(oracle.by_create_graph, case.f, case.arrays())) == (case.id in {*LISTED, *SECOND})


def test_every_listed_case_exists() -> None:
    listed = [*LISTED, *SECOND]
    assert len(listed) == len({*listed}) and {*listed} <= {case.id for case in ON_DEVICE}


class Every:
    """The set of all names."""

    def __contains__(self, name: object) -> bool:
        return True


@pytest.mark.parametrize("case", SCIPY, ids=lambda case: case.id)
def test_scipys_functions_ask_nothing_of_a_device_that_has_them(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_device, "_UFUNCS", Every())
    assert asked(oracle.by_backward, case.f, case.arrays()) == []


def test_the_sign_of_many_arguments_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake_device, "_UFUNCS", Every())
    assert asked(oracle.by_backward, lambda x: special.polygamma(1, x), [RNG.random(300) + 0.5]) == []


# --- what the table does not ask ---

TIES = np.round(RNG.standard_normal((3, 2000)), 1)
REPEATED = np.array([1, 0, 1, -2, 1, 2, 1])
IGNORED = np.array([0, -1, 2, -1])
FACTORS = np.array([2.0, 3.0, 0.0, 0.5, -1.0, 4.0, 1.5])
CALLS: list[tuple[str, Callable[..., Any], list[Any], int]] = [
    ("maximum with ties", np.maximum, [np.array([1.0, 2.0, 3.0]), np.array([1.0, 5.0, 2.0])], 0),
    ("even coordinates", lambda f, x: np.gradient(f, x.data), [RNG.standard_normal(5), np.arange(5.0)], 0),
    ("uneven coordinates", lambda f, x: np.gradient(f, x.data), [RNG.standard_normal(4), np.array([0.0, 1, 3, 4])], 0),
    ("negative indices", lambda x, i: x[i, i], [RNG.standard_normal((100, 100)), np.array([-1, 3, -1, 99])], 0),
    ("long rows with ties", lambda x: np.sort(x), [TIES], 0),
    ("a partition with ties", lambda x: np.partition(x, 700), [TIES], 0),
    ("a median with ties", lambda x: np.median(x, axis=1), [TIES], 0),
    ("quantiles there", lambda x, q: np.quantile(x, q.data), [TIES[0], np.array([0.25, 1.0])], 1),
    ("roll", lambda x, n: np.roll(x, n), [RNG.standard_normal(5), np.array(2)], 0),
    ("choose", lambda x, i: np.choose(i, [x, 2 * x]), [RNG.standard_normal(3), np.array([1, 0, 1])], 1),
    ("insert", lambda x, i: np.insert(x, i, [7.0, 8.0, 9.0]), [RNG.standard_normal(4), np.array([4, 0, -4])], 1),
    ("insert one", lambda x, y, i: np.insert(x, i, y, 1), [TIES[:, :4], TIES[:, 4], np.array(-1)], 1),
    ("insert several at one", lambda x, y, i: np.insert(x, i, y, 1), [TIES[:, :4], TIES[:, 4:6], np.array([2])], 1),
    ("set", lambda x, v, i: x.at[i].set(v), [RNG.standard_normal(4), FACTORS, REPEATED], 0),
    ("add", lambda x, v, i: x.at[i].add(v), [RNG.standard_normal(4), FACTORS, REPEATED], 0),
    ("multiply", lambda x, v, i: x.at[i].multiply(v), [RNG.standard_normal(4), FACTORS, REPEATED], 0),
    ("multiply rows", lambda x, v, i: x.at[i].multiply(v), [TIES[:, :2], FACTORS[:, None], REPEATED], 0),
    ("cross entropy", lambda z, y: nn.cross_entropy(z, y), [RNG.standard_normal((4, 3)), np.array([0, 1, 2, 1])], 1),
    ("ignored labels", lambda z, y: nn.cross_entropy(z, y, ignore_index=-1), [RNG.standard_normal((4, 3)), IGNORED], 2),
    ("a sum of labels", lambda z, y: nn.cross_entropy(z, y, ignore_index=-1, reduction="sum"), [TIES[:, :4].T, IGNORED], 1),
    ("binary cross entropy", lambda p, t: nn.binary_cross_entropy(p, t), [RNG.random(4), np.arange(4) % 2], 2),
    ("an integer mask", lambda x, m: nn.SimplifiedAttention()(x, key_mask=m), [TIES[None, :, :2], np.array([[1, 1, 0]])], 1),
]  # fmt: skip


@pytest.mark.parametrize(("f", "arrays", "count"), [call[1:] for call in CALLS], ids=[call[0] for call in CALLS])
def test_what_these_calls_ask(f: Callable[..., Any], arrays: list[Any], count: int) -> None:
    assert asked(oracle.by_backward, f, arrays) == ["bool"] * count


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_mean_over_labels_that_count_keeps_its_dtype(dtype: Any) -> None:
    logits = RNG.standard_normal((4, 3)).astype(dtype)
    there = nn.cross_entropy(Tensor(fake_device.asarray(logits)), fake_device.asarray(IGNORED), ignore_index=-1)
    assert there.dtype == nn.cross_entropy(logits, IGNORED, ignore_index=-1).dtype == dtype


def test_a_check_of_a_range_asks_for_the_worst_number_only_if_it_fails() -> None:
    there = fake_device.asarray(np.array([3, -2, 4]))
    check_range(fake_device.asarray(np.array([3, 2, 4])), 5, lambda worst: OutOfRangeError("never"))
    assert host_syncs == ["bool"]
    with pytest.raises(OutOfRangeError, match=r"^-2$"):
        check_range(there, 5, lambda worst: OutOfRangeError(str(worst)))
    check_range(fake_device.asarray(np.array([200], np.uint8)), 256, lambda worst: OutOfRangeError("never"))
    assert host_syncs == ["bool", "bool", "get"]


@pytest.mark.parametrize(
    ("f", "words"),
    [
        (
            lambda x, put: np.choose(put(np.array([0, 2])), [x, x]),
            r"choose has 2 choices, numbered 0 to 1, and got 0 to 2",
        ),
        (lambda x, put: np.insert(x, put(np.array([0, 3])), 1.0), r"positions in -2 \.\.\. 2, got 3"),
        (lambda x, put: np.insert(x, put(np.array(-3)), 1.0), r"positions in -2 \.\.\. 2, got -3"),
        (lambda x, put: np.quantile(x, put(np.array(1.5))), r"quantiles lie in 0 \.\.\. 1"),
        (lambda x, put: nn.cross_entropy(x[None], put(np.array([-1])), ignore_index=-1), "no mean over nothing"),
    ],
)
def test_wrong_data_on_a_device_are_refused(f: Callable[..., Any], words: str) -> None:
    x = Tensor(fake_device.asarray(np.array([1.0, 2.0])), requires_grad=True)
    with pytest.raises(mg.MinigradError, match=words):
        f(x, fake_device.asarray)
