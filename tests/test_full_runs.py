"""What the pages say that an example reaches is what it printed when it was last run in full (docs/printed/)."""

import re
from pathlib import Path

import pytest

from docs import full_runs, site_examples

ROOT = Path(__file__).parents[1]
EXAMPLES = site_examples.examples(ROOT)
MENDING = "run: python -m docs.full_runs {}"

# --- the command ---

EXAMPLE = """'It prints what it was given.'
import sys
from pathlib import Path
argument_parser = list
argument_parser()
print("100%|##########| 8/8", file=sys.stderr)
print()
print(sys.argv[1:], list(Path().iterdir()), "é")
print(Path("out").resolve())
Path("out").mkdir()
"""


def repository(folder: Path, **programs: str) -> Path:
    for name in ("docs", "examples"):
        (folder / name).mkdir()
    (folder / "docs" / "examples.md").write_text("", encoding="utf-8")
    for name, text in programs.items():
        (folder / "examples" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def captured(root: Path, *names: str) -> int:
    with pytest.raises(SystemExit) as ended:
        full_runs.main(names, root)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_what_a_full_run_prints_is_kept_and_shown(tmp_path: Path) -> None:
    root = repository(tmp_path, first=EXAMPLE)
    path = root / "examples" / "first.py"
    without = site_examples.page(path, site_examples.Run())
    assert without.endswith("Not captured: `python -m docs.full_runs first` does it.\n")
    assert captured(root) == 0
    when, empty, *printed = site_examples.kept(path).read_text(encoding="utf-8").splitlines()
    assert re.match(r"\d{4}-\d\d-\d\d, minigrad \d+\.\d+\.\d+, .*\d+ cores, .*NumPy \d", when)
    assert empty == "" and printed == ["[] [] é", "out"]  # no --quick, a fresh folder, no bar, no path of this machine
    shown = site_examples.page(path, site_examples.Run(missing="why"))
    assert "It was not run: why" in shown
    assert shown.endswith(f"## The full run\n\n```text\npython examples/first.py\n```\n\nOn {when}. It printed:\n\n"
                          "```text\n[] [] é\nout\n```\n")  # fmt: skip
    assert not (root / "out").exists()


def test_a_failure_is_said_and_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = EXAMPLE + "sys.exit('error: the weights: pip install them')"
    root = repository(tmp_path, broken=broken, crashed=EXAMPLE + "import os\nos._exit(3)", whole=EXAMPLE)
    before = site_examples.kept(root / "examples" / "broken.py")
    before.parent.mkdir()
    before.write_text("earlier", encoding="utf-8")
    assert captured(root, "broken", "crashed", "whole") == 1
    printed = capsys.readouterr()
    assert "broken: not captured: error: the weights: pip install them\n" in printed.err
    assert "crashed: not captured: " in printed.err and printed.out == "whole: captured\n"
    assert before.read_text(encoding="utf-8") == "earlier"
    assert {path.name for path in before.parent.iterdir()} == {"broken.txt", "whole.txt"}
    assert captured(root, "first.py") == 2
    assert "there is no example first.py: choose from broken, crashed, whole" in capsys.readouterr().err


def test_a_busy_machine_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for load, told in ((1.5, ""), (2.5, ", busy with other programs: the seconds are too long")):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0, 0), raising=False)
        assert full_runs.busy() == told


# --- what is kept ---


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_captured_as_its_docstring_says(path: Path) -> None:
    lines = site_examples.docstring(path).splitlines()
    assert f"    python examples/{path.name}" in lines
    assert site_examples.kept(path).exists(), MENDING.format(path.stem)
    text = site_examples.kept(path).read_text(encoding="utf-8")
    assert re.match(r"\d{4}-\d\d-\d\d, minigrad [\d.]+, .+\n\n.", text)
    assert not re.findall(r".*\r.*|.*[█#|] +\d+/\d+.*|.*(?<![\w.:/])/(?:home|root|tmp|usr)/.*", text)  # bars, paths


def test_nothing_is_kept_of_what_is_no_example() -> None:
    folder = ROOT / "docs" / "printed"
    assert {path.name for path in folder.iterdir()} == {f"{path.stem}.txt" for path in EXAMPLES}


# --- what the pages claim ---

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\w|-gram)")
# Of the columns of a page's table those with results: not what the network is, and not time and memory, of which each run has
# its own.
RESULTS = {"README.md": slice(1, 3), "docs/examples.md": slice(2, 4)}


def numbers(text: str) -> list[str]:
    return [number.replace(",", "") for number in NUMBER.findall(text)]


def unfounded(claim: str, printed: str) -> list[str]:
    """The numbers of a claim that no printed number rounds to."""
    found = numbers(printed)

    def occurs(number: str) -> bool:
        digits = len(number.partition(".")[2])
        return any(f"{float(each):.{digits}f}" == number for each in found if len(each.partition(".")[2]) >= digits)

    return [number for number in numbers(claim) if not occurs(number)]


def claims() -> list[tuple[str, str, str]]:
    """Page, example and what its row claims; and the table of the demo, whose rows name no example."""
    found = []
    for page, columns in RESULTS.items():
        text = (ROOT / page).read_text(encoding="utf-8")
        for row in re.findall(r"^\|( `\w+\.py`.*)\|$", text, re.MULTILINE):
            cells = row.split("|")
            claim = ";".join(cells[columns])
            found += [(page, name, claim) for name in re.findall(r"`(\w+)\.py`", cells[0]) if numbers(claim)]
    examples = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    (cache,) = re.findall(r"the cache made it ([\d.]+) times faster", " ".join(examples.split()))
    found.append(("docs/examples.md", "names_gpt", cache))
    demo = examples.split("\n## ")[1]
    table = "\n".join(re.findall(r"^\|.*\|$", demo, re.MULTILINE))
    return [*found, ("docs/examples.md", "train_classifier", re.sub(r" in \d+ s|, training process.*? MB", "", table))]


@pytest.mark.parametrize(
    ("page", "name", "claim"), claims(), ids=[f"{page}-{name}-{i}" for i, (page, name, _) in enumerate(claims())]
)
def test_a_number_on_a_page_is_one_that_the_full_run_printed(page: str, name: str, claim: str) -> None:
    text = site_examples.kept(ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    _, _, printed = text.partition("\n")  # without date and versions
    assert unfounded(claim, printed) == [], f"{page}: not what was printed; {MENDING.format(name)}"


def test_a_number_that_was_not_printed_is_found() -> None:
    printed = "accuracy of the model  0.90034\n3,853 names; perplexity 180.2, top 1"
    assert unfounded("0.9003 on 3,853; 180 beside 4-grams of all-MiniLM-L6-v2", printed) == []
    assert unfounded("0.9004, 0.900341, 1.00, 385, 2 layers", printed) == ["0.9004", "0.900341", "1.00", "385", "2"]
    assert len(claims()) == 18
