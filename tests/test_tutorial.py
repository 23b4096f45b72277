"""The program of docs/tutorial.md: it has the lines that the title says, computes attention, and learns."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
PIECES = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
STEPS = 40


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names of the program when all its pieces have run, with fewer steps, in one file."""
    folder = tmp_path_factory.mktemp("tutorial")
    file = folder / "transformer.py"
    text = "\n\n".join(PIECES).replace("STEPS = 64, 4, 2, 48, 16, 1500", f"STEPS = 64, 4, 2, 48, 16, {STEPS}")
    file.write_text(text, encoding="utf-8")
    names: dict[str, Any] = {"folder": folder}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(text, str(file), "exec"), names)
    return names


def test_the_title_counts_the_lines() -> None:
    lines = [line for piece in PIECES[:8] for line in piece.splitlines() if line.strip()]
    assert len(PIECES) == 10 and PAGE.startswith("# A Transformer from nothing in 60 lines\n")
    assert 55 < len(lines) <= 60 and max(len(line.partition("  #")[0].rstrip()) for line in lines) <= 100


def test_its_steps_lower_the_loss(after: dict[str, Any]) -> None:
    assert after["t"] == STEPS
    at = np.arange(100, 148)[None]
    guess = np.log(len(after["letters"]))
    trained = after["loss"](mg.tree_map(lambda p: p.numpy(), after["P"]), after["ids"][at], after["ids"][at + 1])
    assert trained < 3.3 < guess < 4.5 and trained.dtype == np.float32
    assert len(after["seen"]) == 48 + 300


def test_its_attention_is_that_of_the_library(after: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x, qkv, mix = (rng.normal(size=shape) for shape in ((2, 5, 64), (64, 192), (64, 64)))
    result, share = after["attention"](x, qkv, mix)
    q, k, v = (part.reshape(2, 5, 4, 16).transpose(0, 2, 1, 3) for part in np.split(x @ qkv, 3, axis=-1))
    expected = mg.scaled_dot_product_attention(q, k, v, np.tril(np.ones((5, 5), bool)))
    np.testing.assert_allclose(result, expected.transpose(0, 2, 1, 3).reshape(2, 5, 64) @ mix, rtol=1e-10)
    np.testing.assert_allclose(share.sum(axis=-1), 1, rtol=1e-12)
    assert (share[..., ~np.tril(np.ones((5, 5), bool))] == 0).all()


def test_it_writes_what_the_page_opens(after: dict[str, Any]) -> None:
    named = set(re.findall(r'"(\w+\.html)"', "".join(PIECES)))
    assert named == {path.name for path in after["folder"].glob("*.html")} == {"attention.html", "stepper.html"}
    assert "transformer.py" in (after["folder"] / "stepper.html").read_text(encoding="utf-8")
