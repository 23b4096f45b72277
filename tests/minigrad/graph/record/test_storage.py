"""A traced computation in a file: run again elsewhere it is the same graph, and gives the same gradients to the bit."""

import gc
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, Function, GraphError, Tensor
from minigrad.engine.observers import scope
from minigrad.graph.record.document import programs_written
from minigrad.graph.record.storage import load_trace, save_trace
from minigrad.serialize import CheckpointError, save_checkpoint
from tests.leaves import leaf
from tests.minigrad.rules import test_cases
from tests.minigrad.rules.cases import CASES, Case

assert test_cases  # which fills the table


class Square(nn.Module):
    def forward(self, x: Any) -> Any:
        return x * x


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.safetensors"


def round_trip(case: Case, path: Path) -> None:
    inputs = [leaf(a, f"x{i}") if a.dtype.kind in "fc" else a for i, a in enumerate(case.arrays())]
    with mg.trace():
        result = case.f(*inputs)
    results = result if isinstance(result, (tuple, list)) else [result]
    outputs = [t for t in results if isinstance(t, Tensor) and t.requires_grad]
    if not outputs:
        return
    seed = np.random.default_rng(0).standard_normal(outputs[-1].shape)
    save_trace(outputs[::-1], path)
    replay = load_trace(path)
    for again, once in zip(replay.tensors, outputs[::-1], strict=True):
        np.testing.assert_array_equal(again.data, once.data)
    gradients = replay.gradients(seed)
    outputs[-1].backward(seed)
    expected = {t.name: t.grad.data for t in inputs if isinstance(t, Tensor) and t.grad is not None}
    assert gradients.keys() == expected.keys()
    for name, gradient in gradients.items():
        np.testing.assert_array_equal(gradient, expected[name], err_msg=f"{case.id} {name}")


