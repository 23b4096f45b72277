"""``python -m benchmarks debug``: how often ``minigrad debug`` names the cause, on the programs of ``debug_programs/``.

A cause counts as named if one of the first two findings has the kind of the answer and one of its at most two lines lies in a
statement of the answer. A wrong certain cause is a certain finding of another kind that no answer of the program allows.
"""

from __future__ import annotations

import ast
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "debug_programs"
SETS = ("first", "second", "third", "fourth", "fifth", "sixth")  # in the order in which they were written and measured
LIMIT = 120  # seconds for one program
# Programs whose time is measured, made long: what is replaced, and by what.
LONG = {
    "moons_from_scratch": ("range(400)", "range(10000)"),
    "spiral_module": ("range(60)", "range(600)"),
    "rnn_rare_clipping": ("range(400)", "range(3000)"),
    "arithmetic_gpt": ("epoch in range(10)", "epoch in range(80)"),
}

# The kinds of the answers that a finding of a kind names.
KINDS = {
    "nonfinite": ("NaN and inf, forward", "NaN and inf, backward", "overflow before it shows (float32, float16)"),
    "own rule": ("a derivative of one's own with a wrong factor",),
    "broadcast": ("broadcasting that makes (n, 1) - (n,) an (n, n) loss",),
    "no update": ("a loss that does not move",),
    "stale gradients": ("gradients that are never zeroed",),
    "step before backward": ("an optimizer step before backward",),
    "given twice": ("given to the optimizer twice",),
    "mask": ("a mask that hides nothing", "a mask that hides a whole row"),
    "softmax axis": ("a softmax over the wrong axis",),
    "future": ("attention to the future", "a mask that hides nothing"),
    "mean first": ("a mean over predictions before the loss",),
    "cut": (
        "cut off (.data)",
        "cut off (detach)",
        "cut off (a plain array in between)",
        "cut off (an integer conversion)",
    ),
    "no gradient": ("a parameter that never gets a gradient",),
    "zero gradient": ("a gradient that is exactly zero",),
    "dead": ("dead ReLUs",),
    "saturated": ("saturated tanh", "saturated sigmoid", "saturated softmax"),
    "decay": ("weight decay that undoes each step",),
    "clipping": ("clipping that undoes each step",),
    "tied copy": ("tied weights that were copied",),
    "equal weights": ("weights that start equal and stay equal",),
    "not optimized": ("not given to the optimizer",),
    "repeated batch": ("batches that repeat",),
    "changed data": ("a state written in place between batches",),
    "carried state": ("a state carried over between batches",),
    "integers": ("integers where floats were meant",),
    "dropout": ("dropout active in evaluation", "a train/eval switch that was forgotten"),
    "validation": ("a loss that falls on the training set only", "a train/eval switch that was forgotten"),
    "exploding": ("exploding gradients",),
    "vanishing": ("vanishing gradients",),
    "learning rate": ("a loss that oscillates by the learning rate",),
    "slow": ("a loss that does not move",),
}


def programs() -> list[tuple[Path, dict[str, Any]]]:
    """Return every program with its answer, which has only a set if the program is healthy."""
    found = []
    for path in sorted(FOLDER.glob("*/answers.json")):
        answers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found += [(path.with_name(f"{name}.py"), answer) for name, answer in sorted(answers.items())]
    return found


