"""The tape: what backward computes, how often it can, whose arrays it hands out, and when memory goes back."""

import gc
import subprocess
import sys
import threading
import tomllib
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import GraphError, Tensor
from minigrad.engine.observers import active
from minigrad.engine.tape import Leaf, Sweep, cotangent_of, sweep
from minigrad.engine.tensor import make_tensor
from tests.leaves import grad_of

PROGRAMS = tomllib.loads((Path(__file__).parent / "processes.toml").read_text(encoding="utf-8"))


def leaf(*shape: int, seed: int = 0) -> Any:
    return Tensor(np.random.default_rng(seed).uniform(0.5, 1.5, shape), requires_grad=True)


def split(t: Any, n: int) -> Any:
    return np.split(t, n)


# --- what is computed ---


def test_the_tape_is_in_the_order_of_execution() -> None:
    x = leaf(3)
    loss = (np.exp(x) * x + 1.0).sum()
    entries = mg.tape(loss)
    assert [entry.primitive.name for entry in entries] == ["exp", "multiply", "add", "sum"]
    assert [entry.seq for entry in entries] == sorted(entry.seq for entry in entries)
    assert [entry.shape for entry in entries] == [(3,), (3,), (3,), ()]
    assert mg.tape(x) == [] and mg.tape(x.detach() * 2) == []


DIAMONDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "x + x": (lambda x: (x + x).sum(), lambda x: np.full_like(x, 2)),
    "x * x": (lambda x: (x * x).sum(), lambda x: 2 * x),
    "x @ x.T": (lambda x: (x @ x.T).sum(), lambda x: np.broadcast_to(2 * x.sum(axis=0), x.shape)),
    "x - x": (lambda x: (x - x).sum(), np.zeros_like),
    "diamond": (lambda x: (lambda y: (y * np.sin(y)).sum())(x * 2), lambda x: 2 * (np.sin(2 * x) + 2 * x * np.cos(2 * x))),
    "three ways": (lambda x: (x * x + x + np.exp(x)).sum(), lambda x: 2 * x + 1 + np.exp(x)),
    "loss is used before": (lambda x: (lambda s: s * s + s)(x.sum()), lambda x: np.full_like(x, 2 * x.sum() + 1)),
    "a part": (lambda x: x[0].sum() + x.sum(), lambda x: 1 + np.eye(2)[:, :1] * np.ones_like(x)),
}  # fmt: skip


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(("f", "want"), DIAMONDS.values(), ids=DIAMONDS)
def test_contributions_add_up(f: Callable[[Any], Any], want: Callable[[Any], Any], create_graph: bool) -> None:
    x = leaf(2, 3)
    f(x).backward(create_graph=create_graph)
    np.testing.assert_allclose(grad_of(x), want(x.data))


def test_a_ladder_of_diamonds_is_walked_once() -> None:
    """2**100 paths, 100 entries."""
    x = leaf()
    y = x
    for _ in range(100):
        y = (y + y) * 0.5
    y.backward()
    assert grad_of(x) == 1.0


def test_unused_branches_get_no_gradient() -> None:
    x, y, z = leaf(3), leaf(3, seed=1), leaf(3, seed=2)
    np.exp(y * z)
    (x * z.detach()).sum().backward()
    assert y.grad is None and z.grad is None
    np.testing.assert_array_equal(grad_of(x), z.data)


def test_unused_outputs_of_a_split_count_as_zeros() -> None:
    x = leaf(6)
    first, _, third = split(x, 3)
    (first * 2.0 + third * third).sum().backward()
    np.testing.assert_allclose(grad_of(x), [2, 2, 0, 0, *(2 * x.data[4:])])
    x.zero_grad()
    split(x, 6)[4].backward()
    np.testing.assert_array_equal(grad_of(x), [0, 0, 0, 0, 1, 0])


def test_one_output_used_twice() -> None:
    x = leaf(4)
    first, second = np.split(x, 2)
    (first * first + first * second).sum().backward()
    a, b = np.split(x.data, 2)
    np.testing.assert_allclose(grad_of(x), np.concatenate([2 * a + b, a]))


