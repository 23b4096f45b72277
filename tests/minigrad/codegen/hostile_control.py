"""Programs whose control flow depends on their data: branches, loops, caught errors, choices by index."""

from __future__ import annotations

import bisect
import contextlib
import functools
import heapq
import itertools
import math
import operator
import warnings
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from .hostile_kit import Array, cases, drawn, hostile, in_turn, normal, with_integers, with_number

# --- Branches ---


@hostile(normal((4,)), "A branch of Python on a sum.")
def branch_on_sum(x: Array) -> Array:
    if x.sum() > 0:
        return (x * x).sum()
    return (3 * x).sum()


@hostile(normal((3,)), "A conditional expression inside an argument, by one element.")
def conditional_axis(x: Array) -> Array:
    table = np.outer(x, x)
    return (table.sum(axis=0 if x[0] > 0 else 1) * x).sum() * (1 if x[1] > 0 else -1)


@hostile(normal((4,)), "`and` and `or` return one of their operands.")
def and_or(x: Array) -> Array:
    chosen = (x[0] > 0 and x[1]) or x[2]
    return chosen * x[3]


@hostile(normal((5,)), "`not` of a comparison of the data, used as a number.")
def negation_as_a_number(x: Array) -> Array:
    return x.sum() * (2 + (not x[0] > 0)) + x[1] * (not x[2] < x[3])


@hostile(normal(()), "A chain of comparisons.")
def comparison_chain(x: Array) -> Array:
    return x * x if -0.5 < x < 0.8 else abs(x) - 0.25


@hostile(normal((2,)), "Python's max and min of two elements.")
def python_max_and_min(x: Array) -> Array:
    return max(x[0], x[1]) * 3 + min(x[0], x[1]) ** 2


@hostile(normal((4,)), "Python's max of a list of arrays by a key.")
def largest_of_a_list(x: Array) -> Array:
    parts = [x * i for i in (1, -2, 3)]
    return max(parts, key=lambda part: part[0].item()).sum()


@hostile(normal((5,)), "Python's sorted of elements, then weights by rank.")
def sorted_elements(x: Array) -> Array:
    return sum(rank * value for rank, value in enumerate(sorted(x, key=lambda value: value.item())))


@hostile(normal((6,)), "The argmax as a Python index.")
def argmax_as_python_index(x: Array) -> Array:
    i = int(np.argmax(x))
    return x[i] * x[i - 1]


@hostile(normal((3,)), "The argmin chooses a function from a list.")
def function_chosen_by_argmin(x: Array) -> Array:
    return [np.sin, np.cos, np.tanh][np.argmin(x)](x).sum()


@hostile(normal((3,)), "A name of a NumPy function is computed from data.")
def function_by_name(x: Array) -> Array:
    name = "sin" if x[0].item() > 0 else "cosh"
    return getattr(np, name)(x).sum()


@hostile(normal((4,)), "A match statement on the number of positive elements.")
def match_statement(x: Array) -> Array:
    match int((x > 0).sum()):
        case 0 | 1:
            return x.sum()
        case 2:
            return (x * x).sum()
        case count:
            return count * x.prod()


@hostile(normal((4,), (4,)), "np.allclose, np.array_equal and np.isclose as branches.")
def closeness_branches(x: Array, y: Array) -> Array:
    if np.allclose(x, y, atol=1.5):
        return (x - y).sum()
    return (x * y).sum() if np.isclose(x[0], y[0], atol=0.5) else (x / (1 + y * y)).sum()


@hostile(
    cases([1.0, 2.0, 3.0], [1.0, np.nan, 3.0], [1.0, np.inf, 2.0], [1.0, 2.0, 2.0]),
    "Tests for NaN and inf as branches.",
)
def nan_and_inf_branches(x: Array) -> Array:
    if np.isnan(x).any():
        return np.nansum(x)
    return x[0] if not np.isfinite(x).all() else (x * x).sum()


