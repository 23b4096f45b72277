"""Wrong answers of learners, and right ones: ``answers.toml``."""

import tomllib
from pathlib import Path
from typing import Any

ANSWERS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
