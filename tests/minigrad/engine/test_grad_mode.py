"""no_grad and enable_grad: where they hold and where they must not."""

import asyncio
import inspect
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, enable_grad, no_grad
from minigrad.engine.observers import active

X: Any = Tensor([1.0, 2.0], requires_grad=True)


def recorded() -> bool:
    return X.exp().requires_grad


def test_as_a_context_manager() -> None:
    with no_grad():
        y = X * 2
        assert not recorded() and not y.requires_grad and y.is_leaf
        assert X.requires_grad
    assert recorded() and not (y * 1).requires_grad
    with no_grad() as _, ExitStack() as stack:
        stack.enter_context(enable_grad())
        assert recorded()
    assert recorded()


def test_several_outputs_are_not_recorded_either() -> None:
    with no_grad():
        parts: Any = np.split(X, 2)
    assert not any(part.requires_grad for part in parts)


def test_nested() -> None:
    with no_grad():
        with enable_grad():
            assert recorded()
            with no_grad():
                assert not recorded()
            assert recorded()
        assert not recorded()
        with no_grad():
            pass
        assert not recorded()
    assert recorded()


def test_one_object_entered_twice() -> None:
    switch = no_grad()
    with switch:
        with switch:
            assert not recorded()
        assert not recorded()
    assert recorded()
    with switch:
        assert not recorded()
    assert recorded()


def test_an_exception_restores_the_mode() -> None:
    with pytest.raises(ZeroDivisionError), no_grad():
        1 / 0
    assert recorded()

    @no_grad()
    def fail() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert recorded()


def test_as_a_decorator() -> None:
    @no_grad()
    def evaluate(x: Tensor, *, depth: int = 3) -> tuple[bool, int]:
        """Evaluate."""
        return recorded(), depth if depth == 0 else evaluate(x, depth=depth - 1)[1]

    @enable_grad()
    def train() -> bool:
        return recorded()

    assert evaluate(X) == (False, 0) and recorded()
    assert (evaluate.__name__, evaluate.__doc__) == ("evaluate", "Evaluate.")
    with no_grad():
        assert train() and not recorded()


def test_a_suspended_generator_does_not_leak() -> None:
    def steps() -> Iterator[bool]:
        with no_grad():
            yield recorded()
            yield recorded()
        yield recorded()

    running = steps()
    assert [next(running), recorded(), next(running), recorded(), next(running), recorded()] == [
        False, True, False, True, True, True
    ]  # fmt: skip
    with no_grad():
        running = steps()
        next(running)
    assert recorded()


def test_an_abandoned_generator_does_not_leak() -> None:
    def endless() -> Generator[bool]:
        with no_grad():
            while True:
                yield recorded()

    running = endless()
    assert not next(running)
    running.close()
    assert recorded()
    for inside in endless():
        assert not inside and recorded()
        break
    assert recorded()


def test_interleaved_generators() -> None:
    def mode(switch: Any) -> Generator[bool]:
        with switch:
            while True:
                yield recorded()

    off, on = mode(no_grad()), mode(enable_grad())
    assert [next(off), next(on), next(off), next(on)] == [False, True, False, True]
    off.close()
    assert next(on) and recorded()
    on.close()


def test_a_decorated_generator_and_a_delegating_one() -> None:
    @no_grad()
    def batches() -> Any:
        received = yield recorded()
        yield (received, recorded())
        return "done"

    def delegate() -> Any:
        with no_grad():
            assert (yield from batches()) == "done"
        yield recorded()

    running = batches()
    assert next(running) is False and recorded()
    assert running.send("sent") == ("sent", False) and recorded()
    assert list(delegate()) == [False, (None, False), True]


def test_a_generator_obeys_its_consumers_mode() -> None:
    def plain() -> Iterator[bool]:
        while True:
            yield recorded()

    running = plain()
    assert next(running)
    with no_grad():
        assert not next(running)
    assert next(running)


