"""The command line on programs of a user's own: what it shows, its files, its sentences and its exit status."""

import pkgutil
import re
import subprocess
import sys
import tomllib
import webbrowser
from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from minigrad.cli.main import main

ROOT = Path(__file__).parents[3]
LESSON = """\
import numpy as np
import minigrad as mg
import nn

def square(x):
    return x * x

def lesson():
    x = mg.Tensor([1.0, 2.0], requires_grad=True, name="x")
    w = mg.Tensor([0.5, -0.5], requires_grad=True, name="w")
    loss = np.tanh(w * x).sum()
    return loss, {"w": w}

def alone():
    return lesson()[0]

def swept():
    loss, params = lesson()
    loss.backward()
    return loss, params

number = 3.0
model = nn.Affine(2, 1, rng=np.random.default_rng(0))
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """`program(text)` writes the user's program to lesson.py in an empty current folder."""
    monkeypatch.chdir(tmp_path)

    def program(text=LESSON, name="lesson.py"):
        Path(name).write_text(text, encoding="utf-8")

    return program


@pytest.fixture
def said(capsys):
    """`said(*arguments)` runs the command: its exit status, and what it wrote to the two streams."""

    def said(*arguments):
        status: object
        try:
            status = main(arguments)
        except SystemExit as stop:  # argparse, or the program
            status = stop.code
        return status, *capsys.readouterr()

    return said


def as_a_user(*arguments, **more):
    line = [sys.executable, "-m", "minigrad", *arguments]
    return subprocess.run(line, capture_output=True, encoding="utf-8", env={"PYTHONPATH": str(ROOT)}, **more)


# --- graph ---


def test_graph_prints_the_tree_with_gradients(program, said):
    program()
    gradient = np.linalg.norm((1 - np.tanh(np.array([0.5, -1.0])) ** 2) * [1.0, 2.0])
    status, out, err = said("graph", "lesson.py:lesson")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "loss: sum  () float64  grad 1"
    assert re.search(rf"─ w  \(2,\) float64  \|grad\| {gradient:.3g}\n", out)
    assert re.search(r"─ x  \(2,\) float64  \|grad\| \d", out)  # a local of the function, which has returned


@pytest.mark.parametrize("function", ["alone", "swept"])
def test_a_tensor_alone_and_one_whose_backward_has_run_give_the_same_tree(program, said, function):
    program()
    assert said("graph", f"lesson.py:{function}") == said("graph", "lesson.py:lesson")


def test_a_list_of_tensors(program, said):
    program(
        "import minigrad as mg\ndef f():\n    x = mg.Tensor(2.0, requires_grad=True, name='x')\n    return [x * x, x + 1]\n"
    )
    status, out, _ = said("graph", "lesson.py:f")
    assert status == 0
    assert out.startswith("loss: multiply  () float64  grad 1\n") and "add" in out


def test_a_file_is_run_as_main_and_its_variable_loss_counts(program, said):
    program(
        "import sys\nimport minigrad as mg\n"
        "w = mg.Tensor(2.0, requires_grad=True)\n"
        "if __name__ == '__main__':\n    loss = w * float(sys.argv[1])\nparams = {'weight': w}\nsys.exit()\n"
    )
    status, out, _ = said("graph", "lesson.py", "--", "3")
    assert status == 0
    assert "weight  () float64  grad 3" in out


@pytest.mark.parametrize("option", ["--t", "--dep", "--col"])
def test_an_option_of_the_program_is_not_taken_for_the_beginning_of_ours(option, program, said):
    program(LESSON)
    status, out, err = said("graph", "lesson.py:lesson", option, "5")
    assert (status, out) == (2, "")
    assert f"there is no option {option} 5: write options of the program after --, as in  -- {option} 5" in err


def test_what_follows_the_dashes_is_the_programs_whatever_it_looks_like(program, said):
    program(
        "import sys\nimport minigrad as mg\n"
        "assert sys.argv[1:] == ['--n', '5', '--tensors', '--', '-h'], sys.argv\n"
        "loss = mg.Tensor(2.0, requires_grad=True) * 3.0\n"
    )
    status, _, err = said("graph", "lesson.py", "--", "--n", "5", "--tensors", "--", "-h")
    assert status == 0, err


