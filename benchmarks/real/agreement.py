"""That the peers compute the same, checked before they are timed: a fast wrong answer is worth nothing."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.harness import AGAIN, FLOOR, REFERENCE, Peer, distance
from benchmarks.real import WORKS
from benchmarks.real.work import LOSS, RELU_GRADIENTS

STEPS = 3  # whose losses are compared
LATER = 100  # times as far apart those after the first may be: Adam divides rounding errors by what is near zero


def check(work: str, peers: dict[str, Peer], folder: Path) -> None:
    """Give every peer whose first losses or outputs differ from PyTorch's that as its error."""
    known = peers[REFERENCE].about
    for name, peer in peers.items():
        if name in (REFERENCE, FLOOR) or "error" in peer.about:
            continue
        files = folder / f"{name}.npz", folder / f"{REFERENCE}.npz"
        if why := difference(work, peer.about["losses"], known["losses"], distance(*files)):
            print(f"{work}, {name}: {why}", file=sys.stderr)
            peer.about = {"error": why}
    if AGAIN in peers and "error" in peers[AGAIN].about:
        raise SystemExit(f"{work}: PyTorch does not agree with itself: {peers[AGAIN].about['error']}")


def difference(work: str, losses: list[float], known: list[float], outputs: float | None) -> str:
    """How a peer differs from PyTorch by more than the work allows; empty if it does not."""
    found = WORKS.get(work.partition(":")[0])
    most, most_output = (found.loss, found.output) if found else (LOSS, RELU_GRADIENTS)
    first, *later = (abs(a - b) / abs(b) for a, b in zip(losses, known))
    limits = {"the first loss": (first, most), "a later loss": (max(later, default=0.0), LATER * most)}
    for which, (apart, allowed) in (limits | {"the output": (outputs, most_output)}).items():
        if apart is None:
            return f"{which} was not reported"
        if not apart <= allowed:  # which NaN is not either
            return f"{which} differs from PyTorch's by {apart:.1e}, more than {allowed:.0e}"
    return ""
