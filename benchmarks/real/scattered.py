"""Rows that are picked by ids, and sums of rows by ids: a graph network, and a large table of embeddings with Adam."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.real.torch_layers import affine, gradients, parameters
from benchmarks.real.work import (
    RELU_GRADIENTS,
    F,
    Work,
    drawn,
    mg,
    minigrad_training,
    nn,
    torch,
    torch_training,
)
from benchmarks.step import Step
from benchmarks.workload import BATCHES

Shapes = dict[str, tuple[int, ...]]


# --- A graph network: each vertex reads itself and the mean of its neighbours (Hamilton et al. 2017, arXiv:1706.02216) ---


@dataclass(frozen=True)
class GraphSizes:
    """Vertices, edges, width, layers and classes."""

    vertices: int = 2000
    edges: int = 16000
    D: int = 64
    layers: int = 3
    C: int = 7


@dataclass(frozen=True)
class Data:
    """Weights by name, what each vertex knows (vertices, D), the ends of the edges, 1 / in-degree, and the labels."""

    weights: dict[str, Any]
    x: Any
    source: Any
    target: Any
    share: Any
    labels: Any


def graph(s: GraphSizes) -> Data:
    shapes: Shapes = {"output.weight": (s.D, s.C), "output.bias": (s.C,)}
    for n in range(s.layers):
        shapes |= {f"own.{n}.weight": (s.D, s.D), f"own.{n}.bias": (s.D,)}
        shapes |= {f"neighbours.{n}.weight": (s.D, s.D), f"neighbours.{n}.bias": (s.D,)}
    random = np.random.RandomState(42)
    x = random.randn(s.vertices, s.D).astype(np.float32)
    source, target = random.randint(0, s.vertices, (2, s.edges)).astype(np.int64)
    degree = np.bincount(target, minlength=s.vertices)[:, None]
    share = (1 / np.maximum(degree, 1)).astype(np.float32)
    return Data(drawn(shapes), x, source, target, share, random.randint(0, s.C, s.vertices).astype(np.int64))


def gnn_minigrad(s: GraphSizes) -> Step:
    data = graph(s)

    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            rng = np.random.default_rng(0)
            self.own, self.neighbours = ([nn.Affine(s.D, s.D, rng=rng) for _ in range(s.layers)] for _ in range(2))
            self.output = nn.Affine(s.D, s.C, rng=rng)

        def forward(self, h: Any) -> Any:
            for own, neighbours in zip(self.own, self.neighbours):
                mean = nn.functional.segment_sum(h[data.source], data.target, s.vertices) * data.share
                h = mg.relu(own(h) + neighbours(mean))
            return self.output(h)

    network = Network()
    network.load_state_dict(data.weights)

    def loss_of(_: int) -> Any:
        return nn.cross_entropy(network(mg.Tensor(data.x)), data.labels)

    return minigrad_training(network, loss_of, nn.Adam(network.parameters(), lr=1e-3))


def gnn_torch(s: GraphSizes) -> Step:
    data = graph(s)
    P = parameters(data.weights)
    x, source, target, share, labels = map(torch.tensor, (data.x, data.source, data.target, data.share, data.labels))

    def loss_of(_: int) -> Any:
        h = x
        for n in range(s.layers):
            mean = torch.zeros(s.vertices, s.D).index_add(0, target, h[source]) * share
            h = F.relu(affine(h, P, f"own.{n}") + affine(mean, P, f"neighbours.{n}"))
        return F.cross_entropy(affine(h, P, "output"), labels)

    return torch_training(P, loss_of, torch.optim.Adam(P.values(), lr=1e-3), gradients)


# --- The mean of the embeddings of a text's words, from a large table, and Adam, which updates all of the table ---


@dataclass(frozen=True)
class TableSizes:
    """Texts, words of each, width, rows of the table, classes."""

    B: int = 64
    L: int = 32
    D: int = 64
    V: int = 50_000
    C: int = 6


def texts(s: TableSizes) -> tuple[dict[str, Any], Any, Any]:
    """Weights, ids (8, B, L) and labels (8, B)."""
    shapes: Shapes = {"embedding.weight": (s.V, s.D), "output.weight": (s.D, s.C), "output.bias": (s.C,)}
    random = np.random.RandomState(43)
    ids = random.randint(0, s.V, (BATCHES, s.B, s.L)).astype(np.int64)
    return drawn(shapes), ids, random.randint(0, s.C, (BATCHES, s.B)).astype(np.int64)


def embedding_minigrad(s: TableSizes) -> Step:
    weights, ids, labels = texts(s)
    rng = np.random.default_rng(0)

    class Network(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            self.embedding, self.output = nn.Embedding(s.V, s.D, rng=rng), nn.Affine(s.D, s.C, rng=rng)

        def forward(self, ids: Any) -> Any:
            return self.output(self.embedding(ids).mean(axis=1))

    network = Network()
    network.load_state_dict(weights)

    def loss_of(i: int) -> Any:
        return nn.cross_entropy(network(ids[i % BATCHES]), labels[i % BATCHES])

    return minigrad_training(network, loss_of, nn.Adam(network.parameters(), lr=1e-3))


def embedding_torch(s: TableSizes) -> Step:
    weights, *batches = texts(s)
    P, (ids, labels) = parameters(weights), map(torch.tensor, batches)

    def loss_of(i: int) -> Any:
        mean = F.embedding(ids[i % BATCHES], P["embedding.weight"]).mean(1)
        return F.cross_entropy(affine(mean, P, "output"), labels[i % BATCHES])

    return torch_training(P, loss_of, torch.optim.Adam(P.values(), lr=1e-3), gradients)


WORKS = {
    "gnn": Work(
        "graph network, 2,000 vertices and 16,000 edges, training step",
        gnn_minigrad,
        gnn_torch,
        GraphSizes(),
        output=RELU_GRADIENTS,
    ),
    "embedding": Work(
        "embedding of 50,000 rows, mean of 64 x 32 words and Adam, training step",
        embedding_minigrad,
        embedding_torch,
        TableSizes(),
    ),
}
