"""The text that is written: what a teacher would put on a slide."""

from pathlib import Path

import numpy as np

import minigrad as mg

ROOT = Path(mg.__file__).parent.parent
SLIDE = """\
def step(x, y, W1, b1, W2, b2):
    check_arguments(x, y, W1, b1, W2, b2)
    h = np.tanh(x @ W1 + b1)
    p = h @ W2 + b2
    error = p - y
    loss = np.mean(error ** 2)

    # backward
    # back through loss = np.mean(error ** 2)
    derror = 0.0625 * (2 * error)
    # back through p = h @ W2 + b2
    db2 = derror.sum(axis=0)
    dh = derror @ W2.T
    dW2 = h.T @ derror
    # back through h = np.tanh(x @ W1 + b1)
    dz = dh * (1 - h * h)
    db1 = dz.sum(axis=0)
    dW1 = x.T @ dz
    return loss, dW1, db1, dW2, db2
"""


def network(x, y, W1, b1, W2, b2):
    h = np.tanh(x @ W1 + b1)
    p = h @ W2 + b2
    error = p - y
    loss = np.mean(error**2)
    return loss


def test_the_slide() -> None:
    random = np.random.default_rng(0)
    shapes = [(16, 3), (16, 1), (3, 8), (8,), (8, 1), (1,)]
    arguments = [random.normal(size=shape) for shape in shapes]
    program = mg.write_numpy(network, *arguments, argnum=(2, 3, 4, 5))
    assert str(program) == SLIDE.replace(
        "# back through loss = np.mean(error ** 2)", "# back through loss = np.mean(error**2)"
    )


def test_the_slide_of_the_docs_is_the_text_that_is_written() -> None:
    assert SLIDE in (ROOT / "docs" / "written-out.md").read_text(encoding="utf-8")
