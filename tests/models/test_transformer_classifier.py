"""TransformerClassifier: held to PyTorch over 20 training steps, and to what padding and masks must not change."""

import numpy as np
import pytest

import minigrad
import nn
from benchmarks import peer_minigrad
from minigrad.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from models import ClassifierConfig, TransformerClassifier
from tests.lazy import peer_torch

CONFIG = ClassifierConfig(vocab_size=11, num_classes=3, d_model=8, num_heads=2)


def classifier(**changes):
    config = ClassifierConfig.from_dict(CONFIG.to_dict() | changes)
    return TransformerClassifier(config, rng=np.random.default_rng(0), dtype=np.float64).eval()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("work", ["tiny", "toy", "toy_gelu"])
def test_twenty_training_steps_give_the_losses_of_pytorch(work):
    """Forward, backward and Adam, from the same weights on the same batches."""
    reference = peer_torch.training_step(work, "float64")
    step = peer_minigrad.training_step(work)
    expected = np.array([reference(i) for i in range(20)])
    losses = np.array([step(i) for i in range(20)])
    assert abs(losses[0] - expected[0]) < 2e-6 * expected[0]
    assert np.max(np.abs(losses - expected) / expected) < 1e-3
    assert expected[-1] != pytest.approx(expected[0], rel=0.01)  # the steps did train


def test_in_double_precision_the_losses_differ_by_the_rounding_of_the_positions_only():
    """PyTorch's side has the positions in single precision, as the workload prescribes."""
    reference, step = peer_torch.training_step("tiny", "float64"), peer_minigrad.training_step("tiny", "float64")
    np.testing.assert_allclose([step(i) for i in range(20)], [reference(i) for i in range(20)], rtol=1e-7)


def test_kernels_switched_off_give_the_same_training_losses():
    fast, plain = peer_minigrad.training_step("tiny"), peer_minigrad.training_step("tiny")
    with_kernels = [fast(i) for i in range(20)]
    with minigrad.reference_mode():
        without = [plain(i) for i in range(20)]
    np.testing.assert_allclose(with_kernels, without, rtol=2e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_padding_changes_nothing(norm):
    model = classifier(norm=norm)
    ids = np.array([[3, 1, 4, 1, 5]])
    padded = np.array([[3, 1, 4, 1, 5, 0, 0]])
    mask = padded > 0
    np.testing.assert_allclose(model(padded, mask).numpy(), model(ids).numpy(), rtol=1e-12)
    other = np.where(mask, padded, 9)  # what stands under the padding does not matter either
    np.testing.assert_allclose(model(other, mask).numpy(), model(ids).numpy(), rtol=1e-12)
    assert abs(model(other).numpy() - model(ids).numpy()).max() > 1e-3  # without the mask it would


def test_a_row_of_padding_gives_finite_scores_and_gradients():
    model = classifier()
    ids, mask = np.array([[3, 1], [0, 0]]), np.array([[True, True], [False, False]])
    nn.cross_entropy(model(ids, mask), np.array([0, 2])).backward()
    assert all(np.isfinite(p.grad.numpy()).all() for p in model.parameters())


def test_ids_and_a_mask_of_0_and_1_as_a_tokenizer_gives_them():
    """The shapes of the Flax article: [N, 128] ids and mask, embedding 512."""
    config = ClassifierConfig(vocab_size=50, num_classes=6, d_model=512, num_heads=8, num_layers=1, hidden=64)
    model = TransformerClassifier(config, rng=np.random.default_rng(0)).eval()
    lengths = np.array([7, 128, 1])
    mask = (np.arange(128) < lengths[:, None]).astype(np.int32)
    ids = np.random.default_rng(1).integers(1, 50, (3, 128)) * mask
    scores = model(ids, mask)
    assert scores.shape == (3, 6) and scores.dtype == np.float32
    np.testing.assert_array_equal(scores.numpy(), model(ids, mask == 1).numpy())
    alone = model(ids[:1, :7]).numpy()[0]  # the first text without its padding
    np.testing.assert_allclose(alone, scores.numpy()[0], rtol=2e-4, atol=2e-5)
    assert model.attention_weights(ids, mask)[0].shape == (3, 8, 128, 128)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_attention_weights_are_those_of_each_layer(norm):
    model = classifier(norm=norm)
    ids = np.array([[3, 1, 4], [1, 5, 0]])
    weights = model.attention_weights(ids, ids > 0)
    assert [w.shape for w in weights] == [(2, 2, 3, 3)] * 2
    for w in weights:
        np.testing.assert_allclose(w.numpy().sum(axis=-1), 1, rtol=1e-12)
        assert (w.numpy()[1, :, :, 2] == 0).all()
    # the first layer's context, made from the weights by hand, is what the layer computes
    layer = model.layers[0]
    x = model.positions(model.embedding(ids))
    seen = layer.attention_norm(x) if norm == "pre" else x
    value = layer.attention.value(seen).numpy().reshape(2, 3, 2, 4).swapaxes(1, 2)
    context = (weights[0].numpy() @ value).swapaxes(1, 2).reshape(2, 3, 8)
    expected = layer.attention.output(context).numpy()
    np.testing.assert_allclose(layer.attention(seen, key_mask=ids > 0).numpy(), expected, rtol=1e-12)


def test_the_same_seed_gives_the_same_model_and_the_config_survives_a_dict():
    a, b = classifier().state_dict(), classifier().state_dict()
    assert all((a[name] == b[name]).all() for name in a)
    assert ClassifierConfig.from_dict(CONFIG.to_dict()) == CONFIG


@pytest.mark.parametrize(
    ("ids", "mask", "error", "words"),
    [
        (np.array([1, 2]), None, ShapeError, "(batch, length)"),
        (np.array([[1, 2]]), np.array([[True]]), ShapeError, "mask"),
        (np.array([[1, 11]]), None, OutOfRangeError, "11"),
        (np.array([[1, -1]]), None, OutOfRangeError, "-1"),
        (np.array([[1.0, 2.0]]), None, DTypeError, "integer ids"),
        (np.array([[1, 2]]), np.array([[1, 2]]), OutOfRangeError, "1 (attend) and 0"),
        (np.array([[1, 2]]), np.array([[1.0, 0.0]]), DTypeError, "boolean"),
    ],
)
def test_bad_input_is_named(ids, mask, error, words):
    with pytest.raises(error) as caught:
        classifier()(ids, mask)
    assert words in str(caught.value)


def test_attention_weights_name_the_ids_too():
    for call in (classifier(), classifier().attention_weights):
        with pytest.raises(ShapeError, match=r"TransformerClassifier needs ids of shape \(batch, length\), got \(2,\)"):
            call(np.array([1, 2]))
        with pytest.raises(ShapeError, match="lists of different lengths: pad them"):
            call([[1], [2, 3]])
        with pytest.raises(DTypeError, match=r"^key_mask must be boolean"):
            call(np.array([[1, 2]]), np.array([[1.0, 0.0]]))


def test_heads_need_not_divide_the_width_if_not_strict():
    """Three heads of 8 // 3 columns each, whose six the last Affine brings back to 8."""
    model = classifier(num_heads=3, strict=False)
    ids = np.array([[1, 2, 3]])
    assert model.layers[0].attention.output.weight.shape == (6, 8)
    assert model(ids).shape == (1, 3) and model.attention_weights(ids)[0].shape == (1, 3, 3, 3)
    with pytest.raises(ArgumentError, match="num_heads=3 does not divide d_model=8"):
        classifier(num_heads=3)
