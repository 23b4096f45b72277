"""examples/watch_training.py: each network that starts badly is told apart, and everything is written."""

from pathlib import Path

import pytest

import watch_training
from tests.examples.processes import command

NAMES = ("healthy", "small_weights", "large_weights", "low_biases", "slow")
WRITTEN = {f"flow_{name}.png" for name in NAMES}


@pytest.mark.thorough
def test_the_flags_say_what_was_done_to_each_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = watch_training.main(["--quick", "--out", str(tmp_path)])
    kinds = {name: {flag.partition(":")[0] for flag in found} for name, found in flags.items()}
    assert kinds["healthy"] == set()
    assert "vanishing" in kinds["small_weights"]
    assert kinds["large_weights"] == {"exploding"}
    assert kinds["low_biases"] == {"dead"}
    assert kinds["slow"] == {"ratio"}
    assert {path.name for path in tmp_path.iterdir()} == WRITTEN | {"attention.html", "attention_heads.png"}
    shown = capsys.readouterr().out
    assert "nothing is wrong" in shown
    assert "Transformer: the first of 8 days is right in " in shown


@pytest.mark.thorough
def test_as_a_program(tmp_path: Path) -> None:
    done = command("watch_training.py", "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert all(option in done.stdout for option in ("--seed", "--device", "--quick", "--out"))
    done = command("watch_training.py", "--depth", "3", cwd=tmp_path)
    assert done.returncode == 2
    assert "--depth: must be at least 5, got 3" in done.stderr