def test_backward_from_a_leaf_and_from_an_inner_node() -> None:
    x = leaf(2)
    x.backward(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(grad_of(x), [3, 4])
    x.zero_grad()
    inner = x * 2
    np.exp(inner)
    inner.backward(Tensor([1.0, 10.0]))
    np.testing.assert_array_equal(grad_of(x), [2, 20])
    assert inner.grad is None


def test_a_cotangent_of_another_precision_is_cast() -> None:
    for g in ([3, 4], np.array([3.0, 4.0]), np.array([3, 4], np.int8)):
        for f in (lambda x: x, lambda x: x * 1.0, lambda x: x.reshape(2, 1).T[0]):
            x = Tensor([1.0, 2.0], requires_grad=True, dtype=np.float32)
            f(x).backward(g)
            assert grad_of(x).dtype == np.float32 and grad_of(x).tolist() == [3, 4]


def test_gradients_accumulate_until_zeroed() -> None:
    x = leaf(3)
    for n in (1, 2, 3):
        (x * x).sum().backward()
        np.testing.assert_allclose(grad_of(x), n * 2 * x.data)
    x.zero_grad()
    assert x.grad is None
    (x * x).sum().backward(create_graph=True)
    x.sum().backward()
    np.testing.assert_allclose(grad_of(x), 2 * x.data + 1)


def test_the_gradient_stays_one_object() -> None:
    x = leaf(3)
    x.sum().backward()
    first, array = x.grad, grad_of(x)
    x.sum().backward()
    assert x.grad is first and grad_of(x) is array
    np.testing.assert_array_equal(array, [2, 2, 2])


def test_orders_above_two() -> None:
    x = Tensor(2.0, requires_grad=True)
    y = x**5
    for want in (80.0, 160.0, 240.0, 240.0, 120.0):
        x.zero_grad()
        y.backward(create_graph=True)
        assert x.grad is not None and x.grad.item() == pytest.approx(want)
        y = x.grad


# --- retaining, releasing ---


def test_a_second_backward_raises_and_changes_nothing() -> None:
    x = leaf(3)
    loss = np.exp(x).sum()
    loss.backward()
    before = grad_of(x).copy()
    with pytest.raises(GraphError, match=r"second time through '\w+'.*retain_graph=True"):
        loss.backward()
    np.testing.assert_array_equal(grad_of(x), before)


def test_a_partly_freed_graph_raises_before_anything_changes() -> None:
    x, y = leaf(3), leaf(3, seed=1)
    shared = np.exp(x)
    shared.sum().backward(), x.zero_grad()
    loss = (shared * y).sum()
    for _ in range(2):  # the failed attempt has released nothing either
        with pytest.raises(GraphError, match="'exp'"):
            loss.backward()
        assert x.grad is None and y.grad is None


def test_retain_graph_keeps_it() -> None:
    x = leaf(3)
    loss = (x * x).sum()
    for n in (1, 2):
        loss.backward(retain_graph=True)
        np.testing.assert_allclose(grad_of(x), n * 2 * x.data)
    loss.backward()
    with pytest.raises(GraphError):
        loss.backward()


def test_backward_releases_what_was_kept_and_nothing_else() -> None:
    x = leaf(3)
    hidden = np.exp(x)
    loss = (hidden * hidden).sum()
    array = weakref.ref(hidden.data)
    del hidden
    entries = mg.tape(loss)
    assert array() is not None
    loss.backward()
    assert array() is None
    assert mg.tape(loss) == entries and [e.shape for e in entries] == [(3,), (3,), ()]


def test_arrays_are_released_while_the_sweep_goes_on() -> None:
    seen: list[bool] = []

    def look(g: Any) -> Any:
        seen.append(late() is None)
        return g

    early = mg.primitive(lambda x, /: x + 0, name="early").vjp(x=lambda g: look(g))
    x = leaf(1000)
    hidden = np.exp(early(x))
    late = weakref.ref(hidden.data)
    loss = (hidden * hidden).sum()
    del hidden
    loss.backward()
    assert seen == [True]


# --- whose array is it ---


def share_nothing(*arrays: Any) -> bool:
    return not any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


OWNERSHIP: dict[str, Callable[[Any, Any], Any]] = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "reshaped": lambda a, b: a.reshape(3, 2).reshape(2, 3) + np.transpose(np.transpose(b)),
    "+a": lambda a, b: (+a) + b.astype(b.dtype),
    "concatenated": lambda a, b: np.concatenate([a, b])[:2] + np.stack([b, a])[0],
    "where": lambda a, b: np.where(np.array(True), a, b) + b,
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("f", OWNERSHIP.values(), ids=OWNERSHIP)
def test_a_gradient_is_nobody_elses_array(f: Callable[[Any, Any], Any], create_graph: bool) -> None:
    a, b, g = leaf(2, 3), leaf(2, 3, seed=1), Tensor(np.ones((2, 3)))
    out = f(a, b)
    out.backward(g, create_graph=create_graph)
    assert a.grad is not b.grad and a.grad is not g
    assert share_nothing(grad_of(a), grad_of(b), g.data, a.data, b.data, out.data)
    grad_of(a)[...] = 77  # as gradient clipping does
    assert not (grad_of(b) == 77).any() and (g.data == 1).all()


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_can_be_written_to(create_graph: bool) -> None:
    """The rule of `sum` hands out a read-only view of one number."""
    x = leaf(2, 3)
    x.sum().backward(create_graph=create_graph)
    assert grad_of(x).flags.writeable and grad_of(x).flags.c_contiguous
    grad_of(x)[0, 0] = 5
    np.testing.assert_array_equal(grad_of(x), [[5, 1, 1], [1, 1, 1]])


def test_the_incoming_gradient_is_not_written_to() -> None:
    x, g = leaf(3), np.ones(3)
    y = x * 1.0
    y.backward(g, retain_graph=True)
    y.backward(g)
    (x + x + x).backward(g)
    np.testing.assert_array_equal(g, np.ones(3))
    np.testing.assert_array_equal(grad_of(x), np.full(3, 5.0))


def test_a_gradient_with_a_graph_is_not_written_to() -> None:
    """`x.grad` of create_graph is part of an expression: accumulating into it in place would falsify that."""
    x = leaf(3)
    (x**3).sum().backward(create_graph=True)
    kept = x.grad
    assert kept is not None
    penalty = (kept * kept).sum()
    x.sum().backward()
    x.zero_grad()
    penalty.backward()
    np.testing.assert_allclose(grad_of(x), 36 * x.data**3)


# --- memory ---


def live_entries() -> int:
    """In the youngest generation, where everything stays that was made since `no_gc` began."""
    return sum(type(o) is mg.Entry for o in gc.get_objects(generation=0))


def attend(x: Tensor) -> Tensor:
    return mg.scaled_dot_product_attention(x, x, x).sum()


GRAPHS: dict[str, Callable[[Any], Any]] = {
    "elementwise": lambda x: np.tanh(np.exp(x) * x).sum(),
    "split": lambda x: (lambda parts: parts[0] * parts[1])(split(x, 2)).sum(),
    "attention": attend,
    "indexing": lambda x: (x[np.array([0, 0, 1])] * x[0]).sum(),
    "transform": lambda x: mg.grad(lambda y: (y * y * x).sum())(x).sum(),
}
AFTERWARDS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda loss: None,
    "backward": lambda loss: loss.backward(),
    "retain_graph": lambda loss: loss.backward(retain_graph=True),
    "create_graph": lambda loss: loss.backward(create_graph=True),
}


