"""The harness on peers that are made up: ratios, quartiles, what is not to be trusted, and what cannot run."""

import re
import statistics

import numpy as np
import pytest

from benchmarks import __main__ as command, harness
from benchmarks.harness import Task
from tests.benchmarks.fake_peer import Fake


def measured(peers, rounds=15, **options):
    tasks = []

    def start(task):
        tasks.append(task)
        peer = peers[list(peers)[len(tasks) - 1]]
        if getattr(peer, "gradients", None) is not None:
            np.savez(task.gradients, **peer.gradients)
        return peer

    rows = harness.measure("tiny", list(peers), rounds=rounds, start=start, quiet=lambda: None, **options)
    return {row.peer: row for row in rows}, tasks


def three(**changes):
    peers = {"torch": Fake([10.0]), "torch again": Fake([10.0]), "minigrad": Fake([8.0])}
    return peers | changes


def test_a_ratio_is_taken_inside_a_round():
    """The machine is up to a hundred times slower in some rounds, for everybody: the ratio of the medians would be 0.5."""
    slow = [10.0, 100.0, 1000.0]
    rows, _ = measured({"torch": Fake(slow), "torch again": Fake(slow), "minigrad": Fake([8.0, 50.0, 900.0])})
    assert rows["minigrad"].ratio == pytest.approx(0.8)
    assert rows["minigrad"].quartiles == pytest.approx((0.5, 0.9))
    assert not rows["minigrad"].doubt


def test_median_and_quartiles_are_those_of_the_rounds():
    taken = [5.0 + i for i in range(15)]
    rows, _ = measured(three(minigrad=Fake(taken)))
    low, middle, high = statistics.quantiles([t / 10 for t in taken], n=4)
    row = rows["minigrad"]
    assert (row.ratio, row.quartiles) == (pytest.approx(middle), pytest.approx((low, high)))
    assert (row.ms, row.rounds, row.megabytes) == (12.0, 15, 100.0)


@pytest.mark.parametrize(("again", "doubt"), [(10.4, ""), (9.6, ""), (10.6, "1.06"), (9.4, "0.94")])
def test_rows_are_doubted_where_pytorch_differs_from_itself(again, doubt):
    rows, _ = measured(three(**{"torch again": Fake([again])}))
    assert all(row.doubt == (f"PyTorch to itself: {doubt}" if doubt else "") for row in rows.values())


def test_fewer_than_fifteen_rounds_do_not_count():
    rows, _ = measured(three(), rounds=14)
    assert rows["minigrad"].doubt == "only 14 rounds"


def test_rounds_of_an_earlier_measurement_count_too():
    bursts: dict[str, list[dict[str, float]]] = {}
    measured(three(**{"torch again": Fake([10.6]), "minigrad": Fake([8.0])}), bursts=bursts)
    rows, _ = measured(three(**{"torch again": Fake([9.8]), "minigrad": Fake([6.0])}), bursts=bursts)
    assert (rows["minigrad"].ratio, rows["minigrad"].rounds) == (pytest.approx(0.7), 30)
    assert rows["torch again"].ratio == pytest.approx(1.02)
    assert not rows["minigrad"].doubt


def test_a_peer_that_failed_in_an_earlier_measurement_has_no_numbers():
    bursts: dict[str, list[dict[str, float]]] = {}
    measured(three(minigrad=Fake([1.0], error="not enough memory")), bursts=bursts)
    rows, _ = measured(three(), bursts=bursts)
    assert rows["minigrad"].error == "it failed in an earlier measurement"


def test_a_peer_that_cannot_run_has_a_reason_and_no_numbers():
    peers = three(jax=Fake([1.0], error="jax is not installed: pip install jax"))
    rows, _ = measured(peers)
    assert rows["jax"].error == "jax is not installed: pip install jax"
    assert not peers["jax"].bursts
    assert rows["minigrad"].ratio == pytest.approx(0.8)


def test_without_pytorch_there_is_nothing_to_compare_with():
    peers = three(torch=Fake([1.0], error="torch is not installed"))
    with pytest.raises(SystemExit, match="tiny: PyTorch cannot be measured: torch is not installed"):
        measured(peers)
    assert peers["torch"].closed


