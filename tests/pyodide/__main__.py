"""Run tests in Pyodide: ``python -m tests.pyodide [PATH or option of pytest] ...``

Without a path, the core set of the suite runs, which takes about three minutes. What Pyodide lacks is skipped with its reason.
Where Node, or on first use the network, is missing, one line says that nothing ran, and the exit status is 0.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from docs.site_pyodide import NotHere, fetched, release

ROOT = Path(__file__).parents[2]
SECONDS = 900  # for the core set, which takes 4 minutes on two busy cores
# pytest and what it imports: pure Python, so that Pyodide uses those of this environment
TOOLS = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments")
CORE = (
    "tests/minigrad/engine",
    "tests/minigrad/rules/test_cases.py",
    "tests/minigrad/transforms",
    "tests/minigrad/test_trees.py",
    "tests/nn/test_module.py",
    "tests/nn/test_attention.py",
    "tests/nn/test_optim.py",
)


def tools() -> dict[str, str]:
    """Return the folders, or the files, of pytest and of what it imports, by the name under which Pyodide sees them."""
    found = {}
    for name in TOOLS:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise NotHere(f"{name} is missing: pip install {name.lstrip('_')}")
        origin = Path(spec.origin)
        found[name if spec.submodule_search_locations else origin.name] = str(
            origin.parent if spec.submodule_search_locations else origin
        )
    return found


def node() -> str:
    """Return the path of Node."""
    if found := shutil.which("node"):
        return found
    raise NotHere("node is missing: https://nodejs.org")


def run(arguments: list[str]) -> int:
    """Run pytest with these arguments in Pyodide. Return its exit status."""
    asked = {"release": str(fetched()), "root": str(ROOT), "tools": tools(), "arguments": arguments}
    script = Path(__file__).with_name("run.mjs")
    try:
        return subprocess.run([node(), str(script), json.dumps(asked)], timeout=SECONDS).returncode
    except subprocess.TimeoutExpired:
        print(f"Pyodide: ended after {SECONDS} s", file=sys.stderr)
        return 1


def main(arguments: list[str]) -> int:
    paths = [one for one in arguments if not one.startswith("-")]
    try:
        print(f"Pyodide {release()['version']}: the suite runs in Node", flush=True)
        return run([*arguments, *([] if paths else CORE)])
    except NotHere as reason:
        print(f"Pyodide: NOTHING RAN, because {reason}", file=sys.stderr)
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