def test_a_function_of_a_file_leaves_its_main_part_alone(program, said):
    program(LESSON + "if __name__ == '__main__':\n    raise SystemExit(7)\n")
    assert said("graph", "lesson.py:lesson")[0] == 0


def test_what_this_package_imports_from_the_future_is_not_the_programs(program, said):
    program(LESSON + "def typed(x: float): ...\nassert typed.__annotations__ == {'x': float}\n")
    status, _, err = said("graph", "lesson.py:lesson")
    assert status == 0, err


def test_a_module_names_the_parameters(program, said):
    program(
        "import numpy as np\nimport nn\n"
        "model = nn.Sequential(nn.Affine(2, 3, rng=np.random.default_rng(0)), nn.Affine(3, 1, rng=np.random.default_rng(1)))\n"
        "def f():\n    return model(np.ones((4, 2))).sum(), model\n"
        "loss = f()[0]\n"
    )
    for target in ("lesson.py:f", "lesson.py"):
        status, out, _ = said("graph", target)
        assert status == 0
        assert re.search(r"1\.weight  \(3, 1\) float32  \|grad\|", out)
    closed = said("graph", "lesson.py:f", "--depth", "0")[1]
    assert len(closed.splitlines()) < len(out.splitlines())


@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        (".txt", "loss: sum  ()"),
        (".dot", "digraph"),
        (".svg", "<svg "),
        (".png", "\x89PNG"),
    ],
)
def test_the_suffix_of_out_says_what_to_write(program, said, suffix, start):
    if suffix == ".png":
        pytest.importorskip("pygraphviz")
    program()
    status, out, _ = said("graph", "lesson.py:lesson", "--out", f"g{suffix}")
    assert (status, out) == (0, f"g{suffix}: written\n")
    assert Path(f"g{suffix}").read_bytes().decode("latin-1").startswith(start)


def test_options_of_the_drawing_arrive(program, said):
    program()
    said("graph", "lesson.py:lesson", "--out", "a.dot", "--tensors")
    said("graph", "lesson.py:lesson", "--out", "b.dot")
    a, b = Path("a.dot").read_text(encoding="utf-8"), Path("b.dot").read_text(encoding="utf-8")
    assert "0.5" in a and "0.5" not in b  # the values of w


def test_open_shows_the_page(program, said, monkeypatch):
    opened = []

    def open(url):
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", open)
    program()
    assert said("explain", "lesson.py:lesson", "--open")[0] == 0
    assert said("graph", "lesson.py:lesson", "--open")[0] == 0
    assert opened == [Path(name).resolve().as_uri() for name in ("explain.html", "graph.svg")]


# --- the others ---


def test_explain_writes_a_page(program, said):
    program()
    assert said("explain", "lesson.py:lesson", "--out", "page.html", "--language", "ja") == (
        0,
        "page.html: written\n",
        "",
    )
    assert '<html lang="ja">' in Path("page.html").read_text(encoding="utf-8")


def test_profile_prints_tables(program, said):
    program()
    status, out, _ = said("profile", "lesson.py:lesson")
    assert status == 0
    calls = re.findall(r"^(multiply|tanh|sum) +(\d+) ", out, re.MULTILINE)
    assert sorted(calls) == [("multiply", "1"), ("sum", "1"), ("tanh", "1")]


def test_profile_of_a_program_without_a_loss(program, said):
    program("import minigrad as mg\nfor _ in range(3):\n    mg.Tensor(1.0, requires_grad=True).tanh().backward()\n")
    status, out, _ = said("profile", "lesson.py")
    assert status == 0 and re.search(r"^tanh +3 ", out, re.MULTILINE)


