"""Look at the sinusoidal position codes: their numbers, their inner products, and what a Transformer is without them.

    python examples/position_codes.py

Written to `out/`: position_curves_32.png and position_curves_512.png (the codes along the positions, and along the dimensions),
position_zigzag.png (all numbers of p_1: sines and cosines take turns), position_map.png (all 32 numbers of the first 32
positions), position_inner_products.png (the 32 x 32 map of p_s . p_t), position_products.png (inner products by distance).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("nn")

import numpy as np

import minigrad as mg
import nn
from common import argument_parser, make_folder, progress, pyplot, run, save_figure, table
from minigrad.device import to_device

Array = np.ndarray[Any, Any]


def products_by_distance(d_model: int, distances: int) -> Array:
    """``p_t . p_(t+k) = sum over i of cos(k / 10000**(2i/D))`` for k = 0, 1, ...: they depend on the distance alone."""
    codes = nn.sinusoids(distances, d_model)
    return codes @ codes[0]


def equivariance_error(positions: bool, seed: int, device: str = "cpu") -> float:
    """How far an encoder layer is from ``f(x permuted) = f(x) permuted``: the largest difference."""
    rng = np.random.default_rng(seed)
    layer = nn.TransformerEncoderLayer(32, 4, 64, rng=rng, dtype=np.float64).to(device)
    x, order = to_device(rng.standard_normal((2, 7, 32)), device), to_device(rng.permutation(7), device)
    before = nn.PositionalEncoding(32) if positions else mg.Tensor
    with mg.no_grad():
        permuted_first, permuted_last = layer(before(x[:, order])), layer(before(x))[:, order]
    return float(np.abs(permuted_first - permuted_last).max().item())


def draw_curves(d_model: int, path: Path) -> None:
    """Four numbers of the code along the positions, and the sines of four positions along the dimensions.

    The four have the same frequencies for every ``d_model``: those of the dimensions 4 to 7 of 32.
    """
    codes = nn.sinusoids(101, d_model)
    figure, (left, right) = pyplot().subplots(1, 2, figsize=(12, 4), layout="constrained")
    for column in (d_model // 8, d_model // 8 + 1, 3 * d_model // 16, 3 * d_model // 16 + 1):
        left.plot(codes[:, column], label=f"dimension {column}")
    for t in (0, 1, 10, 100):
        right.plot(range(0, d_model, 2), codes[t, ::2], label=f"position {t}")
    left.set(xlabel="position t", ylabel=f"p_t, D = {d_model}", xlim=(0, 100))
    right.set(xlabel="dimension (the even ones, which are sines)", xlim=(0, d_model))
    right.set_xscale("symlog", linthresh=d_model / 16)  # the first dimensions change fastest
    for ax in (left, right):
        ax.legend(fontsize=8, loc="upper right")
    save_figure(figure, path)


def interleaved(t: int, d_model: int) -> tuple[Array, Array, Array]:
    """p_t as it stands in a model, and apart: its sines (the even dimensions) and its cosines (the odd ones)."""
    code = nn.sinusoids(t + 1, d_model)[t]
    return code, code[::2], code[1::2]


def draw_zigzag(path: Path) -> None:
    """All numbers of p_1: sine and cosine take turns, and the line through them is a zigzag between two smooth curves."""
    figure, axes = pyplot().subplots(2, 1, figsize=(10, 6), layout="constrained")
    for ax, d_model in zip(axes, (32, 512)):
        code, sines, cosines = interleaved(1, d_model)
        size, width = (4.0, 0.8) if d_model == 32 else (1.5, 0.15)
        ax.plot(code, color="0.6", linewidth=width, label="p_1")
        ax.plot(range(0, d_model, 2), sines, "o", markersize=size, label="even dimensions: sine")
        ax.plot(range(1, d_model, 2), cosines, "s", markersize=size, label="odd dimensions: cosine")
        ax.set(xlabel="dimension", ylabel=f"p_1, D = {d_model}", ylim=(-0.05, 1.05))
    axes[0].legend(frameon=False, fontsize=8, loc="center right")
    save_figure(figure, path)


def inner_product_map(d_model: int = 32, positions: int = 32) -> Array:
    """``p_s . p_t`` of all pairs of positions: constant along each diagonal."""
    codes = nn.sinusoids(positions, d_model)
    return codes @ codes.T


def draw_map(path: Path) -> None:
    """The 32 x 32 map: a row a position, a column a dimension."""
    figure, ax = pyplot().subplots(figsize=(6, 5), layout="constrained")
    image = ax.imshow(nn.sinusoids(32, 32), cmap="RdBu", vmin=-1, vmax=1)
    ax.set(xlabel="dimension", ylabel="position t", title="position codes, D = 32")
    figure.colorbar(image, ax=ax)
    save_figure(figure, path)


def draw_inner_products(path: Path) -> None:
    """The map of all pairs: the largest product is that of a position with itself, D / 2."""
    figure, ax = pyplot().subplots(figsize=(6, 5), layout="constrained")
    image = ax.imshow(inner_product_map(), cmap="viridis", vmax=16)
    ax.set(xlabel="position s", ylabel="position t", title="inner products of position codes, D = 32")
    figure.colorbar(image, ax=ax, label="p_s · p_t")
    save_figure(figure, path)


def draw_products(path: Path) -> None:
    figure, ax = pyplot().subplots(figsize=(8, 4), layout="constrained")
    for d_model in (32, 512):
        ax.plot(products_by_distance(d_model, 60) / (d_model / 2), ".-", label=f"D = {d_model}")
    ax.set(xlabel="distance of two positions", ylabel="cosine of their codes", ylim=(0, None))
    ax.set_title("near positions are similar, but similarity does not only fall")
    ax.legend(frameon=False)
    save_figure(figure, path)


def main() -> None:
    arguments = argument_parser(__doc__, quick="the same, as it takes seconds anyway").parse_args()
    out = make_folder(arguments.out)
    codes = nn.sinusoids(2, 32)
    print("D = 32, p_1 =", ", ".join(map(repr, codes[1, :4].tolist())), "...")
    print("|p_t| = sqrt(D / 2) = 4 for every t, as each pair has sin^2 + cos^2 = 1; |p_1| =", np.linalg.norm(codes[1]))
    products = products_by_distance(32, 6)
    print(table("inner product at distance", [(str(k), float(product)) for k, product in enumerate(products)], 12))
    print("(from 4 to 5 it rises: codes that are farther apart may be more alike)")
    rows = [
        (f"{name} position codes", f"{equivariance_error(positions, arguments.seed, arguments.device):.1e}")
        for name, positions in (("without", False), ("with", True))
    ]
    print(table("f(permuted x) against f(x) permuted, largest difference", rows))
    pictures: dict[str, Callable[[Path], None]] = {
        "position_curves_32.png": partial(draw_curves, 32),
        "position_curves_512.png": partial(draw_curves, 512),
        "position_zigzag.png": draw_zigzag,
        "position_map.png": draw_map,
        "position_inner_products.png": draw_inner_products,
        "position_products.png": draw_products,
    }
    for name in progress(list(pictures), "pictures"):
        pictures[name](out / name)


if __name__ == "__main__":
    run(main)
