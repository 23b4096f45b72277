"""Low-rank adaptation against PyTorch's products, and a whole GPT that learns with it and is merged."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import models
import nn
from minigrad import ArgumentError, ShapeError, Tensor
from tests.lazy import torch
from tests.nn.layers import check_module, rng


def layer(bias: bool = True) -> nn.LoRA:
    made = nn.LoRA(nn.Affine(6, 5, rng=rng(), bias=bias, dtype=np.float64), 2, rng=rng(1), scale=1.5)
    made.up.data = rng(2).normal(size=(2, 5))
    return made


def gpt() -> models.GPT:
    config = models.GPTConfig(vocab_size=7, window=8, d_model=8, num_heads=2)
    return models.GPT(config, rng=rng(), dtype=np.float64)


@pytest.mark.parametrize("bias", [True, False])
def test_equals_pytorch(bias: bool) -> None:
    ours, x = layer(bias), rng(3).normal(size=(4, 3, 6))
    inputs = Tensor(x, requires_grad=True)
    (ours(inputs) ** 2).sum().backward()
    arrays = ours.weight.data, ours.down.data, ours.up.data, x
    weight, down, up, theirs = (torch.tensor(array, requires_grad=True) for array in arrays)
    y = theirs @ weight + 1.5 * (theirs @ down) @ up
    y = y if ours.bias is None else y + torch.tensor(ours.bias.data)
    (y**2).sum().backward()
    np.testing.assert_allclose(ours(x).numpy(), y.detach().numpy(), rtol=1e-10)
    for tensor, other in ((inputs, theirs), (ours.down, down), (ours.up, up)):
        np.testing.assert_allclose(tensor.grad.numpy(), other.grad.numpy(), rtol=1e-10)
    assert ours.weight.grad is None


def test_gradients() -> None:
    check_module(layer(), rng(2).normal(size=(4, 6)))


def test_merged_gives_the_same_results() -> None:
    ours, x = layer(), rng(3).normal(size=(4, 6))
    plain = ours.merged()
    assert type(plain) is nn.Affine and all(p.requires_grad for p in plain.parameters())
    np.testing.assert_allclose(plain(x).numpy(), ours(x).numpy(), rtol=1e-12)
    plain.weight.data[:] = 0  # it is a copy
    assert ours.weight.data.any()


def test_a_gpt_learns_with_few_parameters_and_is_merged(tmp_path: Path) -> None:
    model, ids = gpt(), rng(5).integers(0, 7, (4, 8))
    before, state = model(ids).numpy(), model.state_dict()
    nn.add_lora(model, 2, rng=rng(1), where=lambda path: path.endswith((".query", ".hidden")))
    np.testing.assert_array_equal(model(ids).numpy(), before)
    assert {p.rpartition(".")[2] for p, t in model.named_parameters() if t.requires_grad} == {"down", "up"}
    optimizer = nn.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.98 * losses[0]
    adapted = model.state_dict()
    assert all(np.array_equal(adapted[path], array) for path, array in state.items())  # the same names, frozen
    nn.save_weights(model, tmp_path / "lora.safetensors")
    other = gpt()
    nn.add_lora(other, 2, rng=rng(9), where=lambda path: path.endswith((".query", ".hidden")))
    nn.load_weights(other, tmp_path / "lora.safetensors")
    learned = model(ids).numpy()
    np.testing.assert_array_equal(other(ids).numpy(), learned)
    tokens = list(model.generate(ids[:, :3], 4, rng=rng(), temperature=0.0))
    nn.merge_lora(model)
    assert model.state_dict().keys() == state.keys() and all(p.requires_grad for p in model.parameters())
    np.testing.assert_allclose(model(ids).numpy(), learned, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(list(model.generate(ids[:, :3], 4, rng=rng(), temperature=0.0)), tokens)


def test_a_map_in_two_places_stays_one_map_and_lists_tuples_and_dicts_are_searched() -> None:
    shared, other = nn.Affine(3, 3, rng=rng()), nn.Affine(3, 3, rng=rng())
    model = nn.Sequential(np.tanh)
    vars(model)["parts"] = {"a": [shared, np.tanh], "b": (other, shared)}
    nn.add_lora(model, 1, rng=rng())
    (first, _), (second, last) = vars(model)["parts"]["a"], vars(model)["parts"]["b"]
    assert first is last and type(first) is type(second) is nn.LoRA
    assert first.astype(np.float64)(np.ones((1, 3))).dtype == np.float64
    nn.merge_lora(model)
    (first, _), (second, last) = vars(model)["parts"]["a"], vars(model)["parts"]["b"]
    assert first is last and type(first) is type(second) is nn.Affine


@pytest.mark.parametrize("kind", [nn.RNN, nn.GRU, nn.LSTM])
def test_a_recurrent_layer_learns_its_corrections(kind: Any) -> None:
    model, x = nn.Sequential(kind(3, 4, rng=rng(), dtype=np.float64)), rng(1).normal(size=(2, 5, 3))
    nn.add_lora(model, 2, rng=rng(2))
    layer: Any = model.layers[0]
    cell = layer.cell
    assert type(cell.input) is type(cell.state) is nn.LoRA
    cell.input.up.data, cell.state.up.data = (
        rng(3).normal(size=cell.input.up.shape),
        rng(4).normal(size=cell.state.up.shape),
    )
    states = model(x)[0]
    states.sum().backward()
    assert all(t.grad is not None and t.grad.data.any() for t in (cell.state.down, cell.state.up, cell.input.down))
    nn.merge_lora(model)
    np.testing.assert_allclose(model(x)[0].numpy(), states.numpy(), rtol=1e-12)


def test_what_was_frozen_before_stays_frozen() -> None:
    model = gpt()
    model.embedding.weight.requires_grad = False
    before = [path for path, p in model.named_parameters() if p.requires_grad]
    nn.add_lora(model, 2, rng=rng())
    nn.merge_lora(model)
    assert [path for path, p in model.named_parameters() if p.requires_grad] == before


def test_a_part_is_merged_with_the_whole_and_what_was_frozen_stays_frozen() -> None:
    part, head = nn.Sequential(nn.Affine(3, 3, rng=rng())), nn.Affine(3, 2, rng=rng())
    frozen = [list(part.parameters())[1], head.weight]
    for parameter in frozen:
        parameter.requires_grad = False
    nn.add_lora(part, 1, rng=rng())
    whole = nn.Sequential(part, head)
    nn.merge_lora(whole)
    learn = {path: p.requires_grad for path, p in whole.named_parameters()}
    assert learn == {"layers.0.layers.0.weight": True, "layers.0.layers.0.bias": False} | {
        "layers.1.weight": False,
        "layers.1.bias": True,
    }
    assert "_learned" not in vars(part)


def learning(model: nn.Module) -> list[str]:
    return [path for path, p in model.named_parameters() if p.requires_grad]


@pytest.mark.parametrize("inner_first", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_a_second_call_lets_the_first_corrections_learn(nested: bool, inner_first: bool) -> None:
    """Two calls, on the same model or on it and a part of it, in both orders; then one merge that gives all back."""
    part = nn.Sequential(nn.Affine(3, 3, rng=rng()), nn.LayerNorm(3))
    model = nn.Sequential(part, nn.Affine(3, 3, rng=rng()), nn.LayerNorm(3))
    part.layers[1].weight.requires_grad = False  # type: ignore[attr-defined]
    before = learning(model)
    calls: list[Any] = [
        lambda: nn.add_lora(model, 1, rng=rng(), where=lambda path: path == "layers.1"),
        lambda: nn.add_lora(
            *((part, 1) if nested else (model, 1)), rng=rng(), where=lambda path: path.endswith("layers.0")
        ),
    ]
    for call in calls[:: -1 if inner_first else 1]:
        call()
    assert learning(model) == ["layers.0.layers.0.down", "layers.0.layers.0.up", "layers.1.down", "layers.1.up"]
    nn.merge_lora(model)
    assert learning(model) == before
    assert not any("_learned" in vars(module) for module in model.modules())


def test_a_part_is_merged_alone() -> None:
    part = nn.Sequential(nn.Affine(3, 3, rng=rng()), nn.LayerNorm(3))
    model = nn.Sequential(part, nn.Affine(3, 3, rng=rng()))
    nn.add_lora(model, 1, rng=rng())
    nn.merge_lora(part)
    assert learning(part) == ["layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias"]
    assert learning(model)[4:] == ["layers.1.down", "layers.1.up"]
    part.layers[1].bias.requires_grad = False  # type: ignore[attr-defined]  # on purpose, since
    nn.merge_lora(model)
    assert learning(model)[3:] == ["layers.1.weight", "layers.1.bias"]


def test_tied_weights_and_maps_of_two_models_learn_again() -> None:
    first, second = nn.Affine(3, 3, rng=rng()), nn.Affine(3, 3, rng=rng())
    second.weight = first.weight
    second.bias.requires_grad = False  # type: ignore[union-attr]
    model, other = nn.Sequential(first, second), nn.Sequential(first)
    nn.add_lora(model, 1, rng=rng())
    nn.add_lora(other, 1, rng=rng())
    assert learning(model) == ["layers.0.down", "layers.0.up", "layers.1.down", "layers.1.up"]
    nn.merge_lora(model)
    assert learning(model) == ["layers.0.weight", "layers.0.bias", "layers.1.weight"]
    assert learning(other) == ["layers.0.down", "layers.0.up"]
    nn.merge_lora(other)
    assert learning(other) == ["layers.0.weight", "layers.0.bias"]
    frozen = nn.Affine(2, 2, rng=rng())
    frozen.weight.requires_grad = False
    assert learning(nn.LoRA(frozen, 1, rng=rng()).merged()) == ["bias"]


def test_pytorch_does_not_get_half_of_a_model() -> None:
    model = gpt()
    nn.add_lora(model, 2, rng=rng())
    for convert in (nn.to_torch_state, lambda m: nn.from_torch_state(m, {})):
        with pytest.raises(ArgumentError, match=r"PyTorch has no LoRA: nn\.merge_lora\(model\) makes plain maps first"):
            convert(model)


def test_bad_input_is_refused_and_changes_nothing() -> None:
    with pytest.raises(ArgumentError, match=r"LoRA adapts an nn\.Affine, got GPT: use nn\.add_lora"):
        nn.LoRA(gpt(), 2, rng=rng())  # type: ignore[arg-type]
    for rank in (0, 1.5):
        with pytest.raises(ArgumentError, match="rank"):
            nn.add_lora(model := gpt(), rank, rng=rng())  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"add_lora found no nn\.Affine in GPT that where= accepts"):
        nn.add_lora(model, 2, rng=rng(), where=lambda path: False)
    assert all(p.requires_grad for p in model.parameters())
    with pytest.raises(ArgumentError, match="rng"):
        nn.add_lora(model, 2, rng=0)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="scale must be a finite number, got 'a'"):
        nn.add_lora(model, 2, rng=rng(), scale="a")  # type: ignore[arg-type]
    assert all(p.requires_grad for p in model.parameters()) and "_learned" not in vars(model)
    for bare in (layer(), gpt()):
        with pytest.raises(ArgumentError, match=r"merge_lora found no LoRA inside .*: a single LoRA has merged\(\)"):
            nn.merge_lora(bare)
    with pytest.raises(ShapeError, match=r"LoRA\(6, 5\) needs x of shape"):
        layer()(np.ones((2, 4)))
