"""fit and Ctrl-C, crashes and kills: whatever the moment, a good checkpoint is left, and the run goes on from it."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import nn
from minigrad.serialize import load_checkpoint
from nn import Batches, Module, fit
from tests.nn.training import (
    EPOCHS,
    STEPS,
    Net,
    Stop,
    Whole,
    X,
    Y,
    adamw,
    assert_resumes,
    ctrl_c,
    fail,
    loss,
    run,
    stopping,
    weights,
    whole_run,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return whole_run(tmp_path_factory.mktemp("whole"))


def interrupted_update(call: int) -> Callable[[Module], nn.Optimizer]:
    """AdamW with Ctrl-C in the middle of an update."""

    def make(model: Module) -> nn.Optimizer:
        optimizer = adamw(model)
        optimizer._update = stopping(optimizer._update, call, ctrl_c)  # type: ignore[method-assign]
        return optimizer

    return make


def half_made_update(call: int, how: Callable[[], Any]) -> Callable[[Module], nn.Optimizer]:
    """AdamW that does `how` in one of its updates, when the memory of the gradients is changed and the parameters are not."""

    def make(model: Module) -> nn.Optimizer:
        optimizer = adamw(model)
        update, then = optimizer._update, stopping(lambda: None, call, how)
        optimizer._update = lambda *arguments: (update(*arguments), then())[0]  # type: ignore[method-assign]
        return optimizer

    return make


@pytest.mark.parametrize("call", [0, 3, 6])  # the small parameters are updated in one
def test_ctrl_c_in_the_middle_of_an_update_waits_for_its_end(call: int, tmp_path: Path, uninterrupted: Whole) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, make=interrupted_update(call))
    arrays, _ = load_checkpoint(tmp_path / "last.safetensors")
    assert len(arrays["losses"]) == call + 1
    assert_resumes(tmp_path, uninterrupted)


def test_ctrl_c_without_a_checkpoint_leaves_a_whole_update() -> None:
    model, twin = Net(), Net()
    data = Batches([X, Y], 8, seed=5)
    with pytest.raises(KeyboardInterrupt):
        fit(model, data, loss, interrupted_update(2)(model), epochs=2, progress=False)
    with pytest.raises(Stop):
        fit(twin, data, stopping(loss, 3, fail), adamw(twin), epochs=2, progress=False)
    assert weights(model) == weights(twin)


@pytest.mark.parametrize("call", [0, 4, 7])
@pytest.mark.parametrize("when", ["before", "after"])
def test_ctrl_c_while_a_checkpoint_is_written_waits_for_its_end(
    when: str, call: int, tmp_path: Path, uninterrupted: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace
    if when == "before":
        monkeypatch.setattr(os, "replace", stopping(replace, call, ctrl_c))
    else:
        after = stopping(lambda *paths: None, call, ctrl_c)
        monkeypatch.setattr(os, "replace", lambda *paths: (replace(*paths), after()))
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    monkeypatch.undo()
    assert_resumes(tmp_path, uninterrupted)


class CtrlCAtLine:
    """Presses Ctrl-C before the line of that number, counting the lines run in the files of the training loop."""

    FILES: tuple[str, ...] = (
        "nn/training.py",
        "nn/step_state.py",
        "checkpoint_files.py",
        "callbacks.py",
        "weights_file.py",
        "_interrupts.py",
        "optimizers.py",
        "optim.py",
        "serialize.py",
        "train.py",
        "history.py",
    )

    def __init__(self, line: int) -> None:
        self.left = line

    def __enter__(self) -> "CtrlCAtLine":
        self.before = sys.gettrace()
        sys.settrace(self.call)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.settrace(self.before)

    def call(self, frame: Any, event: str, argument: Any) -> Any:
        return self.line if frame.f_code.co_filename.endswith(self.FILES) else None

    def line(self, frame: Any, event: str, argument: Any) -> Any:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                ctrl_c()
        return self.line


SHORT: dict[str, Any] = {"epochs": 2, "every": 3}


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Whole, int]:
    """A short run, and how many lines it runs."""
    folder = tmp_path_factory.mktemp("short")
    with CtrlCAtLine(10**9) as counter:
        whole = whole_run(folder, **SHORT)
    return whole, 10**9 - counter.left


@pytest.mark.parametrize(
    ("first", "stride"),
    [(1, 457), *(pytest.param(first, 70, marks=pytest.mark.thorough) for first in range(1, 70, 10))],
)
def test_ctrl_c_before_any_line_of_the_loop_leaves_a_good_checkpoint(
    first: int, stride: int, tmp_path: Path, short: tuple[Whole, int]
) -> None:
    whole, count = short
    assert count > 2000
    for line in range(first, count, stride):
        folder = tmp_path / str(line)
        with pytest.raises(KeyboardInterrupt), CtrlCAtLine(line):
            run(folder, **SHORT)
        folder.mkdir(exist_ok=True)
        assert_resumes(folder, whole, **SHORT)


@pytest.mark.thorough
def test_ctrl_c_before_any_line_of_the_loop_leaves_evaluation() -> None:
    """Unless it came before the training began, and then the mode is what it was."""

    def train(model: Net, line: int) -> None:
        with CtrlCAtLine(line):
            fit(model, Batches([X, Y], 20, seed=5), loss, adamw(model), epochs=1, progress=False)

    begun, line = False, 0
    while True:
        line, model = line + 1, Net()
        try:
            train(model, line)
        except KeyboardInterrupt:
            modes = {module.training for module in model.modules()}
            begun |= modes == {False}
            assert modes == {not begun}, line
        else:
            break
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have come while the handler was put in
    assert line > 100 and begun


class CtrlCInLoop(CtrlCAtLine):
    FILES = (str(ROOT / "nn" / "training.py"),)


def test_ctrl_c_before_any_line_of_the_loop_puts_the_handler_back() -> None:
    """Python leaves a ``with`` block without its end if an interrupt comes at a line that is only ``try:``."""
    for line in range(1, 500):
        model = Net()
        try:
            with CtrlCInLoop(line):
                fit(model, Batches([X, Y], 20, seed=5), loss, adamw(model), epochs=1, progress=False)
        except KeyboardInterrupt:
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, line
        else:
            break
    assert 50 < line < 499


def test_a_second_ctrl_c_does_not_wait(tmp_path: Path, uninterrupted: Whole, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of writing: what was written before stays."""
    run(tmp_path, epochs=2)
    before = (tmp_path / "last.safetensors").read_bytes()
    reached = []

    def twice(*paths: Any) -> None:
        ctrl_c()
        reached.append(1)
        ctrl_c()
        reached.append(2)

    monkeypatch.setattr(os, "replace", twice)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    monkeypatch.undo()
    assert reached == [1]
    assert (tmp_path / "last.safetensors").read_bytes() == before
    assert_resumes(tmp_path, uninterrupted)


