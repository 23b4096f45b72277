"""The training programs of ``programs.toml``: healthy ones, and what is changed in them for each mistake."""

import tomllib
from pathlib import Path
from typing import Any

from minigrad.cli.program import Target
from minigrad.debug.running import debugging

TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
HEALTHY: list[str] = TABLE["healthy"]
PROGRAMS: dict[str, str] = TABLE["programs"]
for name, variant in TABLE["variants"].items():
    text = PROGRAMS[variant["of"]]
    for before, after in variant["changes"]:
        text = text.replace(before, after)
    PROGRAMS[name] = text


def _program(entry: dict[str, Any]) -> str:
    """Return the program of an entry, in which other places are replaced already."""
    text = PROGRAMS[entry["program"]]
    for before, after in entry.get("also", ()):
        assert before in text
        text = text.replace(before, after)
    return text


# (kind, program, what is replaced, by what, the text of the line to name)
MISTAKES = [(each["kind"], _program(each), each["before"], each["after"], each["line"]) for each in TABLE["mistakes"]]
# Healthy programs that look like mistakes: (program, what is replaced, by what)
ALIKE = [(_program(each), each["before"], each["after"]) for each in TABLE["alike"]]


def watched(folder: Path, text: str, causal: bool = False) -> debugging:
    """Run a program inside ``debugging``."""
    file = folder / "training.py"
    file.write_text(text, encoding="utf-8")
    target = Target.parse(str(file))
    found = debugging(causal=causal, quiet=True)
    with target.surroundings(()), found:
        target.execute()
    return found