def test_check_finds_a_wrong_rule_and_its_line(program, said):
    program(
        "import numpy as np\nimport minigrad as mg\n"
        "double = mg.primitive(lambda x, /: x + x, name='cli_test_double').vjp(x=lambda g: 2.1 * g)\n"
        "def f():\n    return np.tanh(double(mg.Tensor(0.3, requires_grad=True)))\n"
    )
    status, out, _ = said("check", "lesson.py:f")
    assert status == 1
    assert "wrong: the derivative of 'double(mg.Tensor(0.3, requires_grad=True))' (cli_test_double)" in out
    assert "with respect to x ('mg.Tensor(0.3, requires_grad=True)')" in out
    assert ", relative error 0.0" in out
    assert "lesson.py:5: return np.tanh(double(" in out
    assert "2 derivatives compared with finite differences: 1 wrong" in out


def test_check_of_right_rules(program, said):
    program()
    status, out, _ = said("check", "lesson.py:lesson")
    assert status == 0
    assert "4 derivatives compared with finite differences: 0 wrong" in out


def test_check_of_what_is_unclear_says_why_and_is_no_failure(program, said):
    program(
        "import numpy as np\nimport minigrad as mg\n"
        "def f():\n    return mg.relu(mg.Tensor(0.0, requires_grad=True)) + np.tanh(mg.Tensor(18.7, requires_grad=True))\n"
    )
    status, out, _ = said("check", "lesson.py:f")
    assert status == 0
    assert "4 derivatives compared with finite differences: 0 wrong, 2 unclear; the largest" in out
    assert "1 unclear: the function has a kink" in out and "1 unclear: the derivative is too small compared" in out


def test_nan_says_where_it_began(program, said):
    program(
        "import numpy as np\nimport minigrad as mg\n"
        "def forward():\n    x = mg.Tensor([0.0, 1.0], requires_grad=True)\n    with np.errstate(all='ignore'):\n"
        "        return (x * np.log(x)).sum()\n"
        "def backward():\n    x = mg.Tensor([0.0, 1.0], requires_grad=True)\n    return np.sqrt(x).sum()\n"
        "def fine():\n    return mg.Tensor(1.0, requires_grad=True) * 2\n"
    )
    status, out, _ = said("nan", "lesson.py:forward")
    assert status == 1 and "the logarithm of 0 is -inf" in out and "lesson.py:6" in out
    status, out, _ = said("nan", "lesson.py:backward")
    assert status == 1 and out.startswith(
        "in the backward pass, the derivative of 'np.sqrt(x)' with respect to x made the first inf"
    )
    assert "debug" not in out
    assert said("nan", "lesson.py:fine")[:2] == (0, "no NaN and no infinity, neither forward nor backward\n")


def test_nan_names_the_command_for_a_training_whose_weights_are_nan_already(program, said):
    program(
        "import numpy as np\nimport minigrad as mg\nw = mg.Tensor(1.0, requires_grad=True)\n"
        "with np.errstate(all='ignore'):\n"
        "    for _ in range(20):\n        loss = (w * 3) ** 2\n        w.grad = None\n        loss.backward()\n"
        "        w.data = w.data - 1e30 * w.grad.data\n"
    )
    status, out, _ = said("nan", "lesson.py")
    assert status == 1 and "`minigrad debug lesson.py` names the step" in out


