"""minigrad beside PyTorch eager, in one run on one machine; below 1 minigrad is faster.

    python -m benchmarks                 the works: training steps and micro works, and a table
    python -m benchmarks real            models, loops, derivatives and formulas as users have them, beside floors
    python -m benchmarks written         those whose gradient mg.write_numpy writes out, beside PyTorch and the tape
    python -m benchmarks functions       every differentiable function, forward and backward, by size, dtype and layout
    python -m benchmarks imports         the time that an import takes
    python -m benchmarks scaling         how time and memory grow with each size; a table and a plot
    python -m benchmarks floors          the NumPy calls that a work cannot do without, beside what it takes
    python -m benchmarks guard           1 if a ratio is over its limit, 2 if the machine is too busy to tell
    python -m benchmarks pages           the stepper's page: made, opened, a key pressed (needs a browser)
    python -m benchmarks views           the stepper's page: what is in sight, in four windows (needs a browser)
    python -m benchmarks looks           the same for the lessons and six programs: what is wrong with what is seen
    python -m benchmarks compare FOLDER  this checkout beside the one in FOLDER: 1 if a work is slower here
    python -m benchmarks debug           how often `minigrad debug` names the cause; its time and memory
    python -m benchmarks table           put the latest table into docs/speed.md
    python -m benchmarks all             works, real, imports, scaling, floors and table: make bench

    python -m benchmarks works --peers jax,autograd,mygrad,dezero --works tiny,toy
    python -m benchmarks works --device cuda
    python -m benchmarks functions --works "x ** 3"          one of them; with FOLDER, what that checkout takes, too
    python -m benchmarks real FOLDER                         and what the checkout in FOLDER takes, in the same rounds
    python -m benchmarks real FOLDER --minutes 24            at most so many, with fewer rounds where a step is long
    python -m benchmarks real --cores 1                      or --threads 4, or --works gpt:B=1,vit
    python -m benchmarks looks --windows phone               one of the windows desk, large and phone
    python -m benchmarks floors --threads 1 --clock cpu      on a machine that others use: processor time

Tables go to benchmarks/results/. How they are measured is told in benchmarks/harness.py and docs/speed.md.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import (
    compare,
    debug,
    functions,
    guard,
    harness,
    imports,
    looks,
    micro,
    pages,
    real,
    report,
    scaling,
    stepper_views,
)
from benchmarks.floors import table as floors_table, works as floors_works
from benchmarks.harness import Row
from benchmarks.real import agreement, table as real_table
from benchmarks.workload import sizes
from minigrad import MinigradError
from minigrad.device import to_device

STEPS = ("tiny", "toy", "small", "toy_gelu", "small_gelu", "toy_causal", "small_causal", "toy_512")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "NPROC")
GPU_WORKS = ("toy", "small", "gpt_10m")


def main(arguments: Sequence[str] | None = None) -> None:
    p = parser()
    options = p.parse_args(arguments)
    if options.command == "compare" and options.checkout is None:
        p.error("compare needs the folder of another checkout")
    if options.checkout is not None and options.command not in ("compare", "real", "functions"):
        p.error(f"{options.command} takes no folder of another checkout: only compare, real and functions do")
    if options.command != "compare" and (single := [work for work in options.works if work in compare.SINGLE]):
        p.error(f"{single[0]!r} is a work of minigrad alone: only compare has it")
    if options.device != "cpu" and (options.command == "real" or any(map(real.is_real, options.works))):
        p.error("the real works run on the CPU only: leave --device out")
    small = [work for work in options.works if micro.is_micro(work) and work not in real_table.LINES]
    if options.command in ("real", "written") and small:
        p.error(f"{small[0]!r} is none of the real works: python -m benchmarks works --works {small[0]}")
    if options.clock == "cpu" and options.threads != 1:
        p.error("--clock cpu adds up the time of all threads, also while they wait: it needs --threads 1")
    without = [work for work in options.works if not has_floor(work)]
    if options.command == "floors" and without:
        p.error(f"{without[0]!r} has no floor: take one of {', '.join(floors_works.FLOORS)}")
    limit(options.cores, options.threads)
    COMMANDS[options.command](options)


def parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("command", nargs="?", default="works", choices=COMMANDS)
    p.add_argument(
        "checkout", nargs="?", type=checkout, help="for compare, real and functions: another checkout's folder"
    )
    p.add_argument(
        "--works", type=works, default=[], help="separated by commas; sizes may be changed, as in toy:L=512:B=4"
    )
    p.add_argument(
        "--peers", type=peers, default=[], help=f"beside PyTorch and minigrad: {', '.join(harness.OPTIONAL)}"
    )
    p.add_argument(
        "--rounds", type=at_least_two, default=harness.ENOUGH_ROUNDS, help="turns of each peer (default: 15)"
    )
    p.add_argument("--seconds", type=float, default=0.25, help="how long a turn takes (default: 0.25)")
    p.add_argument("--minutes", type=float, help="for real, all works: long ones get fewer rounds")
    p.add_argument("--cores", type=at_least_one, help="run on so many cores only (Linux)")
    p.add_argument("--threads", type=at_least_one, help="of each library, whatever the number of cores")
    p.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="elapsed time, or that of the processor")
    p.add_argument("--windows", nargs="+", choices=looks.WINDOWS, default=[*looks.WINDOWS], help="for looks")
    p.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="of the training steps")
    return p


def limit(cores: int | None, threads: int | None) -> None:
    """Of this process and those that it starts.

    Raises:
        SystemExit: there are fewer cores, or cores cannot be chosen here.
    """
    if cores is not None:
        here = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        if len(here) < cores:
            raise SystemExit(f"--cores {cores}: {len(here)} cores can be chosen on this machine")
        os.sched_setaffinity(0, here[:cores])
    if threads is not None:
        os.environ |= dict.fromkeys(THREADS, str(threads))


def at_least_one(text: str) -> int:
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return int(text)


def at_least_two(text: str) -> int:
    """Quartiles need two numbers."""
    if int(text) < 2:
        raise argparse.ArgumentTypeError(f"must be at least 2, got {text}")
    return int(text)


def checkout(text: str) -> Path:
    """A folder with the three packages."""
    folder = Path(text).resolve()
    for package in ("minigrad", "nn", "models"):
        if not (folder / package / "__init__.py").is_file():
            raise argparse.ArgumentTypeError(f"{folder} is no checkout of minigrad: it has no {package}/__init__.py")
    return folder


def works(text: str) -> list[str]:
    """ "tiny,toy:L=64", each known, or the name of one function."""
    if text in functions.WORKS:
        return [text]
    for work in text.split(","):
        if work in compare.SINGLE:
            continue
        try:
            real.check(work) if real.is_real(work) else micro.check(work) if micro.is_micro(work) else sizes(work)
        except (KeyError, TypeError, ValueError) as error:
            raise argparse.ArgumentTypeError(
                f"{work!r} is no work: take one of {', '.join([*report.TITLES, *real.WORKS])}, or one of them with other sizes"
            ) from error
    return text.split(",")


def peers(text: str) -> list[str]:
    """Optional ones, each known."""
    for peer in text.split(","):
        if peer not in harness.OPTIONAL:
            raise argparse.ArgumentTypeError(f"{peer!r} is no peer: take some of {','.join(harness.OPTIONAL)}")
    return text.split(",")


def peers_of(work: str, more: Sequence[str] = (), before: bool = False) -> list[str]:
    """PyTorch twice, minigrad, the same with compiled kernels where a work has fused operations, ``more`` that have the work.

    Args:
        before: whether minigrad takes part with another checkout, too.
    """
    is_micro, is_real = micro.is_micro(work), real.is_real(work)
    compiled = work == "m2" if is_micro else work.partition(":")[0] not in real_table.NOT_COMPILED
    own = ["minigrad", "minigrad_fast"] if compiled else ["minigrad"]
    old = [peer + harness.BEFORE for peer in own] if before else []
    others = [
        peer
        for peer in more
        if (peer in harness.OPTIONAL and not is_micro and (not is_real or real.has(work, peer)))
        or (peer == harness.WRITTEN and real_table.is_written(work))
        or (peer == harness.FLOOR and has_floor(work))
    ]
    return [harness.REFERENCE, harness.AGAIN, *own, *old, *others]


def has_floor(work: str) -> bool:
    return work.partition(":")[0] in floors_works.FLOORS


def measure(
    works: Sequence[str], options: argparse.Namespace, more: Sequence[str] = (), checked: bool = False, **settings: Any
) -> list[Row]:
    """The rows of each work; ``checked``: the first steps are compared with PyTorch's before it is timed, real or not."""
    rows = []
    for work in works:
        if checked or real.is_real(work):
            settings |= {"steps": agreement.STEPS, "check": agreement.check}
        settings["clock"] = options.clock
        if options.checkout:
            settings["before"] = str(options.checkout)
        there = peers_of(work, more, options.checkout is not None)
        rows += harness.measure(work, there, rounds=options.rounds, seconds=options.seconds, **settings)
    skipped = {f"{row.peer.replace('_', ' ')} is skipped: {row.error}" for row in rows if row.error}
    print("\n".join(sorted(skipped)), file=sys.stderr)
    return rows


