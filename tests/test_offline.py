"""A clone without a network: the commands of docs/install.md run with NumPy alone, and a sentence names what is missing."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tests.house import ROOT

SITE = Path(np.__file__).parents[1]
# Every way out leads to a port of this machine where nothing listens.
NO_NETWORK = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https", "all")} | {"PIP_RETRIES": "0"}
posix = pytest.mark.skipif(os.name != "posix", reason="the commands of the page are a POSIX shell's")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a fresh clone, in a folder whose name holds a space."""
    folder = tmp_path_factory.mktemp("offline") / "a clone"
    hidden = shutil.ignore_patterns(".*", "__pycache__", "out", "build", "dist", "course", "gallery", "reference")
    shutil.copytree(ROOT, folder, ignore=hidden)
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has NumPy and nothing else, not even pip."""
    folder = tmp_path_factory.mktemp("numpy alone")
    packages = folder / "packages"
    packages.mkdir()
    for path in SITE.glob("numpy*"):
        (packages / path.name).symlink_to(path)
    return environment(folder / "env", packages)


def environment(folder: Path, packages: Path) -> Path:
    """Make an environment that also finds what is in the folder ``packages``; the path of its Python."""
    venv.create(folder, symlinks=os.name == "posix")
    binaries = folder / ("bin" if os.name == "posix" else "Scripts")
    found = subprocess.run(
        [str(binaries / "python"), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    )
    Path(found.stdout.strip(), "more.pth").write_text(f"{packages}\n", encoding="utf-8")
    return binaries / "python"


def run(line: str, clone: Path, python: Path) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    return subprocess.run(
        ["sh", "-c", line],
        cwd=clone,
        capture_output=True,
        text=True,
        env=kept | NO_NETWORK | {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"},
    )


def commands() -> list[str]:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    section = page.split("\n## Without a network\n")[1].split("\n## ")[0]
    return re.findall(r"^    (\S.*)$", section, re.MULTILINE)


@posix
def test_the_commands_of_the_page_run_with_numpy_alone(clone: Path, python: Path) -> None:
    example, export, *others, install = commands()
    assert export == 'export PYTHONPATH="$PWD"' and "pip" in install and len(others) == 3
    done = run(example, clone, python)
    assert done.returncode == 0 and "d loss / d w = " in done.stdout, done.stderr
    lesson = others.pop()
    for line in others:
        done = run(f"{export}; {line}", clone, python)
        assert done.returncode == 0 and done.stdout, done.stderr
    assert (clone / "my_course").is_dir()
    done = run(f"{export}; {lesson}", clone, python)  # there is no Matplotlib
    sentence = "A lesson draws pictures, which needs Matplotlib: pip install matplotlib\n"
    assert (done.returncode, done.stderr) == (1, sentence)


@posix
def test_the_clone_is_installed_where_hatchling_is(clone: Path, tmp_path: Path) -> None:
    if not all((SITE / name).exists() for name in ("hatchling", "pip")):
        pytest.skip("needs pip and hatchling: pip install hatchling")
    python = environment(tmp_path / "env", SITE)
    done = run(commands()[-1], clone, python)
    assert done.returncode == 0, done.stdout + done.stderr
    found = run("cd / && python -c 'import minigrad; print(minigrad.__file__)'", clone, python)
    assert found.stdout.strip() == str(clone / "minigrad" / "__init__.py")
    assert importlib.metadata.version("minigrad")  # the environment of the tests keeps its own


@pytest.mark.thorough
@posix
def test_a_lab_is_packed_and_installed_without_hatchling(clone: Path, python: Path, tmp_path: Path) -> None:
    """Packed with NumPy alone, without pip; installed with the commands of its README, but for the environment's."""
    if not (SITE / "pip").exists():
        pytest.skip("needs pip, as the class does: python -m ensurepip")
    done = run(f"python examples/offline_lab.py --no-wheels --out '{tmp_path}/lab.zip'", clone, python)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "lab.zip") as archive:
        archive.extractall(tmp_path)
    (tmp_path / "packages").mkdir()
    for path in [*SITE.glob("numpy*"), *SITE.glob("pip*")]:
        (tmp_path / "packages" / path.name).symlink_to(path)
    lab, python = tmp_path / "lab", environment(tmp_path / "lab" / "class", tmp_path / "packages")
    readme = (lab / "README.md").read_text(encoding="utf-8")
    make, install, init, lesson, enter, learn = re.findall(r"^    (\S.*)$", readme, re.MULTILINE)
    assert make == "python3 -m venv --system-site-packages class"
    for line in (install, init.replace("NUMBER", "1"), f"{enter} && {learn}"):
        done = run(line, lab, python)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "tasks done" in done.stdout
    assert run(lesson, lab, python).stderr.endswith("which needs Matplotlib: pip install matplotlib\n")


@posix
@pytest.mark.parametrize(
    "lesson", sorted((ROOT / "examples" / "lessons").glob("[0-9]*.py")), ids=lambda path: path.stem
)
def test_every_lesson_says_that_it_needs_matplotlib(lesson: Path) -> None:
    """In this process, up to the line that needs it: a process of its own for each would take seconds."""
    text = lesson.read_text(encoding="utf-8")
    imports, _, rest = text.partition('LANGUAGE = "en"')
    assert rest and "matplotlib" not in rest.replace("plt", "")
    hidden = dict.fromkeys(["matplotlib", "matplotlib.pyplot"])
    with pytest.MonkeyPatch.context() as patch:
        for name, module in hidden.items():
            patch.setitem(sys.modules, name, module)
        with pytest.raises(SystemExit, match="needs Matplotlib: pip install matplotlib"):
            exec(compile(imports, str(lesson), "exec"), {"__name__": "lesson"})


@posix
def test_an_example_without_numpy_says_so(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    done = run("python examples/lesson.py", clone, environment(tmp_path / "env", tmp_path / "nothing"))
    assert (done.returncode, done.stderr) == (1, "error: minigrad needs NumPy: pip install numpy\n")
