"""The calls of modules become calls of functions: the bits do not change, and the text is short."""

import linecache
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import models
import nn
from minigrad._tree import leaves, map_leaves
from minigrad.codegen.modules import Modules
from tests.minigrad.codegen.apart import on_the_tape, same_bits
from tests.minigrad.codegen.test_models import MODELS, built, ids, loss_of

RNG = np.random.default_rng(0)


class Block(nn.Module):
    def __init__(self, features: int = 4) -> None:
        self.inner = nn.Affine(features, features, rng=RNG, dtype=np.float64)
        self.norm = nn.LayerNorm(features, dtype=np.float64)

    def forward(self, x: Any) -> Any:
        h = np.tanh(self.inner(x))
        return self.norm(x + h)


class Stack(nn.Module):
    def __init__(self, count: int) -> None:
        self.blocks = [Block() for _ in range(count)]

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            x = block(x)
        return x


class Twice(nn.Module):
    """Shares the weights of two calls, so that their gradients are added."""

    def __init__(self) -> None:
        self.block = Block()

    def forward(self, x: Any) -> Any:
        return self.block(self.block(x) * 0.5)


class Gated(nn.Module):
    """Writes into an array of its own, and branches on a value."""

    def __init__(self) -> None:
        self.gate = nn.Parameter(np.ones(4))
        self.shift = nn.Parameter(np.zeros(4))

    def forward(self, x: Any) -> Any:
        buffer = np.zeros_like(x)
        buffer[:, 1:] = x[:, 1:] * 2.0
        if np.sum(x) > -1e9:
            buffer[:, 0] += x[:, 0]
        return np.sin(buffer * self.gate) + self.shift + x


class TwoGates(nn.Module):
    def __init__(self) -> None:
        self.first, self.second, self.third = Gated(), Gated(), Gated()

    def forward(self, x: Any) -> Any:
        return self.first(x) * self.second(x + 1.0) + self.third(x * x)


class WritesToItsArgument(nn.Module):
    """Its blocks write to what is not their own, so they stay inline."""

    def __init__(self) -> None:
        self.inner = [Adds(), Adds()]
        self.start = np.ones(4)

    def forward(self, x: Any) -> Any:
        total = np.zeros_like(self.start)
        for inner in self.inner:
            x = x * inner(total, x)
        return x * np.sum(total)


class Adds(nn.Module):
    def __init__(self) -> None:
        self.weight = nn.Parameter(np.ones(4))

    def forward(self, total: Any, x: Any) -> Any:
        total += np.sin(np.arange(4.0))
        total *= 0.5
        return np.sin(x * np.copy(total)) * np.tanh(self.weight) + self.weight


class Cells(nn.Module):
    """Two cells that loops over time call."""

    def __init__(self) -> None:
        self.cells = [Cell(), Cell()]

    def forward(self, xs: Any) -> Any:
        hs = [np.zeros_like(xs[0]), np.zeros_like(xs[0])]
        for t in range(5):
            for i, cell in enumerate(self.cells):
                hs[i] = cell(xs[t] if i == 0 else hs[0], hs[i])
        return hs[1]


class Cell(nn.Module):
    def __init__(self) -> None:
        self.of_input = nn.Affine(4, 4, rng=RNG, dtype=np.float64)
        self.of_state = nn.Affine(4, 4, rng=RNG, dtype=np.float64)

    def forward(self, x: Any, h: Any) -> Any:
        return np.tanh(self.of_input(x) + self.of_state(h))


class Siamese(nn.Module):
    def __init__(self) -> None:
        self.net = Stack(2)
        self.out = nn.Affine(4, 1, rng=RNG, dtype=np.float64)

    def forward(self, pair: Any) -> Any:
        return self.out(np.abs(self.net(pair[0]) - self.net(pair[1])))


class Penalised(nn.Module):
    """Adds a penalty on the weights of its blocks, outside of them."""

    def __init__(self) -> None:
        self.blocks = Stack(3)

    def forward(self, x: Any) -> Any:
        biases: list[Any] = [block.inner.bias for block in self.blocks.blocks]
        penalty = sum(np.sum(bias**2) for bias in biases)
        return self.blocks(x) * penalty