def run_works(options: argparse.Namespace) -> None:
    if options.device != "cpu":
        run_gpu(options)
        return
    rows = measure(options.works or [*STEPS, *micro.WORKS], options, options.peers)
    report.save_works(rows)
    print(f"{report.machine()}; {options.rounds} rounds of {options.seconds} s\n\n{report.works_table(rows)}\n")


def limits_of(options: argparse.Namespace) -> list[str]:
    """The limits on cores and threads in words."""
    pairs = (("core", options.cores), ("thread", options.threads))
    return [f"{number} {what}{'s' * (number > 1)}" for what, number in pairs if number]


def run_real(options: argparse.Namespace) -> None:
    """All of them go to a file, in one run; some are printed only.

    Beside them stands a floor, or, by the command "written", the program that is written out.

    Raises:
        SystemExit: with 1, minigrad cannot do a work, or computes another thing.
    """
    named, beside = [*real_table.LINES], harness.FLOOR
    if options.command == "written":
        named, beside = [*filter(real_table.is_written, named)], harness.WRITTEN
    rows = measure_again_if_doubtful(options.works or named, options, [*options.peers, beside], checked=True)
    limits = limits_of(options)
    if not options.works:
        real_table.save(rows, ", ".join(limits), name=options.command)
    print(f"{real_table.text(rows, ', '.join([report.machine(), *limits]))}\n")
    if any(row.error and row.peer == "minigrad" for row in rows):
        sys.exit(1)