@pytest.mark.sampled(16)
@pytest.mark.parametrize("count", [2, pytest.param(6, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("primitive", sorted({case.primitive for case in CASES}))
def test_every_primitive_can_be_replayed(primitive: str, count: int, path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the cases' values provoke is not the subject here
        for case in [case for case in CASES if case.primitive == primitive][:count]:
            round_trip(case, path)


def test_a_replay_is_drawn_like_the_original(path: Path) -> None:
    x, w = leaf([[1.0, 2.0]], "x"), leaf(np.ones((2, 2)), "w")
    with mg.trace(), scope(object(), "model"):
        loss = np.tanh(x @ w).sum()
    loss.backward()
    save_trace(loss, path, {"w": w})
    replay = load_trace(path)
    replay.gradients()
    original, again = (mg.draw_dot(*call) for call in ((loss, {"w": w}), (replay.loss, replay.parameters)))
    assert again.to_dot() == original.to_dot()
    assert [n.source for n in again.nodes] == [n.source for n in original.nodes]
    assert again.nodes[-1].source is not None and again.nodes[-1].source.file == __file__


def test_a_replay_has_the_names_of_the_original_and_versions_for_the_rounds_of_its_loops(path: Path) -> None:
    x, layer = leaf([[1.0, 2.0]]), nn.Sequential(nn.Affine(2, 2, rng=np.random.default_rng(0)), Square())
    with mg.trace():
        h = x
        for t in range(2):  # noqa: B007 - the labels of the original show it
            h = layer(h) * x
        loss = (h - 1).sum()
    save_trace(loss, path)
    original, again = mg.draw_dot(loss), mg.draw_dot(load_trace(path).loss)
    assert [box.title for box in again.modules] == [box.title for box in original.modules]
    assert [box.title for box in again.modules if box.parent is None] == ["Sequential, call 1", "Sequential, call 2"]
    labels = [[node.label for node in graph.operations()] for graph in (original, again)]
    assert {"h · t=0", "h · t=1", "layers.0.affine · t=0", "h - 1", "loss"} <= set(labels[0])
    assert {"h₁", "h₂", "layers.0.affine₁", "h - 1", "loss"} <= set(labels[1])
    assert again.programs == original.programs == {__file__: Path(__file__).read_text(encoding="utf-8").splitlines()}


def test_a_program_that_is_too_large_or_cannot_be_shown_is_left_out_or_made_harmless() -> None:
    fine = ["x = 1", "\ty = '\t\x1b[31m'"]
    written = programs_written({"fine.py": fine, "long.py": ["#" * 4097], "large.py": ["#" * 4000] * 2000})
    assert written == {"fine.py": ["x = 1", "\ty = '\t\ufffd[31m'"]}


def test_a_computed_tensor_keeps_its_name(path: Path) -> None:
    x = leaf([1.0, 2.0], "x")
    with mg.trace():
        h = np.tanh(x)
        loss = (h * h).sum()
    save_trace(loss, path, {"h": h})
    replay = load_trace(path)
    again = mg.draw_dot(replay.loss, replay.parameters | replay.named)
    assert again.to_text() == mg.draw_dot(loss, {"h": h}).to_text() and "h: tanh" in again.to_text()


def test_another_seed_in_a_fresh_process(path: Path) -> None:
    x = leaf([1.0, 2.0], "x")
    with mg.trace():
        y = np.exp(x) * x
    save_trace(y, path)
    program = (
        "import sys; from minigrad.graph.record.storage import load_trace; "
        "print(load_trace(sys.argv[1]).gradients([3.0, -1.0])['x'].tolist())"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    y.backward(np.array([3.0, -1.0]))
    assert x.grad is not None
    assert ran.stdout.strip() == str(x.grad.numpy().tolist())


def test_operands_that_were_changed_in_place_are_replayed_as_they_were(path: Path) -> None:
    x, data = leaf([1.0, 2.0], "x"), np.array([3.0, 4.0])
    with mg.trace():
        y = x + data
        data *= 10
        loss = (y + data + x.sum()).sum()
    save_trace(loss, path)
    assert load_trace(path).loss.item() == loss.item()


def test_second_order_is_replayed_too(path: Path) -> None:
    x = leaf(2.0, "x")
    with mg.trace():
        y = x**3
        y.backward(create_graph=True)
    assert isinstance(x.grad, Tensor)
    save_trace(x.grad, path)
    assert load_trace(path).gradients()["x"] == 12.0


def test_what_only_the_program_can_run_again_is_refused(path: Path) -> None:
    class Double(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    with mg.trace():
        y = Double.apply(leaf(1.0))
    with pytest.raises(GraphError, match=r"save_trace cannot save 'Double', .* minigrad.primitive"):
        save_trace(y, path)
    with pytest.raises(GraphError, match=r"compute the tensor inside 'with minigrad.trace"):
        save_trace(leaf(1.0) * 2, path)
    assert not path.exists()


def test_an_unknown_primitive_is_named(path: Path) -> None:
    def save_and_load() -> None:
        mine = mg.primitive(lambda x, /: x * 2, name="my_own_double").vjp(x=lambda g: g * 2)
        with mg.trace():
            y = mine(leaf(1.0, "x"))
        save_trace(y, path)
        assert load_trace(path).gradients() == {"x": 2.0}

    save_and_load()
    gc.collect()
    with pytest.raises(GraphError, match="a primitive 'my_own_double' that is not declared here"):
        load_trace(path)


def test_a_keyword_that_is_no_data(path: Path) -> None:
    mapped = mg.primitive(lambda x, /, f=abs: f(x), name="mapped_here").vjp(x=lambda g: g)
    with mg.trace():
        y = mapped(leaf(1.0), f=np.negative)
    with pytest.raises(ArgumentError, match="cannot save <ufunc 'negative'>, a keyword of 'mapped_here'"):
        save_trace(y, path)


def test_another_file_is_no_trace(path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no trace at '.*': write it first"):
        load_trace(path)
    save_checkpoint(path, {"a": np.ones(2)}, {"model": "x"})
    with pytest.raises(CheckpointError, match="holds no trace"):
        load_trace(path)


def test_a_primitive_with_the_name_of_another_does_not_replace_it(path: Path) -> None:
    mine = mg.primitive(lambda x, /: x * 2, name="exp").vjp(x=lambda g: g * 2)
    x = leaf(1.0, "x")
    with mg.trace():
        y, z = np.exp(x), mine(x)
    save_trace(y, path)
    assert load_trace(path).loss.item() == y.item()
    with pytest.raises(GraphError, match="under a unique name"):
        save_trace(z, path)