@pytest.mark.sampled(14)
@pytest.mark.parametrize("then", AFTERWARDS.values(), ids=AFTERWARDS)
@pytest.mark.parametrize("f", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.usefixtures("no_gc")
def test_graphs_die_by_reference_counting(f: Callable[[Any], Any], then: Callable[[Any], Any]) -> None:
    before = live_entries()
    x = leaf(4, 2)
    loss = f(x)
    tensor, array, out = weakref.ref(x), weakref.ref(x.data), weakref.ref(loss.data)
    assert live_entries() > before
    then(loss)
    if x.grad is not None and x.grad.requires_grad:  # the gradient is an expression in x, and dies with x
        (x.grad * x.grad).sum().backward(create_graph=True)
    del x, loss
    assert (tensor(), array(), out()) == (None, None, None)
    assert live_entries() == before


@pytest.mark.usefixtures("no_gc")
def test_an_evaluation_loop_does_not_leak() -> None:
    x, before = leaf(10), live_entries()
    for _ in range(100):
        loss = np.exp(x).sum()
    assert live_entries() == before + 2
    del loss
    assert live_entries() == before


@pytest.mark.usefixtures("no_gc")
def test_a_failed_operation_leaves_nothing_behind() -> None:
    x, before = leaf(3), live_entries()
    for bad in (lambda: x + np.ones(4), lambda: x @ np.ones(4), lambda: x[5], lambda: x.reshape(2, 2)):
        with pytest.raises(mg.MinigradError):
            bad()
    assert live_entries() == before and x.grad is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n", "create_graph"), [(200_000, False), (50_000, True)])
def test_a_long_chain_needs_no_recursion(n: int, create_graph: bool) -> None:
    """In a process of its own: too deep a recursion in C would end it without a traceback."""
    code = PROGRAMS["chain"].format(n=n, create_graph=create_graph)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "freed\n"), done.stderr[-2000:]


def test_threads_run_graphs_of_their_own() -> None:
    start = threading.Barrier(4)

    def work(seed: int) -> Any:
        start.wait()
        x = leaf(5, 5, seed=seed)
        for _ in range(30):
            mg.softmax(np.tanh(x @ x.T)).max(axis=0).sum().backward()
        return grad_of(x)

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, range(4)))
    start = threading.Barrier(1)
    for seed, got in enumerate(together):
        np.testing.assert_array_equal(got, work(seed))


class _NotToBeWalked:
    """In the place of an entry's parents."""

    def __iter__(self) -> Iterator[Any]:
        raise AssertionError("what is older than what is asked for was walked")


