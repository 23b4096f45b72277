"""`nn` and `models` are names that users give their own files, and Python finds the one beside the script first."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import house

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
WAYS_OUT = (
    "not the package that comes with minigrad: rename that file or folder, "
    "or run from a folder where Python does not find it first"
)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "default"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )


def said(path: Path) -> str:
    return f"'{path.stem if path.stem != '__init__' else path.parent.name}' is '{path}', {WAYS_OUT}"


@pytest.fixture(params=["nn/__init__.py", "nn.py"])
def own_nn(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return written(tmp_path / request.param)


def written(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.sampled(2)
def test_models_name_the_nn_that_is_not_minigrads(own_nn: Path, tmp_path: Path) -> None:
    """It was "No module named 'nn._checks'"."""
    written(tmp_path / "script.py", "from models import GPT")
    done = run(tmp_path, "script.py")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"minigrad.errors.ShadowedError: {said(own_nn)}")


def test_a_script_that_is_itself_called_nn(tmp_path: Path) -> None:
    script = written(tmp_path / "nn.py", "from models import GPT")
    assert run(tmp_path, "nn.py").stderr.splitlines()[-1] == f"minigrad.errors.ShadowedError: {said(script)}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("example", "name"), [("residual_chains", "nn"), ("names_gpt", "nn"), ("names_gpt", "models")])
def test_an_example_beside_a_folder_of_the_users(example: str, name: str, tmp_path: Path) -> None:
    """It was "module 'nn' has no attribute 'Affine'", or "cannot import name 'GPT' from 'models'"."""
    for path in EXAMPLES.glob("*.py"):
        shutil.copy(path, tmp_path)
    own = written(tmp_path / name / "__init__.py")
    done = run(tmp_path, f"{example}.py", "--quick")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"error: {said(own)}\n")


def test_an_example_looks_for_what_it_imports() -> None:
    files = {path.stem: path for path in EXAMPLES.glob("*.py")}
    looking = 0
    for name, path in files.items():
        needed, waiting = set(), [name]
        while waiting:  # with what it imports from its neighbours
            module = waiting.pop()
            if module not in needed:
                needed.add(module)
                if module in files:
                    waiting += [target.partition(".")[0] for target in house.imported(module, files[module])]
        if call := re.search(r"^    prepare\((.*)\)$", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert call[1] == ", ".join(f'"{package}"' for package in ("nn", "models") if package in needed), name
            looking += 1
    assert looking > 15


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "program",
    [
        "import nn\ndef loss():\n    return nn.Affine(2, 1)",
        "from nn import Affine",
        "import nn.optim",
        "import models.gpt",
    ],
)
def test_the_command_line_adds_it_to_what_a_program_raised(program: str, tmp_path: Path) -> None:
    own = {name: written(tmp_path / name / "__init__.py") for name in ("nn", "models")}
    written(tmp_path / "lesson.py", program)
    done = run(tmp_path, "-m", "minigrad", "graph", "lesson.py:loss")
    lines = done.stderr.splitlines()
    assert lines[-2].startswith(("AttributeError", "ImportError", "ModuleNotFoundError"))
    assert (done.returncode, lines[-1]) == (1, said(own["models" if "models" in program else "nn"]))


def test_the_command_line_says_it_once(tmp_path: Path) -> None:
    own = written(tmp_path / "nn" / "__init__.py")
    written(tmp_path / "lesson.py", "import models")
    done = run(tmp_path, "-m", "minigrad", "graph", "lesson.py")
    assert done.stderr.splitlines()[-1] == f"minigrad.errors.ShadowedError: {said(own)}"
    assert done.stderr.count(WAYS_OUT) == 1


def test_other_errors_of_the_users_own_packages_are_theirs(tmp_path: Path) -> None:
    written(tmp_path / "nn" / "__init__.py", "def f():\n    raise AttributeError('mine')")
    written(tmp_path / "lesson.py", "import nn\nnn.f()")
    done = run(tmp_path, "-m", "minigrad", "graph", "lesson.py")
    assert done.stderr.splitlines()[-1] == "AttributeError: mine"


def test_a_copy_of_ours_and_a_folder_without_init_are_in_nobodys_way(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "nn", tmp_path / "nn", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "models").mkdir()
    written(tmp_path / "script.py", "import nn, models\nprint(nn.__file__, models.GPT.__module__)")
    done = run(tmp_path, "script.py")
    assert (done.stdout, done.stderr) == (f"{tmp_path / 'nn' / '__init__.py'} models.gpt\n", "")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("program", "pythons"),
    [
        ("import nn\nnn.Affine", "module 'nn' has no attribute 'Affine'"),
        ("from models import GPT", "cannot import name 'GPT' from 'models'"),
        ("import minigrad, nn\nnn.Affine", "module 'nn' has no attribute 'Affine'"),
    ],
)
def test_a_program_that_imports_its_own_can_ask(program: str, pythons: str, tmp_path: Path) -> None:
    """None of ours runs there; what docs/install.md says holds: Python's error, and the question that names the file."""
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    name = "models" if "models" in program else "nn"
    own = written(tmp_path / f"{name}.py")
    written(tmp_path / "script.py", program)
    assert pythons in page and pythons in run(tmp_path, "script.py").stderr.splitlines()[-1]
    (question,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert run(tmp_path, "-c", question).stderr.splitlines()[-1] == f"minigrad.errors.ShadowedError: {said(own)}"
    own.unlink()
    asked = run(tmp_path, "-c", question)
    assert (asked.returncode, asked.stderr) == (0, "")


def test_a_program_with_a_module_of_that_name_is_not_accused(tmp_path: Path) -> None:
    """It may well be meant: `import minigrad` says nothing of it."""
    written(tmp_path / "models.py", "class User: pass")
    written(tmp_path / "script.py", "import minigrad\nfrom models import User")
    done = run(tmp_path, "-W", "error", "script.py")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_trace_names_the_lines_of_a_users_own_nn(tmp_path: Path) -> None:
    own = written(tmp_path / "nn" / "__init__.py", "def square(x):\n    return x * x")
    program = (
        "import minigrad as mg, nn\nx = mg.Tensor(3.0, requires_grad=True)\n"
        "with mg.trace():\n    y = nn.square(x)\nprint(mg.tape(y)[0].notes[0].source)"
    )
    written(tmp_path / "script.py", program)
    done = run(tmp_path, "script.py")
    assert (done.stdout, done.stderr) == (f"{own}:2\n", "")
