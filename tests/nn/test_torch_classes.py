"""Every line of the table in docs/from-pytorch.md: weights there and back, the same results and one step with the same loss."""

from typing import Any

import numpy as np
import pytest

import minigrad
import models
import nn
from docs.torch_classes import OTHERWISE, PAIRS, Pair, name_of
from minigrad import Tensor
from tests.lazy import torch
from tests.nn.layers import assert_close, randomized, rng, to_torch

ARRAYS: dict[str, np.ndarray] = {
    "tokens": rng(2).standard_normal((3, 5, 4)),
    "memory": rng(3).standard_normal((3, 2, 4)),
    "signals": rng(4).standard_normal((3, 4, 7)),
    "images": rng(5).standard_normal((3, 4, 7, 6)),
    "ids": rng(6).integers(0, 8, (3, 5)),
    "row": rng(7).standard_normal((3, 4)),
    "state": rng(8).standard_normal((3, 6)),
}


def made(pair: Pair, seed: int) -> Any:
    scope = {"nn": nn, "minigrad": minigrad, "rng": rng(seed)}
    return randomized(eval(pair.ours, scope).astype(np.float64), seed).train("Dropout" not in pair.ours)


def first(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


def ours_of(pair: Pair, module: Any) -> Tensor:
    given = eval(f"[{pair.inputs}]", dict(ARRAYS))
    return first(module(*given, **eval(f"dict({pair.settings})")))


def theirs_of(pair: Pair, module: Any) -> Any:
    return first(module(*eval(f"[{pair.their_inputs or pair.inputs}]", {k: to_torch(v) for k, v in ARRAYS.items()})))


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.ours for pair in PAIRS])
def test_weights_go_there_and_back_and_a_step_is_the_same(pair: Pair) -> None:
    ours, theirs = made(pair, 1), eval(pair.theirs, {"torch": torch}).double().train("Dropout" not in pair.ours)
    theirs.load_state_dict({name: to_torch(array) for name, array in nn.to_torch_state(ours).items()})
    losses = []
    for _ in range(2):  # the second is that after a step
        y, torch_y = ours_of(pair, ours), theirs_of(pair, theirs)
        assert_close(y.numpy(), torch_y.detach().numpy())
        loss, torch_loss = (np.tanh(y) ** 2).mean(), (torch.tanh(torch_y) ** 2).mean()
        losses.append((loss.item(), torch_loss.item()))
        if list(ours.parameters()):
            loss.backward()
            torch_loss.backward()
            nn.SGD(ours.parameters(), lr=0.5).step()
            torch.optim.SGD(theirs.parameters(), lr=0.5).step()
    for loss, torch_loss in losses:
        assert_close(loss, torch_loss)
    if list(ours.parameters()):
        assert losses[0] != losses[1]
    again = made(pair, 2)
    nn.from_torch_state(again, theirs.state_dict())
    again.eval(), theirs.eval()
    assert_close(ours_of(pair, again).numpy(), theirs_of(pair, theirs).detach().numpy())


def test_every_class_is_in_a_table() -> None:
    classes = {
        f"{package.__name__}.{name}"
        for package in (nn, models)
        for name in package.__all__
        if isinstance(getattr(package, name), type) and issubclass(getattr(package, name), nn.Module)
    }
    otherwise = " ".join(OTHERWISE.values()).split()
    assert len(otherwise) == len(set(otherwise))
    assert {name_of(pair.ours) for pair in PAIRS} | set(otherwise) == classes, "name each in docs/torch_classes.py"
    assert not {name_of(pair.ours) for pair in PAIRS} & set(otherwise)