def squared(output: Any) -> Any:
    return np.sum(output * output)


def with_inner_gradient(parameters: Any, x: Any) -> Any:
    """Take the gradient with respect to x inside of the function."""
    model = Stack.three  # type: ignore[attr-defined]
    slope = mg.grad(lambda x: np.sum(np.sin(nn.functional_call(model, parameters, x))))(x)
    return np.sum(slope * slope)


def with_nested_parameters(parameters: Any, x: Any) -> Any:
    model = Stack.three  # type: ignore[attr-defined]
    flat = {f"blocks.{i}.{key}": item for i, block in enumerate(parameters) for key, item in block.items()}
    return squared(nn.functional_call(model, flat, x))


Stack.three = Stack(3)  # type: ignore[attr-defined]


def of_x(random: np.random.Generator) -> tuple[Any, ...]:
    return (random.normal(size=(5, 4)),)


NETS: dict[str, tuple[nn.Module, Callable[[np.random.Generator], tuple[Any, ...]]]] = {
    "stack": (Stack(3), of_x),
    "deep stack": (Stack(7), of_x),
    "twice": (Twice(), of_x),
    "gates": (TwoGates(), of_x),
    "writes": (WritesToItsArgument(), of_x),
    "cells": (Cells(), lambda r: (r.normal(size=(5, 2, 4)),)),
    "penalised": (Penalised(), of_x),
    "siamese": (Siamese(), lambda r: (r.normal(size=(2, 3, 4)),)),
}


def function_of(name: str) -> tuple[Any, Any, Callable[[np.random.Generator], tuple[Any, ...]]]:
    """Return a function, the parameters of its model, and what makes its other arguments."""
    if name in NETS:
        return nn.loss_of(NETS[name][0], squared), NETS[name][0].state_dict(), NETS[name][1]
    if name == "inner gradient":
        return with_inner_gradient, Stack.three.state_dict(), of_x  # type: ignore[attr-defined]
    if name == "nested parameters":
        return with_nested_parameters, [dict(Block().state_dict()) for _ in range(3)], of_x
    MODELS[name][0].eval()
    return loss_of(MODELS[name][0]), MODELS[name][0].state_dict(), MODELS[name][1]


OF_ALL = [name for name in NETS if name != "gates"]  # x is differentiated too
CASES: list[tuple[str, int | None]] = [(name, None) for name in OF_ALL]
CASES += [(name, 0) for name in [*NETS, "inner gradient", "nested parameters", *MODELS]]
LARGE = {"rnn", "encoder-decoder", "vision transformer", "bert"}


@pytest.mark.sampled(11)
@pytest.mark.parametrize(
    ("name", "argnum"), [pytest.param(*case, marks=[pytest.mark.thorough] * (case[0] in LARGE)) for case in CASES]
)
def test_functions_change_no_bit(name: str, argnum: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    f, parameters, batch = function_of(name)
    random = np.random.default_rng(1)
    parameters = map_leaves(lambda leaf: leaf + 0.3 * random.normal(size=leaf.shape), parameters)
    programs = [mg.write_numpy(f, parameters, *batch(random), argnum=argnum)]
    monkeypatch.setattr(Modules, "chosen", lambda self, calls: [])
    programs.append(mg.write_numpy(f, parameters, *batch(random), argnum=argnum))
    for _ in range(2):
        arguments = parameters, *batch(random)
        found, plain = ([*program(*arguments)] for program in programs)
        assert same_bits(leaves(found), leaves(plain))
        if name not in MODELS:
            expected = on_the_tape(f, arguments, tuple(range(1 if argnum == 0 else len(arguments))))
            assert same_bits(leaves(found), [np.asarray(getattr(leaf, "_array", leaf)) for leaf in leaves([*expected])])


def text_of(model: nn.Module, *batch: Any) -> str:
    return str(mg.write_numpy(loss_of(model), model.state_dict(), *batch, argnum=0))


def functions(text: str) -> Sequence[str]:
    return re.findall(r"^def (\w+)\(", text, re.MULTILINE)


def test_each_class_has_one_pair_of_functions() -> None:
    text = text_of(Stack(5), np.ones((5, 4)))
    assert functions(text) == ["layer_norm", "layer_norm_back", "block", "block_back", "step"]
    assert re.search(r'x, saved2? = block\(x, parameters, f"blocks.{t}."\)', text)
    assert 'p, dp, at + "norm.")' in text
    assert functions(text_of(WritesToItsArgument(), np.ones((5, 4)))) == ["step"]
    shared = text_of(Twice(), np.ones((5, 4)))
    assert functions(shared) == ["layer_norm", "layer_norm_back", "step"]  # x has no gradient, so the blocks differ
    assert 'p["block.norm.weight"]' in shared


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("layers", "most"), [(2, 172), (4, 174)])
def test_a_gpt_is_short(layers: int, most: int) -> None:
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": layers, "vocab_size": 11, "window": 6}
    model = built(models.GPT, models.GPTConfig, **sizes).eval()
    text = text_of(model, ids(np.random.default_rng(0), 2, 5))
    assert len(text.splitlines()) <= most  # without functions 265 lines and, with four layers, 485
    assert functions(text)[-3:] == ["transformer_encoder_layer", "transformer_encoder_layer_back", "step"]
    assert text.count("for t in range(4):") == (layers == 4)
    assert all(len(line) <= 100 for line in text.splitlines() if not re.match(r" *(#|raise)", line))


