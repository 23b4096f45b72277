"""Memory is overwritten as soon as nobody may look at it any more, and no gradient changes, nor anything handed out.

So whatever reuses memory (kernels that work in place, gradients that are accumulated in place, a pool of buffers) never
writes to an array that anybody else can still see.
"""

import contextlib
import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, reference_mode
from minigrad.engine import observers, tape
from minigrad.engine.kernels import Kernel
from tests.minigrad.kernels.fast_paths import (
    classifier_loss,
    decoder_loss,
    draw,
    forget_plans,
    gpt_loss,
    numpy_kernels,
    training_losses,
)
from tests.minigrad.rules import oracle
from tests.minigrad.rules.cases import Case
from tests.minigrad.rules.table import CASES

Arrays = list[Any]

# --- memory that the engine is done with ---


def arrays_in(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        yield from arrays_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)


def overlap(value: Any, others: Any) -> bool:
    return any(np.shares_memory(a, b) for a in arrays_in(value) for b in arrays_in(others))


def poison(value: Any) -> None:
    for array in arrays_in(value):
        if array.flags.writeable:
            array[...] = np.nan if array.dtype.kind in "fc" else 1


class Poisoned:
    """While active, memory is overwritten with NaN as soon as nobody may look at it any more.

    * What a kernel gets for its backward are copies, which it may not hand out: its results must be its own.
    * What a kernel saved, once its entry has been swept, unless the graph is retained.
    * The cotangent of an entry that the sweep owns, once the rules have made of it what they give, unless they pass it on.

    Attributes:
        overwritten: how many arrays of each kind.
    """

    def __init__(self, retained: bool = False) -> None:
        self.retained = retained
        self.overwritten = dict.fromkeys(("copies", "saved", "cotangents"), 0)
        self.sweeps: list[Any] = []

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for _, kernel in numpy_kernels():
                patch.setattr(kernel, "forward", self.forward(kernel.forward))
                patch.setattr(kernel, "backward", self.backward(kernel, kernel.backward))
            patch.setattr(tape.Sweep, "__init__", self.cotangents(tape.Sweep.__init__))
            patch.setattr(observers, "plan_made", [*observers.plan_made, self.watch])
            forget_plans()
            try:
                yield
            finally:
                forget_plans()

    def forward(self, forward: Callable[..., Any]) -> Callable[..., Any]:
        def poisoned(*arrays: Any, **keywords: Any) -> Any:
            computed = forward(*arrays, **keywords)
            if computed is not NotImplemented:
                assert not overlap(computed[0], arrays), "the answer of a kernel is a view of its argument"
            return computed

        return poisoned

    def backward(self, kernel: Kernel, backward: Callable[..., Any]) -> Callable[..., Any]:
        def poisoned(g: Any, needs: Sequence[bool], *values: Any) -> Any:
            given = copy.deepcopy((g, values))
            before = copy.deepcopy(given)
            results = backward(given[0], needs, *given[1])
            for now, was in zip(arrays_in(given), arrays_in(before), strict=True):
                np.testing.assert_array_equal(now, was, "a kernel wrote into what it was given")
            outputs = list(arrays_in(list(results)))
            assert not overlap(outputs, given), "a kernel handed out what it was given"
            assert not any(overlap(a, b) for a, b in itertools.combinations(outputs, 2)), "two results share memory"
            assert all(a.flags.writeable for a in outputs if a.shape)
            poison(given)
            self.overwritten["copies"] += 1
            if "saved" in kernel.names and not self.retained:
                saved = values[kernel.names.index("saved")]
                others = [value for name, value in zip(kernel.names, values) if name != "saved"]
                if not overlap(saved, [others, g]):  # it may be the answer, which belongs to the program
                    poison(saved)
                    self.overwritten["saved"] += 1
            return results

        return poisoned

    def cotangents(self, original: Any) -> Any:
        def make(sweep: Any, *arguments: Any, **options: Any) -> None:
            original(sweep, *arguments, **options)
            sweep.arrived = Arrived(sweep.arrived)
            self.sweeps.append(sweep)

        return make

    def watch(self, plan: Any) -> None:
        """Told of each new plan, whose ``pull`` the sweep calls."""
        pull = plan.pull

        def poisoned(entry: Any, g: Any) -> Any:
            results = pull(entry, g)
            self.done_with(g, results, entry.kept)
            return results

        plan.pull = poisoned

    def done_with(self, g: Any, results: Any, kept: Any) -> None:
        sweep = next((s for s in reversed(self.sweeps) if s.arrived.latest[1] is g), None)
        if sweep is None:
            return
        entry: Any = sweep.arrived.latest[0]
        if entry not in sweep.owned or entry.hooks is not None or entry.notes:
            return  # somebody else has this cotangent
        if not overlap(g, list(results)):
            assert g.flags.writeable and not overlap(g, kept)
            poison(g)
            self.overwritten["cotangents"] += 1


