"""The command line: ``minigrad graph FILE.py:function`` and other commands, each a view of the user's program."""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import sys
import warnings
import webbrowser
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import GraphError, MinigradError, MissingExtraError
from ..graph import draw_dot
from ..graph.draw.looks import in_prose
from ..graph.drawing import FORMATS, Drawing
from ..graph.pages.explain import explain
from ..graph.pages.html import LANGUAGES
from ..graph.record.capture import capture
from ..graph.watch.checks import check_edges, wrong_edges
from ..graph.watch.profile import profile
from ..graph.watch.provenance import find_nan
from ..guards.origin import called
from ..learn import cli as learn
from . import debug, launch, write_numpy
from .options import add_command, at_least, file_to_write
from .program import Computed, NoLoss, ProgramFailed, Target, users_errors

FINE, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130  # exit statuses; a shell returns 130 for Ctrl-C
OPEN = "open the written file in the browser"

DESCRIPTION = """\
Look at how a program computes its gradients.

TARGET is your program:
  FILE.py:function   the function is called without arguments and returns the loss: a Tensor, a list of Tensors,
                     or a pair (loss, params), where params is a dict from name to Tensor, or a module
  FILE.py            the file is run, and its variable `loss` is used (and `params` or `model`, if there is one);
                     `profile` needs no `loss`
The program runs inside minigrad.trace(). If it has not called backward(), minigrad calls it. Arguments after -- are
passed to the program.
"""
EXAMPLES = """\
  minigrad graph lesson.py:neuron                        the graph as text
  minigrad graph lesson.py:neuron --out graph.svg        as a picture (.svg .png .pdf .dot .txt)
  minigrad explain lesson.py:neuron --open               the backward pass, step by step, in the browser
  minigrad profile train.py -- --epochs 1                where time and memory go
  minigrad check lesson.py:neuron                        each derivative against finite differences
  minigrad nan lesson.py:neuron                          where the first NaN came from
  minigrad debug train.py                                which step goes wrong, at which line, and why
  minigrad learn init my_course                          37 exercises, checked while you work
  minigrad write-numpy lesson.py:loss --examples lesson.py:arrays --out step.py
  minigrad launch -n 2 train.py                          on two processes, which divide each batch
"""
EPILOG = f"""\
examples:
{EXAMPLES}
exit status: 0, success; 1, `check` found a wrong derivative, `nan` found a NaN, or your program raised (its traceback
is shown); 2, the command failed, and one sentence says why.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    own, arguments = _split(sys.argv[1:] if argv is None else argv)
    options = _parsed(own)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without box-drawing characters
    try:
        return learn.run(options) if hasattr(options, "learn") else int(options.run(options, arguments))
    except ProgramFailed as failure:
        sys.stdout.flush()
        failure.show()
        return FOUND
    except BrokenPipeError:  # `| head` has ended; Python would print an error when it flushes at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except (MinigradError, OSError) as error:
        print(f"minigrad: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return INTERRUPTED


def _split(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the arguments of the program, which follow ``--``."""
    words = list(argv)
    if words[:1] == ["launch"]:
        return words, []  # everything after the name of the script belongs to the script
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :]


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


# The commands. Each takes the options and the program and returns the exit status.


def _on_target(
    command: Callable[[argparse.Namespace, Any], int], options: argparse.Namespace, arguments: Sequence[str]
) -> int:
    target = Target.parse(options.target)
    with target.surroundings(arguments):  # until the command ends, because backward runs inside it too
        status = command(options, target)
        sys.stdout.flush()
        return status


def _explain(options: argparse.Namespace, target: Target) -> int:
    found = target.compute()
    return _written(explain(found.loss, options.out, found.params, language=options.language), options)


def _graph(options: argparse.Namespace, target: Target) -> int:
    found = _with_backward(target.compute())
    return _show(draw_dot(found.tensors, found.params), options)


def _profile(options: argparse.Namespace, target: Target) -> int:
    costs = profile()
    with contextlib.suppress(NoLoss):
        _with_backward(target.compute(costs))
    print(costs)
    return FINE


def _check(options: argparse.Namespace, target: Target) -> int:
    found = target.compute()
    graph = check_edges(found.tensors, found.params)
    checked = [edge for edge in graph.edges if edge.verdict is not None]
    wrong, reasons = wrong_edges(graph), Counter(edge.reason for edge in checked if edge.verdict == "unclear")
    for edge in wrong:
        node = graph.nodes[edge.target]
        by = called(edge, graph)
        print(f"wrong: the derivative of {in_prose(node)} with respect to {by}, relative error {edge.error:.2g}")
        if node.source is not None:
            print(f"  {node.source}: {node.source.text}")
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


