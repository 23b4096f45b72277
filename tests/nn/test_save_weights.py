"""A file of weights: parameters and buffers, the config, and what does not fit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nn
from minigrad.serialize import CheckpointError
from models import GPT, GPTConfig
from tests.nn.layers import rng


class Net(nn.Module):
    def __init__(self, seed: int = 0, width: int = 4) -> None:
        self.layer = nn.Affine(3, width, rng=rng(seed))
        self.norm = nn.BatchNorm(width)

    def forward(self, x: Any) -> Any:
        return self.norm(self.layer(x))


X = rng(3).standard_normal((8, 3))


def test_parameters_and_buffers_come_back(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "net.safetensors"
    net, other = Net(), Net(1)
    net(X)
    nn.save_weights(net, path)
    arrays = {id(p): p.data for p in other.parameters()}
    nn.load_weights(other, str(path))
    for name, array in net.state_dict().items():
        np.testing.assert_array_equal(other.state_dict()[name], array)
    assert all(p.data is arrays[id(p)] for p in other.parameters())
    np.testing.assert_array_equal(net.eval()(X).numpy(), other.eval()(X).numpy())


def test_a_model_of_another_class_config_or_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    nn.save_weights(Net(), path)
    with pytest.raises(CheckpointError, match="the model is 'Net' there and 'Affine' here"):
        nn.load_weights(nn.Affine(3, 4, rng=rng()), path)
    wider = Net(width=5)
    before = wider.state_dict()
    with pytest.raises(CheckpointError, match="does not fit"):
        nn.load_weights(wider, path)
    np.testing.assert_array_equal(wider.state_dict()["layer.weight"], before["layer.weight"])
    gpt = [GPT(GPTConfig(vocab_size=5, window=n, d_model=8), rng=rng()) for n in (4, 6)]
    nn.save_weights(gpt[0], path)
    with pytest.raises(CheckpointError, match="the model's config"):
        nn.load_weights(gpt[1], path)


def test_a_run_does_not_resume_from_weights_alone(tmp_path: Path) -> None:
    nn.save_weights(Net(), tmp_path / "last.safetensors")
    net = Net()
    with pytest.raises(CheckpointError, match="is a checkpoint that fit did not write: its kind is 'minigrad weights"):
        nn.fit(
            net,
            nn.Batches([X], 4, seed=0),
            lambda model, batch: (model(batch[0]) ** 2).mean(),
            nn.SGD(net.parameters()),
            epochs=1,
            checkpoint=tmp_path,
            resume=True,
            progress=False,
        )