def test_a_gradient_is_put_into_its_dict_when_it_is_complete() -> None:
    text = text_of(NETS["penalised"][0], np.ones((5, 4)))
    assert 'dp[at + "inner.weight"] = ' in text
    assert 'dp[at + "inner.bias"] = ' not in text
    for i in range(3):
        complete = (
            rf'dblocks_blocks_{i}_inner_bias \+= .*\n( *#.*\n)*    dparameters\["blocks.blocks.{i}.inner.bias"\] = '
        )
        assert re.search(complete, text)


def test_a_large_dict_is_checked_by_its_keys(tmp_path: Any) -> None:
    model = Stack(3)
    f, parameters, x = nn.loss_of(model, squared), model.state_dict(), np.ones((5, 4))
    program = mg.write_numpy(f, parameters, x, argnum=0)
    assert [*program(parameters, x)[1]] == [*parameters]
    wrong = parameters | {"blocks.1.inner.bias": np.ones(3)}
    with pytest.raises(mg.ShapeError):
        program(wrong, x)
    program.save(tmp_path / "step.py")
    namespace: dict[str, Any] = {}
    exec((tmp_path / "step.py").read_text(), namespace)
    other_order = dict(reversed(parameters.items()))
    found = namespace["step"](other_order, x)
    assert same_bits([found[1][key] for key in parameters], [*program(parameters, x)[1].values()])
    with pytest.raises(ValueError, match=r"blocks\.1\.inner\.bias"):
        namespace["step"](wrong, x)
    with pytest.raises(TypeError, match=r"blocks\.1\.inner\.bias"):
        namespace["step"]({key: item for key, item in parameters.items() if key != "blocks.1.inner.bias"}, x)
    assert "check_arguments(" in str(mg.write_numpy(lambda p, blocks: np.sum(p["a.b"] * blocks), {"a.b": x}, x))
    clash = mg.write_numpy(lambda a: np.sum(a["a"] * a["a.b"]), {"a": x, "a.b": x})
    assert same_bits(leaves([*clash({"a": x, "a.b": 2 * x})]), [np.float64(40.0), 2 * x, x])


def test_the_page_shows_the_functions_of_a_model() -> None:
    page = (Path(mg.__file__).parent.parent / "docs/written-out.md").read_text()
    section = page.partition("\n## Models\n")[2].partition("\n## ")[0]
    code, shown = re.search(r"```py\n(.*?)```.*```python\n(.*?)```", section, re.DOTALL).groups()  # type: ignore[union-attr]
    linecache.cache["page"] = len(code), None, code.splitlines(keepends=True), "page"
    namespace: dict[str, Any] = {"__name__": "page"}
    exec(compile(code, "page", "exec"), namespace)
    assert str(namespace["program"]) == shown
    assert len(shown.splitlines()) < 60
