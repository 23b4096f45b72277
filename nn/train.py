"""fit: a training loop with what one wants around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from minigrad import ArgumentError, Tensor
from minigrad.internal import import_extra

from . import _training_state as state
from ._checks import check_positive
from ._one_process import OneProcess
from ._progress import load_tqdm
from ._training_run import TrainingRun
from ._training_state import Files, TrainingError
from .data import EpochBatches
from .history import Best, History
from .module import Module
from .optimizer import Optimizer

__all__ = ["Best", "EpochBatches", "History", "TrainingError", "fit", "load_weights"]


def fit(
    model: Module,
    batches: EpochBatches,
    loss: Callable[[Any, Any], Tensor],
    optimizer: Optimizer,
    *,
    epochs: int,
    schedule: Callable[[int], float] | None = None,
    clip_norm: float | None = None,
    clip_value: float | None = None,
    accumulate: int = 1,
    validate: Callable[[Any], Mapping[str, Any]] | None = None,
    patience: int | None = None,
    best: Best | None = None,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    resume: bool = False,
    progress: bool = True,
    on_step: Callable[[], object] | None = None,
    parallel: OneProcess | None = None,
) -> History:
    """Train ``model``, and tell how it went. The loop itself is the usual one::

        for epoch in range(epochs):
            for batch in batches.epoch(epoch):
                optimizer.zero_grad()
                loss(model, batch).backward()
                clip_grad_norm(optimizer.parameters, clip_norm)     # or clip_grad_value(optimizer.parameters, clip_value)
                optimizer.lr = schedule(step)
                optimizer.step()
            metrics.append(validate(model))

    and gives the same weights to the bit.

    ``fit`` switches the modes: the model trains in training mode and is validated in evaluation mode. However the training
    ends, the model is in evaluation mode then, so that Dropout leaves its predictions alone. Call ``model.train()`` before a
    loop of your own. Where ``fit`` refuses its arguments or a checkpoint, the mode stays what it was.

    Args:
        batches: a :class:`Batches`, or anything with ``epoch(n)`` and ``len()``.
        loss: ``loss(model, batch)``, a Tensor with one number.
        epochs: how often all batches are seen, those before a resumption counted.
        schedule: ``schedule(step)`` is the learning rate of step 0, 1, ...; without one ``optimizer.lr`` stays as it is.
        clip_norm: the largest norm of all gradients together (:func:`clip_grad_norm`).
        clip_value: the largest element of a gradient (:func:`clip_grad_value`), after clip_norm where both are given.
        accumulate: batches whose gradients make one step. With a loss that is a mean over the examples of its batch, k batches
            are one batch of k times the size: each counts by its number of examples (the length of its first array). At
            the end of an epoch a step is made of the batches that are left, and is the step on those alone. (A mean over
            tokens of batches with unequal numbers of them comes out slightly different.)
        validate: ``validate(model)``, called after each epoch in evaluation mode without recording, gives numbers by name.
        best: ``("min" or "max", name)``, which of those numbers tells how good the model is.
        patience: stop when the best epoch is this many epochs ago.
        checkpoint: a folder for ``last.safetensors`` and, with ``best``, ``best.safetensors``; or the first of them by a name
            that ends in ".safetensors" (``run.safetensors`` has its ``run.best.safetensors`` beside it). It is written after
            every epoch, and when training stops for another reason: Ctrl-C, or an error anywhere but in the update itself.
        every: write it after this many steps, too.
        resume: go on from the checkpoint, if there is one. What follows is what would have followed without the stop, to the
            bit: weights, the optimizer's memory, the step of the schedule, the place in the epoch, Dropout, History
            and patience are restored. Give model, data and optimizer as they were; ``epochs``, ``schedule``, ``validate``,
            ``best`` and ``patience`` may be new ones. Other randomness, if any, must depend on the epoch alone.
        progress: show a bar, if tqdm is installed.
        on_step: called after each update, while the gradients are there: ``on_step=minigrad.grad_flow(model).step``.
        parallel: an :class:`nn.parallel.Ranks`: the processes that share out each batch. The first one prints and writes.
            ``validate`` is called in each; its numbers must be the same in all.

    A loss that is not finite ends the training with a :class:`TrainingError` and changes no checkpoint, nor is a weight that is
    not finite ever written to one. Ctrl-C in the
    middle of an update or of writing waits for its end (in Python's main thread); a second Ctrl-C does not.

    Returns:
        History: the losses of all steps and the metrics of all epochs, those before a resumption included. The model is in
        evaluation mode and has the weights of the last step: ``load_weights(model, "folder/best.safetensors")`` gives it the
        best ones.

    Raises:
        ArgumentError: a setting is out of its range or lacks another one; there are no batches; the loss is no single number,
            or ``validate`` gives something else than numbers by name.
        CheckpointError: ``resume`` finds the checkpoint of another model, optimizer or data (of which the first batch is
            looked at), or a damaged one. Nothing has been changed.
        TrainingError: a loss, a gradient or a weight is not finite.
        MissingExtraError: safetensors, for checkpoints, is not installed.
        KeyboardInterrupt: after the checkpoint is written.

    Example:
        >>> import numpy as np
        >>> import nn
        >>> x = np.linspace(-1, 1, 32)[:, None]
        >>> model = nn.Affine(1, 1, rng=np.random.default_rng(0))
        >>> def loss(model, batch):
        ...     return nn.mean_squared_error(model(batch[0]), batch[1])
        >>> batches, sgd = nn.Batches([x, 3 * x + 1], 8, seed=0), nn.SGD(model.parameters(), lr=0.3)
        >>> history = nn.fit(model, batches, loss, sgd, epochs=50, progress=False)
        >>> len(history.losses), round(model.weight.item(), 2), round(model.bias.item(), 2)
        (200, 3.0, 1.0)
    """
    if resume and checkpoint is None:
        raise ArgumentError("resume needs checkpoint, the folder or file to go on from")
    ranks = OneProcess() if parallel is None else parallel
    if not isinstance(ranks, OneProcess):
        raise ArgumentError(f"parallel must be nn.parallel.Ranks(), got {parallel!r}")
    run = TrainingRun(
        model, batches, loss, optimizer, epochs, schedule, clip_norm, clip_value, accumulate, validate, patience, best, every,
        files=None if checkpoint is None else Files.of(checkpoint), tqdm=load_tqdm() if progress and not ranks.rank else None,
        on_step=on_step, ranks=ranks,
    )  # fmt: skip
    _check(run)
    return run.train(resume)


def load_weights(model: Module, path: str | Path) -> None:
    """Give the model the weights of a checkpoint that :func:`fit` wrote, and nothing else of it.

    The mode stays what it was. A new model is in training mode: call ``model.eval()`` before it predicts.

    Raises:
        CheckpointError: it is no such checkpoint, or one of another model: of another class, of another ``config`` (where the
            model has one), or with other weights. Nothing has been changed.

    Example:
        >>> import numpy as np
        >>> from tempfile import TemporaryDirectory
        >>> import nn
        >>> model, other = (nn.Affine(2, 1, rng=np.random.default_rng(seed)) for seed in (0, 1))
        >>> batches, sgd = nn.Batches([np.ones((4, 2))], 2, seed=0), nn.SGD(model.parameters())
        >>> def loss(model, batch):
        ...     return (model(batch[0]) ** 2).mean()
        >>> with TemporaryDirectory() as folder:
        ...     _ = nn.fit(model, batches, loss, sgd, epochs=1, checkpoint=folder, progress=False)
        ...     nn.load_weights(other, f"{folder}/last.safetensors")
        >>> (other.weight.numpy() == model.weight.numpy()).all().item()
        True
    """
    arrays, about = state.read(Path(path))
    state.same(Path(path), "the model", about["model"], type(model).__name__)
    state.same_config(Path(path), about, model)
    state.put_weights(Path(path), model, arrays)


def _check(run: TrainingRun) -> None:
    """
    Raises:
        ArgumentError: a setting is out of its range, or lacks another one.
    """
    counts = {"epochs": run.epochs, "accumulate": run.accumulate, "patience": run.patience, "every": run.every}
    check_positive(**{name: count for name, count in counts.items() if count is not None})
    for name, limit in (("clip_norm", run.clip_norm), ("clip_value", run.clip_value)):
        if limit is not None and not limit > 0:
            raise ArgumentError(f"{name} must be positive, got {limit!r}")
    if not hasattr(run.batches, "epoch") or not hasattr(run.batches, "__len__"):
        raise ArgumentError(
            f"batches must have epoch(n) and len(), as nn.Batches(...) has, got {type(run.batches).__name__}"
        )
    if run.patience is not None and run.best is None:
        raise ArgumentError('patience needs best, which says what to wait for: best=("max", "accuracy")')
    if run.best is not None:
        if not isinstance(run.best, tuple) or len(run.best) != 2 or run.best[0] not in ("min", "max"):
            raise ArgumentError(f'best must be ("min", name) or ("max", name), got {run.best!r}')
        if run.validate is None:
            raise ArgumentError(f"best={run.best!r} needs validate, which gives that number")
    if run.files is None and run.every is not None:
        raise ArgumentError("every needs checkpoint, the folder to write to")
    if run.files is not None:
        _check_checkpoint(run, run.files)


def _check_checkpoint(run: TrainingRun, files: Files) -> None:
    """What would otherwise fail only after an epoch."""
    import_extra("safetensors.numpy", "train", "saving a checkpoint")
    state.config_of(run.model)
    own = {id(parameter) for parameter in run.model.parameters()}
    if strangers := sum(id(parameter) not in own for parameter in run.optimizer.parameters):
        raise ArgumentError(
            f"the optimizer changes {strangers} tensors that are not the model's, and that a checkpoint would lack: make "
            "them Parameters of one Module"
        )
    try:
        files.last.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(
            f"checkpoint: the folder '{files.last.parent}' cannot be made ({error.strerror}): name another one"
        ) from error