# --- what goes wrong ---


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["graph", "lessons.py:lesson"], "there is no file 'lessons.py'"),
        (["graph", "."], "'.' is a folder: name a file in it"),
        (["graph", "lesson.py:lessons"], "'lesson.py' has no name 'lessons': did you mean 'lesson'?"),
        (["graph", "lesson.py:number"], "number() cannot be called ('float' object is not callable): name a function"),
        (
            ["graph", "lesson.py:square"],
            "square() cannot be called (square() missing 1 required positional argument: 'x')",
        ),
        (["graph", "lesson.py:model"], "model() cannot be called ("),
        (["graph", "lesson.py"], "'lesson.py' has run and has no variable 'loss'"),
        (["graph", "lesson.py:lesson", "--out", "g.jpg"], "'g.jpg' must end in"),
        (["graph", "lesson.py:lesson", "--out", "no/g.svg"], "there is no folder 'no' to write 'g.svg' into"),
        (["graph", "lesson.py:lesson", "--depth", "-1"], "must be at least 0, got -1"),
        (["explain", "lesson.py:lesson", "--language", "xx"], "invalid choice: 'xx'"),
        (["draw", "lesson.py:lesson"], "invalid choice: 'draw'"),
        ([], "COMMAND"),
    ],
)
def test_a_mistake_is_answered_in_words(program, said, arguments, words):
    program()
    status, out, err = said(*arguments)
    assert (status, out) == (2, "")
    assert words in err and "Traceback" not in err
    assert not list(Path().glob("explain.html"))


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ("None", "f() returned None, not a Tensor: return the loss"),
        ("3.0", "f() returned a float, not a Tensor"),
        ("[]", "f() returned an empty list"),
        ("[1.0]", "f() returned a list with items that are not Tensors"),
        ("x * 2, 3", "a pair whose second part is of type int"),
        ("x * 2, {'x': 3}", "params['x'] must be a Tensor or an array, got int"),
        ("mg.Tensor(1.0) * 2", "it was not recorded"),
        ("exit()", "f() called sys.exit() instead of returning the loss"),
    ],
)
def test_what_is_no_loss_is_answered_in_words(program, said, result, words):
    program(
        f"from sys import exit\nimport minigrad as mg\nx = mg.Tensor(1.0, requires_grad=True)\ndef f():\n    return {result}\n"
    )
    status, _, err = said("graph", "lesson.py:f")
    assert status == 2
    assert words in err and "Traceback" not in err


def test_a_loss_of_several_elements_is_drawn_without_gradients(program, said):
    program("import minigrad as mg\ndef f():\n    return mg.Tensor([1.0, 2.0], requires_grad=True, name='x') * 2\n")
    status, out, err = said("graph", "lesson.py:f")
    assert status == 0
    assert "x  (2,) float64  grad -" in out
    assert "no gradients, because the loss has 2 elements, shape (2,)" in err


@pytest.mark.usefixtures("no_graphviz")
def test_without_a_layout_program_the_dot_text_is_written(program, said):
    program()
    status, out, err = said("graph", "lesson.py:lesson", "--out", "g.png")
    assert (status, out) == (2, "")
    assert "pip install pygraphviz" in err and "g.dot has the DOT text instead" in err
    assert Path("g.dot").exists()