class Arrived(dict[Any, Any]):
    """The cotangents of a sweep, which says for which entry the latest was taken out."""

    latest: tuple[Any, Any] = None, None

    def pop(self, key: Any, default: Any = None) -> Any:
        self.latest = key, super().pop(key, default)
        return self.latest[1]


class Watched:
    """Everything that was handed out, with what was in it then."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Any, Any]] = []

    def add(self, name: str, value: Any) -> None:
        for array in arrays_in(value.data if isinstance(value, Tensor) else value):
            self.seen.append((name, array, array.copy()))

    def hook(self, name: str) -> Callable[[Tensor], None]:
        return lambda g: self.add(name, g._array)

    def check(self) -> None:
        for name, array, before in self.seen:
            np.testing.assert_array_equal(array, before, f"{name} has changed since it was handed out")

    def values(self) -> Arrays:
        return [before for _, _, before in self.seen]


def shared_subexpressions(watched: Watched, hooks: bool) -> tuple[Tensor, list[Tensor]]:
    """Everything used twice, by kernels and by rules that pass their cotangent on; with hooks and retained gradients."""
    x = Tensor(draw(6, 8), requires_grad=True, name="x")
    w, b, gamma = (Tensor(draw(*shape, seed=1), requires_grad=True) for shape in ((8, 8), (8,), (8,)))
    h = mg.affine(x, w, b)
    s = mg.softmax(h)
    double = s + s
    n = mg.layer_norm(double + h, gamma, b) * s
    turned = n.T.reshape(6, 8)
    u = mg.gelu(turned) + turned + mg.relu(turned)
    a = mg.scaled_dot_product_attention(u, u, u + h, num_heads=2)
    left, right = np.split(a, 2, axis=1)
    joined = np.concatenate([right, left + right], axis=1)
    loss = mg.cross_entropy(joined, np.arange(6)) + (joined * double).sum() * 0.1 + a[2:4].mean()
    middle = {"h": h, "s": s, "double": double, "n": n, "turned": turned, "u": u, "a": a, "joined": joined}
    for name, tensor in middle.items():
        watched.add(f"the values of {name}", tensor._array)
    leaves = [x, w, b, gamma]
    if hooks:
        for name, tensor in middle.items():
            tensor.retain_grad()
            tensor.register_hook(watched.hook(f"the gradient that the hook of {name} saw"))
        h.register_hook(lambda g: g * 0.5)
        leaves[0].register_hook(watched.hook("the gradient that the hook of x saw"))
        leaves += middle.values()
    return loss, leaves


def gradients_of(tensors: list[Tensor]) -> Arrays:
    return [t.grad.data for t in tensors if t.grad is not None]


def assert_same(got: Arrays, expected: Arrays) -> None:
    assert len(got) == len(expected) > 0
    for a, b in zip(got, expected):
        np.testing.assert_array_equal(a, b)
        assert np.isfinite(a).all()


@pytest.mark.parametrize("traced", [False, True], ids=["", "traced"])
@pytest.mark.parametrize("hooks", [False, True], ids=["", "hooks"])
@pytest.mark.parametrize("retained", [False, True], ids=["", "retained"])
def test_overwriting_changes_no_gradient_and_nothing_that_was_handed_out(
    retained: bool, hooks: bool, traced: bool
) -> None:
    def run(poisoned: Poisoned | None) -> tuple[Arrays, Arrays]:
        watched = Watched()
        with (
            poisoned.active() if poisoned else contextlib.nullcontext(),
            mg.trace() if traced else contextlib.nullcontext(),
        ):
            loss, tensors = shared_subexpressions(watched, hooks)
            loss.backward(retain_graph=retained)
            for t in tensors:
                watched.add("a gradient", t.grad)
            first = [g.copy() for g in gradients_of(tensors)]
            if retained:
                loss.backward()  # adds into the gradients of the first
                watched.seen = [item for item in watched.seen if item[0] != "a gradient"]
        watched.check()
        if retained:
            for now, was in zip(gradients_of(tensors), first, strict=True):
                np.testing.assert_allclose(now, 2 * was, rtol=1e-13)
        assert not any(overlap(a, b) for a, b in itertools.combinations(gradients_of(tensors), 2))
        poison(gradients_of(tensors[:4]))  # a leaf's gradient is its own: nobody else has it
        watched.seen = [item for item in watched.seen if item[0] != "a gradient"]
        watched.check()
        return first, watched.values()

    expected, seen = run(None)
    poisoned = Poisoned(retained)
    got, seen_then = run(poisoned)
    assert_same(got, expected)
    assert_same(seen_then, seen)
    counts = poisoned.overwritten
    assert counts["copies"] >= 5 and (counts["saved"] >= 3) == (not retained)
    assert counts["cotangents"] >= (0 if hooks or traced else 3)


def test_the_cotangent_that_backward_is_given_stays_the_callers() -> None:
    operations: list[Callable[[Tensor], Any]] = [
        lambda x: x + 0.0,
        lambda x: x + x,
        lambda x: x.reshape(3, 4).T.reshape(4, 3),
        mg.relu,
        mg.softmax,
        lambda x: mg.affine(x, np.eye(3), np.zeros(3)),
        lambda x: x,
    ]
    for operation in operations:
        x = Tensor(draw(4, 3), requires_grad=True)
        cotangent = draw(4, 3, seed=1)
        before = cotangent.copy()
        for _ in range(2):  # the second adds into what the first left
            operation(x).backward(cotangent)
            np.testing.assert_array_equal(cotangent, before)
            assert x.grad is not None and not overlap(x.grad.data, cotangent)
        poison(gradients_of([x]))
        np.testing.assert_array_equal(cotangent, before)


def test_overwriting_does_not_reach_the_second_order() -> None:
    def run(poisoned: Poisoned | None) -> Arrays:
        with poisoned.active() if poisoned else contextlib.nullcontext():
            loss, tensors = shared_subexpressions(Watched(), hooks=False)
            loss.backward(create_graph=True)
            first = [t.grad for t in tensors if t.grad is not None]
            values = [g.data.copy() for g in first]
            for t in tensors:
                t.zero_grad()
            total: Any = sum(((g * g).sum() for g in first), Tensor(0.0))
            total.backward()
            return values + gradients_of(tensors)

    got = run(Poisoned())
    assert_same(got, run(None))
    loss, tensors = shared_subexpressions(Watched(), hooks=False)
    loss.backward()
    for a, b in zip(got, gradients_of(tensors)):  # those of the first order come first
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("make", [classifier_loss, gpt_loss, decoder_loss])
def test_overwriting_changes_no_training(make: Any) -> None:
    settings = make, "pre", "gelu", np.float32
    expected = training_losses(*settings, steps=4)
    poisoned = Poisoned()
    with poisoned.active():
        got = training_losses(*settings, steps=4)
    assert got == expected
    assert all(count > 20 for count in poisoned.overwritten.values()), poisoned.overwritten


# --- every rule ---


@pytest.mark.sampled(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_counts_as_a_new_array_shares_its_memory_with_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that is declared so, and a kernel: the sweep adds to their arrays in place."""
    add, gave = tape.Sweep.add, list[Any]()

    def watched(self: Any, nodes: Any, arrays: Any, entry: Any = None, owned: bool = False) -> None:
        arrays = list(arrays)
        if owned:
            given = [a for a in arrays if isinstance(a, np.ndarray)]
            gave.append(given)
            assert not overlap(given, [self.arrived, case_arrays, cotangents, entry.kept])
            assert not any(overlap(a, b) for a, b in itertools.combinations(given, 2))
        add(self, nodes, arrays, entry, owned)

    monkeypatch.setattr(tape.Sweep, "add", watched)
    case_arrays = case.arrays()
    tensors = oracle.inputs_of(case_arrays)
    outputs = [t for t in oracle.flat(case.f(*tensors)) if t.requires_grad]
    cotangents = [np.ones(t.shape, t.dtype) for t in outputs]
    for t, g in zip(outputs, cotangents, strict=True):
        t.backward(g, retain_graph=True)
    assert gave or not any(entry.plan.owned for t in outputs for entry in mg.tape(t))


