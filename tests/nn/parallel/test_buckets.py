"""Gradients through flat buffers, with a stand-in for MPI: a second rank that has what the test says."""

import numpy as np
import pytest

import minigrad
import nn
from minigrad import ArgumentError, GraphError, primitive
from nn.parallel.buckets import Buckets

X = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)


class TwoRanks:
    """A communicator whose other rank sends what this one sends, unless `other` says what."""

    def __init__(self, other=None):
        self.other, self.sent, self.log = other, [], []

    def Iallreduce(self, in_place, buffer):
        self.sent.append(buffer)
        self.log.append("sent")
        buffer += buffer if self.other is None else self.other
        return self

    def Test(self):
        self.log.append("looked")

    def Wait(self):
        self.log.append("waited")


def chain(rng=None):
    rng = rng or np.random.default_rng(1)
    return nn.Sequential(*[layer for _ in range(3) for layer in (nn.Affine(3, 3, rng=rng), np.tanh)])


def gradients(model):
    return [None if p.grad is None else p.grad.numpy().copy() for p in model.parameters()]


def test_one_bucket_holds_neighbours_of_one_dtype():
    parameters = [nn.Parameter(np.ones(n), dtype=dtype) for n, dtype in ((4, "f4"), (3, "f4"), (2, "f8"), (9, "f4"))]
    comm = TwoRanks()
    for p in parameters:
        p.grad = p.data
    Buckets(parameters, 28, comm, None).average(1)
    sizes = [(buffer.dtype, buffer.size) for buffer in comm.sent]
    assert sizes == [("f4", 9 + 2), ("f8", 2 + 2), ("f4", 7 + 3)]  # each with a flag a parameter, and the count


@pytest.mark.parametrize("overlap", [False, True])
def test_equal_ranks_change_nothing(overlap):
    model = chain()
    (model(X) ** 2).mean().backward()
    expected = gradients(model)
    model.zero_grad()
    buckets, loss = Buckets([*model.parameters()], 40, TwoRanks(), None), (model(X) ** 2).mean()
    if overlap:
        with buckets.overlapping(loss, 5):
            loss.backward()
    else:
        loss.backward()
    buckets.average(5)
    for own, before in zip(gradients(model), expected):
        np.testing.assert_allclose(own, before, rtol=1e-6)


def test_reductions_start_while_the_backward_runs():
    """Those of the last layer before the first layer's gradient is asked for; and each moves on the ones before it."""
    comm = TwoRanks()

    def first(g):
        comm.log.append("first")
        return g

    watch = primitive(lambda x, /: x + 0, name="watched_in_test_buckets").vjp(x=first)
    model = chain()
    loss = model(watch(minigrad.Tensor(X, requires_grad=True))).sum()
    buckets = Buckets([*model.parameters()], 40, comm, None)
    with buckets.overlapping(loss, 1):
        loss.backward()
    assert comm.log.index("sent") < comm.log.index("looked") < comm.log.index("first")
    assert comm.log[: comm.log.index("first")].count("sent") >= 4
    buckets.average(1)
    assert comm.log.count("sent") == len(comm.sent) == 6 and comm.log[-6:] == ["waited"] * 6


def test_the_graph_is_as_it_was_afterwards():
    model = chain()
    loss = model(X).sum()
    before = [list(entry.parents) for entry in minigrad.tape(loss)]
    with Buckets([*model.parameters()], 40, TwoRanks(), None).overlapping(loss, 1):
        assert [list(entry.parents) for entry in minigrad.tape(loss)] != before
        loss.backward(retain_graph=True)
    assert [list(entry.parents) for entry in minigrad.tape(loss)] == before


def test_a_parameter_that_is_read_often_is_sent_when_all_is_there():
    weight = nn.Parameter(np.array([2.0]))
    buckets = Buckets([weight], 8, TwoRanks(), None)
    loss = (weight * weight * weight).sum()  # 3 * 2 ** 2
    with buckets.overlapping(loss, 1):
        loss.backward()
    buckets.average(1)
    assert weight.grad.item() == 12


def test_gradients_of_earlier_batches_are_in_the_sum():
    weight = nn.Parameter(np.array([2.0]))
    buckets = Buckets([weight], 8, TwoRanks(), None)
    weight.sum().backward()
    loss = (5 * weight).sum()
    with buckets.overlapping(loss, 3):
        loss.backward()
    buckets.average(3)
    assert weight.grad.item() == 6


def test_hooks_of_the_users_come_first():
    weight = nn.Parameter(np.array([2.0]))
    weight.register_hook(lambda g: g * 10)
    buckets = Buckets([weight], 8, TwoRanks(), None)
    loss = weight.sum()
    with buckets.overlapping(loss, 1):
        loss.backward()
    buckets.average(1)
    assert weight.grad.item() == 10


@pytest.mark.parametrize(
    ("other", "first", "second"),
    [
        ([0, 0, 0, 0, 1], 0.5, None),  # the other rank has no gradient: zeros, and no flags; one example
        ([0, 8, 0, 1, 3], 0.25, 2.0),  # it has one of the second alone, 8 / 3 of three examples
    ],
)
def test_what_has_a_gradient_in_one_rank_has_one_in_all(other, first, second):
    parameters = [nn.Parameter(np.array([1.0])), nn.Parameter(np.array([1.0]))]
    parameters[1].grad = np.array([1.0])  # the last comes first into the bucket
    comm = TwoRanks(np.array(other, float))
    Buckets(parameters, 100, comm, None).average(1)
    assert parameters[1].grad.item() == pytest.approx(first)
    assert (parameters[0].grad and parameters[0].grad.item()) == second


def test_half_precision_travels_in_single():
    weight = nn.Parameter(np.ones(2), dtype=np.float16)
    weight.grad = np.array([1000.0, 1.0])
    comm = TwoRanks()
    Buckets([weight], 100, comm, None).average(500)  # 500,000 is beyond float16
    assert comm.sent[0].dtype == np.float32 and weight.grad.tolist() == [1000, 1] and weight.grad.dtype == np.float16


def test_what_cannot_be_right_is_refused():
    weight = nn.Parameter(np.array([2.0]))
    buckets = Buckets([weight], 8, TwoRanks(), None)
    with buckets.overlapping(weight.sum(), 2):
        pass
    with pytest.raises(GraphError, match=r"overlapping\(\) was used a second time before average\(\)"):
        buckets.overlapping(weight.sum(), 2).__enter__()
    with pytest.raises(ArgumentError, match=r"average\(\) got count=3 after overlapping\(\) with count=2"):
        buckets.average(3)
    with pytest.raises(ArgumentError, match="count=0 from every rank"):
        Buckets([weight], 8, TwoRanks(), None).average(0)
