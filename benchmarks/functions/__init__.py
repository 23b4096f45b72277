"""Every differentiable function beside PyTorch's, one by one: ``python -m benchmarks functions``."""

from benchmarks.functions import works_arrays, works_elementwise, works_layers  # noqa: F401 - they fill WORKS
from benchmarks.functions.measure import measure
from benchmarks.functions.table import text
from benchmarks.functions.work import WORKS

__all__ = ["WORKS", "measure", "text"]
