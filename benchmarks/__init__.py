"""How fast a training step is, beside PyTorch, in one run: ``python -m benchmarks``."""
