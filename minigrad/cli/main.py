"""The command line: ``minigrad graph FILE.py:function`` and its sisters, each a view of a program of the user's own."""

from __future__ import annotations

import argparse
import io
import os
import sys
import warnings
import webbrowser
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._source import SourceLine
from ..errors import ArgumentError, MinigradError
from ..graph import draw_dot
from ..graph.draw.looks import in_prose, operand_in_prose
from ..graph.drawing import FORMATS, Drawing
from ..graph.pages.explain import explain
from ..graph.pages.html import LANGUAGES
from ..graph.record.capture import capture
from ..graph.record.storage import Replay, load_trace, save_trace
from ..graph.record.trace import norm, trace
from ..graph.watch.checks import check_edges, wrong_edges
from ..graph.watch.profile import profile
from ..graph.watch.provenance import find_nan
from ..learn import cli as learn
from . import launch
from .options import at_least, file_to_write, numbers
from .program import Computed, NoLoss, ProgramFailed, Target, first_bad_step, users_errors

FINE, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130  # exit statuses; 130 is what a shell gives for Ctrl-C
TRACE = ".safetensors"

DESCRIPTION = """\
Look at how a program computes its gradients.

TARGET is a program of your own:
  FILE.py:function   the function is called without arguments and returns the loss: a Tensor, a list of Tensors,
                     or a pair (loss, params) with a dict from name to Tensor, or a module, that names the parameters
  FILE.py            the file is run, and its variable `loss` counts (and `params` or `model`, if there is one);
                     `profile` needs none
  RUN.safetensors    what `minigrad save` wrote
It runs inside minigrad.trace(); if it has not called backward(), that is done too. What comes after -- are the
program's own arguments.
"""
EXAMPLES = """\
  minigrad graph lesson.py:neuron                        the graph as text
  minigrad graph lesson.py:neuron --out graph.svg        as a picture (.svg .png .pdf .html .dot .txt)
  minigrad explain lesson.py:neuron --open               the backward pass, step by step, in the browser
  minigrad profile train.py --chrome-trace run.json -- --epochs 1
  minigrad check lesson.py:neuron                        each derivative against finite differences
  minigrad nan train.py                                  where the first NaN came from
  minigrad save lesson.py:neuron --out run.safetensors
  minigrad replay run.safetensors --cotangent 2
  minigrad learn init exercises                          thirty exercises, checked as you go
  minigrad launch -n 2 train.py                          on two processes, which share out each batch
"""
EPILOG = f"""\
examples:
{EXAMPLES}
exit status: 0, all is well; 1, `check` found a wrong derivative, `nan` a NaN, or your program raised (its traceback is
shown); 2, it could not be done, and one sentence says why.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit status."""
    own, arguments = _split(sys.argv[1:] if argv is None else argv)
    options = _parsed(own)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without box-drawing characters
    try:
        if hasattr(options, "learn"):
            return learn.run(options)
        if hasattr(options, "launch"):
            return launch.run(options)
        with ExitStack() as stack:
            status: int = options.command(options, _Invocation(options.target, arguments, stack))
            sys.stdout.flush()
            return status
    except ProgramFailed as failure:
        sys.stdout.flush()
        failure.show()
        return FOUND
    except BrokenPipeError:  # `| head` has seen enough; Python would complain when it flushes at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except (MinigradError, OSError) as error:
        print(f"minigrad: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our arguments, and those of the program, which come after ``--``."""
    words = list(argv)
    if words[:1] == ["launch"]:
        return words, []  # all that is behind the script's name is its own
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :]


# The program


@dataclass
class _Invocation:
    """The target, and what runs it. It stays in the program's surroundings until the command ends: backward runs there too."""

    target: str
    arguments: list[str]
    stack: ExitStack
    module: str = ""  # what the program is called while it runs

    def compute(self, watch: AbstractContextManager[Any] | None = None) -> Computed:
        """What the target computes, inside a trace."""
        if self.target.lower().endswith(TRACE):
            with watch or nullcontext():
                return _computed(self.replay())
        target = Target.parse(self.target)
        self.module = target.name
        self.stack.enter_context(target.as_python_would(self.arguments))
        found = target.run(watch or trace())
        found.loss.name = found.loss.name or "loss"
        return found

    def first_bad(self) -> tuple[Computed, int | None]:
        """What :func:`first_bad_step` finds; a trace has no steps."""
        if self.target.lower().endswith(TRACE):
            return self.compute(), None
        return first_bad_step(self.compute, lambda: vars(sys.modules[self.module]))

    def replay(self) -> Replay:
        if not self.target.lower().endswith(TRACE):
            raise ArgumentError(f"'{self.target}' is no trace: `minigrad save` writes them, into a file RUN{TRACE}")
        return load_trace(self.target)


def _computed(replay: Replay) -> Computed:
    return Computed(replay.tensors, replay.parameters | replay.named, replay)


