"""The real works at sizes of next to nothing: both libraries compute the same, and one that computes another is found."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import minigrad
from benchmarks import compare, harness, peer_minigrad, peer_written, plain_model, real
from benchmarks.harness import Task
from benchmarks.real import agreement, table
from tests.benchmarks.fake_peer import Fake
from tests.lazy import peer_torch, torch

GPT = "B=2:L=12:D=8:H=2:layers=1:V=11"
SMALL = "B=2:L=6:D=8:H=2:layers=1"
SIZES = {
    "gpt": GPT,
    "generate": GPT,
    "generate_top_k": GPT,
    "generate_top_p": GPT,
    "vit": "B=2:D=8:H=2:layers=1",
    "vit_dropout": "B=16:D=8:H=2:layers=1",
    "lenet": "B=2:side=12:first=2:second=3",
    "minilm": "B=2:L=6:D=8:H=2:hidden=12:V=11:layers=1",
    "encoder_decoder": f"{SMALL}:V=11",
    "gru": "B=2:L=4:D=3:hidden=5",
    "lstm": "B=2:L=4:D=3:hidden=5",
    "decoder": "B=2:L=6:D=16:H=4:KV=2:hidden=10:layers=1:V=11",
    "fine_tuning": "B=2:L=6:D=8:H=2:hidden=16:layers=1:V=11",
    "loop": "B=2:L=4:D=3:hidden=5",
    "moons": "points=3:hidden=4",
    "jacobian": "n=5",
    "hessian": "n=5:rows=8",
    "hessian_by_rows": "n=5:rows=8",
    "formula": "n=40",
    "mlp": "B=4:D=6:hidden=5:second=4:C=3",
    "vae": "B=4:D=20:hidden=8:code=3",
    "pinn": "points=5:hidden=4",
    "maml": "tasks=2:points=3:hidden=4",
    "lstm_by_hand": "B=2:L=4:D=3:hidden=5",
    "gnn": "vertices=6:edges=9:D=4:layers=2:C=3",
    "embedding": "B=3:L=4:D=5:V=20:C=3",
    "attention_by_hand": "B=2:L=6:D=8:H=2",
    "plain_tiny": SMALL,
    "plain_toy": SMALL,
    "plain_small": SMALL,
}


def difference(work, own, other, folder):
    """What the benchmark says of the first steps of two peers."""
    losses = []
    for step, name in ((own, "own"), (other, "other")):
        first = step.loss(0)
        np.savez(folder / f"{name}.npz", **step.gradients())
        losses.append([first, *(step.loss(i) for i in range(1, agreement.STEPS))])
    apart = harness.distance(folder / "own.npz", folder / "other.npz")
    return agreement.difference(work, losses[0], losses[1], apart)


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")  # PyTorch's own, where torch.func.hessian begins
@pytest.mark.parametrize("name", [name for name in real.WORKS if name != "plain_m2"])
def test_both_libraries_compute_the_same(name, tmp_path):
    work = f"{name}:{SIZES[name]}"
    assert difference(work, peer_minigrad.build(work), peer_torch.build(work), tmp_path) == ""


@pytest.mark.parametrize("library", harness.OPTIONAL)
def test_other_libraries_compute_the_same(library, tmp_path):
    if importlib.util.find_spec(library) is None:  # DeZero cannot be imported but by its peer
        pytest.skip(f"needs {library}: pip install {library}")
    peer = real.work.peer(library)
    for name in SIZES:
        if real.has(name, library):
            work = f"{name}:{SIZES[name]}"
            assert difference(work, peer.build(work), peer_torch.build(work), tmp_path) == "", work


WRITTEN = [name for name in SIZES if real.has(name, harness.WRITTEN)]


@pytest.mark.sampled(11)
@pytest.mark.parametrize("work", [*(f"{name}:{SIZES[name]}" for name in WRITTEN), *table.WRITTEN_TOO])
def test_the_programs_that_are_written_compute_the_same(work, tmp_path):
    assert difference(work, peer_written.build(work), peer_torch.build(work), tmp_path) == ""


@pytest.mark.parametrize(
    ("name", "plain"), [("mlp", real.formulas.mlp_plain), ("loop", real.loops.loop_plain), ("gpt", plain_model.gpt)]
)
def test_what_other_libraries_take_derivatives_of_computes_the_same(name, plain, tmp_path, monkeypatch):
    """Held here with minigrad's, for these libraries need not be installed."""
    monkeypatch.setattr(plain_model.NUMPY, "gelu", minigrad.gelu, raising=False)
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", lambda *_: None)
    work = f"{name}:{SIZES[name]}"
    own = real.plain.minigrad_step(plain(real.check(work)))
    assert difference(work, own, peer_torch.build(work), tmp_path) == ""


def test_m2_in_plain_functions_computes_the_same():
    """Of one size only, the largest of these: the whole of it is computed once."""
    own, other = (peer.build("plain_m2") for peer in (peer_minigrad, peer_torch))
    assert own.loss(0) == pytest.approx(other.loss(0), rel=1e-6)


def wave(n):
    return (0.1 * np.cos(np.arange(n))).astype(np.float32)


