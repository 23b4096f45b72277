"""Scripts on several real processes. Where mpi4py is not installed, the tests that need them are skipped."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None, reason="needs processes of MPI: pip install mpi4py mpich"
)


def launch(processes, script, *arguments, restarts=0):
    """`minigrad launch`, with one thread each; it is killed after two minutes."""
    command = [sys.executable, "-m", "minigrad", "launch", "-n", str(processes), "--restarts", str(restarts)]
    command += [str(HERE / script), *map(str, arguments)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, cwd=HERE.parents[2], capture_output=True, text=True, timeout=120)
