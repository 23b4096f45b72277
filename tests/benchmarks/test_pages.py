"""The programs whose pages are measured have as many operations as they are asked for."""

import pytest

import minigrad
from benchmarks import pages


@pytest.mark.parametrize("name", pages.PROGRAMS)
@pytest.mark.parametrize("count", [100, 1000])
def test_a_program_has_about_as_many_operations_as_asked_for(name, count):
    assert len(minigrad.tape(pages.PROGRAMS[name](count))) == pytest.approx(count, rel=0.35)
