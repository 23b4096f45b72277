"""What the tests of fit share: a small model and its data, a run with everything in it, and ways to stop it."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import nn
from minigrad import Tensor
from minigrad.serialize import load_checkpoint
from nn import Affine, Batches, Dropout, History, Module, Parameter, fit

RNG = np.random.default_rng(0)
X = RNG.standard_normal((37, 4)).astype(np.float32)
Y = (X @ [1.0, -1.0, 0.5, 0.0] > 0).astype(np.int64)
EPOCHS, STEPS = 4, 5  # in an epoch: ten batches of 4, accumulated by two


class Net(Module):
    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.hidden, self.dropouts = Affine(4, 8, rng=rng), [Dropout(0.3, rng=rng), Dropout(0.2, rng=rng)]
        self.hidden.weight.data = np.asfortranarray(self.hidden.weight.data)
        self.temperature = Parameter(1.0, dtype=np.float32)
        self.output = Affine(8, 2, rng=rng)

    def forward(self, x: Any) -> Any:
        hidden = self.dropouts[1](np.tanh(self.hidden(self.dropouts[0](x))))
        return self.output(hidden) * self.temperature


def loss(model: Module, batch: Any) -> Tensor:
    x, y = batch
    return nn.cross_entropy(model(x), y)


def schedule(step: int) -> float:
    return 0.05 / (1 + step)


def validate(model: Module) -> dict[str, float]:
    return {"accuracy": float((model(X).numpy().argmax(-1) == Y).mean()), "loss": float(loss(model, (X, Y)).item())}


def adamw(model: Module) -> nn.Optimizer:
    return nn.AdamW(model.parameters(), lr=0.05)


def run(checkpoint: Path | None = None, *, seed: int = 0, make: Any = adamw, **options: Any) -> tuple[History, Module]:
    """Everything at once: dropout, a schedule, accumulation, clipping, shuffling, validation, a best checkpoint."""
    model = Net(seed)
    settings: dict[str, Any] = {
        "epochs": EPOCHS,
        "schedule": schedule,
        "accumulate": 2,
        "clip_norm": 1.0,
        "validate": validate,
        "best": ("min", "loss"),
        "checkpoint": checkpoint,
        "resume": checkpoint is not None,
        "progress": False,
        "loss": loss,
    }
    settings |= options
    loss_function = settings.pop("loss")
    return fit(model, Batches([X, Y], 4, seed=5), loss_function, make(model), **settings), model


def weights(model: Module) -> list[bytes]:
    return [array.tobytes() for array in model.state_dict().values()]


Whole = tuple[History, list[bytes], Path]  # a run that was never stopped: what happened, the weights, its folder


def whole_run(folder: Path, **options: Any) -> Whole:
    history, model = run(folder, **options)
    return history, weights(model), folder


def content(path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    arrays, about = load_checkpoint(path)
    return {name: array.tobytes() for name, array in sorted(arrays.items())}, about


def assert_resumes(folder: Path, uninterrupted: Whole, **options: Any) -> None:
    """The rest of the run in `folder`, with a model that starts from other weights, ends where the whole run did."""
    started = (folder / "last.safetensors").exists()
    history, model = run(folder, seed=99 if started else 0, **options)
    expected, expected_weights, whole = uninterrupted
    assert history == expected
    assert weights(model) == expected_weights
    for name in ("last", "best"):
        assert content(folder / f"{name}.safetensors") == content(whole / f"{name}.safetensors")
    assert {path.name for path in folder.iterdir()} == {"last.safetensors", "best.safetensors"}


class Stop(Exception):
    """Stands for an error of the user's program."""


def stopping(function: Callable[..., Any], call: int, how: Callable[[], Any]) -> Callable[..., Any]:
    """`function`, which does `how` first at its call of that number."""
    count = iter(range(10**9))

    def stopped(*args: Any, **kwargs: Any) -> Any:
        if next(count) == call:
            how()
        return function(*args, **kwargs)

    return stopped


def fail() -> None:
    raise Stop


def ctrl_c() -> None:
    """As from the keyboard: the handler runs before the next line of Python."""
    signal.raise_signal(signal.SIGINT)