def test_a_peer_that_dies_in_the_middle_has_its_reason():
    class Dying(Fake):
        def burst(self, seconds):
            super().burst(seconds)
            if len(self.bursts) == 2:
                self.about = {"error": "its process ended with status -9"}

    rows, _ = measured(three(minigrad=Dying([1.0])))
    assert rows["minigrad"].error == "its process ended with status -9"


def test_no_round_begins_after_the_limit_except_the_fewest():
    rows, _ = measured(three(), limit=0.0)
    assert rows["minigrad"].rounds == harness.FEWEST_ROUNDS


def test_every_peer_is_closed_and_gets_its_own_file():
    peers = three()
    _, tasks = measured(peers, device="cuda", tf32=True)
    assert all(peer.closed for peer in peers.values())
    assert len({task.gradients for task in tasks}) == 3
    assert [task.peer for task in tasks] == ["torch", "torch", "minigrad"]
    assert all((task.device, task.tf32, task.work, task.steps) == ("cuda", True, "tiny", 20) for task in tasks)


def test_only_a_peer_of_before_runs_the_other_checkout():
    _, tasks = measured({**three(), "minigrad before": Fake([1.0])}, before="/there")
    assert [(task.peer, task.checkout) for task in tasks[2:]] == [("minigrad", ""), ("minigrad", "/there")]


def test_losses_and_gradients_are_compared_with_those_of_pytorch():
    own, other = {"W": np.array([3.0, 4.0]), "b": np.array([0.1])}, {"W": np.array([3.0, 4.0]), "b": np.array([0.0])}
    peers = {"torch": Fake([1.0], gradients=other), "torch again": Fake([1.0], gradients=other)}
    rows, _ = measured(peers | {"minigrad": Fake([1.0], losses=(2.0, 1.01), gradients=own)})
    assert rows["minigrad"].loss_difference == pytest.approx(0.01)
    assert rows["minigrad"].gradient_difference == pytest.approx(0.02)
    assert rows["torch again"].gradient_difference == 0


def test_a_missing_gradient_is_no_small_difference(tmp_path):
    np.savez(tmp_path / "own.npz", W=np.ones(2))
    np.savez(tmp_path / "other.npz", W=np.ones(2), b=np.ones(1))
    assert harness.distance(tmp_path / "own.npz", tmp_path / "other.npz") == float("inf")
    assert harness.distance(tmp_path / "none.npz", tmp_path / "other.npz") is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("task", "said"),
    [
        (Task("minigrad", "tiny", device="cuda"), 'needs cupy: pip install "cupy-cuda12x\\[ctk\\]"|cannot be used'),
        (Task("minigrad", "huge"), "KeyError: 'huge'"),
    ],
)
def test_a_worker_says_in_words_what_it_cannot_do(task, said):
    process = harness.Process(task)
    process.close()
    assert re.search(said, process.about["error"])


def test_a_worker_measures_a_step():
    process = harness.Process(Task("minigrad", "chain:n=100", steps=2))
    try:
        process.burst(0.0)
    finally:
        process.close()
    assert len(process.about["losses"]) == 2
    (burst,) = process.bursts
    assert burst["ms"] > 0
    assert burst["peak"] > process.about["imported"] - 2 > process.about["bare"] > 0  # the kernel counts pages roughly


def test_a_worker_that_has_ended_is_an_error_and_no_crash():
    process = harness.Process(Task("minigrad", "huge"))
    process.burst(0.0)
    process.close()
    assert process.about["error"].startswith("its process ended")


def test_compiled_kernels_run_where_something_is_fused():
    assert command.peers_of("m3", ["jax"]) == ["torch", "torch again", "minigrad"]
    assert command.peers_of("m2", ["jax"]) == ["torch", "torch again", "minigrad", "minigrad_fast"]
    assert command.peers_of("toy:L=64", ["jax"]) == ["torch", "torch again", "minigrad", "minigrad_fast", "jax"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["works", "--works", "tiny,huge"], "huge"),
        (["works", "--works", "toy:Z=3"], "toy:Z=3"),
        (["works", "--works", "chain:n=many"], "chain:n=many"),
        (["works", "--peers", "nobody"], "nobody"),
        (["works", "--rounds", "1"], "at least 2"),
    ],
)
def test_the_command_line_names_what_it_does_not_know(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
