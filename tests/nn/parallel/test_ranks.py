"""1, 2 and 4 processes on the same batches give the same losses and weights."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import nn
from minigrad import ArgumentError
from tests.nn.parallel.launched import launch, needs_mpi
from tests.nn.parallel.train_alike import TRAININGS

COUNTS = (1, 2, 4)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What each rank of each job has at the end of each training."""
    folder = tmp_path_factory.mktemp("ranks")
    for count in COUNTS:
        done = launch(count, "train_alike.py", folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["rank", "0"]  # the others' lines are not shown
    return {
        (number, count): [dict(np.load(folder / f"{number}.{rank}of{count}.npz")) for rank in range(count)]
        for number in range(len(TRAININGS))
        for count in COUNTS
    }


@needs_mpi
@pytest.mark.parametrize("number", range(len(TRAININGS)), ids=list(TRAININGS))
@pytest.mark.parametrize("count", COUNTS[1:])
def test_the_number_of_ranks_changes_nothing(trained, number, count):
    (alone,), together = trained[number, 1], trained[number, count]
    assert len(alone["losses"]) >= 48 and alone["losses"][-1] < alone["losses"][0]
    np.testing.assert_allclose(together[0]["losses"], alone["losses"], rtol=1e-6)
    for name, value in alone.items():
        if name in ("key", "drawn"):
            continue
        np.testing.assert_allclose(together[0][name], value, rtol=1e-5, atol=1e-5, err_msg=name)
        for other in together[1:]:
            np.testing.assert_array_equal(other[name], together[0][name])  # to the bit


@needs_mpi
def test_dropout_differs_by_rank_and_by_nothing_else(trained):
    keys = {count: [int(rank["key"]) for rank in trained[0, count]] for count in COUNTS}
    assert keys[1][0] == keys[2][0] == keys[4][0] and keys[2][1] == keys[4][1]
    assert len(set(keys[4])) == 4
    drawn = {float(rank["drawn"]) for count in COUNTS for rank in trained[0, count]}
    assert drawn == {np.random.default_rng(0).random()}  # of a generator that each rank had seeded for itself


# --- where there is no MPI ---


def test_parallel_must_be_ranks():
    model = nn.Affine(1, 1, rng=np.random.default_rng(0))
    batches = nn.Batches([np.ones((4, 1))], 2, seed=0)
    wrong: Any = 2
    with pytest.raises(ArgumentError, match=r"parallel must be nn\.parallel\.Ranks\(\), got 2"):
        nn.fit(model, batches, lambda *_: model.weight.sum(), nn.SGD(model.parameters()), epochs=1, parallel=wrong)


@pytest.mark.parametrize(("setting", "value"), [("timeout", 0), ("bucket_bytes", -1)])
def test_settings_must_be_positive(setting, value):
    with pytest.raises(ArgumentError, match=f"must be positive, got .*{setting}={value}"):
        nn.parallel.Ranks(**{setting: value})


def test_what_does_not_go_together_yet_is_refused():
    other: Any = []
    with pytest.raises(
        ArgumentError, match=r"Ranks needs nn\.Batches, with collate= for data that is not arrays, got list"
    ):
        next(nn.parallel.Ranks.share(other, other, 0))


def test_the_shares_of_any_number_of_ranks_are_the_batch():
    batches = nn.Batches([np.arange(10)], 4, seed=1)
    for size in (1, 2, 3, 5):
        rank: Any = SimpleNamespace(size=size)
        shares = []
        for rank.rank in range(size):
            shares.append([(own[0], count) for own, count in nn.parallel.Ranks.share(rank, batches, 2)])
        for whole, parts in zip(batches.epoch(2), zip(*shares), strict=True):
            assert sorted(np.concatenate([own[:count] for own, count in parts])) == sorted(whole[0])
            assert all(len(own) == max(count, 1) for own, count in parts)  # who has none gets another's
