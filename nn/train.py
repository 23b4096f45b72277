"""fit: a training loop with validation, checkpoint files, resumption and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from minigrad import ArgumentError, Tensor

from ._checks import check_above_zero, check_callable, check_kind, check_positive, given, shown
from .callbacks import OnStep, ProgressBar, River, Validation
from .checkpoint_files import BestWeights, CheckpointFiles
from .data import EpochBatches
from .history import Best, History, check_best
from .module import Module
from .optimizer import Optimizer
from .parallel.one_process import OneProcess
from .schedules import PlateauSchedule, Schedule
from .training import Callback, Training


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
    callbacks: Sequence[Callback] = (),
    parallel: OneProcess | None = None,
) -> History:
    """Train ``model`` and return the :class:`History` of the run. The loop is the usual one. ``begin`` of the callbacks
    runs before it, ``end`` after it, and the comments name the other methods of :class:`Callback` where they run::

        for epoch in range(epochs):
            for batch in batches.epoch(epoch):
                optimizer.zero_grad()
                loss(model, batch).backward()                       # then after_backward
                clip_grad_norm(optimizer.parameters, clip_norm)     # or clip_grad_value(optimizer.parameters, clip_value)
                optimizer.lr = schedule(step)
                optimizer.step()                                    # then after_update, and between
            metrics.append(validate(model))                         # with measure, and then between

    ``fit`` gives the same weights as this loop, bit for bit. The model trains in training mode, except for modules that are
    frozen, or that are in evaluation mode while others are in training mode. It is in evaluation mode when the training ends,
    even by an error, so that Dropout does not change later predictions. docs/training.md says more of all arguments.

    Args:
        batches: a :class:`Batches`, or any object with ``epoch(n)`` and ``len()``.
        loss: ``loss(model, batch)`` returns a Tensor of shape ().
        epochs: the number of passes over all batches, including those before a resumption.
        schedule: ``schedule(step)`` is the learning rate of step 0, 1, ...; by default ``optimizer.lr`` is unchanged. A
            :class:`PlateauSchedule` depends on a number from ``validate`` in place of the step.
        clip_norm: the largest norm of all gradients together (:func:`clip_grad_norm`).
        clip_value: the largest absolute value of a gradient's elements (:func:`clip_grad_value`), applied after clip_norm.
        accumulate: the number of batches whose gradients make one step. Each batch is weighted by its number of examples (the
            length of its first array), so a mean over examples is that of one large batch; a mean over tokens differs slightly
            if their numbers do. The last step of an epoch uses the batches that are left.
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
            between two steps: what a stopped step has changed in the model is undone.
        every: also write the ``last`` checkpoint file once every this many steps.
        resume: continue from the checkpoint file, if it exists, as if the run had not been stopped, bit for bit. Pass the same
            model, data and optimizer as before; ``epochs``, ``schedule``, ``validate``, ``best`` and ``patience`` may differ.
            Randomness outside of the model must depend on the epoch alone.
        progress: whether to show a progress bar, if tqdm is installed.
        on_step: called without arguments after each update, before gradients are cleared: ``minigrad.grad_flow(model).step``.
        callbacks: objects that watch the training in every process, each a :class:`Callback`, such as a :class:`WeightAverage`.
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
    check_positive(epochs=epochs, accumulate=accumulate, **given(patience=patience, every=every))
    check_above_zero(**given(clip_norm=clip_norm, clip_value=clip_value))
    check_kind("a list", callbacks=callbacks)
    check_kind("a Callback", Callback, **{f"callbacks[{i}]": callback for i, callback in enumerate(callbacks)})
    methods = [name for name in vars(Callback) if not name.startswith("_")]
    for kind in map(type, callbacks):
        if all(getattr(kind, name) is getattr(Callback, name) for name in methods):
            raise ArgumentError(f"the callback {kind.__name__} has no method that fit calls: {', '.join(methods)}")
    ranks = OneProcess() if parallel is None else parallel
    if not isinstance(ranks, OneProcess):
        raise ArgumentError(f"parallel must be nn.parallel.Ranks(), got {shown(parallel)}")
    if checkpoint is None and resume:
        raise ArgumentError("resume needs checkpoint, the folder or file to continue from")
    if checkpoint is None and every is not None:
        raise ArgumentError("every needs checkpoint, the folder to write to")
    _check_best(best, patience, restore_best, schedule, validate, callbacks)
    _check_data(model, batches, optimizer, checkpoint is not None)
    files = None if checkpoint is None else CheckpointFiles(checkpoint, every, resume)
    watching = [
        files,
        River(model) if river else None,
        None if validate is None else Validation(validate),
        None if on_step is None else OnStep(on_step),
        *callbacks,
        BestWeights(files) if restore_best else None,
        ProgressBar() if progress and not ranks.rank else None,
    ]
    active = [callback for callback in watching if callback is not None]
    return Training(
        model, batches, loss, optimizer, epochs, schedule, clip_norm, clip_value, accumulate, best, patience, active, ranks
    ).run()  # fmt: skip


def _check_best(
    best: Best | None,
    patience: int | None,
    restore_best: bool,
    schedule: Any,
    validate: Any,
    callbacks: Sequence[Callback],
) -> None:
    """Raise an ArgumentError unless there is a metric for all that depends on one."""
    measured = validate is not None or any(type(each).measure is not Callback.measure for each in callbacks)
    if best is None and patience is not None:
        raise ArgumentError('patience needs best, the metric that must improve: best=("max", "accuracy")')
    if best is None and restore_best:
        raise ArgumentError('restore_best needs best, the metric that chooses the epoch: best=("max", "accuracy")')
    if best is not None:
        check_best(best)
        if not measured:
            raise ArgumentError(f"{best=} needs validate, which returns that number")
    if isinstance(schedule, PlateauSchedule) and not measured:
        raise ArgumentError(f"PlateauSchedule needs validate, which returns {schedule.best[1]!r}")


def _check_data(model: Module, batches: Any, optimizer: Optimizer, files: bool) -> None:
    """Raise unless there are batches, the optimizer can train the model, and a file would hold all that it trains."""
    if not hasattr(batches, "epoch") or not hasattr(batches, "__len__"):
        raise ArgumentError(
            f"batches must have epoch(n) and len(), as nn.Batches(...) has, got {type(batches).__name__}"
        )
    own = {id(parameter) for parameter in model.parameters()}
    ours = [parameter for parameter in optimizer.parameters if id(parameter) in own]
    others = len(optimizer.parameters) - len(ours)
    if not ours:
        raise ArgumentError(
            f"the optimizer has no parameter of the {type(model).__name__}, so fit would not train it: make the optimizer "
            "after the model, from model.parameters()"
        )
    if others and files:
        raise ArgumentError(
            f"the optimizer changes {others} tensors that are not the model's, so a checkpoint would lack them: make them "
            "Parameters of one Module"
        )
    if not any(parameter.requires_grad for parameter in ours):
        raise ArgumentError(
            f"the optimizer has only frozen parameters of the {type(model).__name__} (requires_grad is False), so fit "
            "would not train it: make the optimizer after freezing, for instance after nn.add_lora"
        )
