"""What a notebook shows, run as Jupyter runs it: a kernel in a process of its own, through nbclient."""

import os
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

from tests.test_readme import PROGRAM, ROOT


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`shown(*cells)` runs a notebook of these cells: of each, what it displays by type, its streams, and its error."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    for folder in ("JUPYTER_RUNTIME_DIR", "IPYTHONDIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(folder, str(tmp_path / folder.lower()))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, of their own future
        pytest.importorskip("ipykernel", reason="runs notebooks: pip install nbclient ipykernel")
        nbclient = pytest.importorskip("nbclient", reason="runs notebooks: pip install nbclient ipykernel")
        nbformat = pytest.importorskip("nbformat")

    def shown(*cells: str) -> list[dict[str, str]]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
            client = nbclient.NotebookClient(
                notebook, timeout=120, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}
            )
            client.execute()
        return [_outputs(cell.outputs) for cell in notebook.cells]

    return shown


def _outputs(outputs: list[Any]) -> dict[str, str]:
    found: dict[str, str] = {}
    for output in outputs:
        if output.output_type == "stream":
            found[output.name] = found.get(output.name, "") + output.text
        elif output.output_type == "error":
            found["error"] = f"{output.ename}: {output.evalue}"
        else:
            found |= output.data
    return found


def test_training_in_a_notebook_shows_tables(shown: Any) -> None:
    """The first program of docs/training.md, and then its objects as the last lines of cells."""
    program, _ = PROGRAM.findall((ROOT / "docs" / "training.md").read_text(encoding="utf-8"))[0]
    ran, history, model, batches, tensor = shown(
        program, "history", "model", "batches", "model.hidden.bias.grad is None"
    )
    assert "error" not in ran and ran["stdout"].splitlines() == ["0.27 0.07", "1.00"]
    assert history["text/plain"].startswith("History(200 steps, 20 epochs; loss ")
    assert re.match(r"<table><caption>History\(200 steps, 20 epochs", history["text/html"])
    assert "<th>mean loss</th><th>accuracy</th>" in history["text/html"]
    assert "<td>hidden</td><td>Affine(4, 16)</td><td>80</td>" in model["text/html"]
    assert batches["text/plain"] == "Batches(150 examples in 10 batches of 16, shuffled, seed=0)"
    assert tensor["text/plain"] == "False"


@pytest.mark.thorough
def test_a_mistake_in_a_cell_is_one_sentence(shown: Any) -> None:
    _, wrong, after = shown(
        "import numpy as np, nn\nlayer = nn.Affine(2, 3, rng=np.random.default_rng(0))",
        "layer(np.ones((4, 5)))",
        "1 + 1",
    )
    assert wrong["error"].startswith("ShapeError: ") and "\n" not in wrong["error"]
    assert after["text/plain"] == "2"


def test_the_progress_bar_is_shown_and_its_lack_stops_nothing(shown: Any) -> None:
    train = """\
import numpy as np, nn
x = np.random.default_rng(0).standard_normal((32, 2))
batches = nn.Batches([x, x.sum(axis=1, keepdims=True)], 8, seed=0)
model = nn.Affine(2, 1, rng=np.random.default_rng(0), dtype=np.float64)
nn.fit(model, batches, lambda m, b: nn.mean_squared_error(m(b[0]), b[1]), nn.Adam(model.parameters(), 0.1), epochs=2)
"""
    with_bar, without = shown(train, "import sys\nsys.modules['tqdm'] = None\n" + train)
    assert "epoch 2/2: 100%" in with_bar["stderr"]
    assert "stderr" not in without and "error" not in without
    assert with_bar["text/plain"] == without["text/plain"]
