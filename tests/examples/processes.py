"""Running an example as a user does."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def command(script: str, *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """`python examples/<script>` in a process of its own, which finds minigrad whether or not it is installed."""
    line = [sys.executable, str(ROOT / "examples" / script), *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(line, capture_output=True, encoding="utf-8", cwd=cwd, env=environment)
