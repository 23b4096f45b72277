"""Threads and processes: graphs of their own, modes of their own; and that nothing is left of a million graphs."""

import asyncio
import gc
import itertools
import os
import subprocess
import sys
import threading
import time
import tomllib
import types
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import GraphError, Tensor
from minigrad.engine.modes import _of_frames, recording
from minigrad.engine.observers import active, before_sweep, open_contexts
from minigrad.guards.inplace import check_watched, watched

pytestmark = pytest.mark.skipif(sys.platform == "emscripten", reason="Pyodide has no threads")

THREADS = 6


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Let the interpreter change threads all the time."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def in_threads(work: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """The results of ``work(0)``, ``work(1)`` ..., all at once."""
    start = threading.Barrier(count, timeout=30)

    def begin(i: int) -> Any:
        start.wait()
        return work(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


# --- threads ---


def train(seed: int) -> list[Any]:
    """A few steps of everything: a layer, in-place updates, a branch under no_grad, second order, a split."""
    rng = np.random.default_rng(seed)
    model = nn.Affine(4, 4, rng=rng, dtype=np.float64)
    x = rng.standard_normal((5, 4))
    seen: list[Any] = []
    for _ in range(15):
        for p in model.parameters():
            p.zero_grad()
        out: Any = np.tanh(model(x))
        first, second = np.split(out, 2, axis=1)
        loss = mg.softmax(first @ second.T + x[:, :1]).max(axis=0).sum() + (out * out).mean()
        loss.backward(create_graph=seed % 2 == 0)
        for p in model.parameters():
            assert p.grad is not None
            p.data -= 0.1 * p.grad.data
        with mg.no_grad():
            assert not (model(x) * 1.0).requires_grad
        seen.append(loss.item())
    seen.append(mg.grad(mg.grad(lambda t: t**4))(float(seed)))
    return [*seen, *[p.tolist() for p in model.parameters()]]


@pytest.mark.usefixtures("eager_switching", "nothing_watched")
def test_each_thread_gets_what_it_would_get_alone() -> None:
    together = in_threads(train)
    assert together == [train(seed) for seed in range(THREADS)]
    assert not open_contexts and not watched


@pytest.mark.usefixtures("eager_switching")
def test_threads_may_share_weights_through_transforms() -> None:
    """A transform touches nobody's ``.grad``."""
    w = Tensor(np.random.default_rng(0).standard_normal((4, 4)), requires_grad=True)
    x = np.random.default_rng(1).standard_normal((THREADS, 4))

    def work(i: int) -> Any:
        return [mg.grad(lambda v: np.sin(x[i] @ v).sum())(w.data).tolist() for _ in range(30)]

    for i, results in enumerate(in_threads(work)):
        want = np.outer(x[i], np.cos(x[i] @ w.data))
        np.testing.assert_allclose(results, np.broadcast_to(want, (30, 4, 4)))
    assert w.grad is None


SIZES = [(3,), (2_000,), (300, 300)]  # NumPy lets go of Python's lock in the loops over larger ones


def sweeps_of_shared(sweep: Callable[[Tensor, int], Any], shape: tuple[int, ...], start: Any = None) -> Tensor:
    """A leaf after ``sweep(leaf, k)`` in some threads, 20 times in each."""
    w = Tensor(np.ones(shape), requires_grad=True)
    w.grad = start

    def work(i: int) -> None:
        for _ in range(20):
            sweep(w, i)

    in_threads(work, 8)
    return w


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("eager_switching")
@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("kind", ["from None", "added to", "after a graph", "create_graph", "owned"])
def test_threads_that_share_a_leaf_lose_no_gradient(kind: str, shape: tuple[int, ...]) -> None:
    """Each adds whole numbers, whose sum is exact in any order."""

    def sweep(w: Any, i: int) -> None:
        y = w * w if kind == "owned" else w * (i + 1.0)
        y.sum().backward(create_graph=kind == "create_graph" or (kind == "after a graph" and i == 0))

    for _ in range(4):
        w = sweeps_of_shared(sweep, shape, np.ones(shape) if kind == "added to" else None)
        want = 8 * 20 * 2 if kind == "owned" else 20 * sum(range(1, 9)) + (kind == "added to")
        assert w.grad is not None
        np.testing.assert_array_equal(w.grad.data, np.full(shape, want))


