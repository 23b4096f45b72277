"""What must come out the same with whatever kernels are there: ``python -m tests.minigrad.kernels.core_cases FILE`` writes it.

A file ``.npz`` of values, first and second orders of all cases of the core, and the weights of small models after a few
training steps. Printed is, as JSON, where minigrad is and what its switches say.
"""

import importlib.util
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
import nn
from models import GPT, ClassifierConfig, GPTConfig, TransformerClassifier
from tests import lazy

lazy.collecting = True  # PyTorch's functions in the table are not called here
from tests.minigrad.rules import (  # noqa: E402, F401
    cases_elementwise,
    cases_indexing,
    cases_linalg,
    cases_reductions,
    cases_shaping,
    oracle,
)
from tests.minigrad.rules.cases import CASES  # noqa: E402

IDS = np.random.default_rng(0).integers(1, 20, (6, 9))


def training(make: Callable[[np.random.Generator], Any], loss: Callable[[Any], Any], optimizer: Any) -> list[Any]:
    model = make(np.random.default_rng(1))
    steps = optimizer(model.parameters())
    for _ in range(3):
        steps.zero_grad()
        loss(model).backward()
        nn.clip_grad_norm(model.parameters(), 1.0)
        steps.step()
    return list(model.state_dict().values())


def results() -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for case in CASES:
        first = oracle.by_backward(case.f, case.arrays())
        found[case.id] = [*first.values, *first.first]
        if case.order:
            found[f"{case.id}, second"] = oracle.by_create_graph(case.f, case.arrays()).second
    config = ClassifierConfig(20, 2, d_model=16, num_layers=1, num_heads=2, activation="gelu", dropout=0.1)
    found["classifier"] = training(
        lambda rng: TransformerClassifier(config, rng=rng).astype(np.float64),
        lambda model: nn.cross_entropy(model(IDS, IDS > 3), IDS[:, 0] % 2),
        lambda parameters: nn.AdamW(parameters, lr=1e-2),
    )
    found["gpt"] = training(
        lambda rng: GPT(GPTConfig(vocab_size=20, window=8, d_model=16, num_layers=1, num_heads=2), rng=rng).astype(
            "f8"
        ),
        lambda model: nn.cross_entropy(model(IDS[:, :-1]), IDS[:, 1:]),
        lambda parameters: nn.SGD(parameters, lr=0.1, momentum=0.9),
    )
    found["a large parameter"] = training(lambda rng: nn.Affine(600, 600, rng=rng, dtype="f8"), large, nn.Adam)
    found["a convolutional network"] = training(
        lambda rng: nn.Sequential(nn.Conv2d(1, 2, 3, rng=rng, dtype="f8"), nn.MaxPool2d(2), nn.Flatten()),
        lambda model: nn.binary_cross_entropy_with_logits(model(IDS[:, :8].reshape(3, 1, 4, 4) / 9), np.eye(3, 2)),
        nn.RMSProp,
    )
    for kind in (nn.GRU, nn.LSTM):
        found[kind.__name__] = training(
            lambda rng, kind=kind: kind(9, 2, rng=rng, bidirectional=True, dtype="f8"),  # type: ignore[misc]
            lambda model: (model(IDS[None] / 9, key_mask=[[1, 1, 1, 1, 1, 0]])[0] ** 2).sum(),
            nn.Lion,
        )
    if importlib.util.find_spec("scipy"):
        special, x = importlib.import_module("minigrad.scipy_special"), np.linspace(0.01, 0.99, 300)
        found["of SciPy"] = [special.expit(x), special.logit(x), special.polygamma(1, x)]
    return {f"{name} {i}": np.asarray(a) for name, arrays in found.items() for i, a in enumerate(arrays)}


def large(model: Any) -> Any:
    """More numbers than one block of an optimizer has."""
    return (model(np.linspace(-1, 1, 1200).reshape(2, 600)) ** 2).mean()


def said(call: Callable[[], Any]) -> str:
    try:
        return repr(call())
    except mg.MinigradError as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    np.savez(sys.argv[1], **results())
    switches: dict[str, Callable[[], Any]] = {
        "compiled_kernels()": mg.compiled_kernels,
        "compiled_kernels(False)": lambda: mg.compiled_kernels(False),
        "set_num_threads(2)": lambda: mg.set_num_threads(2),
        "num_threads()": mg.num_threads,
    }
    print(json.dumps({"where": mg.__file__, **{name: said(call) for name, call in switches.items()}}))
