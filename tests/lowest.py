"""The lowest version that pyproject.toml declares of each package, as constraints for pip: ``python -m tests.lowest``

python3.11 -m venv lowest && python -m tests.lowest > lowest.txt
lowest/bin/python -m pip install -e ".[dev]" -c lowest.txt && lowest/bin/python -m pytest
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path


def lowest(project: Mapping[str, object]) -> Iterator[str]:
    """Of what is declared as `name>=version`, with extras or without; what is pinned needs no line."""
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict) and isinstance(project["dependencies"], list)
    for requirement in sorted({*project["dependencies"], *(line for lines in extras.values() for line in lines)}):
        if found := re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement):
            yield "==".join(found.groups())


if __name__ == "__main__":
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(lowest(pyproject["project"])))