def _with_backward(found: Computed) -> Computed:
    """Run ``backward()`` from the loss, if the program has not."""
    graph = capture(found.tensors, found.params, caller="minigrad")
    if graph.nodes[graph.ends[0][0]].gradient is None:
        if found.loss.size == 1:
            with users_errors():
                found.loss.backward()
        else:
            print(
                f"minigrad: no gradients, because the loss has {found.loss.size} elements, shape {found.loss.shape}: "
                "return its sum() or mean()",
                file=sys.stderr,
            )
    return found


# The commands: each takes the options and the program, and returns the exit status


def _explain(options: argparse.Namespace, run: _Invocation) -> int:
    found, step = run.first_bad()
    path = explain(found.loss, options.out, found.params, language=options.language, step=step)
    if step is not None:
        print(_of_step(step))
    return _written(path, options)


def _of_step(step: int) -> str:
    return f"Step {step} is the first that is not finite (each backward() is one, counted from 0)."


def _graph(options: argparse.Namespace, run: _Invocation) -> int:
    found = _with_backward(run.compute())
    return _show(draw_dot(found.tensors, found.params), options)


def _profile(options: argparse.Namespace, run: _Invocation) -> int:
    costs = profile()
    found: Computed | None = None
    try:
        found = _with_backward(run.compute(costs))
    except NoLoss:
        if _wants_drawing(options):
            raise
    print(costs.table(options.most))
    if options.chrome_trace:
        print(f"{costs.save_chrome_trace(options.chrome_trace)}: open it in ui.perfetto.dev or chrome://tracing")
    if found is not None and _wants_drawing(options):
        return _show(draw_dot(found.tensors, found.params), options)
    return FINE


def _check(options: argparse.Namespace, run: _Invocation) -> int:
    found = run.compute()
    graph = check_edges(found.tensors, found.params)
    checked = [edge for edge in graph.edges if edge.verdict is not None]
    wrong, reasons = wrong_edges(graph), Counter(edge.reason for edge in checked if edge.verdict == "unclear")
    for edge in wrong:
        node = graph.nodes[edge.target]
        by = operand_in_prose(edge, graph)
        print(f"wrong: the derivative of {in_prose(node)} by {by}, relative error {edge.error:.2g}")
        _print_source(node.source)
    largest = max((edge.error or 0.0 for edge in checked if edge.verdict != "unclear"), default=0.0)
    print(
        f"{len(checked)} derivatives compared with finite differences: {len(wrong)} wrong"
        + (f", {reasons.total()} unclear" if reasons else "")
        + f"; the largest relative error is {largest:.2g}"
    )
    for reason, count in reasons.most_common():
        print(f"{count} unclear: {reason}")
    status = _show(graph, options) if _wants_drawing(options) else FINE
    return FOUND if wrong else status


def _nan(options: argparse.Namespace, run: _Invocation) -> int:
    found, step = run.first_bad()
    origin = find_nan(found.tensors, found.params)
    if origin is None:
        origin = find_nan(_with_backward(found).tensors, found.params)
    if step is not None:
        print(_of_step(step))
    print(origin or "no NaN and no infinity, neither forward nor backward")
    status = FINE
    if _wants_drawing(options):
        status = _show(origin.graph if origin else draw_dot(found.tensors, found.params), options)
    return FOUND if origin else status


def _save(options: argparse.Namespace, run: _Invocation) -> int:
    found = run.compute()
    save_trace(found.tensors, options.out, found.params)
    print(f"{options.out}: written ({os.path.getsize(options.out):,} bytes)")
    return FINE


def _replay(options: argparse.Namespace, run: _Invocation) -> int:
    replay = run.replay()
    loss = replay.loss
    gradients = replay.gradients(_cotangent(options.cotangent, loss))
    print(f"{loss.name or 'loss'}: {loss.item() if loss.size == 1 else f'shape {loss.shape}'}, run again")
    rows = [("gradient of", "shape", "its norm")]
    rows += [(name, str(gradient.shape), f"{norm(gradient):.6g}") for name, gradient in gradients.items()]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(f"{word:<{width}}" for word, width in zip(row, widths)).rstrip())
    return _show(draw_dot(replay.tensors, replay.parameters), options) if _wants_drawing(options) else FINE


def _cotangent(numbers: list[float] | None, loss: Any) -> Any:
    """The numbers of --cotangent, one for each element of the loss or one for all, as an array of its shape."""
    import numpy as np

    if numbers is None:
        return None
    if len(numbers) not in (1, loss.size):
        raise ArgumentError(
            f"--cotangent takes 1 number or {loss.size}, as the loss has shape {loss.shape}, got {len(numbers)}"
        )
    return np.broadcast_to(np.asarray(numbers).reshape(loss.shape if len(numbers) > 1 else ()), loss.shape)


# What they show


def _wants_drawing(options: argparse.Namespace) -> bool:
    return options.out is not None or options.open


