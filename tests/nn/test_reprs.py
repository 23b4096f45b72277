"""What is seen of the objects of nn in a terminal (one line) and in a notebook (a table)."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import nn
from minigrad import no_grad
from tests.nn.layers import rng


def cells(html: str) -> list[list[str]]:
    """The table as a browser reads it: well formed, and with nothing in it but text."""
    table = ET.fromstring(html)
    assert {element.tag for element in table.iter()} <= {"table", "caption", "tr", "th", "td"}
    return [["".join(cell.itertext()) for cell in row] for row in table.iter("tr")]


def test_a_history_is_one_line_and_a_row_an_epoch() -> None:
    history = nn.History([4.0, 2.0, 1.0, 0.5], [{"accuracy": 0.5}, {"accuracy": 0.75, "f1": 0.25}])
    assert repr(history) == "History(4 steps, 2 epochs; loss 4 to 0.5; accuracy 0.75; f1 0.25)"
    assert cells(history._repr_html_()) == [
        ["epoch", "mean loss", "accuracy", "f1"], ["1", "3", "0.5", "nan"], ["2", "0.75", "0.75", "0.25"]
    ]  # fmt: skip


def test_a_history_that_stopped_in_the_middle_of_an_epoch_shows_no_means() -> None:
    history = nn.History([4.0, 2.0, 1.0], [{"accuracy": 0.5}, {"accuracy": 0.75}])
    assert cells(history._repr_html_())[0] == ["epoch", "accuracy"]


@pytest.mark.parametrize(
    ("history", "line"),
    [
        (nn.History(), "History(0 steps, 0 epochs)"),
        (nn.History([0.25], [{}]), "History(1 step, 1 epoch; loss 0.25 to 0.25)"),
        (nn.History([1.0] * 5000, [{}] * 5), "History(5,000 steps, 5 epochs; loss 1 to 1)"),
    ],
)
def test_histories_of_any_length(history: nn.History, line: str) -> None:
    assert repr(history) == line
    assert len(cells(history._repr_html_())) == 1 + len(history.metrics)


def test_of_many_epochs_the_first_and_the_last_are_shown() -> None:
    rows = cells(nn.History([], [{"loss": float(i)} for i in range(100)])._repr_html_())
    assert [row[0] for row in rows] == ["epoch", "1", "2", "3", "4", "5", "6", "…", "95", "96", "97", "98", "99", "100"]


def test_the_name_of_a_metric_is_text() -> None:
    name = "<script>alert(1)</script>&"
    assert cells(nn.History([], [{name: 1.0}])._repr_html_())[0] == ["epoch", name]


def test_a_module_is_a_table_of_its_parts() -> None:
    net = nn.Sequential(nn.Affine(2, 3, rng=rng()), nn.LayerNorm(3), nn.Affine(3, 1, rng=rng()))
    rows = cells(net._repr_html_())
    assert rows[0] == ["path", "module", "parameters"]
    assert [row[0] for row in rows[1:]] == [path or "(all)" for path, _ in net.named_modules()]
    assert [int(row[2]) for row in rows[1:]] == [module.num_parameters for module in net.modules()]
    assert rows[2][1] == "Affine(2, 3)"


def test_batches_and_caches_say_what_they_hold() -> None:
    batches = nn.Batches([np.zeros((1000, 2))], 64, seed=3)
    assert repr(batches) == "Batches(1,000 examples in 16 batches of 64, shuffled, seed=3)"
    plain = nn.Batches(10, 4, seed=0, shuffle=False, drop_last=True, collate=list, lengths=range(10))
    assert repr(plain) == "Batches(10 examples in 2 batches of 4, by length, in order, seed=0, drop_last, collate)"
    cache = nn.KeyValueCache()
    assert repr(cache) == "KeyValueCache(empty)"
    attention = nn.MultiHeadAttention(4, 2, rng=rng())
    with no_grad():
        attention(np.zeros((2, 3, 4), np.float32), cache=cache)
    assert repr(cache) == "KeyValueCache(3 tokens of 2 sequences)"
