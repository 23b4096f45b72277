"""The tests in the background, where a shell has Ctrl-C ignored: each finds the handler that it relies on."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BACKGROUND = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
)


def test_ctrl_c_raises_keyboard_interrupt_here_and_in_a_process_that_a_test_starts() -> None:
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    program = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "True\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process that ignores Ctrl-C and hands that on")
def test_so_it_is_for_tests_that_were_started_in_the_background() -> None:
    here = f"{__file__}::{test_ctrl_c_raises_keyboard_interrupt_here_and_in_a_process_that_a_test_starts.__name__}"
    pytests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", here]
    done = subprocess.run([sys.executable, "-c", BACKGROUND, *pytests], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
