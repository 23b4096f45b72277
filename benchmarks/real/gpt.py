"""A GPT: its training step, and writing with it. Exact GELU, the output tied to the embedding, learned positions.

AdamW and clipping to a norm of 1 in training; keys and values kept from token to token in writing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import plain_model
from benchmarks.real.work import (
    F,
    Work,
    mg,
    minigrad_training,
    nn,
    peer_jax,
    peer_minigrad,
    peer_torch,
    torch,
    torch_gpt,
    torch_training,
)
from benchmarks.step import Step
from benchmarks.workload import BATCHES, Sizes, weights_and_batches

SIZES = Sizes(B=16, L=128, D=128, H=4, V=65, C=0, activation="gelu", causal=True, layers=4, gpt=True)
PROMPT, TOP_K, TOP_P = 8, 40, 0.9
SHARE = 1e-3  # of token ids beside probabilities, which would not count beside whole ones


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


def gpt_jax(s: Sizes) -> Step:
    return peer_jax.step(plain_model.gpt(s), clip=1.0, decay=0.01)


# --- Writing: the tokens are the output ---


def prompts(s: Sizes) -> Any:
    return np.random.RandomState(3).randint(0, s.V, (s.B, min(PROMPT, s.L // 2))).astype(np.int64)


def count(s: Sizes) -> int:
    """How many tokens are written: a hundred, or what the window has room for."""
    return min(100, s.L - min(PROMPT, s.L // 2))


def number_of(tokens: Any) -> float:
    """One that other tokens, or these in another order, do not have."""
    return float((np.asarray(tokens) * (1.0 + np.arange(tokens.shape[1]))).sum())


def model_minigrad(s: Sizes) -> Any:
    return peer_minigrad.model_of(s).eval()


def cached_scores_minigrad(model: Any, ids: Any) -> Any:
    """(batch, vocabulary), those after the last of ``ids``, which go in one after the other."""
    caches = model.new_caches()
    with mg.no_grad():
        for t in range(ids.shape[1]):
            scores = model(ids[:, t : t + 1], caches)
    return scores[:, -1].numpy()


def generate_minigrad(s: Sizes) -> Step:
    model, ids, length = model_minigrad(s), prompts(s), count(s)

    def run(_: int) -> float:
        rng = np.random.default_rng(0)
        return number_of(np.stack(list(model.generate(ids, length, rng=rng, temperature=0.0)), axis=1))

    return Step(run, lambda: {"scores": cached_scores_minigrad(model, ids)})


def generate_top_k_minigrad(s: Sizes) -> Step:
    model, ids, length, k = model_minigrad(s), prompts(s), count(s), min(TOP_K, s.V)

    def write(k: int) -> Any:
        return np.stack(list(model.generate(ids, length, rng=np.random.default_rng(0), top_k=k)), axis=1)

    def outputs() -> dict[str, Any]:
        probabilities = nn.token_probabilities(cached_scores_minigrad(model, ids), top_k=k)
        return {"probabilities": probabilities, "tokens of the most probable": SHARE * write(1)}

    return Step(lambda _: write(k).size, outputs)


def generate_top_p_minigrad(s: Sizes) -> Step:
    model, ids, length = model_minigrad(s), prompts(s), count(s)

    def write(_: int) -> Any:
        return np.stack(list(model.generate(ids, length, rng=np.random.default_rng(0), top_p=TOP_P)), axis=1).size

    def outputs() -> dict[str, Any]:
        return {"probabilities": nn.token_probabilities(cached_scores_minigrad(model, ids), top_p=TOP_P)}

    return Step(write, outputs)


def model_torch(s: Sizes) -> Any:
    return torch_gpt.GPT(s, weights_and_batches(s)[0]).eval()


def cached_scores_torch(model: Any, ids: Any) -> Any:
    caches = model.new_caches()
    with torch.no_grad():
        for t in range(ids.shape[1]):
            scores = model(ids[:, t : t + 1], caches)
    return scores[:, -1]


def most_probable(scores: Any) -> Any:
    return scores.argmax(-1, keepdim=True)


def from_top_k(scores: Any, k: int) -> Any:
    """A token of the k most probable ones, drawn."""
    values, places = torch.topk(scores, k)
    return places.gather(-1, torch.multinomial(F.softmax(values, -1), 1))


def generate_torch(s: Sizes) -> Step:
    model, ids, length = model_torch(s), torch.tensor(prompts(s)), count(s)
    return Step(
        lambda _: number_of(model.write(ids, length, most_probable)),
        lambda: {"scores": cached_scores_torch(model, ids).numpy()},
    )


def generate_top_k_torch(s: Sizes) -> Step:
    model, ids, length, k = model_torch(s), torch.tensor(prompts(s)), count(s), min(TOP_K, s.V)

    def write(k: int) -> Any:
        return model.write(ids, length, lambda scores: from_top_k(scores, k))

    def outputs() -> dict[str, Any]:
        values, places = torch.topk(cached_scores_torch(model, ids), k)
        probabilities = torch.zeros(s.B, s.V).scatter(-1, places, F.softmax(values, -1))
        return {"probabilities": probabilities.numpy(), "tokens of the most probable": SHARE * write(1).numpy()}

    return Step(lambda _: write(k).numel(), outputs)


def nucleus(scores: Any, p: float) -> tuple[Any, Any]:
    """The probabilities of the most probable tokens that reach p together, the others 0, and the tokens, in falling order."""
    probabilities, tokens = torch.sort(F.softmax(scores, -1), descending=True)
    kept = probabilities * (probabilities.cumsum(-1) - probabilities < p)
    return kept / kept.sum(-1, keepdim=True), tokens


def from_top_p(scores: Any, p: float) -> Any:
    """A token of the nucleus, drawn."""
    kept, tokens = nucleus(scores, p)
    return tokens.gather(-1, torch.multinomial(kept, 1))


def generate_top_p_torch(s: Sizes) -> Step:
    model, ids, length = model_torch(s), torch.tensor(prompts(s)), count(s)

    def outputs() -> dict[str, Any]:
        kept, tokens = nucleus(cached_scores_torch(model, ids), TOP_P)
        return {"probabilities": torch.zeros(s.B, s.V).scatter(-1, tokens, kept).numpy()}

    return Step(lambda _: model.write(ids, length, lambda scores: from_top_p(scores, TOP_P)).numel(), outputs)


WORKS = {
    # Of a large vocabulary the gradients' norm, a sum of millions of squares in float32, is off by 4e-5 in one library and by
    # 8e-5 in the other, and with it what is clipped to it; the gradients themselves differ by 7e-7.
    "gpt": Work("GPT, training step", gpt_minigrad, gpt_torch, SIZES, output=1e-4, others={"jax": gpt_jax}),
    "generate": Work("GPT, 100 tokens, greedy, batch 1", generate_minigrad, generate_torch, replace(SIZES, B=1)),
    "generate_top_k": Work(
        "GPT, 100 tokens of the 40 most probable, batch 8",
        generate_top_k_minigrad,
        generate_top_k_torch,
        replace(SIZES, B=8),
    ),
    "generate_top_p": Work(
        "GPT, 100 tokens of the nucleus of 0.9, batch 32",
        generate_top_p_minigrad,
        generate_top_p_torch,
        replace(SIZES, B=32),
    ),
}