@hostile(cases([1.0, 2.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.0, 3.0]), "`in` tests whether an array has an element.")
def membership(x: Array) -> Array:
    return x.sum() if 0.0 in x else (x * x).sum()


@hostile(with_number((4,), 0, 5), "`in` tests a Python int in a tuple and a set.")
def membership_of_an_int(x: Array, n: int) -> Array:
    if n in (1, 3):
        return x.sum()
    return (x * x).sum() if n in {0, 5} else x.prod()


@hostile(normal((4,)), "Python's any and all over elements stop early.")
def any_and_all(x: Array) -> Array:
    return x.sum() * (2 if any(v > 0.5 for v in x) else 3) * (5 if all(v > -1 for v in x) else 7)


@hostile(in_turn((3, 3), 0, 1, -1), "The axis is an argument, and the array is square.")
def axis_argument(x: Array, axis: int) -> Array:
    return (np.sort(x, axis=axis).cumsum(axis) * np.arange(9.0).reshape(3, 3)).sum()


@hostile(in_turn((4,), "sum", "max", "mean"), "A string argument chooses the reduction.")
def string_mode(x: Array, mode: str) -> Array:
    reductions: dict[str, Any] = {"sum": np.sum, "max": np.max, "mean": np.mean}
    return reductions[mode](x)


@hostile(in_turn((4,), None, 2, 3), "None or a Python int as an optional argument.")
def optional_scale(x: Array, scale: int | None) -> Array:
    return (x * x).sum() if scale is None else scale * x.sum()


@hostile(in_turn((4,), True, False), "A bool argument is a flag and a number.")
def flag_argument(x: Array, flag: bool) -> Array:
    return x.sum() * (flag + 1) if flag else (x[1:] - x[:-1]).sum()


@hostile(
    drawn(lambda rng: (rng.normal(size=()).item(), rng.normal(size=3), 0.5)), "Python floats next to arrays, compared."
)
def python_float_arguments(c: Any, x: Array, limit: Any) -> Array:
    return c * c * x.sum() if c > -limit else (c + x).prod()


@hostile(in_turn((3,), [0, 1, 2], [2, 0, 1], [1, 1, 0]), "A list of ints is changed while it is worked off.")
def list_of_ints_is_emptied(x: Array, order: list[int]) -> Array:
    total = 1.0
    while order:
        total = total * 2 + x[order.pop()]
    return total + len(order)


@hostile(
    drawn(lambda rng: ([rng.normal(size=3), rng.normal(size=3)], bool(rng.integers(2)))), "Swaps two arrays of a list."
)
def swaps_in_a_list(given: Any, swap: bool) -> Array:
    parts = list(given)
    if swap or parts[0][0] > parts[1][0]:
        parts[0], parts[1] = parts[1], parts[0]
    first, second = parts
    return (first * first).sum() - second.sum()


# --- Loops ---


@hostile(with_number((4,), 1, 4), "A Python int gives the number of turns.")
def turns_from_an_int(x: Array, n: int) -> Array:
    for _ in range(n):
        x = np.tanh(x)
    return x.sum()


@hostile(with_integers((4,), 5, 2), "An integer array gives the number of turns.")
def turns_from_an_array(x: Array, k: Array) -> Array:
    for _ in range(k[0]):
        x = np.sin(x)
    for _ in range(int(k.max())):
        x = x + 0.5 * x * x
    return x.sum()


@hostile(normal((4,)), "A while loop until a norm is small.")
def while_norm_is_large(x: Array) -> Array:
    while (x * x).sum() > 0.5:
        x = 0.7 * x
    return (x**3).sum()


@hostile(cases(2.0, 9.0, 400.0, 0.1), "Newton's iteration stops when it has converged.")
def newton_until_converged(x: Array) -> Array:
    guess = x
    for _ in range(100):
        new = 0.5 * (guess + x / guess)
        if abs(new - guess) < 1e-3:
            break
        guess = new
    else:
        return guess * 0
    return guess