def test_what_is_older_than_the_ends_is_not_walked() -> None:
    """Under create_graph each fused operation and each inner transform sweeps a few entries at the end of a long history."""
    x = Tensor([0.5, 1.0], requires_grad=True)
    history: Any = np.sin(x) * 2
    end: Any = history * 3
    leaf = Tensor([1.0, 2.0], requires_grad=True)
    loss: Any = (np.exp(end) * leaf).sum()
    of_history = mg.tape(history)
    parents = [entry.parents for entry in of_history]
    for entry in of_history:
        entry.parents = _NotToBeWalked()  # type: ignore[assignment]
    found = sweep({loss._node: np.ones(())}, retain_graph=True, wanted=[end._node])
    np.testing.assert_allclose(found[end._node], np.exp(end.numpy()) * leaf.numpy())
    assert sweep({loss._node: np.ones(())}, retain_graph=True, wanted=[leaf._node]).keys() == {leaf._node}
    assert sweep({loss._node: np.ones(())}, retain_graph=True, wanted=[]) == {}
    inner: Any = mg.grad(lambda z: (z * history).sum())(np.ones(2))  # the history stays tracked, and is known for older
    assert inner.requires_grad
    with mg.enable_grad():
        g = make_tensor(np.ones((2,)), Leaf(None, (2,), np.dtype(float)))
        fused = mg.softmax(history)
        fused._node.plan.pull_tensors(fused._node, g)
    running = Sweep(
        {loss._node: np.ones(())}, retain_graph=True, wanted=[leaf._node]
    )  # exp(end) depends on no such leaf
    assert [entry.primitive.name for entry in running.entries] == ["multiply", "sum"]
    assert running.needs(leaf._node) and not running.needs(end._node)
    running.run()
    assert not running.arrived.keys() - {leaf._node}
    for entry, before in zip(of_history, parents):
        entry.parents = before
    (through,) = sweep({loss._node: np.ones(())}, wanted=[x._node]).values()
    np.testing.assert_allclose(through, 6 * np.cos(x.numpy()) * np.exp(end.numpy()) * leaf.numpy())


@pytest.mark.parametrize("seed", range(40))
def test_a_sweep_to_some_nodes_finds_what_a_sweep_to_all_does(seed: int) -> None:
    """Random graphs with leaves made on the way, several outputs, leaves given new data, and any nodes asked for."""
    rng = np.random.default_rng(seed)
    known: list[Any] = [Tensor(rng.uniform(0.5, 1, 4), requires_grad=True)]
    others: list[Any] = []
    for _ in range(30):
        a, b = (known[i] for i in rng.integers(max(0, len(known) - 8), len(known), 2))
        kind = rng.integers(6)
        if kind == 0:
            known.append(Tensor(rng.uniform(0.5, 1, 4), requires_grad=True))
        elif kind == 1:
            halves: Any = np.split(a, 2)
            known.append(np.concatenate([halves[1], np.sin(halves[0])]))
            others += [half._node for half in halves]
        elif kind == 2:
            known.append(mg.softmax(a * b))
        elif kind == 3 and a.is_leaf:
            others.append(a._node)  # what was recorded leads to it
            a.requires_grad = False
            a.requires_grad = True  # a new node
        else:
            known.append(np.tanh(a) + 0.5 * b)
    loss: Any = sum((t * t).sum() for t in known[-6:])
    nodes = [*dict.fromkeys([*(t._node for t in known), *others])]
    everything = sweep({loss._node: np.ones(())}, retain_graph=True, wanted=nodes)
    for _ in range(5):
        some = [node for node in nodes if rng.random() < 0.2]
        found = sweep({loss._node: np.ones(())}, retain_graph=True, wanted=some)
        for node in some:
            np.testing.assert_array_equal(cotangent_of(node, found), cotangent_of(node, everything))
    leaves = sweep({loss._node: np.ones(())})
    assert leaves.keys() == {node for node in everything if type(node) is Leaf}
    for node, g in leaves.items():
        np.testing.assert_array_equal(g, everything[node])


def test_each_thread_knows_the_sweeps_that_it_is_in_the_middle_of() -> None:
    counted: list[int] = []
    of_a_thread: list[int] = []

    def count(*_: Any) -> None:
        counted.append(len(active.sweeps))

    def inside(_: Any) -> None:
        count()
        z = Tensor(2.0, requires_grad=True)
        z.register_hook(count)
        with mg.enable_grad():
            (z * z).backward()
        thread = threading.Thread(target=lambda: of_a_thread.append(len(active.sweeps)))
        thread.start()
        thread.join()
        count()

    x = Tensor(1.0, requires_grad=True)
    x.register_hook(inside)
    y = x * 3
    count()
    y.backward()
    count()
    assert counted == [0, 1, 2, 1, 0]
    assert of_a_thread == [0]
    x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * 3).backward()
    assert active.sweeps == []
