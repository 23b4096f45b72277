"""What was measured before the work on these began, and what was wanted: ratios to PyTorch eager, two cores, float32.

From them follows what must be reached at the least: on a line above 1 half the way to the goal, and a line below 1 must not get
worse.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    before: float
    goal: float

    @property
    def half_way(self) -> float:
        return (self.before + self.goal) / 2 if self.before > 1 else self.before


NUMPY = {
    "gpt": Goal(1.66, 1.0),
    "vit": Goal(1.36, 0.9),
    "lenet": Goal(24.0, 2.0),  # before: the convolution was a sum of products with shifted images
    "gru": Goal(1.49, 0.7),
    "generate": Goal(1.53, 0.8),
    "generate_top_k": Goal(1.64, 0.9),
    "minilm": Goal(1.25, 0.9),
    "encoder": Goal(1.25, 0.9),
    "encoder_decoder": Goal(1.14, 0.9),
    "jacobian": Goal(13.9, 1.0),
    "hessian": Goal(1.94, 0.5),
    "plain_tiny": Goal(1.36, 1.0),
    "plain_toy": Goal(1.61, 1.1),
    "plain_small": Goal(1.38, 1.0),
    "plain_m2": Goal(2.93, 1.0),
    "mlp": Goal(0.83, 0.6),
    "loop": Goal(0.68, 0.4),
    "moons": Goal(0.61, 0.4),
    "formula": Goal(0.51, 0.2),
    "tiny": Goal(0.71, 0.5),
    "toy": Goal(1.01, 0.85),
    "small": Goal(0.88, 0.85),
}
NUMBA = {
    "gpt": Goal(1.47, 0.8),
    "vit": Goal(0.84, 0.7),
    "lenet": Goal(24.0, 1.2),
    "gru": Goal(1.94, 0.4),
    "generate": Goal(1.10, 0.6),
    "generate_top_k": Goal(0.92, 0.7),
    "minilm": Goal(0.87, 0.75),
    "encoder": Goal(1.07, 0.8),
    "encoder_decoder": Goal(1.01, 0.8),
    "mlp": Goal(0.74, 0.5),
    "loop": Goal(0.69, 0.4),
    "formula": Goal(0.5, 0.2),
    "tiny": Goal(0.68, 0.35),
    "toy": Goal(0.77, 0.6),
    "small": Goal(0.79, 0.7),
}
# The goals of the programs that ``minigrad.write_numpy`` writes. There were none before.
WRITTEN = {
    "pinn": 0.3,
    "maml": 0.5,
    "vae": 1.0,
    "lstm_by_hand": 0.6,
    "m1": 0.1,
    "moons": 0.1,
    "plain_tiny": 0.8,
    "tiny": 0.6,  # it calls kernels
}