def _show(graph: Drawing, options: argparse.Namespace) -> int:
    """Print the graph as text, or write it to --out in the format of its suffix."""
    for name in ("depth", "color", "rankdir", "tensors", "views", "max_nodes"):
        if getattr(options, name) is not None:
            setattr(graph, name, getattr(options, name))
    path: Path | None = options.out or (Path("graph.html") if options.open else None)
    if path is None or path.suffix == ".txt":
        small = graph if options.depth is None and options.max_nodes is None else graph.drawn()
        if path is None:
            print(small.to_text(), end="")
            return FINE
        return _written(small.render(path), options)
    if path.suffix == ".html":
        return _written(graph.to_html(path, language=options.language), options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        written = graph.render(path)
    for warning in caught:  # there is no layout program, or the graph is too large: the DOT text was written instead
        print(f"minigrad: {warning.message}", file=sys.stderr)
    return _written(written, options) if written == path else FAILED


def _written(path: Path, options: argparse.Namespace) -> int:
    print(f"{path}: written")
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        print(f"minigrad: found no browser to open {path} in", file=sys.stderr)
    return FINE


def _print_source(source: SourceLine | None) -> None:
    if source is not None:
        print(f"  {source}: {source.text}")


# The options


def _parsed(own: Sequence[str]) -> argparse.Namespace:
    parser = _parser()
    options, unknown = parser.parse_known_args(own)
    if unknown:
        words = " ".join(unknown)
        parser.error(f"there is no option {words}: if it is the program's, write it after --, as in  -- {words}")
    return options


def _parser() -> argparse.ArgumentParser:
    from .._version import __version__

    parser = argparse.ArgumentParser(
        "minigrad", description=DESCRIPTION, epilog=EPILOG, formatter_class=_Formatter, allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"minigrad {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace, _Invocation], int], what: str) -> argparse.ArgumentParser:
        examples = "\n".join(line for line in EXAMPLES.splitlines() if f"minigrad {name} " in line)
        added = commands.add_parser(
            name,
            help=what,
            description=f"{what.capitalize()}.",
            epilog=f"examples:\n{examples}",
            formatter_class=_Formatter,
            allow_abbrev=False,  # --n would be --no-views, and may be meant for the program
        )
        target = f"RUN{TRACE}" if name == "replay" else "TARGET"
        help = "what `minigrad save` wrote" if name == "replay" else f"FILE.py:function, FILE.py or RUN{TRACE}"
        added.add_argument("target", metavar=target, help=f"{help} (more: minigrad --help)")
        added.set_defaults(command=run)
        return added

    explain = command("explain", _explain, "write a page that steps through the backward pass")
    explain.add_argument(
        "--out", type=file_to_write(".html"), default=Path("explain.html"), help="default: explain.html"
    )
    _add_page_options(explain)
    _add_drawing_options(command("graph", _graph, "show the graph, as text or as a drawing"))
    costs = command("profile", _profile, "show where time and memory go")
    costs.add_argument("--chrome-trace", type=file_to_write(".json"), metavar="FILE.json", help="for ui.perfetto.dev")
    costs.add_argument("--most", type=at_least(1), default=20, metavar="N", help="rows of a table (default: 20)")
    _add_drawing_options(costs, color="time")
    _add_drawing_options(command("check", _check, "compare each derivative with finite differences"))
    _add_drawing_options(command("nan", _nan, "find the operation that made the first NaN or infinity"))
    save = command("save", _save, "write the computation to a file, as data that runs again anywhere")
    save.add_argument("--out", type=file_to_write(TRACE), required=True, metavar=f"RUN{TRACE}")
    replay = command("replay", _replay, "run what was saved again, forward and backward")
    about = "what the backward pass begins with: a number, or one for each element of the loss (default: 1)"
    replay.add_argument("--cotangent", type=numbers, metavar="X[,X...]", help=about)
    _add_drawing_options(replay)
    learn.add_to(commands)
    launch.add_to(commands)
    return parser


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help that keeps its line breaks."""


def _add_page_options(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--language", choices=LANGUAGES, default="en", help="of a page (default: en)")
    parser.add_argument("--open", action="store_true", help="show what was written in the browser")


def _add_drawing_options(parser: argparse.ArgumentParser, color: str | None = None) -> None:
    group = parser.add_argument_group("drawing")
    group.add_argument(
        "--out", type=file_to_write(*FORMATS), metavar="FILE", help=f"its suffix says what: {' '.join(FORMATS)}"
    )
    group.add_argument(
        "--depth", type=at_least(0), metavar="N", help="modules at nesting level N become boxes (0: outermost)"
    )
    group.add_argument(
        "--color", choices=("grad", "time", "memory"), default=color, help="what the colours of the nodes say"
    )
    group.add_argument("--rankdir", choices=("LR", "TB"), help="left to right, or top to bottom")
    group.add_argument(
        "--max-nodes", type=at_least(1), metavar="N", help="draw modules as boxes above so many (default: 80)"
    )
    group.add_argument("--tensors", action="store_true", default=None, help="show the numbers, of up to 40 nodes")
    group.add_argument(
        "--no-views", dest="views", action="store_false", default=None, help="hide reshape, transpose ..."
    )
    _add_page_options(group)
