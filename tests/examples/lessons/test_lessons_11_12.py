"""What lessons 11 and 12 say of the Transformer and the GPT, against NumPy and central differences."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from lesson_notebooks import cells, lessons
from minigrad.learn.checker import right_answer
from minigrad.learn.tasks import find

ELEVEN, TWELVE = (next(path for path in lessons() if path.name.startswith(number)) for number in ("11", "12"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("path", "printed", "number"),
    [
        (ELEVEN, "160 sentences", "160"),
        (TWELVE, "without:      528 rows", "528"),
        (TWELVE, "with a cache: 32 rows", "32"),
        (TWELVE, "19 different ones", "19"),
    ],
)
def test_the_text_says_the_whole_number_that_the_program_prints(
    path: Path, printed: str, number: str, run: Any
) -> None:
    assert printed in run(path)[0]
    for language in ("en", "ja"):
        text = "\n".join(cell.text for cell in cells(path, language) if cell.name)
        assert re.search(rf"(?<![\d.]){number}(?![\d.]*\d)", text)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def nudged(f: Any, x: Any) -> Any:
    """The gradient of a number, by central differences."""
    found = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-6
        found[at] = (f(x + step) - f(x - step)) / 2e-6
    return found


def two_layers(x: Any) -> float:
    """The loss of the last program of lesson 11, whose matrices are the identity."""
    h = softmax(softmax(x @ x.T / math.sqrt(2)) @ x)
    z = (softmax(h @ h.T / math.sqrt(2)) @ h).sum(axis=0)
    return float(-np.log(softmax(z)[0]))


def test_lesson_11_closes_on_the_gradients_of_two_layers(run: Any) -> None:
    _, eleven, _ = run(ELEVEN)
    x, two = eleven["x"], eleven["two"]
    assert eleven["loss"].item() == pytest.approx(two_layers(x.data[0]), rel=1e-14)
    assert x.grad.data[0] == pytest.approx(nudged(two_layers, x.data[0]), rel=1e-7)
    assert two.affine_2.bias.grad.data == pytest.approx([-1, 1], rel=1e-14)
    assert two.affine_2.weight.grad.data == pytest.approx(np.array([[-0.5, 0.5]] * 2), rel=1e-14)


def test_lesson_11_says_what_positions_and_dropout_do(run: Any) -> None:
    printed, eleven, _ = run(ELEVEN)
    rows = [[0, 2, 1], [1, 2, 0]]
    cat, dog = eleven["model"](np.array(rows)).data
    assert cat[0] > cat[1]
    assert dog[1] > dog[0]
    assert eleven["right"](eleven["model"]) > 0.95
    assert eleven["blind"](np.array(rows[:1])).data == pytest.approx(eleven["blind"](np.array(rows[1:])).data, rel=1e-4)
    assert min(eleven["blind_losses"]) > 0.6
    assert "key bias below a millionth: True" in printed
    assert "both is the sum: True" in printed
    assert "train: the same three times: False\neval: the same three times: True" in printed
    broken = eleven["BrokenDropout"](0.5, np.random.default_rng(0))
    assert (broken.forward(np.ones(8)) != broken.backward(np.ones(8))).any()


def test_lesson_11_trains_the_block_of_task_11_1(run: Any) -> None:
    printed, eleven, _ = run(ELEVEN)
    assert "304 numbers to learn" in printed and "1266 numbers to learn" in printed
    for losses in (eleven["losses"], eleven["own_losses"]):
        assert len(losses) == 60 and losses[-1] < 0.2 < 0.6 < losses[0]
    assert np.mean(eleven["guesses"] == eleven["labels"][100:]) > 0.9


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("answer", "own"), [("raise NotImplementedError", False), ("pass", True)])
def test_lesson_11_takes_the_learners_block_if_it_is_right(answer: str, own: bool, tmp_path: Path) -> None:
    solution = find("11.1").solution.read_text(encoding="utf-8")
    mine = solution.replace("    h = x + attention(x, x, x)\n", f"    {answer}\n    h = x + attention(x, x, x)\n")
    (tmp_path / "11_1_transformer_block.py").write_text(mine, encoding="utf-8")
    assert (right_answer(find("11.1"), tmp_path).parent == tmp_path) is own
    (cell,) = (cell.text for cell in cells(ELEVEN) if "11.1" in cell.text and cell.name is None)
    assert cell.startswith(
        'file = right_answer(find("11.1"), Path())\nclassifier = runpy.run_path(str(file))["classifier"]\n'
    )


def reads_and_answers(E: Any) -> float:
    """The loss of the last program of lesson 12."""
    x = E[[0, 1]]
    h = x + softmax(np.where([[True, False], [True, True]], x @ x.T, -np.inf)) @ x
    p = softmax(h @ E.T)
    return float(-(np.log(p[0, 1]) + np.log(p[1, 2])) / 2)


def test_lesson_12_closes_on_the_gradient_of_a_table_used_twice(run: Any) -> None:
    E = run(TWELVE)[1]["E"]
    assert E.grad.data == pytest.approx(nudged(reads_and_answers, E.data), rel=1e-7)


def test_lesson_12_says_what_the_cache_the_mask_and_checkpoints_do(run: Any) -> None:
    printed, twelve, _ = run(TWELVE)
    for said in ("without:      528 rows", "with a cache: 32 rows", "the same text: True", "but for rounding: True"):
        assert said in printed
    assert printed.count("the same gradient with checkpoints: True") == 3
    held = {way: sizes[-1] for way, sizes in twelve["curves"].items()}
    assert held["no_grad"] < held["training with checkpoints"] < held["training"] / 2
    with pytest.raises(mg.GraphError, match="takes no part in the backward pass"):  # "minigrad refuses"
        twelve["model"](twelve["piece"], twelve["model"].new_caches())


def test_lesson_12_learns_and_its_planted_fault_learns_to_repeat(run: Any) -> None:
    printed, twelve, _ = run(TWELVE)
    assert np.exp(twelve["losses"][-1]) < 1.6
    held_out = "".join(twelve["CHARACTERS"][i] for i in twelve["NEW"][0])
    assert held_out not in twelve["TEXT"] and set(re.findall(r"\w+", held_out)) <= set(
        re.findall(r"\w+", twelve["TEXT"])
    )
    assert np.exp(twelve["unseen"][-1]) < 1.6 < 10 < np.exp(twelve["unseen"][0])
    assert printed.count("\nnot in the text: ") >= 3
    assert len(twelve["CHARACTERS"]) == 19  # the perplexity of guessing, in the text
    assert np.exp(twelve["broken_losses"][-1]) < 1.1
    assert twelve["write"](twelve["broken"], "the cat", 20, temperature=0) == "the ca" + 21 * "t"
