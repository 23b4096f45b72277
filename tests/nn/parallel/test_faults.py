"""Real processes of which one raises, is killed, or hangs; and ranks that do not belong together."""

import numpy as np
import pytest

import nn
from minigrad.serialize import load_checkpoint
from tests.nn.parallel.launched import launch, needs_mpi

pytestmark = needs_mpi
RNG = np.random.default_rng(0)
BEFORE = 9  # steps of the last checkpoint before the fault, which is written every three


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("raise", "rank 1 of 2 stops the job:"),
        ("raise", "ValueError: the disk is on fire"),
        ("kill", "signal 9"),
        ("hang", "rank 1 hangs: its step has taken 1 s (Ranks(timeout=1) is the limit). It is here:"),
        ("hang", "in misbehave"),
        ("stop", "rank 0 has waited 3 s for the others, to average gradients: one of them hangs or is late"),
    ],
)
def test_a_rank_that_goes_wrong_ends_the_job_with_words_of_its_own(fault, said, ended):
    done, losses = ended(fault)  # within a minute, or `launch` kills it
    assert done.returncode != 0 and "done" not in done.stdout
    assert said in done.stderr + done.stdout  # mpiexec prints who was killed
    assert len(losses) >= BEFORE


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """How a job with a fault ended, and the losses in its checkpoint, which is whole."""
    found = {}

    def run(fault):
        if fault not in found:
            folder = tmp_path_factory.mktemp(fault)
            done = launch(2, "faults.py", fault, folder, 4)
            model = nn.Sequential(nn.Affine(4, 8, rng=RNG), nn.Dropout(0.0, rng=RNG), nn.Affine(8, 2, rng=RNG))
            nn.load_weights(model, folder / "last.safetensors")
            found[fault] = done, load_checkpoint(folder / "last.safetensors")[0]["losses"]
        return found[fault]

    return run


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What an uninterrupted run of one process prints at its end: the number of steps, and each epoch's accuracy."""
    return last_line(launch(1, "faults.py", "none", tmp_path_factory.mktemp("whole"), 4))


def last_line(done):
    assert done.returncode == 0, done.stderr
    return np.array(done.stdout.splitlines()[-1].removeprefix("done").split(), float)


@pytest.mark.parametrize(("first", "second"), [(2, 1), (1, 2)])
def test_a_checkpoint_of_n_ranks_resumes_on_m(first, second, tmp_path, whole):
    assert last_line(launch(first, "faults.py", "none", tmp_path, 2))[0] == 10
    resumed = last_line(launch(second, "faults.py", "none", tmp_path, 4))
    assert resumed[0] == 20
    np.testing.assert_allclose(resumed, whole)


@pytest.mark.thorough
def test_restarts_go_on_from_the_checkpoint(tmp_path, whole):
    restarted = launch(2, "faults.py", "kill", tmp_path, 4, restarts=2)
    assert "starting again, up to 2 times" in restarted.stderr
    np.testing.assert_allclose(last_line(restarted), whole)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("model", "'layers.0.weight': 'float32 (4, 9)'"),
        ("data", "start each rank with the same script"),
        ("validate", "use ranks.total(correct) / ranks.total(count)"),
    ],
)
def test_ranks_that_differ_are_refused(what, said, tmp_path):
    done = launch(2, "faults.py", what, tmp_path, 4)
    assert done.returncode != 0 and said in done.stderr and "in rank 1" in done.stderr