@hostile(normal((6,)), "A loop over elements is left by `break`.")
def break_at_first_negative(x: Array) -> Array:
    total = 0.0
    for value in x:
        if value < 0:
            break
        total = total + value * value
    return total + x.mean()


@hostile(normal((6,)), "itertools.takewhile and filterfalse look at each value.")
def takewhile(x: Array) -> Array:
    return sum(itertools.takewhile(lambda v: v > -0.5, x)) + sum(itertools.filterfalse(lambda v: v > 0, x)) * 2 + x[0]


@hostile(normal((5,)), "functools.reduce with a comparison.")
def reduce_with_comparison(x: Array) -> Array:
    return functools.reduce(lambda a, b: a * b if a > b else a + b, x)


@hostile(normal((5,)), "next() with a default over a generator.")
def next_with_default(x: Array) -> Array:
    return next((v * v for v in x if v > 0.7), x.sum())


@hostile(normal(()), "The depth of the recursion depends on the value.")
def recursion_depth(x: Array) -> Array:
    return np.sin(x) if abs(x) < 0.1 else 2 * recursion_depth(x / 3)


@hostile(normal((5,)), "A comprehension keeps some of the elements.")
def comprehension_with_if(x: Array) -> Array:
    kept = [v for v in x if v > 0]
    return sum(kept) / (len(kept) + 1) + x[0]


@hostile(normal((8,)), "Bisection in Python for the place of a value.")
def binary_search(x: Array) -> Array:
    ordered, low, high = np.sort(x), 0, 8
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if ordered[middle] < 0 else (low, middle)
    return ordered[low % 8] * 2 + ordered.sum() * low


