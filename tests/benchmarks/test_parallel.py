"""The model of the cost, the tables and the timeline, from numbers that are made up."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import parallel
from benchmarks.parallel import Job, Measured

JOB = Job(compute=3.0, bytes=8000, buckets=4, latency=0.01, bandwidth=10_000.0)
EVENTS = [("forward", 0.0, 1.0), ("backward", 1.0, 3.0), ("wait", 3.0, 3.1), ("update", 3.1, 3.5)]
EVENTS += [("reduction", 1.0 + i / 2, 1.4 + i / 2) for i in range(4)]
RANK = {"events": [list(event) for event in EVENTS], "bytes": 8000, "latency": 0.01, "bandwidth": 10_000.0}


def measured(overlap=(3.25, 3.5, 3.0)):
    rounds = [{"alone": 3.0, "messages": 1.0, "after": 4.0, "overlap": seconds} for seconds in overlap]
    return Measured(rounds[0], [RANK, RANK], rounds)


def test_a_ring_of_two_sends_every_byte_once():
    assert JOB.messages(2) == pytest.approx(2 * (4 * 0.01 + 4000 / 10_000))  # two messages of half of each bucket


@pytest.mark.parametrize("ranks", [8, 64])
def test_many_ranks_send_twice_the_bytes_at_most_and_pay_for_latency(ranks):
    free = replace(JOB, latency=0.0)
    assert free.messages(2) < free.messages(ranks) < 2 * 8000 / 10_000
    assert JOB.messages(ranks) - free.messages(ranks) == pytest.approx(2 * (ranks - 1) * 4 * 0.01)


def test_what_fits_behind_the_backward_costs_nothing_but_the_last_bucket():
    assert JOB.step(2) == pytest.approx(3.0 + JOB.messages(2) / 4)
    slow = replace(JOB, bandwidth=1000.0)  # 8 s of messages behind 2 s of backward
    assert slow.step(2) == pytest.approx(3.0 + slow.messages(2) - 2.0)


def test_what_is_hidden_is_shown_with_its_spread():
    assert measured().hidden == "75% (50% to 100%)"
    assert measured(overlap=[4.5]).hidden == "-50% (-50% to -50%)"  # nothing is hidden, and it costs more
    assert "75% (50% to 100%)" in parallel.tables({"minigrad": measured(), "PyTorch": measured()}, "toy", 3)


def test_a_step_takes_as_long_as_its_slower_rank():
    runs = [
        [
            {"seconds": {way: [1.0, 5.0, 2.0] for way in parallel.WAYS}},
            {"seconds": {way: [4.0] * 3 for way in parallel.WAYS}},
        ]
    ]
    assert parallel._summary(runs).seconds["after"] == 4.0


def test_packing_is_what_the_link_does_not_explain():
    assert parallel.job_of(measured()).packing == pytest.approx(1.0 - JOB.messages(2))


def test_the_timeline_is_drawn(tmp_path: Path):
    parallel.draw([RANK, RANK], tmp_path / "overlap.png")
    assert (tmp_path / "overlap.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_has_a_place_for_the_tables():
    text = parallel.PAGE.read_text(encoding="utf-8")
    assert [text.count(mark) for mark in parallel.MARKS] == [1, 1]