def test_coroutines_do_not_disturb_each_other() -> None:
    async def evaluate(seen: list[bool]) -> None:
        with no_grad():
            for _ in range(3):
                seen.append(recorded())
                await asyncio.sleep(0)

    async def ticks() -> AsyncIterator[bool]:
        with no_grad():
            yield recorded()

    async def main() -> tuple[list[bool], list[bool]]:
        off: list[bool] = []
        task = asyncio.ensure_future(evaluate(off))
        on = []
        for _ in range(3):
            await asyncio.sleep(0)
            on.append(recorded())
        await task
        async for inside in ticks():
            assert not inside and recorded()
        return off, on

    assert asyncio.run(main()) == ([False] * 3, [True] * 3)
    assert recorded()


def test_a_decorated_coroutine_and_a_decorated_asynchronous_generator() -> None:
    @no_grad()
    async def evaluate(x: Tensor) -> list[bool]:
        """Evaluate."""
        before = recorded()
        await asyncio.sleep(0)
        return [before, recorded(), (x * x).requires_grad]

    @no_grad()
    async def batches() -> AsyncGenerator[Any, Any]:
        try:
            received = yield recorded()
            yield (received, recorded())
        except ValueError as error:
            yield (str(error), recorded())
        finally:
            await asyncio.sleep(0)
            closed.append(recorded())

    async def main() -> None:
        assert evaluate.__doc__ == "Evaluate." and inspect.iscoroutinefunction(evaluate)
        task = asyncio.ensure_future(evaluate(X))
        await asyncio.sleep(0)
        assert recorded()  # while it waits
        assert await task == [False, False, False]

        running = batches()
        assert inspect.isasyncgenfunction(batches)
        assert await anext(running) is False and recorded()
        assert await running.asend("sent") == ("sent", False) and recorded()
        assert [item async for item in running] == []

        running = batches()
        await anext(running)
        assert await running.athrow(ValueError("thrown")) == ("thrown", False) and recorded()
        await running.aclose()
        running = batches()
        await anext(running)
        await running.aclose()

        async for _ in batches():
            break
        while len(closed) < 4:  # the event loop closes what was abandoned
            await asyncio.sleep(0)
        assert recorded()

    closed: list[bool] = []
    asyncio.run(main())
    assert closed == [False] * 4 and recorded()


def test_each_thread_has_its_own_mode() -> None:
    seen: dict[str, bool] = {}
    inside, done = threading.Event(), threading.Event()

    def work() -> None:
        seen["at the start"] = recorded()
        with enable_grad():
            inside.set()
            done.wait(10)
            seen["inside"] = recorded()

    with no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        assert inside.wait(10) and not recorded()
        done.set()
        thread.join()
        assert not recorded()
    assert seen == {"at the start": True, "inside": True} and recorded()


def test_backward_inside_no_grad() -> None:
    """The sweep needs no recording; with create_graph it records whatever the mode."""
    x = Tensor(3.0, requires_grad=True)
    y = x**3
    with no_grad():
        y.backward(retain_graph=True)
        assert x.grad is not None and x.grad.item() == 27 and not x.grad.requires_grad
        x.zero_grad()
        y.backward(create_graph=True)
    second = x.grad
    assert second is not None and second.requires_grad
    x.zero_grad()
    second.backward()
    assert x.grad is not None and x.grad.item() == 18


@pytest.mark.parametrize("inside", ["no block", "no_grad"])
def test_recorded_sweeps_open_a_block_only_where_it_changes_the_mode(inside: str) -> None:
    """Operators take their slow form while a block is open."""
    blocks: list[int] = []

    def rule(g: Any, x: Any) -> Any:
        blocks.append(len(active.contexts))
        return g * 2 * x

    twice = mg.primitive(lambda x, /: x * x, name="twice").vjp(x=rule)
    x: Any = Tensor(3.0, requires_grad=True)
    y = twice(x)
    with no_grad() if inside == "no_grad" else ExitStack():
        (first,) = mg.autograd_grad(y, x, create_graph=True)
        y.backward(create_graph=True)
    assert blocks == ([2, 2] if inside == "no_grad" else [0, 0])
    assert first.item() == x.grad.item() == 6 and first.requires_grad and x.grad.requires_grad
    assert mg.hvp(twice, [np.float64(3.0)], [np.float64(1.0)])[0] == 2
    assert not any(blocks[2:])