def measure_again_if_doubtful(
    works: Sequence[str], options: argparse.Namespace, more: Sequence[str] = (), checked: bool = False
) -> list[Row]:
    """Each work; once more, by new processes, where PyTorch differed from itself. The rounds of both measurements count.

    For the machine may have been busy, or one process been luckier than the other with where its arrays lie.
    """
    rows: list[Row] = []
    end = time.monotonic() + 60 * (options.minutes or math.inf)
    for number, work in enumerate(works):
        bursts: dict[str, Any] = {}
        limit = 2 * (end - time.monotonic()) / (len(works) - number)  # most works need less than an equal share
        found = measure([work], options, more, checked, bursts=bursts, limit=limit)
        if found[0].doubt and options.rounds >= harness.ENOUGH_ROUNDS and options.minutes is None:
            print(f"{work}: {found[0].doubt}; measured again", file=sys.stderr)
            found = measure([work], options, more, checked, bursts=bursts)
        rows += found
    return rows


def run_functions(options: argparse.Namespace) -> None:
    """All of them go to a file, with the checkout of before if there is one; some are printed only."""
    figures = functions.measure(options.works or list(functions.WORKS), str(options.checkout or ""))
    limits = limits_of(options)
    found = functions.text(figures, ", ".join([report.machine(), *limits]))
    if not options.works:
        name = "_".join(["functions", *limits]).replace(" ", "_")
        (report.RESULTS / f"{name}.md").write_text(found, encoding="utf-8")
    print(found)


def run_gpu(options: argparse.Namespace) -> None:
    """The training steps on a GPU, with 32-bit matrix products and with those of 19 bits (TF32).

    Raises:
        SystemExit: there is no GPU, or one of the libraries cannot use it.
    """
    try:
        to_device(np.zeros(1), options.device)
    except MinigradError as error:
        raise SystemExit(str(error)) from error
    rows: list[Row] = []
    three = (harness.REFERENCE, harness.AGAIN, "minigrad")
    for work in options.works or GPU_WORKS:
        for tf32 in (False, True):
            found = harness.measure(
                work, three, rounds=options.rounds, seconds=options.seconds, device=options.device, tf32=tf32
            )
            for row in found:
                if row.error:
                    raise SystemExit(f"{work}, {row.peer}: {row.error}")
                row.work += ", TF32" if tf32 else ""
            rows += found
    name = re.sub(r"\W+", "_", rows[0].device.lower())
    report.save_works(rows, name=f"gpu_{name}", device=rows[0].device)
    print(f"{rows[0].device}; {report.machine()}\n\n{report.works_table(rows)}\n")