@hostile(with_number((3,), 5, 10), "The steps of Collatz for a Python int.")
def collatz(x: Array, n: int) -> Array:
    while n != 1:
        x, n = (np.sin(x), n // 2) if n % 2 == 0 else (x + 1, 3 * n + 1)
    return x.sum()


@hostile(normal((6,)), "A generator function yields another number of items for other data.")
def generator_of_runs(x: Array) -> Array:
    def runs() -> Iterator[Any]:
        start = 0
        for i in range(1, 6):
            if (x[i] > 0) != (x[i - 1] > 0):
                yield x[start:i].sum()
                start = i
        yield x[start:].sum()

    return sum(run * run for run in runs())


@hostile(with_integers((6,), 3, 6), "itertools.groupby over integer keys.")
def groups_of_keys(x: Array, keys: Array) -> Array:
    pairs = sorted(zip(keys.tolist(), range(6)))
    groups = [[i for _, i in group] for _, group in itertools.groupby(pairs, key=operator.itemgetter(0))]
    return sum(x[group].prod() for group in groups)


@hostile(normal((4,)), "A queue is worked off, and new work depends on the data.")
def work_queue(x: Array) -> Array:
    queue, total = deque(x), 0.0
    while queue:
        value = queue.popleft()
        total = total + np.sin(value)
        if abs(value) > 1:
            queue.append(value / 2)
    return total


@hostile(normal((5,)), "A heap is ordered by values.")
def heap_of_values(x: Array) -> Array:
    heap = [(v.item(), i) for i, v in enumerate(x)]
    heapq.heapify(heap)
    _, first = heapq.heappop(heap)
    _, second = heapq.heappop(heap)
    return x[first] * x[first] - x[second]


@hostile(normal((5,)), "bisect finds the place of a value in a list of floats.")
def place_by_bisect(x: Array) -> Array:
    return x.sum() * bisect.bisect([-1.0, -0.3, 0.0, 0.4, 1.0], x[0].item())


# --- Caught errors ---


@hostile(
    cases([[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]),
    "The error of a Cholesky factorization is caught.",
)
def cholesky_or_shift(a: Array) -> Array:
    try:
        lower = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        lower = np.linalg.cholesky(a + 3.0 * np.eye(2))
    return np.log(np.diagonal(lower)).sum()


@hostile(
    cases([[2.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 1.0]]),
    "The error for a singular matrix is caught.",
)
def inverse_or_trace(a: Array) -> Array:
    try:
        return np.linalg.inv(a).sum()
    except np.linalg.LinAlgError:
        return np.trace(a) * 10


@hostile(cases([1.0, 2.0], [1.0, 0.0], [0.0, 3.0]), "A division raises FloatingPointError, which is caught.")
def division_that_raises(x: Array) -> Array:
    with np.errstate(divide="raise", invalid="raise"):
        try:
            scale = 1.0 / x.numpy()
        except FloatingPointError:
            scale = np.ones(2)
    return (x * scale * x).sum()


@hostile(cases([1.0, 2.0], [1.0, -2.0], [-1.0, -1.0]), "np.log of a Tensor raises FloatingPointError, which is caught.")
def logarithm_that_raises(x: Array) -> Array:
    try:
        with np.errstate(invalid="raise"):
            return np.log(x).sum()
    except FloatingPointError:
        return (x * x).sum()


@hostile(with_integers((4,), 7, 2), "An index out of range is caught.")
def index_out_of_range(x: Array, k: Array) -> Array:
    try:
        return x[k[0]] * 2 + x[k[1]]
    except IndexError:
        return x.sum()


@hostile(with_number((12,), 3, 6), "A shape that does not fit is caught.")
def reshape_or_pad(x: Array, n: int) -> Array:
    try:
        table = x.reshape(n, -1)
    except ValueError:
        table = x[: n * 2].reshape(n, 2)
    return (table.sum(axis=0) ** 2).sum()


@hostile(cases([0.0, 1.0], [2.0, 1.0], [0.0, 5.0]), "suppress() of a Python ZeroDivisionError.")
def suppressed_zero_division(x: Array) -> Array:
    scale = 4.0
    with contextlib.suppress(ZeroDivisionError):
        scale = 1.0 / x[0].item()
    return scale * x[1] + x[0]


@hostile(cases([1.0, 2.0], [800.0, 2.0], [-3.0, 1.0]), "math.exp raises OverflowError, which is caught.")
def overflow_of_math(x: Array) -> Array:
    try:
        weight = math.exp(x[0].item())
    except OverflowError:
        weight = 1.0
    return weight * x[1] + x[0]


@hostile(normal((3,)), "A bare `except Exception` around a branch may swallow the writer's own refusal.")
def except_exception(x: Array) -> Array:
    try:
        positive = bool(x.sum() > 0)
    except Exception:
        positive = False
    return (x * x).sum() if positive else x.sum()


@hostile(normal((3,)), "`except BaseException` swallows everything around a conversion.")
def except_base_exception(x: Array) -> Array:
    try:
        weight = round(x[0].item(), 1)
    except BaseException:
        weight = 0.0
    return weight * x.sum()


@hostile(normal((3,)), "suppress(Exception) around a value that is optional.")
def suppress_exception(x: Array) -> Array:
    weight = 1.0
    with contextlib.suppress(Exception):
        weight = math.floor(x.tolist()[0] * 3)
    return weight * (x * x).sum()


@hostile(normal((3,)), "A return in `finally` swallows every error, a refusal too.")
def return_in_finally(x: Array) -> Array:
    weight = 1.0
    try:
        weight = 2.0 if x[0] > 0 else 3.0
    finally:
        return weight * x.sum()  # noqa: B012


class _Forgiving:
    """A context manager that swallows every error."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> bool:
        return True


@hostile(normal((3,)), "A context manager whose __exit__ swallows every error.")
def forgiving_context(x: Array) -> Array:
    weight = 1.0
    with _Forgiving():
        weight = float(x.detach()[0] > 0) + 2.0
    return weight * x.sum()


@hostile(normal((3,)), "An assert on data fails and is caught.")
def assertion_caught(x: Array) -> Array:
    try:
        assert (x < 1).all(), "too large"
    except AssertionError:
        return (x / x.max()).sum()
    return (x * x).sum()


@hostile(normal((3,)), "An assert on data fails for some seeds and is not caught.")
def assertion_raised(x: Array) -> Array:
    assert x[0] > -0.3, "x[0] must not be very negative"
    return (x * x).sum()


@hostile(with_number((3,), -1, 2), "Raises ValueError for some numbers.")
def raises_for_some_numbers(x: Array, n: int) -> Array:
    if n < 0:
        raise ValueError("n must not be negative")
    return (x**n).sum()


@hostile(cases([1.0, 0.5], [0.0, 2.0], [-1.0, 2.0]), "A branch on whether NumPy has warned.")
def branch_on_a_warning(x: Array) -> Array:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.log(x.numpy())
    return x.sum() if caught else (x * x).sum()


@hostile(cases([1.0, 0.5], [0.0, 2.0], [-1.0, 2.0]), "A callback for floating-point errors counts them.")
def errors_counted_by_callback(x: Array) -> Array:
    seen: list[str] = []
    with np.errstate(all="call", call=lambda kind, flag: seen.append(kind)):
        np.sqrt(1.0 / x.numpy())
    return x.sum() * (1 + len(seen))


@hostile(with_integers((3,), 4, 2), "A key that a dict has only for some values.")
def missing_key(x: Array, k: Array) -> Array:
    weights = {0: 2.0, 1: 3.0}
    try:
        return weights[k[0]] * x.sum()
    except KeyError:
        return weights.get(k[1], -1.0) * (x * x).sum()


@hostile(
    cases([1.0, 0.5, 2.0], [1.0, -0.5, 2.0], [-1.0, -2.0, 0.5]), "try, except, else and finally change one variable."
)
def all_four_clauses(x: Array) -> Array:
    power = 1
    try:
        [10, 20][int(x[0] > 0) + int(x[1] > 0)]
    except IndexError:
        power = 3
    else:
        power = 2
    finally:
        power += 1
    return (x**power).sum()


# --- Indices and sizes that come from data ---


@hostile(normal((6,)), "A mask whose number of elements depends on the data.")
def mask_of_positives(x: Array) -> Array:
    kept = x[x > 0]
    return (kept * kept).sum() / (len(kept) + 1)


@hostile(normal((6,)), "np.nonzero and np.where with one argument give indices.")
def indices_of_positives(x: Array) -> Array:
    (where,) = np.nonzero(x > 0)
    return x[np.where(x < 0.5)[0]].sum() + x[where - 1].sum() * where.size


@hostile(with_integers((6,), 3, 6), "np.unique gives other numbers of groups.")
def means_of_groups(x: Array, labels: Array) -> Array:
    return sum(x[labels == label].mean() ** 2 for label in np.unique(labels))


@hostile(with_integers((6,), 4, 6), "Counter of integer labels gives the weights.")
def weights_from_counter(x: Array, labels: Array) -> Array:
    counts = Counter(labels.tolist())
    return sum(counts[label] * value for label, value in zip(labels.tolist(), x))


@hostile(with_integers((6,), 4, 6), "np.bincount with a length that depends on the largest label.")
def bincount_length(x: Array, labels: Array) -> Array:
    counts = np.bincount(labels)
    return (x * counts[labels]).sum() / len(counts)


@hostile(normal((6,)), "np.argsort, np.argpartition and np.searchsorted give indices.")
def orders_as_indices(x: Array) -> Array:
    order = np.argsort(x)
    place = np.searchsorted(np.sort(x.numpy()), 0.0)
    return (x[order] * np.arange(6)).sum() + x[np.argpartition(x, 2)[0]] * place


@hostile(with_integers((8,), 8, 2), "A slice whose ends are given by integers.")
def slice_from_integers(x: Array, k: Array) -> Array:
    return (x[min(k) : max(k) + 1] ** 2).sum() + x[: k[0]].sum()


@hostile(with_number((8,), 1, 5), "A Python int is a size, a shift, an offset and a width.")
def int_as_size(x: Array, n: int) -> Array:
    return (np.roll(x, n)[:n] * np.arange(n)).sum() + np.pad(x, n, mode="edge").sum() + np.diff(x, n=n).sum()


@hostile(with_number((3, 3), 0, 3), "A matrix to a power that is an argument.")
def matrix_power(a: Array, n: int) -> Array:
    return np.linalg.matrix_power(a, n)[0].sum() + np.trace(a, offset=n - 1)


@hostile(with_number((4,), -2, 3), "A power whose exponent is a Python int.")
def int_power(x: Array, n: int) -> Array:
    return (x**n).sum()


@hostile(with_integers((5,), 4, 5), "np.repeat and np.split by integer arrays.")
def repeats_from_integers(x: Array, k: Array) -> Array:
    longer = np.repeat(x, k)
    return (longer * np.arange(len(longer))).sum() + sum(part.sum() ** 2 for part in np.split(x, np.sort(k[:2])))


@hostile(with_integers((6,), 6, 3), "np.delete, np.insert and np.take at integers of an argument.")
def delete_and_insert(x: Array, k: Array) -> Array:
    left = np.delete(x, k)
    return (left * left).sum() / len(left) + (np.insert(x, k[0], 2.0) * np.arange(7)).sum() + np.take(x, k).prod()


@hostile(with_integers((2, 3, 4), 3, 1), "np.moveaxis by an argument, on a cube after a product.")
def axis_moved_by_an_argument(x: Array, k: Array) -> Array:
    cube = np.einsum("aij,bik->jkb", x, x)[:2, :2, :2]
    return (np.moveaxis(cube, int(k[0]), 0) * np.arange(8.0).reshape(2, 2, 2)).sum()


@hostile(with_integers((3, 3), 3, 3), "The letters of np.einsum are computed from integers.")
def letters_from_integers(a: Array, k: Array) -> Array:
    left = "ij" if k[0] else "ji"
    right = "jk" if k[1] > 1 else "kj"
    return (np.einsum(f"{left},{right}->ik", a, a) * np.arange(9).reshape(3, 3)).sum()


@hostile(in_turn((3, 3), "ij->ji", "ij->ij", "ij->i"), "The whole subscript string is an argument.")
def subscripts_argument(a: Array, subscripts: str) -> Array:
    result = np.einsum(subscripts, a)
    return (result * np.arange(float(result.size)).reshape(result.shape)).sum()


@hostile(normal((5,)), "np.piecewise calls its functions with parts whose sizes depend on the data.")
def piecewise_with_sizes(x: Array) -> Array:
    return np.piecewise(x, [x < -0.5, x > 0.5], [lambda v: v * len(v), lambda v: v * v, 0.25]).sum()


@hostile(normal((5,)), "np.select and np.choose with a default.")
def select_and_choose(x: Array) -> Array:
    chosen = np.select([x < -0.5, x > 0.5], [x * x, np.sin(x)], default=1.5)
    return chosen.sum() + np.choose((x > 0).astype(int), [x, x**3]).sum()


@hostile(normal((5,)), "np.histogram and np.digitize of values give counts.")
def counts_of_a_histogram(x: Array) -> Array:
    counts, edges = np.histogram(x.numpy(), bins=3)
    return (x * counts[np.digitize(x.numpy(), edges[1:-1])]).sum()


@hostile(with_integers((6,), 3, 6, low=-1), "np.trim_zeros and np.flatnonzero of integers.")
def trimmed_zeros(x: Array, k: Array) -> Array:
    return x[: len(np.trim_zeros(k))].sum() * 2 + x[np.flatnonzero(k)].prod()


@hostile(with_integers((6,), 6, 4), "Sets of integers give the indices.")
def sets_of_indices(x: Array, k: Array) -> Array:
    seen = set(k.tolist())
    return x[sorted(seen)].sum() * len(seen) + x[np.setdiff1d(np.arange(6), k)].prod()


@hostile(normal((4, 3)), "The row with the largest norm is chosen, and its index is used as a number.")
def row_with_largest_norm(x: Array) -> Array:
    best = max(range(4), key=lambda i: (x[i] ** 2).sum().item())
    return x[best].sum() * best
