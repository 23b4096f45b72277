"""The script that draws the README's graphs."""

from pathlib import Path

import pytest

from tests.examples.processes import ROOT, command

IMAGES = ROOT / "docs" / "images"


def stamps() -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in IMAGES.iterdir()}


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("option", "status"), [("--help", 0), ("--hepl", 2)])
def test_asking_how_it_is_used_draws_nothing(option: str, status: int, tmp_path: Path) -> None:
    before = stamps()
    done = command("draw_graph.py", option, cwd=tmp_path)
    assert done.returncode == status and "usage: draw_graph.py" in done.stdout + done.stderr
    assert stamps() == before and not list(tmp_path.iterdir())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("script", ["draw_graph.py", "make_view_pictures.py"])
def test_without_a_folder_the_pictures_of_the_docs_stay(script: str, tmp_path: Path) -> None:
    done = command(script, "--help", cwd=tmp_path)
    assert "folder for the pictures (default: out/)" in " ".join(done.stdout.split())


def test_the_graphs_are_drawn_where_one_says(tmp_path: Path) -> None:
    pytest.importorskip("pygraphviz", reason="needs pygraphviz: pip install pygraphviz")
    before = stamps()
    done = command("draw_graph.py", "--out", "here", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = {path.name for path in (tmp_path / "here").iterdir()}
    assert drawn == {"small_graph.svg", "small_graph.png", "classifier_graph.svg"} <= before.keys()
    assert stamps() == before
