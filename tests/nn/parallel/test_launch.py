"""`minigrad launch`: the command it runs, how often, with how many threads; and an example that starts itself by it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from minigrad.cli import launch as _launch, main as _cli
from tests.nn.parallel.launched import needs_mpi

ROOT = Path(__file__).parents[3]


@pytest.fixture
def started(monkeypatch):
    """What is started, each with its status from a list; mpi4py need not be there."""
    runs = SimpleNamespace(commands=[], environments=[], statuses=[])

    def run(command, env, check):
        runs.commands.append(command[1:])
        runs.environments.append(env)
        return SimpleNamespace(returncode=runs.statuses.pop(0))

    monkeypatch.setattr(_launch, "_mpiexec", lambda: "mpiexec")
    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    return runs


@pytest.fixture(autouse=True)
def in_a_folder_with_train_py(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").touch()


def test_a_script_that_is_not_there_is_one_sentence_and_starts_nothing(started, capsys, tmp_path):
    assert _cli.main(["launch", "-n", "2", "nope.py"]) == 2
    assert capsys.readouterr().err == f"minigrad: there is no file 'nope.py' (the folder is {tmp_path})\n"
    assert started.commands == []


def test_what_comes_after_the_script_is_its_own(started):
    started.statuses = [0]
    assert _cli.main(["launch", "-n", "3", "train.py", "-n", "9", "--restarts", "--", "x"]) == 0
    python = [sys.executable, "-m", "mpi4py"]
    assert started.commands == [["-n", "3", *python, "train.py", "-n", "9", "--restarts", "--", "x"]]


@pytest.mark.parametrize(("processes", "threads"), [(1, "8"), (3, "2"), (8, "1"), (20, "1")])
def test_threads_times_processes_is_the_number_of_cores(started, monkeypatch, processes, threads):
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        monkeypatch.delenv(f"{library}_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "5")  # what the user says counts
    started.statuses = [0]
    _cli.main(["launch", "-n", str(processes), "train.py"])
    (environment,) = started.environments
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == threads
    assert environment["MKL_NUM_THREADS"] == "5" and environment["MINIGRAD_LAUNCHED"] == str(processes)


@pytest.mark.parametrize(
    ("restarts", "statuses", "status", "runs"),
    [(0, [9], 9, 1), (2, [9, 1, 0], 0, 3), (2, [9, 1, 3], 3, 3), (2, [130], 130, 1), (0, [-9], 137, 1)],
)
def test_a_job_that_fails_is_started_again_so_often(started, capsys, restarts, statuses, status, runs):
    started.statuses = list(statuses)
    assert _cli.main(["launch", "-n", "2", "--restarts", str(restarts), "train.py"]) == status
    assert len(started.commands) == runs
    assert capsys.readouterr().err.count("starting again") == runs - 1


def test_what_is_missing_is_said(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    assert _cli.main(["launch", "-n", "2", "train.py"]) == 2
    assert "needs mpi4py: pip install mpi4py" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "mpi4py", SimpleNamespace())
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    assert _cli.main(["launch", "-n", "2", "train.py"]) == 2
    assert "needs mpiexec, which comes with an MPI: pip install" in capsys.readouterr().err


@needs_mpi
def test_the_example_trains_on_two_ranks(tmp_path):
    options = ["--quick", "--ranks", "2", "--out", str(tmp_path), "--d-model", "8"]
    command = [sys.executable, str(ROOT / "examples" / "train_classifier.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("640 training and 160 validation texts") == 1  # rank 0 alone prints
    assert (tmp_path / "classifier.safetensors").exists() and (tmp_path / "loss.png").exists()
