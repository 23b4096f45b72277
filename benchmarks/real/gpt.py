"""A GPT: its training step, and writing with it. Exact GELU, the output tied to the embedding, learned positions.

AdamW and clipping to a norm of 1 in training; keys and values kept from token to token in writing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.real.work import F, Work, mg, minigrad_training, nn, peer_minigrad, peer_torch, torch, torch_training
from benchmarks.step import Step
from benchmarks.workload import BATCHES, Sizes, weights_and_batches

SIZES = Sizes(B=16, L=128, D=128, H=4, V=65, C=0, activation="gelu", causal=True, layers=4, gpt=True)
PROMPT, TOP_K = 8, 40


def gpt_minigrad(s: Sizes) -> Step:
    model, (_, batches) = peer_minigrad.model_of(s), weights_and_batches(s)
    called = peer_minigrad.names(s)

    def loss_of(i: int) -> Any:
        return nn.cross_entropy(model(batches["tok"][i % BATCHES]), batches["y"][i % BATCHES])

    step = minigrad_training(model, loss_of, nn.AdamW(model.parameters(), lr=1e-3), clip=1.0)
    return Step(step.run, lambda: {called[path]: g for path, g in step.gradients().items()})


def gpt_torch(s: Sizes) -> Step:
    weights, drawn = weights_and_batches(s)
    P = peer_torch.parameters(weights, s)
    loss_of = peer_torch.gpt_loss(P, s, {name: torch.tensor(array) for name, array in drawn.items()})
    optimizer = torch.optim.AdamW(P.values(), lr=1e-3)
    return torch_training(P, lambda i: loss_of(i % BATCHES), optimizer, peer_torch.gradients, clip=1.0)


# --- Writing: the tokens are the output ---


def prompts(s: Sizes) -> Any:
    return np.random.RandomState(3).randint(0, s.V, (s.B, min(PROMPT, s.L // 2))).astype(np.int64)


def count(s: Sizes) -> int:
    """How many tokens are written: a hundred, or what the window has room for."""
    return min(100, s.L - min(PROMPT, s.L // 2))


def writing_minigrad(s: Sizes, **settings: Any) -> Any:
    """The function that writes, and the model."""
    model = peer_minigrad.model_of(s).eval()
    ids, length = prompts(s), count(s)

    def write(**other: Any) -> Any:
        rng = np.random.default_rng(0)
        return np.stack(list(model.generate(ids, length, rng=rng, **(settings | other))), axis=1)

    return write, model


def generate_minigrad(s: Sizes) -> Step:
    write, _ = writing_minigrad(s, temperature=0.0)
    return Step(lambda _: write().sum(), lambda: {"tokens": write()})


def generate_top_k_minigrad(s: Sizes) -> Step:
    write, model = writing_minigrad(s, top_k=min(TOP_K, s.V))

    def outputs() -> dict[str, Any]:
        with mg.no_grad():
            scores = model(prompts(s))[:, -1]
        return {"tokens": write(top_k=1), "probabilities": nn.token_probabilities(scores, top_k=min(TOP_K, s.V))}

    return Step(lambda _: write().size, outputs)


class TorchWriter:
    """A GPT that keeps the keys and values of the tokens it has seen."""

    def __init__(self, s: Sizes) -> None:
        self.s, self.ids = s, torch.tensor(prompts(s))
        self.P = {name: p.detach() for name, p in peer_torch.parameters(weights_and_batches(s)[0], s).items()}

    def scores(self, ids: Any, past: list[Any]) -> Any:
        """Of the token after the last of ``ids``, (batch, vocabulary); ``past`` grows by the keys and values of ``ids``."""
        s, P, (B, L) = self.s, self.P, ids.shape
        seen = past[0][0].shape[2] if past[0] else 0
        x = F.embedding(ids, P["E"]) + P["P"][seen : seen + L]
        for n in range(s.layers):
            h = F.layer_norm(x, (s.D,), P[f"g1{n}"], P[f"b1{n}"])
            qkv = F.linear(h, P[f"Wqkv{n}"], P[f"bqkv{n}"]).view(B, L, 3, s.H, s.D // s.H)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)
            if past[n]:
                k, v = torch.cat([past[n][0], k], 2), torch.cat([past[n][1], v], 2)
            past[n] = k, v
            o = F.scaled_dot_product_attention(q, k, v, is_causal=L > 1)
            x = x + F.linear(o.transpose(1, 2).reshape(B, L, s.D), P[f"Wo{n}"], P[f"bo{n}"])
            h = F.layer_norm(x, (s.D,), P[f"g2{n}"], P[f"b2{n}"])
            x = x + F.linear(F.gelu(F.linear(h, P[f"W1{n}"], P[f"c1{n}"])), P[f"W2{n}"], P[f"c2{n}"])
        return F.linear(F.layer_norm(x[:, -1], (s.D,), P["gf"], P["bf"]), P["E"])

    def write(self, choose: Any) -> Any:
        """(batch, count) tokens, each chosen from the scores by ``choose``."""
        new, past, tokens = self.ids, [()] * self.s.layers, []
        with torch.inference_mode():
            for _ in range(count(self.s)):
                new = choose(self.scores(new, past))
                tokens.append(new)
        return torch.cat(tokens, 1)


def most_probable(scores: Any) -> Any:
    return scores.argmax(-1, keepdim=True)


def from_top_k(scores: Any, k: int = TOP_K) -> Any:
    """A token of the k most probable ones, drawn."""
    values, places = torch.topk(scores, min(k, scores.shape[-1]))
    return places.gather(-1, torch.multinomial(F.softmax(values, -1), 1))


def generate_torch(s: Sizes) -> Step:
    writer = TorchWriter(s)
    return Step(
        lambda _: writer.write(most_probable).sum(), lambda: {"tokens": writer.write(most_probable).numpy()}
    )


def generate_top_k_torch(s: Sizes) -> Step:
    writer = TorchWriter(s)

    def outputs() -> dict[str, Any]:
        with torch.inference_mode():
            values, places = torch.topk(writer.scores(writer.ids, [()] * s.layers), min(TOP_K, s.V))
            probabilities = torch.zeros(s.B, s.V).scatter(-1, places, F.softmax(values, -1))
        return {"tokens": writer.write(lambda x: from_top_k(x, 1)).numpy(), "probabilities": probabilities.numpy()}

    return Step(lambda _: writer.write(from_top_k).numel(), outputs)


WORKS = {
    "gpt": Work("GPT, training step", gpt_minigrad, gpt_torch, SIZES),
    "generate": Work("GPT, 100 tokens, greedy, batch 1", generate_minigrad, generate_torch, replace(SIZES, B=1)),
    "generate_top_k": Work(
        "GPT, 100 tokens of the 40 most probable, batch 8",
        generate_top_k_minigrad,
        generate_top_k_torch,
        replace(SIZES, B=8),
    ),
}
