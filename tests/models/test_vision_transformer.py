"""VisionTransformer: its patches are PyTorch's, its layers too, and only the positions know where a patch lies."""

from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError, DTypeError, ShapeError, Tensor, check_grads
from models import VisionTransformer, VisionTransformerConfig, image_patches
from tests.lazy import based_on, torch
from tests.nn.layers import assert_close, assert_equals_pytorch, load, randomized, to_torch

CONFIG = VisionTransformerConfig(
    image_size=6, patch_size=2, num_classes=4, channels=3, d_model=12, num_heads=2, num_layers=2, hidden=20
)
IMAGES = np.random.default_rng(5).standard_normal((3, 6, 6, 3))


def vit(*, random: bool = True, dtype: Any = np.float64, seed: int = 0, **changes: Any) -> VisionTransformer:
    config = VisionTransformerConfig.from_dict(CONFIG.to_dict() | changes)
    model = VisionTransformer(config, rng=np.random.default_rng(seed), dtype=dtype).eval()
    return randomized(model) if random else model


def unfolded(images: Any, patch_size: int) -> Any:
    """By PyTorch, as (batch, patches, rows * columns * channels): it has the channels first, before and within a patch."""
    columns = torch.nn.functional.unfold(images.permute(0, 3, 1, 2), patch_size, stride=patch_size)
    batch, _, patches = columns.shape
    parts = columns.reshape(batch, images.shape[3], patch_size, patch_size, patches)
    return parts.permute(0, 4, 2, 3, 1).reshape(batch, patches, -1)


# --- patches ---


@pytest.mark.parametrize(
    ("shape", "size"), [((2, 6, 6, 3), 2), ((1, 4, 8, 1), 4), ((2, 6, 9, 2), 3), ((2, 3, 3, 1), 1)]
)
def test_patches_are_those_of_torch_unfold(shape: tuple[int, ...], size: int) -> None:
    images = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_array_equal(image_patches(images, size), unfolded(torch.from_numpy(images), size).numpy())
    np.testing.assert_array_equal(image_patches(Tensor(images), size).numpy(), image_patches(images, size))


def test_patches_row_by_row_written_out() -> None:
    image = np.array([[1, 2, 5, 6], [3, 4, 7, 8], [9, 10, 13, 14], [11, 12, 15, 16]])[None, :, :, None]
    np.testing.assert_array_equal(image_patches(image, 2)[0], np.arange(1, 17).reshape(4, 4))
    colours = np.stack([image, 100 * image], axis=-1)[..., 0, :]  # the channels of a pixel stand together
    np.testing.assert_array_equal(image_patches(colours, 2)[0, 0], [1, 100, 2, 200, 3, 300, 4, 400])


def test_patches_have_the_gradient_of_a_reordering() -> None:
    check_grads(lambda images: image_patches(images, 2) ** 2, (IMAGES[:2],))


def test_embedding_the_patches_is_a_convolution_with_their_stride() -> None:
    model = vit()
    convolution = torch.nn.Conv2d(3, 12, kernel_size=2, stride=2).double()
    with torch.no_grad():
        convolution.weight.copy_(to_torch(model.patches.weight.data.reshape(2, 2, 3, 12).transpose(3, 2, 0, 1).copy()))
        convolution.bias.copy_(to_torch(model.patches.bias.data))  # type: ignore[union-attr]
        expected = convolution(to_torch(IMAGES).permute(0, 3, 1, 2)).flatten(2).transpose(1, 2)
    assert_close(model.patches(image_patches(IMAGES, 2)).numpy(), expected.numpy())


@pytest.mark.parametrize(("shape", "size"), [((6, 6, 3), 2), ((1, 6, 6, 3), 4), ((1, 6, 5, 1), 3)])
def test_images_that_cannot_be_cut_are_named(shape: tuple[int, ...], size: int) -> None:
    with pytest.raises(ShapeError, match=rf"multiples of patch_size={size}, got \({shape[0]}, {shape[1]}"):
        image_patches(np.zeros(shape), size)


# --- the network ---


