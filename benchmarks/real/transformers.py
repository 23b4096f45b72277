"""Transformers that are no GPT: one that looks at images, one of MiniLM's size that only reads, and one that translates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.real.torch_layers import (
    affine,
    attention,
    dropped,
    feed_forward,
    gradients,
    layer_shapes,
    norm,
    parameters,
)
from benchmarks.real.work import (
    RELU_GRADIENTS,
    F,
    Work,
    drawn,
    mg,
    minigrad_training,
    models,
    nn,
    torch,
    torch_training,
)
from benchmarks.step import Step
from benchmarks.workload import BATCHES, positions

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class ImageSizes:
    """As examples/digits_vit.py has them: batch, image, patch, width, heads, layers."""

    B: int = 64
    image: int = 8
    patch: int = 2
    D: int = 48
    H: int = 4
    layers: int = 2
    dropout: float = 0.0


def norm_shapes(path: str, D: int) -> Shapes:
    return {f"{path}.weight": (D,), f"{path}.bias": (D,)}


# --- The step of examples/digits_vit.py ---


def vit_data(s: ImageSizes) -> tuple[dict[str, Any], Any, Any]:
    """Weights, images (8, B, image, image) and labels (8, B)."""
    pixels, tokens = s.patch**2, 1 + (s.image // s.patch) ** 2
    shapes: Shapes = {"patches.weight": (pixels, s.D), "patches.bias": (s.D,), "class_token": (1, 1, s.D)}
    shapes |= {"positions.weight": (tokens, s.D), "output.weight": (s.D, 10), "output.bias": (10,)}
    for n in range(s.layers):
        shapes |= layer_shapes(f"layers.{n}", s.D, 4 * s.D)
    random = np.random.RandomState(2)
    images = random.randn(BATCHES, s.B, s.image, s.image).astype(np.float32)
    return drawn(shapes | norm_shapes("norm", s.D)), images, random.randint(0, 10, (BATCHES, s.B)).astype(np.int64)


def vit_minigrad(s: ImageSizes) -> Step:
    weights, images, labels = vit_data(s)
    config = models.VisionTransformerConfig(s.image, s.patch, 10, 1, s.D, s.H, s.layers, dropout=s.dropout)
    model = models.VisionTransformer(config, rng=np.random.default_rng(0))
    model.load_state_dict(weights)
    scores = model.eval()(images[0]).numpy().copy()
    model.train()

    def loss_of(i: int) -> Any:
        return nn.cross_entropy(model(images[i % BATCHES]), labels[i % BATCHES], label_smoothing=0.1)

    step = minigrad_training(model, loss_of, nn.AdamW(model.parameters(), lr=2e-3, weight_decay=0.05), clip=1.0)
    return Step(step.run, lambda: {"scores": scores}) if s.dropout else step


def vit_torch(s: ImageSizes) -> Step:
    weights, images, labels = vit_data(s)
    P, images, labels = parameters(weights), torch.tensor(images), torch.tensor(labels)
    torch.manual_seed(0)  # of dropout
    side = s.image // s.patch

    def model(batch: Any, p: float) -> Any:
        cut = batch.reshape(-1, side, s.patch, side, s.patch).permute(0, 1, 3, 2, 4).reshape(-1, side**2, s.patch**2)
        tokens = affine(cut, P, "patches")
        x = dropped(torch.cat([P["class_token"].expand(len(batch), -1, -1), tokens], 1) + P["positions.weight"], p)
        for n in range(s.layers):
            h = attention(norm(x, P, f"layers.{n}.attention_norm"), P, f"layers.{n}.attention", s.H)
            x = x + dropped(h, p)
            h = norm(x, P, f"layers.{n}.feed_forward_norm")
            x = x + dropped(feed_forward(h, P, f"layers.{n}.feed_forward", F.gelu, p), p)
        return affine(norm(x[:, 0], P, "norm"), P, "output")

    scores = model(images[0], 0.0).detach().numpy().copy()

    def loss_of(i: int) -> Any:
        return F.cross_entropy(model(images[i % BATCHES], s.dropout), labels[i % BATCHES], label_smoothing=0.1)

    optimizer = torch.optim.AdamW(P.values(), lr=2e-3, weight_decay=0.05)
    step = torch_training(P, loss_of, optimizer, gradients, clip=1.0)
    return Step(step.run, lambda: {"scores": scores}) if s.dropout else step


# --- An encoder of MiniLM's size reads sentences; its weights are random ---


@dataclass(frozen=True)
class ReadingSizes:
    """Of all-MiniLM-L6-v2: sentences, tokens in the longest, width, heads, hidden width, vocabulary."""

    B: int = 32
    L: int = 40
    D: int = 384
    H: int = 12
    hidden: int = 1536
    V: int = 30522
    layers: int = 6


def minilm_data(s: ReadingSizes) -> tuple[dict[str, Any], Any, Any]:
    """Weights, ids (B, L), and where they are tokens (B, L)."""
    shapes: Shapes = {"tokens.weight": (s.V, s.D), "positions.weight": (512, s.D), "token_types.weight": (2, s.D)}
    for n in range(s.layers):
        shapes |= layer_shapes(f"layers.{n}", s.D, s.hidden)
    random = np.random.RandomState(4)
    ids, lengths = random.randint(1, s.V, (s.B, s.L)), random.randint(s.L // 2, s.L + 1, (s.B, 1))
    mask = np.arange(s.L) < lengths
    return drawn(shapes | norm_shapes("norm", s.D)), (ids * mask).astype(np.int64), mask


def minilm(s: ReadingSizes, weights: dict[str, Any]) -> Any:
    config = models.BertConfig(
        vocab_size=s.V, d_model=s.D, num_heads=s.H, num_layers=s.layers, hidden=s.hidden, dropout=0.0
    )
    model = models.BertEncoder(config, rng=np.random.default_rng(0))
    model.load_state_dict(weights)
    return model


def minilm_minigrad(s: ReadingSizes) -> Step:
    weights, ids, mask = minilm_data(s)
    model = minilm(s, weights).eval()

    def read() -> Any:
        with mg.no_grad():
            return model(ids, mask)

    return Step(lambda _: read()[0, 0, 0], lambda: {"states": read().numpy()})


def states_torch(P: dict[str, Any], ids: Any, mask: Any, s: ReadingSizes) -> Any:
    x = F.embedding(ids, P["tokens.weight"]) + P["positions.weight"][: s.L] + P["token_types.weight"][0]
    x = norm(x, P, "norm", 1e-12)
    for n in range(s.layers):
        h = attention(x, P, f"layers.{n}.attention", s.H, attn_mask=mask[:, None, None, :])
        x = norm(x + h, P, f"layers.{n}.attention_norm", 1e-12)
        h = feed_forward(x, P, f"layers.{n}.feed_forward", F.gelu)
        x = norm(x + h, P, f"layers.{n}.feed_forward_norm", 1e-12)
    return x


def minilm_torch(s: ReadingSizes) -> Step:
    weights, ids, mask = minilm_data(s)
    P, ids, mask = parameters(weights), torch.tensor(ids), torch.tensor(mask)

    def read() -> Any:
        with torch.inference_mode():
            return states_torch(P, ids, mask, s)

    return Step(lambda _: read()[0, 0, 0], lambda: {"states": read().numpy()})


# --- All weights of the encoder learn, with a classifier on the mean of the states ---


def labels(s: ReadingSizes) -> Any:
    return np.random.RandomState(5).randint(0, 2, s.B).astype(np.int64)


def classifier_weights(s: ReadingSizes) -> dict[str, Any]:
    return drawn({"classifier.weight": (s.D, 2), "classifier.bias": (2,)}, seed=7)


def fine_tuning_minigrad(s: ReadingSizes) -> Step:
    weights, ids, mask = minilm_data(s)
    model, y = minilm(s, weights), labels(s)
    model.classifier = nn.Affine(s.D, 2, rng=np.random.default_rng(0))
    model.load_state_dict(weights | classifier_weights(s))
    share = (mask / mask.sum(1, keepdims=True)).astype(np.float32)[..., None]

    def loss_of(_: int) -> Any:
        return nn.cross_entropy(model.classifier((model(ids, mask) * share).sum(axis=1)), y)

    return minigrad_training(model, loss_of, nn.AdamW(model.parameters(), lr=2e-5), clip=1.0)


def fine_tuning_torch(s: ReadingSizes) -> Step:
    weights, ids, mask = minilm_data(s)
    P, ids, mask = parameters(weights | classifier_weights(s)), torch.tensor(ids), torch.tensor(mask)
    share, y = (mask / mask.sum(1, keepdim=True))[..., None], torch.tensor(labels(s))

    def loss_of(_: int) -> Any:
        return F.cross_entropy(affine((states_torch(P, ids, mask, s) * share).sum(1), P, "classifier"), y)

    return torch_training(P, loss_of, torch.optim.AdamW(P.values(), lr=2e-5), gradients, clip=1.0)


# --- The encoder-decoder of "Attention Is All You Need", post-norm, one vocabulary ---


@dataclass(frozen=True)
class TranslationSizes:
    """Pairs, tokens on each side, width, heads, layers on each side, vocabulary."""

    B: int = 32
    L: int = 32
    D: int = 128
    H: int = 4
    layers: int = 2
    V: int = 1000


def translation_data(s: TranslationSizes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Weights, and batches of ``source``, ``mask``, ``target`` (what the decoder reads) and ``y``, each (8, B, L)."""
    shapes: Shapes = {"source_embedding.weight": (s.V, s.D)}
    for n in range(s.layers):
        shapes |= layer_shapes(f"encoder.{n}", s.D, 4 * s.D) | layer_shapes(f"decoder.{n}", s.D, 4 * s.D, cross=True)
    random, size = np.random.RandomState(6), (BATCHES, s.B, s.L)
    mask = np.arange(s.L) < random.randint(s.L // 2, s.L + 1, (BATCHES, s.B, 1))
    source, y = (random.randint(3, s.V, size).astype(np.int64) for _ in range(2))
    target = np.concatenate([np.ones_like(y[..., :1]), y[..., :-1]], axis=-1)
    return drawn(shapes), {"source": source * mask, "mask": mask, "target": target, "y": y}


def encoder_decoder_minigrad(s: TranslationSizes) -> Step:
    weights, data = translation_data(s)
    config = models.TransformerConfig(s.V, 1, 2, d_model=s.D, num_heads=s.H, num_layers=s.layers)
    model = models.Transformer(config, rng=np.random.default_rng(0))
    model.load_state_dict(weights)

    def loss_of(i: int) -> Any:
        batch = {name: array[i % BATCHES] for name, array in data.items()}
        return nn.cross_entropy(model(batch["source"], batch["target"], batch["mask"]), batch["y"])

    return minigrad_training(model, loss_of, nn.Adam(model.parameters(), lr=1e-3))


def encoder_decoder_torch(s: TranslationSizes) -> Step:
    weights, drawn_batches = translation_data(s)
    P, codes = parameters(weights), torch.tensor(positions(s.L, s.D))
    data = {name: torch.tensor(array) for name, array in drawn_batches.items()}
    E = P["source_embedding.weight"]

    def sublayer(x: Any, path: str, part: Callable[..., Any], *settings: Any, **mask: Any) -> Any:
        return norm(x + part(x, P, path, *settings, **mask), P, f"{path}_norm")

    def loss_of(i: int) -> Any:
        i %= BATCHES
        mask = data["mask"][i][:, None, None, :]
        memory = F.embedding(data["source"][i], E) * math.sqrt(s.D) + codes
        for n in range(s.layers):
            memory = sublayer(memory, f"encoder.{n}.attention", attention, s.H, attn_mask=mask)
            memory = sublayer(memory, f"encoder.{n}.feed_forward", feed_forward, F.relu)
        x = F.embedding(data["target"][i], E) * math.sqrt(s.D) + codes
        for n in range(s.layers):
            x = sublayer(x, f"decoder.{n}.attention", attention, s.H, is_causal=True)
            x = sublayer(x, f"decoder.{n}.cross_attention", attention, s.H, memory, attn_mask=mask)
            x = sublayer(x, f"decoder.{n}.feed_forward", feed_forward, F.relu)
        return F.cross_entropy(F.linear(x, E).flatten(0, 1), data["y"][i].flatten())

    return torch_training(P, loss_of, torch.optim.Adam(P.values(), lr=1e-3), gradients)


WORKS = {
    "vit": Work("the step of examples/digits_vit.py, without dropout", vit_minigrad, vit_torch, ImageSizes()),
    # Each library drops other numbers: their losses are near one another, and the scores are compared in evaluation.
    "vit_dropout": Work(
        "the step of examples/digits_vit.py, with dropout", vit_minigrad, vit_torch, ImageSizes(dropout=0.1), loss=0.2
    ),
    "minilm": Work("MiniLM's encoder, forward, 32 x 40 tokens", minilm_minigrad, minilm_torch, ReadingSizes()),
    # Beside double precision, PyTorch's gradients are off by 1e-5 and minigrad's by 1e-6.
    "fine_tuning": Work(
        "fine-tuning MiniLM, 32 x 40 tokens, training step",
        fine_tuning_minigrad,
        fine_tuning_torch,
        ReadingSizes(),
        output=1e-4,
    ),
    "encoder_decoder": Work(
        "encoder-decoder of width 128, training step",
        encoder_decoder_minigrad,
        encoder_decoder_torch,
        TranslationSizes(),
        output=RELU_GRADIENTS,
    ),
}
