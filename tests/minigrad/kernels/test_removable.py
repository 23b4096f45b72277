"""The room of kernels can be taken out, whole or in parts: all is computed, to the same numbers."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[3]
TESTS = [
    "__init__.py",
    "lazy.py",
    "minigrad/rules/oracle.py",
    "minigrad/rules/cases*.py",
    "minigrad/kernels/core_cases.py",
]
MISSING = "UnsupportedError: {}() needs the folder minigrad/{}, which has been taken out of this copy of minigrad: "


def results(root: Path, file: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """What the core cases give with the packages at ``root``, and what its switches say."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.minigrad.kernels.core_cases", str(file)],
        cwd=root,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    answers = json.loads(done.stdout)
    assert Path(answers.pop("where")).parents[1] == root
    with np.load(file) as found:
        return dict(found), answers


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    found = results(ROOT, tmp_path_factory.mktemp("whole") / "found.npz")[0]
    assert len(found) > 5000
    return found


def copied(folder: Path, without: str) -> None:
    """The three packages and the table of cases, without a folder of minigrad's."""
    left_out = ROOT / "minigrad" / without

    def ignore(inside: str, names: list[str]) -> set[str]:
        return {name for name in names if name == "__pycache__" or Path(inside, name) == left_out}

    for package in ("minigrad", "nn", "models"):
        shutil.copytree((ROOT / package).resolve(), folder / package, ignore=ignore)
    for pattern in TESTS:
        for path in (ROOT / "tests").glob(pattern):
            target = folder / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    assert left_out.is_dir() and not (folder / "minigrad" / without).exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("without", "refused"),
    [
        ("kernels/compiled", ["compiled_kernels"]),
        ("kernels", ["compiled_kernels", "set_num_threads"]),
    ],
)
def test_without_a_room_everything_is_computed(
    without: str, refused: list[str], expected: dict[str, np.ndarray], tmp_path: Path
) -> None:
    copied(tmp_path, without)
    (tmp_path / "cupy.py").touch()  # what a switch needs besides is installed, at least in name
    if "compiled_kernels" in refused:
        (tmp_path / "numba.py").touch()
    found, answers = results(tmp_path, tmp_path / "found.npz")
    assert found.keys() == expected.keys()
    for name, want in expected.items():
        np.testing.assert_allclose(found[name], want, rtol=1e-9, atol=1e-9, err_msg=name)
    for switch, answer in answers.items():
        name = switch.partition("(")[0]
        if name in refused and "False" not in switch:
            assert answer.startswith(MISSING.format(name, without)) and answer.endswith("or install minigrad again"), (
                answer
            )
        elif name == "num_threads":
            assert answer == ("1" if "set_num_threads" in refused else "2")
        else:
            assert answer in ("None", "MissingExtraError: compiled_kernels() needs numba: pip install numba")
