"""Layers that a reader writes out instead of calling: an LSTM's gates, and attention with the softmax of an article."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.plain_model import NUMPY, Plain
from benchmarks.real.loops import SequenceSizes, sequence
from benchmarks.real.plain import minigrad_step
from benchmarks.real.work import Work, drawn, mg, peer_written, torch
from benchmarks.step import Step


def torch_step(plain: Plain) -> Step:
    """Forward and backward of a loss that is written with functions of PyTorch."""
    P = {name: torch.tensor(array, requires_grad=True) for name, array in plain.arrays.items()}
    batches = [torch.tensor(batch) for batch in plain.batches]

    def run(i: int) -> Any:
        for p in P.values():
            p.grad = None
        loss = plain.loss(None, P, batches[i % len(batches)])
        loss.backward()
        return loss

    return Step(run, lambda: {name: p.grad.numpy().copy() for name, p in P.items()})


# --- An LSTM whose four gates are four lines, forward and backward ---


def lstm(s: SequenceSizes, sigmoid: Any, tanh: Any, zeros: Any) -> Plain:
    shapes: dict[str, tuple[int, ...]] = {}
    for gate in "ifgo":
        shapes |= {f"W{gate}": (s.D, s.hidden), f"U{gate}": (s.hidden, s.hidden), f"b{gate}": (s.hidden,)}

    def loss(_: Any, P: dict[str, Any], xs: Any) -> Any:
        h = c = zeros((s.B, s.hidden))
        for x in xs:
            i = sigmoid(x @ P["Wi"] + h @ P["Ui"] + P["bi"])
            f = sigmoid(x @ P["Wf"] + h @ P["Uf"] + P["bf"])
            g = tanh(x @ P["Wg"] + h @ P["Ug"] + P["bg"])
            o = sigmoid(x @ P["Wo"] + h @ P["Uo"] + P["bo"])
            c = f * c + i * g
            h = o * tanh(c)
        return (h * h).mean()

    return Plain(drawn(shapes), [sequence(s).swapaxes(0, 1).copy()], loss, adam=False)


def lstm_plain(s: SequenceSizes) -> Plain:
    return lstm(s, mg.sigmoid, np.tanh, lambda shape: np.zeros(shape, np.float32))


def lstm_minigrad(s: SequenceSizes) -> Step:
    return minigrad_step(lstm_plain(s))


def lstm_written(s: SequenceSizes) -> Step:
    return peer_written.step(lstm_plain(s))


def lstm_torch(s: SequenceSizes) -> Step:
    return torch_step(lstm(s, torch.sigmoid, torch.tanh, torch.zeros))


# --- Causal self-attention, forward and backward ---


@dataclass(frozen=True)
class AttentionSizes:
    """Batch, tokens, width and heads."""

    B: int = 8
    L: int = 128
    D: int = 64
    H: int = 4


def attention(s: AttentionSizes, softmax: Any, where: Any, mask: Any, lowest: Any) -> Plain:
    """``mask`` (L, L) is True where a token may look; ``lowest`` is the score elsewhere."""
    x = np.random.RandomState(41).randn(s.B, s.L, s.D).astype(np.float32)

    def loss(_: Any, P: dict[str, Any], x: Any) -> Any:
        q, k, v = ((x @ P[name]).reshape(s.B, s.L, s.H, s.D // s.H).swapaxes(1, 2) for name in ("Wq", "Wk", "Wv"))
        scores = q @ k.swapaxes(-1, -2) * (s.D // s.H) ** -0.5
        context = softmax(where(mask, scores, lowest)) @ v
        out = context.swapaxes(1, 2).reshape(s.B, s.L, s.D) @ P["Wo"]
        return (out * out).mean()

    return Plain(drawn({f"W{name}": (s.D, s.D) for name in "qkvo"}), [x], loss, adam=False)


def attention_plain(s: AttentionSizes) -> Plain:
    """NumPy has no softmax: the reader writes it."""
    mask, lowest = np.tril(np.ones((s.L, s.L), bool)), np.float32(-1e9)
    return attention(s, NUMPY.softmax, np.where, mask, lowest)


def attention_minigrad(s: AttentionSizes) -> Step:
    return minigrad_step(attention_plain(s))


def attention_written(s: AttentionSizes) -> Step:
    return peer_written.step(attention_plain(s))


def attention_torch(s: AttentionSizes) -> Step:
    mask, lowest = torch.ones(s.L, s.L, dtype=torch.bool).tril(), torch.tensor(-1e9)
    return torch_step(attention(s, lambda x: torch.softmax(x, -1), torch.where, mask, lowest))


WORKS = {
    "lstm_by_hand": Work(
        "an LSTM's gates by hand, 100 tokens, forward and backward",
        lstm_minigrad,
        lstm_torch,
        SequenceSizes(L=100),
        others={"written": lstm_written},
    ),
    "attention_by_hand": Work(
        "causal attention by hand, 8 x 128 tokens, forward and backward",
        attention_minigrad,
        attention_torch,
        AttentionSizes(),
        others={"written": attention_written},
    ),
}
