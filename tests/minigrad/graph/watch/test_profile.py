"""What a profile counts: times as they were, and bytes as the tape holds them."""

import time
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import Tensor, profile
from minigrad.engine.observers import scope
from minigrad.guards.inplace import arrays_in
from tests.leaves import leaf


def slow(forward: float, backward: float) -> Any:
    def wait(x: Any, /) -> Any:
        time.sleep(forward)
        return x + 0.0

    def rule(g: Any) -> Any:
        time.sleep(backward)
        return g

    return mg.primitive(wait, name="slow").vjp(x=rule)


def network(x: Any, w: Any) -> Any:
    """Layers that keep arguments, answers, saved intermediates and arrays of each other."""
    h = np.tanh(x @ w) * x
    h = mg.layer_norm(h, leaf(np.ones(4)), leaf(np.zeros(4)))
    return mg.cross_entropy(mg.gelu(h + x), np.array([0, 1, 2]))


def held(loss: Tensor) -> int:
    arrays = {id(a): a.nbytes for entry in mg.tape(loss) for value in entry.kept or () for a in arrays_in(value)}
    return sum(arrays.values())


def test_bytes_are_those_of_the_distinct_arrays_that_the_tape_holds() -> None:
    with profile() as p:
        loss = network(leaf(np.ones((3, 4))), leaf(np.eye(4)))
        assert p.peak_bytes == held(loss) == sum(event.new_bytes for event in p.events) > 1000
        entries = mg.tape(loss)
        twice = sum(a.nbytes for entry in entries for value in entry.kept or () for a in arrays_in(value))
        assert p.peak_bytes < twice  # some are kept by two operations


@pytest.mark.parametrize("swept", [True, False])
def test_a_sweep_releases_them_and_so_does_the_end_of_the_graph(swept: bool) -> None:
    with profile() as p:
        for _ in range(3):
            loss = network(leaf(np.ones((3, 4))), leaf(np.eye(4)))
            kept = held(loss)
            if swept:
                loss.backward()
            else:
                del loss
    assert p.peak_bytes == kept and sum(event.new_bytes for event in p.events) == 3 * kept


def test_retain_graph_releases_nothing_until_the_graph_goes() -> None:
    with profile() as p:
        loss = network(leaf(np.ones((3, 4))), leaf(np.eye(4)))
        loss.backward(retain_graph=True)
        other = network(leaf(np.ones((3, 4))), leaf(np.eye(4)))
        both = held(loss) + held(other)
        assert p.peak_bytes == both > held(other)
        del loss, other
        network(leaf(np.ones((3, 4))), leaf(np.eye(4)))
    assert p.peak_bytes == both


def test_create_graph_keeps_the_arrays_of_both_passes() -> None:
    x = leaf(np.linspace(0.0, 1.0, 1000))
    with profile() as p:
        y = (np.tanh(x) * np.exp(x) * x).sum()
        y.backward(create_graph=True)
        assert isinstance(x.grad, Tensor)
        gradient = (x.grad * x.grad).sum()
        assert p.peak_bytes >= held(gradient) > 8 * 1000


def test_an_array_that_another_operation_keeps_stays_after_a_sweep() -> None:
    with profile() as p:
        b = np.exp(leaf(np.ones(1000)))
        c = b * b
        b.sum().backward()
        np.exp(leaf(np.ones(1000)))
        assert p.peak_bytes == 16_000 and c is not None


def test_times_are_those_of_the_operation_alone() -> None:
    operation = slow(0.02, 0.03)
    with profile() as p:
        x = leaf(1.0)
        time.sleep(0.8)  # a profile that counted this pause would give at least 0.8
        y = operation(operation(x) * 2)
        y.backward()
    slowest, other = p.by_operation()
    assert (slowest.name, slowest.calls) == ("slow", 2)
    assert 0.04 <= slowest.seconds < 0.8 and 0.06 <= slowest.backward_seconds < 0.8
    assert other.name == "multiply" and other.seconds < 0.8


def test_modules_have_their_own_rows() -> None:
    x = leaf(np.ones(3))
    with profile() as p:
        with scope(object(), "outer"):
            y = np.exp(x)
            with scope(object(), "outer.inner"):
                y = np.tanh(y)
        loss = y.sum()
    assert loss.requires_grad
    assert {(row.name, row.calls, row.new_bytes) for row in p.by_module()} == {
        ("outer", 1, 24),
        ("outer.inner", 1, 24),
        ("(outside of modules)", 1, 0),
    }


def test_lines_have_their_own_rows() -> None:
    x, w = leaf(np.ones(3)), leaf(np.ones(3))
    with profile() as p:
        h = x
        for _ in range(4):
            h = np.tanh(w * h)
        loss = (h - 1).sum()
    assert loss.requires_grad
    rows = {row.name.partition(": ")[2]: row.calls for row in p.by_line()}
    assert rows == {"h = np.tanh(w * h)": 8, "loss = (h - 1).sum()": 2}
    assert all(row.name.startswith("test_profile.py:") for row in p.by_line())
    assert sum(row.seconds for row in p.by_line()) == pytest.approx(sum(event.seconds for event in p.events))


def test_the_table_in_words() -> None:
    with profile() as p:
        loss = network(leaf(np.ones((3, 4))), leaf(np.eye(4)))
        loss.backward()
    lines = str(p).splitlines()
    assert lines[0].split() == ["operation", "calls", "forward", "ms", "backward", "ms", "bytes", "kept"]
    assert {line.split()[0] for line in lines[1:8]} == {event.operation for event in p.events}
    assert lines[-1].startswith(f"{len(p.events)} operations: ")
    assert lines[-1].endswith(f"the tape kept at most {p.peak_bytes:,} bytes")
    assert "... and 6 more" in p.table(most=1)
    assert repr(p) == "profile(7 operations)"


def test_nothing_is_counted_outside_and_values_are_not_copied() -> None:
    x = leaf(np.ones(3))
    with profile() as p:
        y = np.exp(x)
    z = np.exp(y)
    assert z.requires_grad and len(p.events) == 1
    graph = mg.draw_dot(y)
    assert graph.nodes[-1].value is None and graph.nodes[-1].source is not None