@based_on(torch.nn.Module)
class TorchViT:
    """The same network from PyTorch's parts, under the names of ours."""

    def __init__(self, config: VisionTransformerConfig) -> None:
        super().__init__()
        d_model, tokens = config.d_model, (config.image_size // config.patch_size) ** 2
        self.patches = torch.nn.Linear(config.patch_size**2 * config.channels, d_model)
        self.class_token = torch.nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = torch.nn.Embedding(1 + tokens, d_model)
        layer = torch.nn.TransformerEncoderLayer(
            d_model, config.num_heads, config.hidden, 0.0, "gelu", batch_first=True, norm_first=True
        )
        stack = torch.nn.TransformerEncoder(
            layer, config.num_layers, norm=torch.nn.LayerNorm(d_model), enable_nested_tensor=False
        )
        self.layers, self.norm = stack.layers, stack.norm
        self.stack = [stack]  # in a list: its parts are registered above
        self.output = torch.nn.Linear(d_model, config.num_classes)
        self.patch_size = config.patch_size

    def forward(self, images: Any) -> Any:
        tokens = self.patches(unfolded(images, self.patch_size))
        x = torch.cat([self.class_token.expand(len(images), -1, -1), tokens], dim=1)
        return self.output(self.stack[0](x + self.positions.weight)[:, 0])


@pytest.mark.parametrize("changes", [{}, {"patch_size": 3, "num_layers": 1}])
def test_equals_pytorch_with_all_gradients(changes: Any) -> None:
    model = vit(**changes)
    theirs = load(TorchViT(model.config), model)
    assert_equals_pytorch(model, theirs, IMAGES)


def permuted(images: np.ndarray, order: Any) -> np.ndarray:
    """The images with their 3 x 3 patches in another order."""
    tiles = images.reshape(-1, 3, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 9, 2, 2, 3)[:, order]
    return tiles.reshape(-1, 3, 3, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 6, 6, 3)


def test_only_the_positions_tell_where_a_patch_lies() -> None:
    model, order = vit(), np.random.default_rng(0).permutation(9)
    before, table = model(IMAGES).numpy(), model.positions.weight.data.copy()
    assert np.abs(model(permuted(IMAGES, order)).numpy() - before).max() > 1e-2
    model.positions.weight.data[1:] = table[1:][order]  # the positions move with their patches
    assert_close(model(permuted(IMAGES, order)).numpy(), before)
    model.positions.weight.data[1:] = 0.0
    assert_close(model(permuted(IMAGES, order)).numpy(), model(IMAGES).numpy())


def test_images_are_judged_one_by_one() -> None:
    model = vit()
    np.testing.assert_allclose(model(IMAGES[1:2]).numpy(), model(IMAGES).numpy()[1:2], rtol=1e-12)


def test_grey_images_may_leave_the_channel_out() -> None:
    model = vit(channels=1)
    np.testing.assert_array_equal(model(IMAGES[..., 0]).numpy(), model(IMAGES[..., :1]).numpy())


def test_attention_weights_are_those_of_each_layer() -> None:
    model = vit()
    weights = model.attention_weights(IMAGES)
    assert [w.shape for w in weights] == [(3, 2, 10, 10)] * 2
    for w in weights:
        assert_close(w.numpy().sum(axis=-1), 1.0)
    tokens = model.patches(image_patches(IMAGES, 2)).numpy()
    z = np.concatenate([np.tile(model.class_token.data, (3, 1, 1)), tokens], axis=1) + model.positions.weight.data
    assert_close(weights[0].numpy(), model.layers[0].attention_weights(z).numpy())
    assert_close(weights[1].numpy(), model.layers[1].attention_weights(model.layers[0](z)).numpy())
    # permuting the patches and their positions permutes where the class token looks
    order = np.random.default_rng(0).permutation(9)
    model.positions.weight.data[1:] = model.positions.weight.data[1:][order]
    moved = model.attention_weights(permuted(IMAGES, order))
    for before, after in zip(weights, moved):
        assert_close(after.numpy()[:, :, 0, 1:], before.numpy()[:, :, 0, 1:][..., order])


def test_it_learns_where_something_is() -> None:
    """One bright pixel among noise: is it above or below, left or right? In single precision, with dropout."""
    rng = np.random.default_rng(0)
    model = vit(random=False, dtype=np.float32, channels=1, patch_size=3, dropout=0.1)
    optimizer, losses = nn.AdamW(model.train().parameters(), lr=5e-3), []
    for _ in range(80):
        images, labels = bright_pixel(rng)
        optimizer.zero_grad()
        loss = nn.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    images, labels = bright_pixel(rng)
    logits = model.eval()(images)
    assert logits.dtype == np.float32 and all(
        p.grad.dtype == np.float32 for p in model.parameters() if p.grad is not None
    )
    assert losses[0] > 1 and np.mean(logits.numpy().argmax(axis=-1) == labels) > 0.9


def bright_pixel(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    images, labels = 0.1 * rng.standard_normal((32, 6, 6)), rng.integers(0, 4, 32)
    rows, columns = rng.integers(0, 3, (2, 32))
    images[np.arange(32), rows + 3 * (labels // 2), columns + 3 * (labels % 2)] = 3
    return images, labels


def test_the_parameters_are_counted_and_the_config_survives_a_dict() -> None:
    model = vit()
    layer = 4 * (12 * 12 + 12) + 2 * 2 * 12 + 12 * 20 + 20 + 20 * 12 + 12
    assert model.num_parameters == (12 * 12 + 12) + 12 + 10 * 12 + 2 * layer + 2 * 12 + (12 * 4 + 4)
    assert VisionTransformerConfig.from_dict(CONFIG.to_dict()) == CONFIG and CONFIG.num_patches == 9
    a, b, c = (vit(random=False, seed=seed).state_dict() for seed in (0, 0, 1))
    assert all((a[name] == b[name]).all() for name in a)
    assert (a["class_token"] != c["class_token"]).any()


@pytest.mark.parametrize(
    ("images", "error", "words"),
    [
        (np.zeros((3, 6, 6)), ShapeError, r"images of shape \(batch, 6, 6, 3\), got \(3, 6, 6\)"),
        (np.zeros((3, 3, 6, 6)), ShapeError, r"got \(3, 3, 6, 6\)"),
        (np.zeros((1, 8, 8, 3)), ShapeError, r"got \(1, 8, 8, 3\)"),
        (np.zeros((1, 6, 6, 3), complex), DTypeError, "complex"),
    ],
)
def test_bad_images_are_named(images: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        vit()(images)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"patch_size": 4}, "patch_size=4 does not divide image_size=6"),
        ({"patch_size": 0}, "patch_size must be a positive integer, got 0"),
        ({"channels": 0}, "channels must be a positive integer, got 0"),
        ({"num_heads": 5}, "num_heads=5"),
    ],
)
def test_a_bad_config_is_named(changes: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        vit(**changes)


def test_patches_of_a_list_and_of_no_size() -> None:
    np.testing.assert_array_equal(image_patches([[[[1], [2]], [[3], [4]]]], 1)[0, :, 0], [1, 2, 3, 4])
    with pytest.raises(ArgumentError, match="patch_size must be a positive integer, got 0"):
        image_patches(IMAGES, 0)
