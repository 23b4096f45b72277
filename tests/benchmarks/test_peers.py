"""Both peers do the same work: held to PyTorch in double precision, and the micro works to numbers that are known."""

import json
import sys
from dataclasses import asdict

import numpy as np
import pytest

import minigrad
from benchmarks import harness, memory, micro, peer_minigrad, plain_model, worker, workload
from benchmarks.workload import sizes
from tests.lazy import peer_torch, torch

# The engine is the same whatever the size: these take a fraction of a second.
WORKS = [
    "tiny",
    "toy_gelu:B=4:L=8",
    "toy_causal:B=4:L=8",
    "toy_512:B=1:L=96:D=16",
    "tiny:layers=1",
    "gpt_10m:B=2:L=8:D=16:H=2:layers=2",
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("work", WORKS)
@pytest.mark.parametrize("peer", [peer_torch, peer_minigrad])
def test_losses_are_those_of_pytorch_in_double_precision(peer, work):
    reference, step = peer_torch.build(work, dtype="float64"), peer.build(work)
    expected, losses = (np.array([one.loss(i) for i in range(10)]) for one in (reference, step))
    assert abs(losses[0] - expected[0]) < 2e-6 * expected[0]
    np.testing.assert_allclose(losses, expected, rtol=1e-3)
    assert abs(expected[8] - expected[0]) > 1e-3 * expected[0]  # the same batch eight steps later


@pytest.mark.parametrize("work", WORKS)
def test_the_gradients_of_every_parameter_are_those_of_pytorch(work):
    reference, step = peer_torch.build(work, dtype="float64"), peer_minigrad.build(work, dtype="float64")
    reference.loss(0), step.loss(0)
    expected, gradients = reference.gradients(), step.gradients()
    shapes = workload.shapes_of(sizes(work))
    assert gradients.keys() == expected.keys() == shapes.keys()
    largest = max(np.abs(g).max() for g in expected.values())
    for name, shape in shapes.items():
        assert gradients[name].shape == expected[name].shape == shape
        np.testing.assert_allclose(gradients[name], expected[name], rtol=1e-5, atol=1e-7 * largest, err_msg=name)


def test_a_causal_mask_changes_the_step():
    plain, causal = peer_minigrad.build("toy:B=4:L=8"), peer_minigrad.build("toy_causal:B=4:L=8")
    assert plain.loss(0) != pytest.approx(causal.loss(0), rel=1e-4)


def test_the_step_on_a_gpu_gives_the_losses_of_the_host(cuda, monkeypatch):
    monkeypatch.setattr(peer_minigrad, "_say_what_the_gpu_does", lambda step: None)
    for work in ("tiny", "gpt_10m:B=2:L=8:D=16:H=2:layers=1"):
        here, there = peer_minigrad.build(work), peer_minigrad.build(work, device=cuda)
        np.testing.assert_allclose([there.loss(i) for i in range(3)], [here.loss(i) for i in range(3)], rtol=1e-4)
        assert all(isinstance(g, np.ndarray) for g in there.gradients().values())


@pytest.mark.cuda
@pytest.mark.parametrize("tf32", [False, True])
def test_both_peers_give_the_same_losses_on_a_real_gpu(tf32):
    torch, minigrad = (peer.build("tiny", device="cuda", tf32=tf32) for peer in (peer_torch, peer_minigrad))
    tolerance = 1e-2 if tf32 else 1e-3
    np.testing.assert_allclose([minigrad.loss(i) for i in range(5)], [torch.loss(i) for i in range(5)], rtol=tolerance)
    assert minigrad.device == torch.device
    assert minigrad.device_bytes() > 0 < torch.device_bytes()


def test_the_plain_model_computes_the_same_loss():
    """Of which JAX, autograd, MyGrad and DeZero take the gradient."""
    xp = plain_model.namespace(np, gelu=minigrad.gelu)
    for work in ("tiny", "toy_causal:B=4:L=8", "toy_gelu:B=4:L=8", "gpt_10m:B=2:L=8:D=16:H=2:layers=2"):
        plain = plain_model.of_suite(work)
        loss = plain.loss(xp, plain.arrays, plain.batches[0])
        assert loss == pytest.approx(peer_torch.build(work, dtype="float64").loss(0), rel=2e-6)


def test_a_library_that_lacks_a_function_says_so():
    plain = plain_model.of_suite("gpt_10m:B=2:L=8:D=16:H=2:layers=1")
    with pytest.raises(NotImplementedError, match="this library has no gelu"):
        plain.loss(plain_model.NUMPY, plain.arrays, plain.batches[0])


@pytest.mark.parametrize("library", harness.OPTIONAL)
def test_a_library_that_is_not_installed_is_skipped_with_one_sentence(library, monkeypatch, capsys):
    for module in [name for name in sys.modules if name.startswith((library, f"benchmarks.peer_{library}"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    for work in ("tiny", "mlp", "formula"):
        task = harness.Task(library, work, steps=1)
        worker.serve(asdict(task))
        (report,) = map(json.loads, capsys.readouterr().out.splitlines())
        assert report == {"error": f"{library} is not installed: pip install {library}"}
    read = [sys.modules[name] for name in ("matplotlib", "matplotlib.pyplot", "PIL") if name in sys.modules]
    assert all(module.__spec__ is not None for module in read)  # nothing still stands in for what others will import


def test_the_plain_adam_is_that_of_pytorch():
    p, other = np.array([1.0, -2.0]), torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=True)
    ours, theirs = plain_model.Adam([p]), torch.optim.Adam([other], lr=1e-3)
    for g in ([0.5, 1.0], [-0.1, 3.0], [0.0, 1e-3]):
        ours.step([np.array(g)])
        other.grad = torch.tensor(g, dtype=torch.float64)
        theirs.step()
    np.testing.assert_allclose(p, other.detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    ("work", "parameters"), [("tiny", 28_738), ("toy", 164_486), ("small", 2_861_574), ("gpt_10m", 10_770_816)]
)
def test_the_sizes_are_those_that_are_written_down(work, parameters):
    assert sum(int(np.prod(shape)) for shape in workload.shapes_of(sizes(work)).values()) == parameters


@pytest.mark.parametrize("peer", [peer_torch, peer_minigrad], ids=["torch", "minigrad"])
class TestMicroWorks:
    def test_the_scalar_expression_gives_what_micrograd_prints(self, peer):
        step = micro.build("m1", peer.FUNCTIONS)
        assert round(step.loss(0), 4) == 24.7041
        gradients = step.gradients()
        assert (round(float(gradients["a"]), 4), round(float(gradients["b"]), 4)) == (138.8338, 645.5773)

    def test_the_chain_is_a_geometric_series(self, peer):
        """y_n = a^n x + b (a^n - 1) / (a - 1), and its derivatives."""
        step = micro.build("chain:n=200", peer.FUNCTIONS)
        loss, gradients = step.loss(0), step.gradients()
        random = np.random.RandomState(8)
        x, a, b = random.rand(16), 1 - 1e-3 * random.rand(16), 1e-3 * random.rand(16)
        power, n = a**100, 100
        assert loss == pytest.approx(float((power * x + b * (power - 1) / (a - 1)).sum()), rel=1e-5)
        np.testing.assert_allclose(gradients["x"], power, rtol=1e-4)
        np.testing.assert_allclose(gradients["b"], (power - 1) / (a - 1), rtol=1e-3)
        slope = n * a ** (n - 1) * (x + b / (a - 1)) - b * (power - 1) / (a - 1) ** 2
        np.testing.assert_allclose(gradients["a"], slope, rtol=1e-3)

    def test_a_product_is_summed_and_its_gradient_counted(self, peer):
        assert micro.build("multiply", peer.FUNCTIONS).gradients() == {}
        step = micro.build("multiply_backward", peer.FUNCTIONS)
        first = step.loss(0)
        x, y = micro._arrays(5, (4, 4), (4, 4))
        assert first == pytest.approx(1000 * float(y.sum()), rel=1e-4)
        assert step.loss(1) == first  # nothing is left from the step before
        np.testing.assert_allclose(step.gradients()["y"], 1000 * x, rtol=1e-4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("work", ["m1", "m2", "m3", "multiply_backward", "attention:L=16"])
def test_the_micro_works_of_both_libraries_agree(work):
    torch, minigrad = (micro.build(work, peer.FUNCTIONS) for peer in (peer_torch, peer_minigrad))
    assert minigrad.loss(0) == pytest.approx(torch.loss(0), rel=1e-5)
    expected, gradients = torch.gradients(), minigrad.gradients()
    assert gradients.keys() == expected.keys()
    for name in expected:
        scale = float(np.abs(expected[name]).max())
        np.testing.assert_allclose(gradients[name], expected[name], rtol=2e-4, atol=2e-5 * scale, err_msg=name)


def test_the_elementwise_chain_is_that_of_numpy():
    step = micro.build("m2", peer_minigrad.FUNCTIONS)
    x, s, t, g, b = (a.astype(np.float64) for a in micro._arrays(7, (4096, 512), (512,), (512,), (512,), (512,)))
    r = plain_model.gelu_tanh(np, x * (1 + 0.1 * s) + 0.1 * t) + x
    q = plain_model.layer_norm(np, plain_model.softmax(np, r) * 512, 1 + 0.1 * g, 0.1 * b)
    assert step.loss(0) == pytest.approx(float(np.mean((np.maximum(q, 0) * r) ** 2)), rel=1e-4)


def test_bytes_of_a_node_are_counted(monkeypatch):
    """10,000 operations whose graph takes 5 MB."""
    held = iter([100.0, 105.0])
    monkeypatch.setattr(memory, "resident", lambda: next(held))
    step = micro.build("m3", peer_minigrad.FUNCTIONS)
    assert step.nodes == 10_000
    assert worker.bytes_per_node(step) == pytest.approx(5 * 2**20 / 10_000)


def test_a_worker_reports_losses_gradients_and_what_went_wrong(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", iter(["0.0\n"]))
    task = {
        "peer": "minigrad",
        "work": "tiny",
        "steps": 2,
        "device": "cpu",
        "tf32": False,
        "checkout": "",
        "clock": "cpu",
    }
    worker.serve(task | {"gradients": str(tmp_path / "g.npz")})
    first, burst = map(json.loads, capsys.readouterr().out.splitlines())
    assert len(first["losses"]) == 2
    assert burst["ms"] > 0
    with np.load(tmp_path / "g.npz") as saved:
        assert set(saved.files) == set(workload.shapes_of(sizes("tiny")))
    worker.serve(task | {"peer": "torch", "device": "cuda:77", "gradients": ""})
    (report,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert report["error"]