def _nan(options: argparse.Namespace, target: Target) -> int:
    found = target.compute()
    origin = find_nan(found.tensors, found.params)
    if origin is None:
        origin = find_nan(_with_backward(found).tensors, found.params)
    print(origin or "no NaN and no infinity, neither forward nor backward")
    if origin and origin.origin.was_given:
        print(
            f"If the program trains: `minigrad debug {options.target}` names the step at which it began, and the line."
        )
    status = FINE
    if _wants_drawing(options):
        status = _show(origin.graph if origin else draw_dot(found.tensors, found.params), options)
    return FOUND if origin else status


# Output of the commands


def _wants_drawing(options: argparse.Namespace) -> bool:
    return options.out is not None or options.open


def _show(graph: Drawing, options: argparse.Namespace) -> int:
    """Print the graph as text, or write it to --out in the format of its suffix. With --open alone it is an SVG if possible."""
    for name in ("depth", "tensors"):
        if getattr(options, name) is not None:
            setattr(graph, name, getattr(options, name))
    path: Path | None = options.out
    if path is None and options.open:
        try:
            content = graph.to_svg()
        except (MissingExtraError, GraphError) as error:
            print(f"minigrad: {error}", file=sys.stderr)
        else:
            path = Path("graph.svg")
            path.write_text(content, encoding="utf-8")
            return _written(path, options)
    if path is None or path.suffix == ".txt":
        small = graph if options.depth is None else graph.drawn()
        if path is None:
            print(small.to_text(), end="")
            return FINE
        return _written(small.render(path), options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        written = graph.render(path)
    for warning in caught:  # without a layout program, or for too large a graph, the DOT text is written
        print(f"minigrad: {warning.message}", file=sys.stderr)
    return _written(written, options) if written == path else FAILED


def _written(path: Path, options: argparse.Namespace) -> int:
    print(f"{path}: written")
    if options.open and not webbrowser.open(path.resolve().as_uri()):
        print(f"minigrad: found no browser to open {path} in", file=sys.stderr)
    return FINE


# Options


def _parsed(own: Sequence[str]) -> argparse.Namespace:
    parser = _parser()
    options, unknown = parser.parse_known_args(own)
    if unknown:
        words = " ".join(unknown)
        parser.error(f"there is no option {words}: write options of the program after --, as in  -- {words}")
    return options


def _parser() -> argparse.ArgumentParser:
    from .._version import __version__

    parser = argparse.ArgumentParser(
        "minigrad",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"minigrad {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace, Any], int], what: str) -> argparse.ArgumentParser:
        examples = "\n".join(line for line in EXAMPLES.splitlines() if f"minigrad {name} " in line)
        added = add_command(commands, name, what, f"examples:\n{examples}")
        added.add_argument("target", metavar="TARGET", help="FILE.py:function or FILE.py (more: minigrad --help)")
        added.set_defaults(run=functools.partial(_on_target, run))
        return added

    explain = command("explain", _explain, "write a page that steps through the backward pass")
    page = Path("explain.html")
    explain.add_argument("--out", type=file_to_write(".html"), default=page, help=f"default: {page}")
    explain.add_argument("--language", choices=LANGUAGES, default="en", help="language of the page (default: en)")
    explain.add_argument("--open", action="store_true", help=OPEN)
    _add_drawing_options(command("graph", _graph, "show the graph, as text or as a drawing"))
    command("profile", _profile, "show where time and memory go")
    _add_drawing_options(command("check", _check, "compare each derivative with finite differences"))
    _add_drawing_options(command("nan", _nan, "find the operation that made the first NaN or infinity"))
    debug.add_to(commands)
    learn.add_to(commands)
    launch.add_to(commands)
    write_numpy.add_to(commands)
    return parser


def _add_drawing_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("drawing")

    def option(flag: str, help: str, **how: Any) -> None:
        group.add_argument(flag, help=help, **how)

    option("--out", f"the suffix sets the format: {' '.join(FORMATS)}", type=file_to_write(*FORMATS), metavar="FILE")
    option("--depth", "modules at nesting level N become boxes (0: outermost)", type=at_least(0), metavar="N")
    option("--tensors", "show the numbers", action="store_true", default=None)
    option("--open", OPEN, action="store_true")
