"""An editor finds nothing to complain of in the programs of the pages: mypy in strict mode, and pyright where it is installed.

Their own functions may be without annotations, as those of most programs are; what they call is held to its types.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_readme import PROGRAM, ROOT

PAGES = ("CONTRIBUTING.md", "docs/design.md", "docs/training.md", "docs/types.md")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every program in a file of its own."""
    folder = tmp_path_factory.mktemp("programs")
    for page in PAGES:
        for number, (program, _) in enumerate(PROGRAM.findall((ROOT / page).read_text(encoding="utf-8"))):
            (folder / f"{Path(page).stem}_{number}.py").write_text(program, encoding="utf-8")
    assert len(list(folder.iterdir())) > 8
    return folder


@pytest.mark.thorough
def test_mypy_is_content(folder: Path) -> None:
    pytest.importorskip("mypy", reason="checks types: pip install mypy")
    own = ["--strict", "--allow-untyped-defs", "--allow-untyped-calls", "--no-error-summary"]
    files = sorted(path.name for path in folder.glob("*.py"))
    command = [sys.executable, "-m", "mypy", *own, "--cache-dir", str(folder / "cache"), *files]
    environment = {"MYPYPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", env=environment)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_pyright_is_content(folder: Path) -> None:
    if not (pyright := shutil.which("pyright")):
        pytest.skip("checks types a second time: npm install pyright")
    (folder / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{ROOT.as_posix()}"]}}', encoding="utf-8")
    command = [pyright, "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stdout
