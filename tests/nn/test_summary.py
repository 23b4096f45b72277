"""summary against counts by hand: an MLP, a convolutional network, a GPT block, recurrent layers, and products of NumPy."""

from typing import Any

import numpy as np
import pytest

import minigrad as mg
import nn
from minigrad import ArgumentError, ShapeError
from minigrad.internal import active
from models import GPT, GPTConfig
from nn.summary import Summary
from tests.nn.layers import rng


def rows(table: Summary) -> dict[str, tuple[str, int, int, int]]:
    return {row.path: (row.output, row.parameters, row.multiply_adds, row.kept) for row in table}


def ones(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def test_an_mlp() -> None:
    """Affine keeps its input, and tanh its result, which is the input of the next Affine: (5, 8) in float32."""
    model = nn.Sequential(nn.Affine(3, 8, rng=rng()), np.tanh, nn.Affine(8, 2, rng=rng()))
    assert rows(nn.summary(model, ones(5, 3))) == {
        "": ("(5, 2)", 3 * 8 + 8 + 8 * 2 + 2, 5 * 3 * 8 + 5 * 8 * 2, 5 * 8 * 4),
        "layers.0": ("(5, 8)", 32, 120, 0),
        "layers.2": ("(5, 2)", 18, 80, 0),
    }
    cast = rows(nn.summary(model, np.ones((5, 3))))  # a copy in float32, and no longer the caller's array
    assert cast["layers.0"][3] == 5 * 3 * 4 and cast[""][3] == 5 * 3 * 4 + 5 * 8 * 4


def test_a_convolutional_network() -> None:
    model = nn.Sequential(
        nn.Conv2d(4, 6, 3, rng=rng(), padding=1, groups=2), mg.relu, nn.Conv2d(6, 8, (2, 3), rng=rng(), stride=2),
        nn.ConvTranspose2d(8, 2, 2, rng=rng(), stride=2), nn.Flatten(), nn.Affine(96, 10, rng=rng()),
    )  # fmt: skip
    found = rows(nn.summary(model, ones(2, 4, 8, 8)))
    assert found["layers.0"][:3] == ("(2, 6, 8, 8)", 6 * 2 * 9 + 6, 2 * 8 * 8 * 6 * (2 * 9))  # 2 of 4 channels each
    assert found["layers.2"][:3] == ("(2, 8, 4, 3)", 8 * 6 * 6 + 8, 2 * 4 * 3 * 8 * (6 * 2 * 3))
    assert found["layers.3"][:3] == ("(2, 2, 8, 6)", 8 * 2 * 4 + 2, 2 * 8 * 4 * 3 * (2 * 4))  # each element, four times
    assert found["layers.5"][:3] == ("(2, 10)", 970, 2 * 96 * 10)
    assert found[""][2] == sum(found[f"layers.{i}"][2] for i in (0, 2, 3, 5))


def test_a_gpt_block() -> None:
    batch, n, d, heads, hidden, vocabulary = 2, 5, 16, 4, 64, 10
    model = GPT(GPTConfig(vocabulary, 8, d_model=d, num_heads=heads, num_layers=1, hidden=hidden), rng=rng())
    found = rows(nn.summary(model, np.zeros((batch, n), int)))
    maps, scores = 4 * batch * n * d * d, 2 * batch * n * n * d  # of all heads: queries by keys, weights by values
    assert found["layers.0.attention"][:3] == (f"({batch}, {n}, {d})", 4 * (d * d + d), maps + scores)
    assert found["layers.0.feed_forward"][2] == 2 * batch * n * d * hidden
    assert found["layers.0"][2] == maps + scores + 2 * batch * n * d * hidden
    assert found["output"][2] == batch * n * d * vocabulary and found["embedding"][2] == 0
    assert found[""][1:3] == (model.num_parameters, found["layers.0"][2] + found["output"][2])
    assert found["layers.0.attention.query"][:3] == (f"({batch}, {n}, {d})", d * d + d, maps // 4)


def test_recurrent_layers_and_repeated_calls() -> None:
    gru, lstm = nn.GRU(3, 4, rng=rng()), nn.LSTM(3, 4, rng=rng())
    x = ones(2, 5, 3)
    assert rows(nn.summary(gru, x))[""][:3] == ("(2, 5, 4), (2, 4)", gru.num_parameters, 2 * 5 * (3 * 12 + 4 * 12))
    assert rows(nn.summary(lstm, x))[""][2] == 2 * 5 * (3 * 16 + 4 * 16)
    layer = nn.Affine(4, 4, rng=rng())
    found = rows(nn.summary(nn.Sequential(layer, layer, layer), ones(2, 4)))
    assert found == {"": ("(2, 4)", 20, 96, found[""][3]), "layers.0": ("(2, 4) x 3", 20, 96, found["layers.0"][3])}


class Products(nn.Module):
    def __init__(self) -> None:
        self.w = nn.Parameter(np.ones((4, 6)))

    def forward(self, x: Any, how: str) -> Any:
        return {
            "dot": lambda: np.dot(x, self.w),
            "inner": lambda: np.inner(x, self.w.T),
            "tensordot": lambda: np.tensordot(x, self.w, 1),
            "einsum": lambda: np.einsum("bij,jk->bik", x, self.w),
            "einsum with dots": lambda: np.einsum("...j,jk->...k", x, self.w),
            "einsum of a sum": lambda: np.einsum("...j,jk", x, self.w),
            "matmul": lambda: x @ self.w,
            "elementwise": lambda: (x[..., None] * self.w).sum(axis=-2) + 0.0,
        }[how]()


@pytest.mark.parametrize(
    "how", ["dot", "inner", "tensordot", "einsum", "einsum with dots", "einsum of a sum", "matmul"]
)
def test_products_of_numpy(how: str) -> None:
    assert rows(nn.summary(Products(), np.ones((2, 3, 4)), how))[""][:3] == ("(2, 3, 6)", 24, 2 * 3 * 4 * 6)


def test_what_is_no_product_counts_nothing() -> None:
    assert rows(nn.summary(Products(), np.ones((2, 3, 4)), how="elementwise"))[""][:3] == ("(2, 3, 6)", 24, 0)


def test_the_model_does_not_change() -> None:
    model = nn.Sequential(
        nn.Affine(3, 8, rng=rng()), nn.BatchNorm(8), nn.Dropout(0.5, rng=rng()), nn.Affine(8, 2, rng=rng())
    )
    trained: Any = model.layers[0]
    dropout: Any = model.layers[2]
    trained.weight.grad, before, names = (
        ones(3, 8),
        model.state_dict(),
        [vars(module).keys() for module in model.modules()],
    )
    once = nn.summary(model, ones(5, 3))
    assert all((array == before[path]).all() for path, array in model.state_dict().items())
    assert dropout.step == 0 and model.training and trained.weight.grad.numpy().all() and trained.bias.grad is None
    assert [vars(module).keys() for module in model.modules()] == names
    for parameter in model.parameters():
        parameter.requires_grad = False
    with mg.no_grad():
        assert nn.summary(model, ones(5, 3)) == once
    assert not active.contexts


def test_without_parameters_nothing_is_kept() -> None:
    class Fixed(nn.Module):
        def __init__(self) -> None:
            self.scale = nn.Buffer(np.ones(3))

        def forward(self, x: Any) -> Any:
            return np.tanh(x) * self.scale

    assert rows(nn.summary(Fixed(), np.ones((2, 3)))) == {"": ("(2, 3)", 0, 0, 0)}


def test_it_prints_a_table_and_shows_one_in_a_notebook() -> None:
    model = nn.Sequential(nn.Affine(300, 1000, rng=rng()), nn.Residual(nn.Affine(1000, 1000, rng=rng())))
    table = nn.summary(model, ones(2, 300))
    assert str(table).splitlines()[:2] == [
        "path             module              output     parameters  multiply-adds    kept",
        "(all)            Sequential()        (2, 1000)   1,302,000      2,600,000  8.0 kB",
    ]
    assert len({len(line) for line in str(table).splitlines()}) == 1
    html = table._repr_html_()
    assert html.startswith("<table><caption>Sequential()") and "<td>2,600,000</td>" in html and html.count("<tr>") == 5


def test_errors_are_those_of_the_model_and_leave_nothing_behind() -> None:
    layer = nn.Affine(3, 2, rng=rng())
    with pytest.raises(ArgumentError, match=r"summary takes a Module, got function: summary\(model, x\)"):
        nn.summary(lambda x: x, ones(1, 3))  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="needs x of shape"):
        nn.summary(layer, ones(1, 4))
    assert not active.contexts and "forward" not in vars(layer) and layer(ones(1, 3)).requires_grad