def test_a_crash_between_writing_and_replacing_leaves_the_checkpoint_before(
    tmp_path: Path, uninterrupted: Whole, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", stopping(os.replace, 5, fail))
    with pytest.raises(Stop):
        run(tmp_path)
    monkeypatch.undo()
    assert_resumes(tmp_path, uninterrupted)


def test_an_update_that_failed_half_way_is_not_saved(tmp_path: Path, uninterrupted: Whole) -> None:
    with pytest.raises(Stop):
        run(tmp_path, make=half_made_update(8, fail))
    assert len(load_checkpoint(tmp_path / "last.safetensors")[0]["losses"]) == STEPS  # that of the first epoch
    assert_resumes(tmp_path, uninterrupted)


def test_an_interrupt_in_a_thread_saves_no_half_made_update(tmp_path: Path, uninterrupted: Whole) -> None:
    """There nothing can be deferred; KeyboardInterrupt may be raised in a thread by force."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    raised: list[BaseException] = []

    def target(**options: Any) -> None:
        try:
            run(tmp_path, **options)
        except KeyboardInterrupt as error:
            raised.append(error)

    for options in ({"loss": stopping(loss, 5, interrupt)}, {"make": half_made_update(8, interrupt)}):
        thread = threading.Thread(target=target, kwargs=options)
        thread.start()
        thread.join()
    assert len(raised) == 2
    assert_resumes(tmp_path, uninterrupted)


def test_the_handler_of_ctrl_c_is_put_back_and_the_users_own_is_called(tmp_path: Path) -> None:
    calls: list[int] = []
    before = signal.signal(signal.SIGINT, lambda *arguments: calls.append(0))
    own = signal.getsignal(signal.SIGINT)
    try:
        history, _ = run(tmp_path, make=interrupted_update(3), loss=stopping(loss, 6, ctrl_c))
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(calls) == 2
    assert len(history.metrics) == EPOCHS


def test_where_ctrl_c_is_ignored_it_stays_ignored(tmp_path: Path, uninterrupted: Whole) -> None:
    """So a shell starts what runs in the background: the Ctrl-C that ends another program is not for this one."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        history, model = run(tmp_path, make=interrupted_update(3), loss=stopping(loss, 6, ctrl_c))
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert (history, weights(model)) == uninterrupted[:2]


CHILD = """
    import sys, time
    sys.path.insert(0, {root!r})
    from pathlib import Path
    from tests.nn import training as shared

    def slow(model, batch):
        time.sleep(0.01)
        print(".", flush=True)
        return shared.loss(model, batch)

    shared.run(Path({folder!r}), every=2, loss=slow)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL] if sys.platform != "win32" else [])
@pytest.mark.thorough
def test_a_process_that_is_stopped_at_any_moment_goes_on(number: Any, tmp_path: Path, uninterrupted: Whole) -> None:
    program = textwrap.dedent(CHILD).format(root=str(ROOT), folder=str(tmp_path))
    for batch, moment in ((3, 0.0), (9, 0.004), (14, 0.013), (8, 0.021)):
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            assert child.stdout is not None and child.stderr is not None
            for _ in range(batch):
                child.stdout.readline()
            time.sleep(moment)
            child.send_signal(number)
            child.stdout.read()
            error = child.stderr.read().decode()
        assert child.returncode != 0, "it ended before the signal"
        assert "KeyboardInterrupt" in error or number == signal.SIGKILL
        for path in tmp_path.glob(".*.tmp"):  # what a killed process could not remove
            assert number == signal.SIGKILL
            path.unlink()
        if (tmp_path / "last.safetensors").exists():
            load_checkpoint(tmp_path / "last.safetensors")
    assert_resumes(tmp_path, uninterrupted)