def test_every_weight_shows_in_what_is_compared():
    """Of a network whose weights are drawn here; another value of any of them is noticed."""
    work = f"encoder_decoder:{SIZES['encoder_decoder']}"
    weights, data = real.transformers.translation_data(real.check(work))
    unread = [name for name in weights if ".key.bias" in name]  # softmax does not see what all its scores share
    expected = peer_torch.build(work).loss(0)
    for name in set(weights) - set(unread):
        changed = weights | {name: weights[name] + wave(weights[name].shape[-1])}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(real.transformers, "translation_data", lambda _, new=changed: (new, data))
            assert abs(peer_minigrad.build(work).loss(0) - expected) > 1e-6 * expected, name


@pytest.mark.parametrize(
    ("work", "patched", "wrong", "said"),
    [
        ("gru", "loops.layer_weights", {"cell.state.bias": 0.01}, "the first loss differs"),
        ("jacobian", "formulas.jacobian_data", {1: 1e-4}, "the first loss differs"),
        ("vit_dropout", "transformers.vit_data", {0: {"output.bias": 1e-3}}, "the output differs"),
    ],
)
def test_a_library_that_computes_another_thing_is_noticed(work, patched, wrong, said, monkeypatch, tmp_path):
    work = f"{work}:{SIZES[work]}"
    other = peer_torch.build(work)
    family, name = patched.split(".")
    data = shifted(getattr(getattr(real, family), name)(real.check(work)), wrong)
    monkeypatch.setattr(getattr(real, family), name, lambda *_: data)
    assert difference(work, peer_minigrad.build(work), other, tmp_path).startswith(said)


def shifted(data, wrong):
    """``data`` with a little added to the arrays that ``wrong`` names."""
    if not isinstance(wrong, dict):
        return data + np.asarray(wrong, data.dtype)
    changed = dict(data) if isinstance(data, dict) else list(data)
    for key, by in wrong.items():
        changed[key] = shifted(data[key], by)
    return changed


@pytest.mark.parametrize(
    ("losses", "outputs", "said"),
    [
        ([2.0, 1.0, 0.5], 1e-6, ""),
        ([2.000004, 1.0, 0.5], 0.0, "the first loss differs from PyTorch's by 2.0e-06, more than 1e-06"),
        ([2.0, 1.000004, 0.5], 0.0, ""),
        ([2.0, 1.0, 0.6], 0.0, "a later loss differs from PyTorch's by 2.0e-01, more than 1e-04"),
        ([float("nan"), 1.0, 0.5], 0.0, "the first loss differs from PyTorch's by nan"),
        ([2.0, 1.0, 0.5], 2e-5, "the output differs from PyTorch's by 2.0e-05, more than 1e-05"),
        ([2.0, 1.0, 0.5], float("inf"), "the output differs from PyTorch's by inf"),
        ([2.0, 1.0, 0.5], None, "the output was not reported"),
    ],
)
def test_how_far_apart_is_too_far(losses, outputs, said):
    found = agreement.difference("vit:B=1", losses, [2.0, 1.0, 0.5], outputs)
    assert found.startswith(said) and bool(found) == bool(said)


def checked(**changes):
    """The rows of three peers of which some are other than they should be."""
    outputs = {"scores": np.ones(3)}
    peers = {name: Fake([1.0], gradients=outputs) for name in ("torch", "torch again", "minigrad")} | changes
    left = iter(peers.values())

    def start(task: Task):
        peer = next(left)
        np.savez(task.gradients, **peer.gradients)
        return peer

    rows = harness.measure(
        "gpt", list(peers), steps=3, check=agreement.check, rounds=2, start=start, quiet=lambda: None
    )
    return {row.peer: row for row in rows}, peers


def test_what_computes_another_thing_is_not_timed(capsys):
    wrong = Fake([1.0], gradients={"scores": np.array([1.0, 1.0, 1.1])})
    rows, _ = checked(minigrad=wrong, minigrad_fast=Fake([1.0], gradients={"scores": np.ones(3)}))
    assert rows["minigrad"].error.startswith("the output differs from PyTorch's by 5.8e-02")
    assert wrong.bursts == [] and wrong.closed
    assert not rows["minigrad_fast"].error
    assert "gpt, minigrad: the output differs" in capsys.readouterr().err


def test_pytorch_that_disagrees_with_itself_ends_the_run():
    with pytest.raises(SystemExit, match="gpt: PyTorch does not agree with itself: the first loss"):
        checked(**{"torch again": Fake([1.0], losses=(2.1, 1.0), gradients={"scores": np.ones(3)})})


@pytest.mark.parametrize("work", ["gpt:Z=1", "gpt:B=many", "plain_m2:B=1", "moons:points"])
def test_sizes_that_a_work_does_not_have(work):
    with pytest.raises((TypeError, ValueError)):
        real.check(work)


def test_sizes_are_changed_in_the_name():
    assert real.check("gpt:B=1:D=100").D == 100
    assert real.check("vit:dropout=0.5").dropout == 0.5
    assert real.check("gpt").V == 65


def test_a_process_imports_its_own_library_only():
    """The other one would count in its memory."""
    program = """if True:
        import sys, benchmarks.real as real
        print({"minigrad", "torch"} & set(sys.modules))
        real.build("gru:L=2", "minigrad").loss(0)
        print("torch" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=compare.OWN)
    assert done.stdout == "set()\nFalse\n", done.stderr