def main(arguments: Sequence[str] = ()) -> int:
    """Run every program of a set (the first if none is named), or those whose names are given, and print the table."""
    of_set = next((a for a in arguments if a in SETS), SETS[0])
    names = [a for a in arguments if a not in SETS]
    chosen = [(file, answer) for file, answer in programs() if answer["set"] == of_set]
    if names:
        chosen = [(file, answer) for file, answer in programs() if file.stem in names]
    named = wrong = total = quiet = most = healthy = 0
    print("| program | kind | named | first findings |\n|---|---|---|---|")
    for file, answer in chosen:
        findings = findings_of(file, causal=answer.get("causal", False))
        shown = ", ".join(f"{f['kind']}{'!' * f['certain']} {f['lines']}" for f in findings[:3])
        if "kind" not in answer:
            healthy, quiet, most = healthy + 1, quiet + (not findings), max(most, len(findings))
            if findings:
                print(f"| {file.stem} | healthy | | {shown} |", flush=True)
            continue
        place = rank(findings, answer, file)
        bad = [f for f in findings if f["certain"] and answer["kind"] not in KINDS.get(f["kind"], ())]
        total, named, wrong = total + 1, named + (place in (1, 2)), wrong + len(bad)
        print(f"| {file.stem} | {answer['kind']} | {place or '-'} | {shown}{' WRONG' if bad else ''} |", flush=True)
    print(f"\nbroken: {named} of {total} named first or second; {wrong} certain findings of another kind")
    print(f"healthy: nothing said about {quiet} of {healthy}; at most {most} findings about one")
    if not names and of_set == SETS[0]:
        print_cost()
    return 0


def findings_of(file: Path, causal: bool = False) -> list[dict[str, Any]]:
    """Return the findings about a program, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.debug", "--worker", str(file), *(["--causal"] if causal else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FINDINGS ")]
    if not lines:
        raise RuntimeError(f"{file.name}: {done.stderr[-2000:]}")
    found: list[dict[str, Any]] = json.loads(lines[-1][9:])
    return found


def rank(findings: Sequence[dict[str, Any]], answer: Any, file: Path) -> int | None:
    """Return the place of the first finding of the answer's kind and lines, from 1; None if there is none."""
    wanted = statements(file, answer["lines"])
    for place, finding in enumerate(findings, 1):
        if answer["kind"] in KINDS.get(finding["kind"], ()) and wanted & set(finding["lines"]):
            return place
    return None


def statements(file: Path, lines: Sequence[int]) -> set[int]:
    """Return the lines of the innermost statements that hold these lines; only its head for a statement with a body."""
    found = set(lines)
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and node.end_lineno is not None:
            own = range(node.lineno, node.end_lineno + 1)
            if any(line in own for line in lines):
                found |= set(own)
    return found


def worker(arguments: Sequence[str]) -> int:
    """Run one program, watched or ``--plain``, and print its findings, seconds and peak memory as JSON."""
    from minigrad.cli.program import Target
    from minigrad.debug.running import debugging

    target = Target.parse(arguments[0])
    watched = debugging(causal="--causal" in arguments, quiet=True)
    with target.surroundings(()), contextlib.nullcontext() if "--plain" in arguments else watched:
        started = time.perf_counter()
        target.execute()
        seconds = time.perf_counter() - started
    found = [{"kind": f.kind, "lines": list(f.lines), "step": f.step, "certain": f.certain} for f in watched.findings]
    print("FINDINGS " + json.dumps(found))
    print("COST " + json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
    return 0


def cost(file: Path, rounds: int = 9) -> list[tuple[float, float]]:
    """Return the least seconds and the least peak memory (MiB) of a program, first without watching, then with it."""
    rows: list[list[list[float]]] = [[], []]
    for _ in range(rounds):
        for row, word in zip(rows, ("--plain", "")):
            command = [sys.executable, "-m", "benchmarks.debug", "--worker", str(file), word]
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=True)
            row.append(json.loads(done.stdout.rpartition("COST ")[2]))
    return [(min(seconds for seconds, _ in row), min(memory for _, memory in row)) for row in rows]


def print_cost() -> None:
    """Print the time and the memory of watching, for programs of several kinds."""
    print("\n| program | seconds | watched | ratio | peak MiB | watched |\n|---|---|---|---|---|---|")
    for name, (short, long) in LONG.items():
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary, f"{name}.py")
            file.write_text((FOLDER / "healthy" / f"{name}.py").read_text().replace(short, long))
            (plain, memory), (watching, more) = cost(file)
        print(
            f"| {name} | {plain:.2f} | {watching:.2f} | {watching / plain:.2f} | {memory:.0f} | {more:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(worker(sys.argv[2:]) if sys.argv[1:2] == ["--worker"] else main(sys.argv[1:]))
