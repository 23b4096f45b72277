"""Programs with state between calls, caches, clocks and random numbers, and programs that differentiate inside."""

from __future__ import annotations

import contextvars
import functools
import itertools
import os
import random
import secrets
import tempfile
import time
import uuid
import weakref
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as mg

from .hostile_kit import Array, cases, drawn, hostile, in_turn, normal, with_integers, with_number

# --- Random numbers and clocks: no standalone deterministic program can be right ---


@hostile(normal((4,)), "Noise from NumPy's global random numbers.", must="refuse")
def global_noise(x: Array) -> Array:
    return (x + np.random.randn(4)).sum()  # noqa: NPY002


@hostile(normal((4,)), "Dropout with a new generator without a seed.", must="refuse")
def dropout_without_seed(x: Array) -> Array:
    return (x * (np.random.default_rng().random(4) > 0.5)).sum()


_RNG = np.random.default_rng(0)


@hostile(normal((4,)), "A generator of the module goes on from call to call.", must="refuse")
def generator_of_the_module(x: Array) -> Array:
    return (x * _RNG.normal(size=4)).sum()


@hostile(normal((4,)), "A permutation from a generator in the default of an argument.", must="refuse")
def permutation_from_default(x: Array, rng: Any = np.random.default_rng(1)) -> Array:  # noqa: B008
    return (x[rng.permutation(4)] * np.arange(4)).sum()


@hostile(normal((4,)), "Python's random chooses an element.", must="refuse")
def python_random(x: Array) -> Array:
    return x[random.randrange(4)] * random.gauss(0.0, 1.0)


@hostile(normal((4,)), "Python's random shuffles a list of indices.", must="refuse")
def shuffled_indices(x: Array) -> Array:
    order = list(range(4))
    random.shuffle(order)
    return (x[order] * np.arange(4)).sum()


@hostile(normal((4,)), "Random bits of the operating system.", must="refuse")
def random_bits(x: Array) -> Array:
    return x[secrets.randbelow(4)] * (1 + os.urandom(1)[0])


@hostile(normal((4,)), "A random UUID as a number.", must="refuse")
def number_of_a_uuid(x: Array) -> Array:
    return x.sum() * (uuid.uuid4().int % 1009)


@hostile(normal((4,)), "The clock is a factor.", must="refuse")
def clock_as_factor(x: Array) -> Array:
    return x.sum() * (time.time() % 1000)