class Slow(Tensor):
    """What other threads find a turn in: between the look at ``grad`` and its change."""

    __slots__ = ("_held",)
    _held: Any

    @property
    def _grad(self) -> Any:
        held = getattr(self, "_held", None)
        time.sleep(1e-3)
        return held

    @_grad.setter
    def _grad(self, value: Any) -> None:
        self._held = value


def test_the_first_gradients_to_arrive_at_once_are_both_kept() -> None:
    """Whatever the interpreter does: each thread gives way between reading and writing."""
    for _ in range(3):
        w = Slow(np.ones(3), requires_grad=True)
        in_threads(lambda i, w=w: (w * (i + 1.0)).sum().backward(), 4)  # type: ignore[misc]
        assert w.grad.tolist() == [10.0] * 3


@pytest.mark.usefixtures("eager_switching")
def test_threads_that_share_layers_and_an_optimizer() -> None:
    """Whose flat buffers read what all threads have added."""
    rng = np.random.default_rng(0)
    x, seen = rng.standard_normal((THREADS, 5, 4)), []
    for together in (True, False):
        model = nn.Sequential(
            nn.Affine(4, 6, rng=np.random.default_rng(1), dtype=np.float64),
            nn.Affine(6, 2, rng=np.random.default_rng(2), dtype=np.float64),
        )
        optimizer = nn.Adam(model.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()

            def work(i: int, model: Any = model) -> None:
                (model(x[i]) ** 2).sum().backward()

            if together:
                in_threads(work)
            else:
                for i in range(THREADS):
                    work(i)
            optimizer.step()
        seen.append(np.concatenate([p.data for p in model.parameters()], axis=None))
    np.testing.assert_allclose(seen[0], seen[1], rtol=1e-9)


@pytest.mark.usefixtures("eager_switching")
def test_hooks_and_retained_gradients_that_threads_ask_for_at_once() -> None:
    for _ in range(20):
        x = Tensor(np.ones(3), requires_grad=True)
        y: Any = x * 2.0
        calls: list[int] = []

        def ask(i: int, x: Any = x, y: Any = y, calls: list[int] = calls) -> None:
            x.register_hook(lambda g: calls.append(i))
            y.retain_grad()

        in_threads(ask)
        y.sum().backward()
        assert sorted(calls) == list(range(THREADS))
        assert y.grad.tolist() == [1.0] * 3  # retained once


@pytest.mark.usefixtures("eager_switching")
def test_one_graph_swept_in_many_threads() -> None:
    x = Tensor(np.ones(2_000), requires_grad=True)
    y: Any = x * 3.0
    y.retain_grad()
    loss = y.sum()
    in_threads(lambda i: [loss.backward(retain_graph=True) for _ in range(20)])
    assert x.grad is not None
    assert set(x.grad.tolist()) == {3.0 * 20 * THREADS} and set(y.grad.tolist()) == {20.0 * THREADS}


def test_a_gradient_is_forgotten_while_others_arrive() -> None:
    w = Slow(np.ones(3), requires_grad=True)
    done = threading.Event()

    def work(i: int) -> None:
        if i:
            try:
                for _ in range(30):
                    (w * 1.0).sum().backward()
            finally:
                done.set()
        while not i and not done.is_set():
            w.zero_grad()

    in_threads(work, 2)
    assert w.grad is None or set(w.grad.tolist()) <= {float(k) for k in range(31)}


def test_a_graph_may_be_swept_in_another_thread() -> None:
    leaves = [Tensor(np.full(3, i + 1.0), requires_grad=True) for i in range(THREADS)]
    losses = [(x**3).sum() for x in leaves]
    in_threads(lambda i: losses[i].backward())
    for i, x in enumerate(leaves):
        assert x.grad is not None and x.grad.tolist() == [3 * (i + 1.0) ** 2] * 3


@pytest.mark.usefixtures("eager_switching")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_active_in_one_thread_is_not_in_another() -> None:
    contexts: list[Any] = [mg.no_grad, mg.enable_grad, mg.trace, mg.detect_anomaly, mg.reference_mode]

    def work(i: int) -> None:
        for _ in range(50):
            x = Tensor([0.0, 1.0], requires_grad=True)
            if i == len(contexts):
                y: Any = np.log(x)  # nobody looks for infinities here
                assert recording() and not y._node.notes
                continue
            with contexts[i]():
                assert recording() == (i != 0)
                y = x * 2.0
                assert y.requires_grad == (i != 0) and (y._node is None or (not y._node.notes) == (i not in (2, 3)))
            assert recording() and not active.contexts

    in_threads(work, len(contexts) + 1)
    assert not open_contexts and set(before_sweep) <= {check_watched}


def test_one_switch_in_several_threads() -> None:
    """Each thread leaves the block that it entered."""
    switch = mg.no_grad()
    entered = [threading.Event(), threading.Event()]
    left = threading.Event()

    def work(i: int) -> None:
        """Thread 0 enters and leaves first."""
        if i == 1:
            assert entered[0].wait(10)
        with switch:
            entered[i].set()
            assert (entered[1] if i == 0 else left).wait(10) and not recording()
        if i == 0:
            left.set()
        assert recording()

    in_threads(work, 2)
    assert not open_contexts


def test_a_generator_that_goes_on_in_another_thread() -> None:
    def batches() -> Iterator[int]:
        with mg.no_grad():
            yield 1
            yield 2

    running = batches()
    assert next(running) == 1
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(list, running).result() == [2]
        assert pool.submit(recording).result()
    assert recording() and not active.contexts and not open_contexts


def modes(switch: Callable[[], Any]) -> Iterator[bool]:
    with switch():
        while True:
            yield recording()


async def amodes(switch: Callable[[], Any]) -> AsyncGenerator[bool, None]:
    with switch():
        while True:
            await asyncio.sleep(0)
            yield recording()


@types.coroutine
def wait() -> Iterator[None]:
    yield


async def waiting(switch: Callable[[], Any], seen: list[bool]) -> None:
    with switch():
        while True:
            seen.append(recording())
            await wait()


def of_generator(switch: Callable[[], Any]) -> Callable[[], bool]:
    return modes(switch).__next__


def of_decorated(switch: Callable[[], Any]) -> Callable[[], bool]:
    def steps() -> Iterator[bool]:
        while True:
            yield recording()

    return switch()(steps)().__next__


def of_delegating(switch: Callable[[], Any]) -> Callable[[], bool]:
    def steps() -> Iterator[bool]:
        yield from modes(switch)

    return steps().__next__


def of_coroutine(switch: Callable[[], Any]) -> Callable[[], bool]:
    seen: list[bool] = []
    running = waiting(switch, seen)

    def step() -> bool:
        running.send(None)
        return seen[-1]

    return step


def of_async_generator(switch: Callable[[], Any]) -> Callable[[], bool]:
    running = amodes(switch)

    def step() -> bool:
        awaited = running.__anext__()
        while True:
            try:
                awaited.send(None)
            except StopIteration as stop:
                return bool(stop.value)

    return step


SUSPENDED = [of_generator, of_decorated, of_delegating, of_coroutine, of_async_generator]


@pytest.mark.sampled(10)
@pytest.mark.parametrize("make", SUSPENDED)
@pytest.mark.parametrize("switch", [mg.no_grad, mg.enable_grad])
def test_a_switch_belongs_to_its_generator_in_every_thread(make: Any, switch: Any) -> None:
    """Entered in one thread, resumed in others and under switches of theirs, it holds inside and nowhere else."""
    inside = switch is mg.enable_grad
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        step = make(switch)
        for pool in (first, second, first, second):
            assert pool.submit(step).result() == inside
            assert all(other.submit(recording).result() for other in (first, second)) and recording()

        def under(outer: Callable[[], Any], step: Callable[[], bool] = step) -> tuple[bool, bool, bool]:
            with outer():
                return recording(), step(), recording()

        for pool in (first, second):
            for outer in (mg.no_grad, mg.enable_grad):
                outside = outer is mg.enable_grad
                assert pool.submit(under, outer).result() == (outside, inside, outside)
        del step, under
    gc.collect()
    assert recording() and not open_contexts and not active.contexts and not _of_frames


def test_it_does_not_leak_to_the_thread_that_entered_it_while_it_runs_in_another() -> None:
    entered, checked = threading.Event(), threading.Event()

    def steps() -> Iterator[bool]:
        with mg.no_grad():
            yield recording()
            entered.set()
            assert checked.wait(10)
            yield recording()

    running = steps()
    assert not next(running)
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(next, running)
        assert entered.wait(10)
        x = Tensor(1.0, requires_grad=True)
        assert recording() and (x * 2.0).requires_grad
        checked.set()
        assert not later.result()
    running.close()  # type: ignore[attr-defined]
    assert not open_contexts and not _of_frames


def test_blocks_inside_a_generator_that_is_elsewhere() -> None:
    """The innermost counts: one that is entered while the generator runs, in it or in what it calls, or its own."""

    def both() -> bool:
        with mg.enable_grad():
            return recording()

    def steps() -> Iterator[list[bool]]:
        with mg.no_grad():
            while True:
                inner = modes(mg.enable_grad)
                found = [recording(), both(), next(inner), recording()]
                with mg.enable_grad():
                    found += [recording(), not next(modes(mg.no_grad))]
                yield [*found, recording()]

    running = steps()
    want = [False, True, True, False, True, True, False]
    assert next(running) == want
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(next, running).result() == want
    with mg.enable_grad():
        assert next(running) == want
    running.close()  # type: ignore[attr-defined]
    assert not open_contexts and not _of_frames


def test_an_asynchronous_evaluation_in_threads() -> None:
    async def evaluate(x: Any) -> bool:
        with mg.no_grad():
            await asyncio.sleep(0)
            return bool((x * 2.0).requires_grad)

    async def both() -> list[bool]:
        x = Tensor(1.0, requires_grad=True)
        task = asyncio.ensure_future(evaluate(x))
        await asyncio.sleep(0)
        return [await asyncio.to_thread(recording), (x * 2.0).requires_grad, await task]

    assert in_threads(lambda i: asyncio.run(both())) == [[True, True, False]] * THREADS
    assert not open_contexts and not _of_frames


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_whatever_leaves_the_block_restores_the_mode(error: type[BaseException]) -> None:
    every: list[Any] = [mg.no_grad, mg.enable_grad, mg.trace, mg.detect_anomaly]
    for contexts in itertools.permutations(every, 2):
        with pytest.raises(error), contexts[0](), contexts[1]():
            raise error
        assert recording() and not active.contexts and not open_contexts and set(before_sweep) <= {check_watched}


def test_an_error_in_the_sweep_restores_the_mode() -> None:
    def fail(g: Any) -> Any:
        raise ZeroDivisionError

    failing = mg.primitive(lambda x, /: x + 0, name="failing").vjp(x=fail)
    x = Tensor(1.0, requires_grad=True)
    for create_graph in (False, True):
        with mg.no_grad(), pytest.raises(ZeroDivisionError):
            with mg.enable_grad():
                y = failing(x * 2.0)
            y.backward(create_graph=create_graph)
        assert recording() and not active.contexts and x.grad is None


# --- processes ---

PROGRAMS = tomllib.loads((Path(__file__).parent / "processes.toml").read_text(encoding="utf-8"))


def run(code: str) -> str:
    """What a Python of its own prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.sampled(2)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(
    ("code", "says"), [(PROGRAMS["fork"], "both"), (PROGRAMS["pool"], "all")], ids=["os.fork", "multiprocessing"]
)
def test_after_a_fork_both_go_on(code: str, says: str) -> None:
    assert run(code) == says + "\n"


def test_what_was_computed_does_not_go_to_another_process() -> None:
    import copy
    import pickle

    x = Tensor([1.0, 2.0], requires_grad=True, name="x")
    whole: Any = x * 2.0
    part = np.split(whole, 2)[1]
    model = nn.Affine(2, 2, rng=np.random.default_rng(0))
    model.cached = whole  # type: ignore[attr-defined]
    for thing in (whole, part, [whole], {"a": part}, model):
        for duplicate in (copy.deepcopy, pickle.dumps):
            with pytest.raises(GraphError, match=r"the tensor of shape \(\d,\).*was computed.*detach\(\)"):
                duplicate(thing)
    model.cached = whole.detach()  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(model)).cached.tolist() == [2, 4]


# --- leaks ---


@pytest.mark.skipif(sys.platform == "win32", reason="measures memory with the module 'resource'")
@pytest.mark.parametrize(("count", "every"), [(20_000, 4), pytest.param(200_000, 8, marks=pytest.mark.thorough)])
def test_no_graph_leaks_without_the_garbage_collector(count: int, every: int) -> None:
    """In each of six parts: an object left of each graph of one of the rare kinds would be 96 blocks a part, or 480."""
    leak = PROGRAMS["leak"].replace("{count}", str(count)).replace("{every}", str(every))
    blocks, peak = map(int, run(leak).split())
    assert blocks < 50, blocks
    assert peak < 5e6, peak  # bytes of arrays