def run_imports(options: argparse.Namespace) -> None:
    found = imports.measure(options.rounds)
    imports.save(found)
    print(f"{report.machine()}\n\n{imports.table(found)}\n")


def run_views(options: argparse.Namespace) -> None:
    found = f"{report.machine()}\n\n{stepper_views.table()}\n"
    (report.RESULTS / "views.md").write_text(found, encoding="utf-8")


def run_looks(options: argparse.Namespace) -> None:
    """All windows go to a file; what some of them show is printed only."""
    found = looks.table(options.windows)
    if len(options.windows) == len(looks.WINDOWS):
        (report.RESULTS / "looks.md").write_text(f"{found}\n", encoding="utf-8")
    print(found)


def run_pages(options: argparse.Namespace) -> None:
    found = f"{report.machine()}\n\n{pages.table()}\n"
    (report.RESULTS / "pages.md").write_text(found, encoding="utf-8")
    print(found)


def run_scaling(options: argparse.Namespace) -> None:
    points = scaling.measure()
    scaling.save(points)
    print(f"{report.machine()}\n\n{scaling.table(points)}\n")


def run_floors(options: argparse.Namespace) -> None:
    """All of them, or some, which are put beside those that are known.

    Raises:
        SystemExit: a peer cannot do a work.
    """
    lines, limits = [], ", ".join(limits_of(options))
    for work in options.works or filter(has_floor, real_table.LINES):
        bursts: dict[str, Any] = {}
        peers = [harness.REFERENCE, harness.AGAIN, "minigrad", harness.FLOOR]
        rows = harness.measure(
            work, peers, rounds=options.rounds, seconds=options.seconds, steps=1, bursts=bursts, clock=options.clock
        )
        if failed := [row for row in rows if row.error]:
            raise SystemExit(f"{work}, {failed[0].peer}: {failed[0].error}")
        lines.append(floors_table.line(work, bursts))
        floors_table.save(lines, options.clock, limits)
    print(f"{floors_table.text(lines, options.clock, limits)}\n")


def run_guard(options: argparse.Namespace) -> None:
    """Raises SystemExit with 1 or 2, see :func:`guard.status`."""
    rows = measure_again_if_doubtful(options.works or guard.WORKS, options)
    verdicts = guard.judge(rows, imports.measure(options.rounds))
    print("\n".join(str(verdict) for verdict in verdicts))
    code = guard.status(verdicts)
    if code == 2:
        print("This run is not trustworthy: run it again when the machine is quiet.")
    sys.exit(code)


def run_compare(options: argparse.Namespace) -> None:
    """Raises SystemExit with 1 if a work is slower than in the other checkout, or could not be compared."""
    works = options.works or compare.WORKS
    found = compare.measure(
        works, options.checkout, rounds=options.rounds, seconds=options.seconds, clock=options.clock
    )
    print(f"{report.machine()}; {options.rounds} rounds of {options.seconds} s\n\n{compare.table(found)}\n")
    sys.exit(any(one.slower or one.error for one in found))


def run_table(options: argparse.Namespace) -> None:
    try:
        report.write_page()
    except ValueError as error:
        raise SystemExit(f"docs/speed.md: {error}") from error


def run_all(options: argparse.Namespace) -> None:
    for run in (run_works, run_real, run_imports, run_scaling, run_floors, run_table):
        run(options)


def run_debug(options: argparse.Namespace) -> None:
    debug.main()


COMMANDS = {
    "works": run_works,
    "real": run_real,
    "written": run_real,
    "functions": run_functions,
    "imports": run_imports,
    "pages": run_pages,
    "views": run_views,
    "looks": run_looks,
    "scaling": run_scaling,
    "floors": run_floors,
    "guard": run_guard,
    "debug": run_debug,
    "compare": run_compare,
    "table": run_table,
    "all": run_all,
}

if __name__ == "__main__":
    main()