@hostile(normal((4,)), "The counter of nanoseconds chooses an element.", must="refuse")
def element_by_clock(x: Array) -> Array:
    return x[time.perf_counter_ns() % 4] * x[time.monotonic_ns() // 3 % 4]


@hostile(normal((4,)), "The address of a new object as a number.", must="refuse")
def address_as_number(x: Array) -> Array:
    return x.sum() * (id([x]) // 16 % 997 + hash(object()) % 991)


# --- State that changes from call to call ---

_calls = 0


def _no_calls() -> None:
    global _calls
    _calls = 0


@hostile(normal((4,)), "A global counter is a factor.", fresh=_no_calls, must="refuse")
def global_counter(x: Array) -> Array:
    global _calls
    _calls += 1
    return x.sum() * _calls


@hostile(normal((4,)), "A list in the default of an argument grows.", must="refuse")
def growing_default(x: Array, seen: list[float] = []) -> Array:  # noqa: B006
    seen.append(1.0)
    return x.sum() * sum(seen)


_COUNTER = itertools.count(1)


@hostile(normal((4,)), "itertools.count gives the number of the step.", must="refuse")
def step_of_a_count(x: Array) -> Array:
    return x.sum() * 0.5 ** next(_COUNTER)


@hostile(normal((4,)), "An attribute of the function counts its calls.", must="refuse")
def attribute_of_the_function(x: Array) -> Array:
    count = getattr(attribute_of_the_function, "calls", 0) + 1
    attribute_of_the_function.calls = count  # type: ignore[attr-defined]
    return x.sum() * count


def _counting() -> Any:
    turn = 0

    def count() -> int:
        nonlocal turn
        turn += 1
        return turn

    return count


_TURN = _counting()


@hostile(normal((4,)), "A closure alternates between two results.", must="refuse")
def alternating_closure(x: Array) -> Array:
    return x.sum() if _TURN() % 2 else (x * x).sum()


class _RunningMean:
    """A running mean, as in batch normalization."""

    mean: Any = 0.0

    def reset(self) -> None:
        self.mean = 0.0

    def __call__(self, x: Array) -> Array:
        self.mean = 0.9 * self.mean + 0.1 * x.numpy()
        return x - self.mean


_NORMALIZE = _RunningMean()


@hostile(normal((4,)), "An object keeps a running mean of its inputs.", fresh=_NORMALIZE.reset, must="refuse")
def running_mean(x: Array) -> Array:
    return (_NORMALIZE(x) ** 2).sum()


_HISTORY: deque[Any] = deque(maxlen=3)


@hostile(normal((4,)), "The values of earlier calls are averaged.", fresh=_HISTORY.clear, must="refuse")
def average_over_calls(x: Array) -> Array:
    _HISTORY.append(x.numpy().copy())
    return (x * np.mean(_HISTORY, axis=0)).sum()


_FIRST_SEEN: dict[Any, Any] = {}


@hostile(normal((4,)), "A cache by shape keeps the values of the first call.", fresh=_FIRST_SEEN.clear, must="refuse")
def cache_by_shape(x: Array) -> Array:
    scale = _FIRST_SEEN.setdefault(x.shape, x.numpy().std() + 1)
    return (x / scale).sum()


_STREAM: Any = iter(())


def _new_stream() -> None:
    global _STREAM
    _STREAM = (2.0**-i for i in itertools.count())


@hostile(normal((4,)), "A generator of the module yields the next step size.", fresh=_new_stream, must="refuse")
def next_of_a_stream(x: Array) -> Array:
    return x.sum() * next(_STREAM, 0.0)


_LEVEL = contextvars.ContextVar("level", default=1.0)


def _first_level() -> None:
    _LEVEL.set(1.0)


@hostile(normal((4,)), "A context variable is doubled in each call.", fresh=_first_level, must="refuse")
def context_variable(x: Array) -> Array:
    _LEVEL.set((_LEVEL.get() * 2) % 1000 + 1)
    return x.sum() * _LEVEL.get()


def _no_step() -> None:
    os.environ.pop("HOSTILE_STEP", None)


@hostile(
    normal((4,)),
    "An environment variable counts.",
    fresh=_no_step,
    must="refuse",
)
def environment_counter(x: Array) -> Array:
    step = int(os.environ.get("HOSTILE_STEP", "0")) + 1
    os.environ["HOSTILE_STEP"] = str(step)
    return x.sum() * step


_FILE = Path(tempfile.gettempdir()) / f"hostile_steps_{os.getpid()}.txt"


@hostile(normal((4,)), "A file counts the calls.", fresh=lambda: _FILE.unlink(missing_ok=True), must="refuse")
def counter_in_a_file(x: Array) -> Array:
    step = len(_FILE.read_text()) + 1 if _FILE.exists() else 1
    _FILE.write_text("x" * step)
    return x.sum() * step


_WEIGHTS = np.ones(4)


def _ones_again() -> None:
    _WEIGHTS[:] = 1.0


@hostile(normal((4,)), "A global array is multiplied in place in each call.", fresh=_ones_again, must="refuse")
def global_array_decays(x: Array) -> Array:
    np.multiply(_WEIGHTS, 0.5, out=_WEIGHTS)
    return (x + _WEIGHTS).prod()


# --- State that is harmless, or seems so ---

_WORKSPACE = np.zeros(4)


@hostile(normal((4,)), "A workspace of the module is overwritten in each call.")
def workspace_of_the_module(x: Array) -> Array:
    np.copyto(_WORKSPACE, x.numpy())
    _WORKSPACE[_WORKSPACE < 0] *= 2.0
    return (x * _WORKSPACE).sum()


@hostile(with_integers((4,), 5, 4), "A workspace receives integers by out=.")
def workspace_for_integers(x: Array, k: Array) -> Array:
    np.multiply(k, 0.5, out=_WORKSPACE)
    return (x * _WORKSPACE).sum() + _WORKSPACE.max() * x[0]


@functools.cache
def _binomials(n: int) -> tuple[int, ...]:
    return (1,) if n == 0 else tuple(map(sum, zip((0, *_binomials(n - 1)), (*_binomials(n - 1), 0))))


@hostile(with_number((6,), 1, 5), "functools.cache of an int.", fresh=_binomials.cache_clear)
def cached_by_int(x: Array, n: int) -> Array:
    return (x[: n + 1] * np.array(_binomials(n), dtype=float)).sum()


@functools.cache
def _scale_for(key: float) -> float:
    return 2.0 if key > 0 else 3.0


@hostile(normal((4,)), "functools.cache of a rounded value of x.", fresh=_scale_for.cache_clear)
def cached_by_value(x: Array) -> Array:
    return x.sum() * _scale_for(round(x[0].item(), 1))


_BY_KEY: dict[Any, Any] = {}


@hostile(with_integers((4,), 3, 2), "A dict cache by the integers of an argument.", fresh=_BY_KEY.clear)
def cached_by_integers(x: Array, k: Array) -> Array:
    key = tuple(k.tolist())
    if key not in _BY_KEY:
        _BY_KEY[key] = np.cos(np.arange(4) * k[0]) + k[1]
    return (x * _BY_KEY[key]).sum()


_ONES: dict[Any, Any] = {}


@hostile(normal((4,)), "A cache keeps an array that is made like an argument.", fresh=_ONES.clear)
def cache_keeps_special_arrays(x: Array) -> Array:
    if x.shape not in _ONES:
        _ONES[x.shape] = np.ones_like(x.detach())
    return (x * x + _ONES[x.shape]).sum()


_BY_ID: dict[int, Any] = {}


@hostile(normal((4,)), "A memo by id() is filled and read in one call.", fresh=_BY_ID.clear)
def memo_by_id(x: Array) -> Array:
    def squared(v: Array) -> Array:
        if id(v) not in _BY_ID:
            _BY_ID[id(v)] = v * v
        return _BY_ID[id(v)]

    _BY_ID.clear()
    return (squared(x) + squared(x) * (2 if x[0] > 0 else 1)).sum()


@hostile(normal((4,)), "Weak references and `is` decide about a temporary.")
def weak_references(x: Array) -> Array:
    y = np.where(x > 0, x, 0.0) if x[0] > 0 else x
    reference = weakref.ref(x)
    same = reference() is y
    return (y * y).sum() if same else y.sum()


@hostile(normal((4,)), "The global random numbers are seeded inside.")
def seeded_inside(x: Array) -> Array:
    np.random.seed(3)  # noqa: NPY002
    return (x * np.random.randn(4)).sum()  # noqa: NPY002


@hostile(normal((4,)), "A seeded generator draws as many numbers as there are positive elements.")
def seeded_draws_by_count(x: Array) -> Array:
    rng = np.random.default_rng(0)
    return sum(rng.normal() * v for v in x if v > 0) + x[0] * rng.normal()


@hostile(normal((3,)), "np.printoptions round the text of values, which is parsed.")
def printoptions(x: Array) -> Array:
    with np.printoptions(precision=1):
        text = np.array_str(x.numpy()).strip("[]")
    return (x * np.array(text.split(), dtype=float)).sum()


class _Layer:
    """A layer that switches itself to another mode when it sees a large input, and back."""

    def __init__(self) -> None:
        self.large = False

    def __call__(self, x: Array) -> Array:
        self.large = bool(np.abs(x).max() > 1.0)
        return self.after(np.tanh(x))

    def after(self, x: Array) -> Array:
        return x / 2 if self.large else x * x


@hostile(normal((3,)), "An object keeps a decision in an attribute.")
def decision_in_an_attribute(x: Array) -> Array:
    return _Layer()(x).sum()


# --- Containers ---


@hostile(
    drawn(lambda rng: ({"w": rng.normal(size=(2, 3)), "b": rng.normal(size=3)}, rng.normal(size=2))),
    "A dict is changed.",
)
def dict_that_is_changed(parameters: Any, x: Array) -> Array:
    p = dict(parameters)
    p["w"] = np.tanh(p["w"]) if x[0] > 0 else p.pop("w") * 2
    return (x @ p["w"] + p["b"]).sum()


@hostile(drawn(lambda rng: ((rng.normal(size=2), [rng.normal(size=2), rng.normal(size=())]),)), "Nested containers.")
def nested_containers(tree: Any) -> Array:
    first, (second, scale) = tree
    return ((first if second[0] > first[0] else second) * scale).sum() + second.sum()


@hostile(
    drawn(lambda rng: ({"b": rng.normal(size=2), "a": rng.normal(size=2)}, int(rng.integers(2)))), "Order of a dict."
)
def order_of_a_dict(p: Any, which: int) -> Array:
    return list(p.values())[which].sum() + p[sorted(p)[which - 1]].prod()


@hostile(
    in_turn((3,), {"power": 1, "shift": 0}, {"power": 2, "shift": 0}, {"power": 3, "shift": 2}),
    "A dict of ints, which loses a key.",
)
def settings_in_a_dict(x: Array, settings: Any) -> Array:
    return (x ** settings["power"] + settings.pop("shift")).sum()


@hostile(in_turn((4,), (0, 2), (1, 3), (3, 4)), "A tuple of two ints is a slice.")
def slice_in_a_tuple(x: Array, ends: tuple[int, int]) -> Array:
    return (x[slice(*ends)] ** 2).sum() * ends[1]


# --- Derivatives inside, rules with branches, hooks ---


@hostile(normal((3,)), "A nested gradient, whose inner function branches.")
def nested_gradient(x: Array) -> Array:
    inner = mg.grad(lambda v: (v**3).sum() if v[0] > 0 else np.sin(v).sum())
    return (inner(x) * x).sum()


@hostile(normal((3,)), "Gradient descent inside, until it has converged.")
def descent_inside(x: Array) -> Array:
    w, step = x, mg.grad(lambda v: ((v - 1) ** 2).sum() / 4)
    for _ in range(50):
        g = step(w)
        if (g * g).sum() < 0.2:
            break
        w = w - g
    return (w * x).sum()


@hostile(normal((3,)), "A Hessian-vector product of a function with a branch.")
def hessian_vector_product(x: Array) -> Array:
    def energy(v: Array) -> Array:
        return (v**4).sum() if v.sum() > 0 else np.exp(v).sum()

    return (mg.grad(lambda v: (mg.grad(energy)(v) * v.detach()).sum())(x) * x).sum()


@hostile(normal((3,)), "A checkpointed segment with a branch runs twice.")
def checkpoint_with_branch(x: Array) -> Array:
    return mg.checkpoint(lambda v: np.exp(v).sum() if v[0] > 0 else (v * v).sum(), x)


@hostile(normal((3,)), "A checkpointed segment counts its runs in a list that it also reads.")
def checkpoint_that_counts(x: Array) -> Array:
    runs: list[int] = []

    def segment(v: Array) -> Array:
        runs.append(1)
        return np.exp(v * (2.0 if v[0] > 0 else 3.0)).sum()

    return mg.checkpoint(segment, x) * len(runs)


_kinked = mg.primitive(lambda x: np.abs(x), name="kinked").vjp(x=lambda g, x: g * 2 if x.sum() > 0 else -g)


@hostile(normal((3,)), "A rule of the user's own branches in Python.")
def rule_with_branch(x: Array) -> Array:
    return _kinked(x).sum()


_counted = mg.primitive(lambda x: x * (1 + int((x > 0).sum())), name="counted").vjp(
    x=lambda g, ans, x: g * (1 + int((x > 0).sum()))
)


@hostile(normal((3,)), "A primitive of the user's own counts elements in its forward function.")
def primitive_with_count(x: Array) -> Array:
    return (_counted(x) * x).sum()


_pulls = 0


def _no_pulls() -> None:
    global _pulls
    _pulls = 0


def _drifting_rule(g: Array, x: Array) -> Array:
    global _pulls
    _pulls += 1
    return g * _pulls


_drifting = mg.primitive(lambda x: x * 1.0, name="drifting").vjp(x=_drifting_rule)


@hostile(normal((3,)), "A rule of the user's own counts its calls.", fresh=_no_pulls, must="refuse")
def rule_that_counts(x: Array) -> Array:
    return _drifting(x).sum()


class _Clipped(mg.Function):
    """A function whose backward branches on what the forward noted."""

    @staticmethod
    def forward(ctx: Any, x: Array) -> Array:
        ctx.large = bool((x > 0.5).any())
        ctx.save_for_backward(x)
        return np.clip(x, -0.5, 0.5)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] * 3 if ctx.large else grads[0] * x


@hostile(normal((3,)), "A Function keeps a decision in its context.")
def function_with_decision(x: Array) -> Array:
    return _Clipped.apply(x).sum() + x[0]


@hostile(normal((3,)), "A hook clips the gradient by a branch on its norm.")
def hook_that_clips(x: Array) -> Array:
    y = np.sinh(x)
    y.register_hook(lambda g: g / 2 if (g * g).sum() > 3 else g * 5)
    return (y**2).sum()


@hostile(normal((3,)), "A hook writes what it sees into a list that another hook reads.")
def hooks_that_talk(x: Array) -> Array:
    seen: list[float] = []
    y, z = np.sin(x), np.cos(x)
    product = y * z
    product.register_hook(lambda g: seen.append(g[0].item()))
    y.register_hook(lambda g: g * (2 if seen and seen[0] > 0 else 3))
    return (product * x).sum()


@hostile(normal((3, 3)), "A Jacobian inside, with a branch on its entries.")
def jacobian_inside(a: Array) -> Array:
    table = mg.jacobian(lambda v: np.tanh(v @ v))(a[0])
    return (table * a[1]).sum() if table[0] > 0 else table.sum()


@hostile(cases([0.3, 0.4], [2.0, 0.1], [-1.0, 0.2]), "A directional derivative inside.")
def direction_inside(x: Array) -> Array:
    _, tangent = mg.jvp(lambda v: np.exp(v) if v[0] > 0 else v * v, (x,), (x,))
    return tangent.sum()