@pytest.mark.usefixtures("no_graphviz")
def test_without_a_layout_program_open_prints_the_reason_and_the_text(program, said, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", lambda url: 1 / 0)
    program()
    text = said("graph", "lesson.py:lesson")[1]
    status, out, err = said("graph", "lesson.py:lesson", "--open")
    assert (status, out) == (0, text) and "pip install pygraphviz" in err
    assert not [*Path().glob("graph.*")]


def test_open_prints_the_text_of_a_graph_that_is_too_large(program, said, monkeypatch):
    monkeypatch.setattr("minigrad.graph.draw.graphviz.MOST_NODES", 2)
    program()
    status, out, err = said("graph", "lesson.py:lesson", "--open")
    assert status == 0 and out.startswith("loss: sum  ()") and "a layout of more than 2 takes too long" in err


def test_the_programs_own_error_is_shown_with_its_own_lines_alone(program):
    program(
        "import minigrad as mg\nimport helper\ndef f():\n    return helper.divide(mg.Tensor(1.0, requires_grad=True))\n"
    )
    program("def divide(x):\n    return x / (1 // 0)\n", name="helper.py")
    done = as_a_user("graph", "lesson.py:f")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert re.fullmatch(r'  File ".*lesson\.py", line 4, in f', lines[1])
    assert lines[-1].startswith("ZeroDivisionError")
    assert (
        "cli/main.py" not in done.stderr and "cli/program.py" not in done.stderr and "ProgramFailed" not in done.stderr
    )


def test_what_minigrad_said_comes_last_where_numpy_raises_from_it(program):
    program(
        "import numpy as np\nimport minigrad as mg\ndef f():\n    x = mg.Tensor([1.0, 2.0], requires_grad=True)\n"
        "    out = np.zeros(2)\n    out[0] = x[0] ** 2\n    return x.sum()\n"
    )
    done = as_a_user("graph", "lesson.py:f")
    assert done.returncode == 1 and "ValueError: setting an array element with a sequence." in done.stderr
    assert done.stderr.splitlines()[-1].startswith("minigrad: write t.item() for the number")


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_an_error_in_a_rule_of_the_user(program, said, where):
    program(
        "import minigrad as mg\nclass Broken(mg.Function):\n"
        f"    @staticmethod\n    def forward(ctx, x):\n        {'boom()' if where == 'forward' else 'return x'}\n"
        "    @staticmethod\n    def backward(ctx, g):\n        boom()\n"
        "def f():\n    return Broken.apply(mg.Tensor(1.0, requires_grad=True))\n"
    )
    status, _, err = said("graph", "lesson.py:f")
    assert status == 1
    assert err.splitlines()[0] == "Traceback (most recent call last):"
    assert "lesson.py" in err.splitlines()[1]
    assert err.splitlines()[-1].startswith("NameError: name 'boom' is not defined")


def test_a_program_that_cannot_be_read(program, said):
    program("def f(:\n")
    status, _, err = said("graph", "lesson.py:f")
    assert status == 1
    assert "SyntaxError" in err and "cli/program.py" not in err
    Path("lesson.py").write_bytes(b"x = 1\0\n")
    assert said("graph", "lesson.py:f")[0] in (1, 2)


def test_a_program_that_ends_itself_with_failure(program, said):
    program("raise SystemExit('no data')\n")
    assert said("graph", "lesson.py")[0] == "no data"


def test_ctrl_c_in_the_program(program, said):
    program("raise KeyboardInterrupt\n")
    status, _, err = said("graph", "lesson.py")
    assert (status, err) == (130, "\ninterrupted\n")


# --- the surroundings ---


def test_the_program_finds_its_neighbours_and_the_interpreter_is_as_before(program, said, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    program(
        "from dataclasses import dataclass\n@dataclass\nclass C:\n    two: 'float' = 2.0\n", name="elsewhere/beside.py"
    )
    program(
        "import minigrad as mg\nfrom beside import C\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Settings:\n    rate: 'float' = 0.1\n"
        "class Times(mg.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        return x * C().two\n"
        "    @staticmethod\n    def backward(ctx, g):\n        import at_backward\n        return at_backward.two * g\n"
        "def f():\n    return Times.apply(mg.Tensor(1.0, requires_grad=True, name='x'))\n",
        name="elsewhere/lesson.py",
    )
    program("two = 2.0\n", name="elsewhere/at_backward.py")
    before = list(sys.path), sys.argv, sys.modules["__main__"]
    status, out, err = said("graph", "elsewhere/lesson.py:f")
    assert status == 0, err
    assert "x  () float64  grad 2" in out
    assert (sys.path, sys.argv, sys.modules["__main__"]) == before
    for name in ("beside", "at_backward"):
        del sys.modules[name]


def test_python_m_minigrad(program):
    program()
    done = as_a_user("graph", "lesson.py:lesson")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("loss: sum  () float64  grad 1\n") and "\x1b" not in done.stdout


def test_a_pipe_that_closes_early(program):
    program()
    line = ["bash", "-c", '"$0" -m minigrad graph lesson.py:lesson | true', sys.executable]  # its path may hold a space
    done = subprocess.run(line, capture_output=True, encoding="utf-8", env={"PYTHONPATH": str(ROOT)})
    assert done.stderr == ""


def test_help_has_examples(said):
    status, out, _ = said("--help")
    assert status == 0
    assert "minigrad explain lesson.py:neuron --open" in out and "exit status" in out
    for command in ("explain", "graph", "profile", "check", "nan"):
        status, out, _ = said(command, "--help")
        assert status == 0
        assert f"examples:\n  minigrad {command} " in out


def test_the_installed_command_is_this_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert pkgutil.resolve_name(project["scripts"]["minigrad"]) is main


def test_version(said):
    assert said("--version")[:2] == (0, f"minigrad {mg.__version__}\n")
