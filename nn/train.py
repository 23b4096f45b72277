"""fit: a training loop with validation, checkpoint files, resumption and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from minigrad import ArgumentError, Tensor
from minigrad.internal import import_extra, save_checkpoint

from . import _training_state as state
from ._checks import check_above_zero, check_callable, check_kind, check_positive, given, shown
from ._one_process import OneProcess
from ._progress import load_tqdm
from ._training_run import TrainingRun
from ._training_state import Files, TrainingError
from .data import EpochBatches
from .history import Best, History, check_best
from .module import Module
from .optimizer import Optimizer
from .schedules import PlateauSchedule, Schedule

__all__ = ["Best", "EpochBatches", "History", "TrainingError", "fit", "load_weights", "save_weights"]


def fit(
    model: Module,
    batches: EpochBatches,
    loss: Callable[[Any, Any], Tensor],
    optimizer: Optimizer,
    *,
    epochs: int,
    schedule: Schedule | PlateauSchedule | None = None,
    clip_norm: float | None = None,
    clip_value: float | None = None,
    accumulate: int = 1,
    validate: Callable[[Any], Mapping[str, Any]] | None = None,
    patience: int | None = None,
    best: Best | None = None,
    restore_best: bool = False,
    river: bool = False,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    resume: bool = False,
    progress: bool = True,
    on_step: Callable[[], object] | None = None,
    parallel: OneProcess | None = None,
) -> History:
    """Train ``model`` and return the :class:`History` of the run. The loop is the usual one::

        for epoch in range(epochs):
            for batch in batches.epoch(epoch):
                optimizer.zero_grad()
                loss(model, batch).backward()
                clip_grad_norm(optimizer.parameters, clip_norm)     # or clip_grad_value(optimizer.parameters, clip_value)
                optimizer.lr = schedule(step)
                optimizer.step()
            metrics.append(validate(model))

    ``fit`` gives the same weights as this loop, bit for bit.

    The model trains in training mode and is validated in evaluation mode. It is in evaluation mode when the training ends, even
    by an error, so that Dropout does not change later predictions. Call ``model.train()`` before a loop of your own. If
    ``fit`` rejects an argument or a checkpoint file, the mode is unchanged. Two kinds of modules stay in evaluation mode, so
    that a frozen BatchNorm keeps its statistics: those whose own parameters are all frozen, and those that are in evaluation
    mode while other parts of the model are in training mode.

    Args:
        batches: a :class:`Batches`, or any object with ``epoch(n)`` and ``len()``.
        loss: ``loss(model, batch)`` returns a Tensor of shape ().
        epochs: the number of passes over all batches, including those before a resumption.
        schedule: ``schedule(step)`` is the learning rate of step 0, 1, ...; by default ``optimizer.lr`` is unchanged. A
            :class:`PlateauSchedule` depends on a number from ``validate`` in place of the step.
        clip_norm: the largest norm of all gradients together (:func:`clip_grad_norm`).
        clip_value: the largest absolute value of a gradient's elements (:func:`clip_grad_value`), applied after clip_norm.
        accumulate: the number of batches whose gradients make one step. If the loss is a mean over the examples of a batch,
            the step equals one step on a single batch of all their examples, because each batch is weighted by its number of
            examples (the length of its first array). If the loss is a mean over tokens, the result differs slightly for
            batches with unequal numbers of tokens. The last step of an epoch uses the batches that are left.
        validate: ``validate(model)`` returns numbers by name. It runs after each epoch in evaluation mode under ``no_grad``.
        best: ``("min" or "max", name)``, the number from ``validate`` that measures how good the model is.
        patience: stop when the best epoch is this many epochs ago. ``fit`` warns of a number that is NaN, which is never best.
        restore_best: whether the model has the weights of the best epoch, not of the last, when the training ends without an
            error. The ``last`` checkpoint file keeps the last weights, so a resumed run continues from them.
        river: whether to note the size of the gradients of each step, by parameters, in ``History.river``.
        checkpoint: a folder for the checkpoint files ``last.safetensors`` and, with ``best``, ``best.safetensors``; or the path
            of the last checkpoint file, ending in ".safetensors" (``run.best.safetensors`` is then next to
            ``run.safetensors``). The files are written after every epoch, and when Ctrl-C or an error stops the training,
            except for a :class:`TrainingError` and for an error in the update itself or in ``on_step``. A file is the state
            between two steps: what a stopped step has changed in buffers, Dropout and generators of the model is undone.
        every: also write the ``last`` checkpoint file once every this many steps.
        resume: continue from the checkpoint file, if it exists. The run continues as if it had not been stopped, bit for bit:
            weights, buffers, the optimizer's state, the step of the schedule, the position in the epoch, Dropout, the random
            generators and changed numbers in modules, History and patience are restored. Pass the same model, data and
            optimizer as before; ``epochs``, ``schedule``, ``validate``, ``best`` and ``patience`` may differ. Any other
            randomness must depend on the epoch alone.
        progress: whether to show a progress bar, if tqdm is installed.
        on_step: called without arguments after each update, before gradients are cleared: ``minigrad.grad_flow(model).step``.
        parallel: an :class:`nn.parallel.Ranks`, the processes that share each batch. Only the first process prints and writes.
            ``validate`` is called in every process and must return the same numbers in all.

    A loss that is not finite ends the training with a :class:`TrainingError` and leaves the checkpoint files unchanged. A
    weight that is not finite is never written. Ctrl-C during an update, in ``on_step`` or while a file is written takes effect
    afterwards (in Python's main thread); a second Ctrl-C takes effect at once.

    Returns:
        History: the losses of all steps and the metrics of all epochs, including those before a resumption. The model is in
        evaluation mode and has the last step's weights, or with ``restore_best`` those of the best epoch, which
        ``load_weights(model, "folder/best.safetensors")`` loads, too.

    Raises:
        ArgumentError: a setting is out of its range or needs another setting, there are no batches, the loss is not a Tensor
            of shape (), ``validate`` does not return numbers by name, the optimizer has no parameter of the model that it could
            train, or no checkpoint file can be written. All but the result of ``validate`` is found before the first step.
        CheckpointError: ``resume`` finds a damaged checkpoint file, or one of another model, optimizer or data (only the first
            batch is compared), or ``restore_best`` needs a ``best`` file that is missing. Nothing has been changed.
        TrainingError: a loss, a gradient or a weight is not finite.
        MissingExtraError: safetensors, which checkpoint files need, is not installed.
        KeyboardInterrupt: Ctrl-C was pressed; the checkpoint file has been written.

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
    check_kind("a Module", Module, model=model)
    check_callable(loss=loss, **given(validate=validate, on_step=on_step, schedule=schedule))
    check_kind("an Optimizer", Optimizer, optimizer=optimizer)
    check_kind("a path", **given(checkpoint=checkpoint))
    check_kind("True or False", restore_best=restore_best, river=river, resume=resume, progress=progress)
    if resume and checkpoint is None:
        raise ArgumentError("resume needs checkpoint, the folder or file to continue from")
    ranks = OneProcess() if parallel is None else parallel
    if not isinstance(ranks, OneProcess):
        raise ArgumentError(f"parallel must be nn.parallel.Ranks(), got {shown(parallel)}")
    run = TrainingRun(
        model, batches, loss, optimizer, epochs, schedule, clip_norm, clip_value, accumulate, validate, patience, best, every,
        files=None if checkpoint is None else Files.of(checkpoint), tqdm=load_tqdm() if progress and not ranks.rank else None,
        on_step=on_step, ranks=ranks, restore_best=restore_best, river=river,
    )  # fmt: skip
    _check(run)
    return run.train(resume)


def save_weights(model: Module, path: str | Path) -> None:
    """Write the parameters and buffers of a model, and its ``config`` if it has one, to a safetensors file.

    :func:`load_weights` reads it. The folder of ``path`` is made.

    Raises:
        MissingExtraError: safetensors is not installed.
        CheckpointError: an array has a dtype that safetensors does not have.
        ArgumentError: ``model.config.to_dict()`` is not JSON.

    Example:
        >>> import numpy as np
        >>> from tempfile import TemporaryDirectory
        >>> import nn
        >>> model, other = (nn.Affine(2, 1, rng=np.random.default_rng(seed)) for seed in (0, 1))
        >>> with TemporaryDirectory() as folder:
        ...     nn.save_weights(model, f"{folder}/affine.safetensors")
        ...     nn.load_weights(other, f"{folder}/affine.safetensors")
        >>> (other.weight.numpy() == model.weight.numpy()).all().item()
        True
    """
    check_kind("a Module", Module, model=model)
    check_kind("a path", path=path)
    save_checkpoint(path, *state.weights(model))


def load_weights(model: Module, path: str | Path) -> None:
    """Load the weights, and nothing else, from a file that :func:`save_weights` or :func:`fit` wrote.

    The model's mode is unchanged. A new model is in training mode: call ``model.eval()`` before it predicts.

    Raises:
        CheckpointError: ``path`` is no such file, or the file's model has another class, another ``config``, or weights of
            other names, shapes or dtypes. Nothing has been changed.

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
    check_kind("a Module", Module, model=model)
    check_kind("a path", path=path)
    arrays, about = state.read(Path(path), only_weights=True)
    state.same(Path(path), "the model", about["model"], type(model).__name__)
    state.same(Path(path), "the model's config", about["config"], state.config_of(model))
    state.put_weights(Path(path), model, arrays)


def _check(run: TrainingRun) -> None:
    """Raise an ArgumentError if a setting is out of its range or needs another setting."""
    check_positive(epochs=run.epochs, accumulate=run.accumulate, **given(patience=run.patience, every=run.every))
    for name, limit in (("clip_norm", run.clip_norm), ("clip_value", run.clip_value)):
        check_above_zero(**given(**{name: limit}))
    if not hasattr(run.batches, "epoch") or not hasattr(run.batches, "__len__"):
        raise ArgumentError(
            f"batches must have epoch(n) and len(), as nn.Batches(...) has, got {type(run.batches).__name__}"
        )
    if run.patience is not None and run.best is None:
        raise ArgumentError('patience needs best, the metric that must improve: best=("max", "accuracy")')
    if run.restore_best and run.best is None:
        raise ArgumentError('restore_best needs best, the metric that chooses the epoch: best=("max", "accuracy")')
    if run.best is not None:
        check_best(run.best)
        if run.validate is None:
            raise ArgumentError(f"best={run.best!r} needs validate, which returns that number")
    if isinstance(run.schedule, PlateauSchedule) and run.validate is None:
        raise ArgumentError(f"PlateauSchedule needs validate, which returns {run.schedule.best[1]!r}")
    if run.files is None and run.every is not None:
        raise ArgumentError("every needs checkpoint, the folder to write to")
    _check_parameters(run)
    if run.files is not None:
        _check_checkpoint(run, run.files)


def _check_parameters(run: TrainingRun) -> None:
    """Raise unless the optimizer can train a parameter of the model, and a checkpoint file holds all that it trains."""
    own, tensors = {id(parameter) for parameter in run.model.parameters()}, run.optimizer.parameters
    ours = [parameter for parameter in tensors if id(parameter) in own]
    if not ours:
        raise ArgumentError(
            f"the optimizer has no parameter of the {type(run.model).__name__}, so fit would not train it: make the optimizer "
            "after the model, from model.parameters()"
        )
    if len(ours) < len(tensors) and run.files is not None:
        raise ArgumentError(
            f"the optimizer changes {len(tensors) - len(ours)} tensors that are not the model's, so a checkpoint would lack "
            "them: make them Parameters of one Module"
        )
    if not any(parameter.requires_grad for parameter in ours):
        raise ArgumentError(
            f"the optimizer has only frozen parameters of the {type(run.model).__name__} (requires_grad is False), so fit "
            "would not train it: make the optimizer after freezing, for instance after nn.add_lora"
        )


def _check_checkpoint(run: TrainingRun, files: Files) -> None:
    """Check for errors in writing checkpoint files that would otherwise be raised only after an epoch."""
    import_extra("safetensors.numpy", "train", "saving a checkpoint")
    state.config_of(run.model)
    try:
        files.last.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(
            f"checkpoint: the folder '{files.last.parent}' cannot be made ({error.strerror}): pass another one"
        ) from error
