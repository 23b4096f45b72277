"""The progress bar of :func:`nn.fit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

_SMOOTHING = 50  # steps; the bar shows the mean of the last losses, because single losses vary

Show = Callable[[Sequence[float], Mapping[str, float] | None], None]


def load_tqdm() -> Any:
    """Return tqdm, or None if it is not installed: training works without a progress bar."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm


@contextmanager
def progress_bar(tqdm: Any, label: str, done: int, total: int) -> Iterator[Show]:
    """Yield ``show(losses, metrics)`` for the bar of an epoch (no bar if ``tqdm`` is None); metrics is None after a step."""
    if tqdm is None:
        yield lambda losses, metrics: None
        return
    with tqdm(desc=label, initial=done, total=total) as bar:

        def show(losses: Sequence[float], metrics: Mapping[str, float] | None) -> None:
            recent = losses[-_SMOOTHING:]
            mean = {"loss": f"{sum(recent) / len(recent):.4f}"} if recent else {}
            numbers = {name: f"{value:.4f}" for name, value in (metrics or {}).items()}
            bar.set_postfix(mean | numbers, refresh=metrics is not None)
            if metrics is None:
                bar.update()

        yield show