# --- any graph ---


def random_graph(seed: int, watched: Watched) -> tuple[Tensor, list[Tensor]]:
    """Thirty operations on whatever there is, so that everything is used any number of times, or not at all."""
    rng = np.random.default_rng(seed)
    leaves = [Tensor(draw(4, 6, seed=i), requires_grad=True) for i in range(3)]
    vectors = [Tensor(draw(6, seed=i), requires_grad=True) for i in range(2)]
    matrix = Tensor(draw(6, 6, seed=seed), requires_grad=True)
    found: list[Any] = list(leaves)
    operations: list[Callable[[Any, Any], Any]] = [
        lambda x, y: x + y,
        lambda x, y: x - y,
        lambda x, y: np.tanh(x) * y,
        lambda x, y: mg.softmax(x),
        lambda x, y: mg.log_softmax(x) * 0.3,
        lambda x, y: mg.gelu(x, approximate="tanh"),
        lambda x, y: mg.relu(x) + vectors[0],
        lambda x, y: mg.layer_norm(x, *vectors),
        lambda x, y: mg.affine(x, matrix, vectors[1]),
        lambda x, y: x @ matrix,
        lambda x, y: mg.scaled_dot_product_attention(x, y, x, num_heads=3),
        lambda x, y: x.T.reshape(4, 6),
        lambda x, y: x[::-1],
        lambda x, y: np.take(x, [0, 2, 2, 1], axis=0),
        lambda x, y: np.concatenate(np.split(x, 2, axis=1)[::-1], axis=1),
        lambda x, y: x - x.mean(axis=0),
        lambda x, y: np.broadcast_to(x.sum(axis=0), (4, 6)),
    ]
    for _ in range(30):
        x, y = (found[i] for i in rng.integers(max(0, len(found) - 8), len(found), 2))
        found.append(operations[rng.integers(len(operations))](x, y))
        watched.add("a value", found[-1]._array)
        if rng.random() < 0.2:
            found[-1].retain_grad()
        if rng.random() < 0.2:
            found[-1].register_hook(watched.hook("what a hook saw"))
    loss: Any = sum(((np.tanh(t) * draw(4, 6, seed=9)).sum() for t in found[-3:]), Tensor(0.0))
    return loss + mg.cross_entropy(found[-1], np.arange(4)), [*leaves, *vectors, matrix, *found[3:]]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_any_graph(seed: int) -> None:
    """The same gradients to the bit where memory is overwritten, and to rounding those of the plain rules."""

    def run(around: Any) -> tuple[list[Any], Arrays]:
        watched = Watched()
        with around:
            loss, tensors = random_graph(seed, watched)
            loss.backward()
        watched.check()
        assert not any(overlap(a, b) for a, b in itertools.combinations(gradients_of(tensors), 2))
        return [None if t.grad is None else t.grad.data for t in tensors], watched.values()

    expected, seen = run(contextlib.nullcontext())
    got, seen_then = run(Poisoned().active())
    plain, _ = run(reference_mode())
    assert_same(seen_then, seen)
    assert [g is None for g in got] == [g is None for g in expected] == [g is None for g in plain]
    for a, b, c in zip(got, expected, plain):
        if a is not None:
            np.testing.assert_array_equal(a, b)
            np.testing.assert_allclose(b, c, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(c).max()))
