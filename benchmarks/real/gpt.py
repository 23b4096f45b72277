"""A GPT: its training step, and writing with it. Exact GELU, the output tied to the embedding, learned positions.

AdamW and clipping to a norm of 1 in training; keys and values kept from token to token in writing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.real.work import (
    F,
    Work,
    mg,
    minigrad_training,
    nn,
    peer_minigrad,
    peer_torch,
    torch,
    torch_gpt,
    torch_training,
)
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


def model_torch(s: Sizes) -> Any:
    return torch_gpt.GPT(s, weights_and_batches(s)[0]).eval()


def most_probable(scores: Any) -> Any:
    return scores.argmax(-1, keepdim=True)


def from_top_k(scores: Any, k: int = TOP_K) -> Any:
    """A token of the k most probable ones, drawn."""
    values, places = torch.topk(scores, min(k, scores.shape[-1]))
    return places.gather(-1, torch.multinomial(F.softmax(values, -1), 1))


def generate_torch(s: Sizes) -> Step:
    model, ids, length = model_torch(s), torch.tensor(prompts(s)), count(s)

    def write() -> Any:
        return model.write(ids, length, most_probable)

    return Step(lambda _: write().sum(), lambda: {"tokens": write().numpy()})


def generate_top_k_torch(s: Sizes) -> Step:
    model, ids, length = model_torch(s), torch.tensor(prompts(s)), count(s)

    def outputs() -> dict[str, Any]:
        with torch.no_grad():
            values, places = torch.topk(model(ids, model.new_caches())[:, -1], min(TOP_K, s.V))
            probabilities = torch.zeros(s.B, s.V).scatter(-1, places, F.softmax(values, -1))
        tokens = model.write(ids, length, lambda scores: from_top_k(scores, 1))
        return {"tokens": tokens.numpy(), "probabilities": probabilities.numpy()}

    return Step(lambda _: model.write(ids, length, from_top_k).numel(), outputs)


WORKS = {
    # Of a large vocabulary the gradients' norm, a sum of millions of squares in float32, is off by 4e-5 in one library and by
    # 8e-5 in the other, and with it what is clipped to it; the gradients themselves differ by 7e-7.
    "gpt": Work("GPT, training step", gpt_minigrad, gpt_torch, SIZES, output=1e-4),
    "generate": Work("GPT, 100 tokens, greedy, batch 1", generate_minigrad, generate_torch, replace(SIZES, B=1)),
    "generate_top_k": Work(
        "GPT, 100 tokens of the 40 most probable, batch 8",
        generate_top_k_minigrad,
        generate_top_k_torch,
        replace(SIZES, B=8),
    ),
}
