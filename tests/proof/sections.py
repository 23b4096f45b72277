"""The sections by name, the slow ones first."""

from collections.abc import Callable

from tests.proof import interface, judgements, results, suite
from tests.proof.interface import Texts
from tests.proof.side import Side

SECTIONS: dict[str, Callable[[Side], Texts]] = {
    section.__name__: section
    for section in (
        judgements.findings, suite.messages, judgements.answers, results.written, results.values, suite.tests,
        results.pages, results.drawings, interface.names,
    )
}  # fmt: skip
