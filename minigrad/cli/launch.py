"""``minigrad launch -n 2 train.py ...`` runs a script on several processes with the launcher of MPI."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, MissingExtraError, import_extra
from .options import add_command, at_least

INTERRUPTED = 130
LAUNCHED = "MINIGRAD_LAUNCHED"  # the environment variable that the processes can read
_THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")  # libraries that read <NAME>_NUM_THREADS
EPILOG = """\
It runs  mpiexec -n N python -m mpi4py SCRIPT ...  so that an error in one process ends all processes. The cores are
divided among the processes, unless OMP_NUM_THREADS and similar variables are set. The same script also runs under
mpiexec itself or under Slurm. Arguments of the script follow its name.

examples:
  minigrad launch -n 2 train.py --epochs 3
  minigrad launch -n 4 --restarts 2 train.py      train.py calls nn.fit(..., checkpoint="run", resume=True)
"""


def add_to(commands: Any) -> None:
    """Add ``launch`` to the commands of ``minigrad``."""
    about = "run a script on several processes, for nn.parallel.Ranks"
    parser = add_command(commands, "launch", about, EPILOG)
    parser.add_argument("-n", type=at_least(1), required=True, metavar="N", dest="processes", help="how many processes")
    help = "start a failed script again, at most N times (default: 0)"
    parser.add_argument("--restarts", type=at_least(0), default=0, metavar="N", help=help)
    parser.add_argument("script", metavar="SCRIPT", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, arguments: Sequence[str] = ()) -> int:
    """Run the script until it succeeds or the restarts are used up, and return the exit status.

    Raises:
        ArgumentError: there is no such script.
        MissingExtraError: there is no MPI.
    """
    script = Path(options.script)
    if not script.exists():
        raise ArgumentError(f"there is no file '{script}' (the folder is {Path.cwd()})")
    command = [_mpiexec(), "-n", str(options.processes), sys.executable, "-m", "mpi4py", options.script]
    command += options.arguments
    for left in range(options.restarts, -1, -1):
        try:
            status = subprocess.run(command, env=_environment(options.processes), check=False).returncode
        except KeyboardInterrupt:  # the processes were interrupted, too
            return INTERRUPTED
        if status in (0, INTERRUPTED) or not left:
            return status if status >= 0 else 128 - status
        times = f"{left} time{'s' * (left != 1)}"
        print(f"minigrad launch: status {status}; starting again, up to {times}", file=sys.stderr, flush=True)
    raise AssertionError("unreachable")


def _mpiexec() -> str:
    """Return the mpiexec next to this Python, where mpi4py's wheel puts it, or else the one on the path.

    Raises:
        MissingExtraError: mpi4py is not installed, or there is no launcher.
    """
    import_extra("mpi4py", "mpi", "minigrad launch")
    folders = [os.path.dirname(sys.executable), os.path.join(sys.prefix, "Library", "bin")]  # the latter on Windows
    for path in (os.pathsep.join(folders), None):
        if found := shutil.which("mpiexec", path=path):
            return found
    wheel = "impi-rt" if sys.platform == "win32" else "mpich"
    raise MissingExtraError(f"minigrad launch needs mpiexec, which comes with an MPI: pip install {wheel}")


def _environment(processes: int) -> dict[str, str]:
    """Return an environment that gives each process its share of the cores and shows its output at once."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = {f"{library}_NUM_THREADS": str(max(1, cores // processes)) for library in _THREADS}
    return threads | {"PYTHONUNBUFFERED": "1"} | os.environ | {LAUNCHED: str(processes)}
