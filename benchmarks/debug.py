"""``python -m benchmarks debug``: how often ``minigrad debug`` names the cause, on the programs of ``debug_programs/``.

A cause counts as named if one of the first two findings has the kind of the answer and one of its at most two lines lies in a
statement of the answer. A false one is a finding that is "shown", and whose kind no answer of the program allows. Without the
names of sets or programs it measures all sets and what the command costs.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "debug_programs"
SETS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
)  # in the order in which they were measured
LIMIT = 900  # seconds for one program, on a machine that does other things, too
# Programs whose time is measured, from 0.3 to 5 s; some are made long: what is replaced, and by what.
COSTS = {
    "bold_learning_rate": ("", ""),
    "moons_from_scratch": ("range(400)", "range(4000)"),
    "spiral_module": ("range(60)", "range(600)"),
    "rnn_rare_clipping": ("range(400)", "range(3000)"),
    "arithmetic_gpt": ("", ""),
    "mushroom_relu": ("", ""),
    "haggling_pair": ("", ""),
}

# The kinds of the answers that a finding of a kind names.
KINDS = {
    "nonfinite": (
        "NaN and inf, forward",
        "NaN and inf, backward",
        "overflow before it shows (float32, float16)",
    ),
    "own rule": ("a derivative of one's own with a wrong factor",),
    "broadcast": ("broadcasting that makes (n, 1) - (n,) an (n, n) loss",),
    "no update": ("a loss that does not move",),
    "rate zero": (
        "a loss that does not move",
        "a schedule that reached 0 at once",
    ),
    "stale gradients": ("gradients that are never zeroed",),
    "mixed gradients": (
        "gradients of another loss left in a tensor",
        "gradients that are never zeroed",
    ),
    "step before backward": ("an optimizer step before backward",),
    "off tape": (
        "an optimizer whose tensors are not on the tape",
        "a loss that does not move",
        "cut off (a plain array in between)",
        "not given to the optimizer",
    ),
    "given twice": ("given to the optimizer twice",),
    "mask": (
        "a mask that hides nothing",
        "a mask that hides a whole row",
    ),
    "softmax axis": ("a softmax over the wrong axis",),
    "softmax twice": ("a softmax of a softmax",),
    "bounded logits": ("bounded logits",),
    "future": (
        "attention to the future",
        "a mask that hides nothing",
        "the target is inside the input",
    ),
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
    "saturated": (
        "saturated tanh",
        "saturated sigmoid",
        "saturated softmax",
    ),
    "decay": (
        "weight decay that undoes each step",
        "weights that shrink together",
    ),
    "clipping": ("clipping that undoes each step",),
    "tied copy": ("tied weights that were copied",),
    "equal weights": (
        "weights that start equal and stay equal",
        "weights that start at zero",
    ),
    "not optimized": ("not given to the optimizer",),
    "repeated batch": ("batches that repeat",),
    "changed data": ("a state written in place between batches",),
    "carried state": ("a state carried over between batches",),
    "integers": (
        "integers where floats were meant",
        "an integer wrap or a lossy cast",
    ),
    "dropout": (
        "dropout active in evaluation",
        "a train/eval switch that was forgotten",
        "dropout or batch statistics active in evaluation",
    ),
    "validation": (
        "a loss that falls on the training set only",
        "a train/eval switch that was forgotten",
    ),
    "exploding": ("exploding gradients",),
    "vanishing": (
        "vanishing gradients",
        "a first layer that hardly moves",
    ),
    "learning rate": (
        "a loss that oscillates by the learning rate",
        "steps along the gradient",
    ),
    "slow": (
        "a loss that does not move",
        "a schedule that reached 0 at once",
    ),
    "leak": ("the target is inside the input",),
    "shift": (
        "targets shifted against the inputs",
        "the target is inside the input",
    ),
    "constant target": (
        "constant targets",
        "batches of sorted rows",
        "another fault of data or objective",
    ),
    "pairs": ("two permutations that do not agree",),
    "own statistics": ("statistics fitted on evaluated rows",),
    "sign": ("another fault of data or objective",),
    "undivided": ("several sweeps for one update, undivided",),
    "padding": ("padding is most of what is averaged",),
    "class weight": ("a class weighted the wrong way",),
    "unbounded": ("a loss unbounded below",),
    "state inf": ("Adam's second moment is infinite",),
}


def programs() -> list[tuple[Path, dict[str, Any]]]:
    """Return every program with its answer, which has only a set if the program is healthy."""
    found = []
    for path in sorted(FOLDER.glob("*/answers.json")):
        answers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        found += [(path.with_name(f"{name}.py"), answer) for name, answer in sorted(answers.items())]
    return found


def main(arguments: Sequence[str] = ()) -> int:
    """Measure sets, or the programs whose names are given, and print the tables; all sets and the cost without arguments."""
    names = [a for a in arguments if a not in SETS]
    sets = [a for a in arguments if a in SETS] or ([] if names else [*SETS])
    found = [(file, answer) for file, answer in programs() if answer["set"] in sets or file.stem in names]
    rows = []
    print("| set | program | kind | place | first findings |\n|---|---|---|---|---|")
    with ThreadPoolExecutor(2) as pool:
        asked = pool.map(lambda one: findings_of(one[0], causal=one[1].get("causal", False)), found)
        for (file, answer), findings in zip(found, asked):
            shown = ", ".join(f"{f['kind']} ({f['grade']}) {f['lines']}" for f in findings[:3])
            place = rank(findings, answer, file) if "kind" in answer else None
            false = [
                f for f in findings if f["grade"] == "shown" and answer.get("kind") not in KINDS.get(f["kind"], ())
            ]
            rows.append((answer["set"], "kind" in answer, place, len(false), len(findings)))
            if findings or "kind" in answer:
                kind = answer.get("kind", "healthy")
                print(
                    f"| {answer['set']} | {file.stem} | {kind} | {place or '-'} | {shown}{' FALSE' * bool(false)} |",
                    flush=True,
                )
    print("\n| set | named first or second | shown and false | healthy programs with a remark |\n|---|---|---|---|")
    for name in [name for name in SETS if any(row[0] == name for row in rows)]:
        broken = [row for row in rows if row[0] == name and row[1]]
        healthy = [row for row in rows if row[0] == name and not row[1]]
        named, wrong = sum(row[2] in (1, 2) for row in broken), sum(row[3] for row in broken + healthy)
        remarks = sum(row[4] > 0 for row in healthy)
        print(f"| {name} | {named} of {len(broken)} | {wrong} | {remarks} of {len(healthy)} |")
    if not arguments:
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
    """Run one program, and print its findings as JSON."""
    from minigrad.cli.program import Target
    from minigrad.debug.running import debugging

    target = Target.parse(arguments[0])
    watched = debugging(causal="--causal" in arguments, quiet=True)
    with target.surroundings(()), watched:
        target.execute()
    said = [{"kind": f.kind, "lines": f.lines, "step": f.step, "grade": f.grade} for f in watched.findings]
    print("FINDINGS " + json.dumps(said))
    return 0


def cost(command: Sequence[str], folder: str, rounds: int = 3) -> tuple[float, float]:
    """Return the least CPU seconds of a command, and its peak memory in MiB: of all of it, from its start to its end."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], capture_output=True);"
        "u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime, u.ru_maxrss / 1024)"
    )
    rows = []
    for _ in range(rounds + 1):  # the first writes the bytecode
        words = [sys.executable, "-c", code, *command]
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=LIMIT, check=True, cwd=folder, env=_users()
        )
        rows.append(tuple(map(float, done.stdout.split())))
    return min(seconds for seconds, _ in rows[1:]), min(memory for _, memory in rows[1:])


def _users() -> dict[str, str]:
    """Return the environment of a user, whose Python keeps its bytecode."""
    root = str(FOLDER.parents[1])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": root, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def print_cost() -> None:
    """Print the time and the memory of the whole command beside the plain run."""
    print(
        "\n| program | CPU seconds | minigrad debug | at most | peak MiB | minigrad debug |\n|---|---|---|---|---|---|"
    )
    for name, (short, long) in COSTS.items():
        with tempfile.TemporaryDirectory() as temporary:
            file = Path(temporary, f"{name}.py")
            file.write_text((FOLDER / "healthy" / f"{name}.py").read_text().replace(short or "\0", long))
            plain, memory = cost([sys.executable, str(file)], temporary)
            watching, more = cost([sys.executable, "-m", "minigrad", "debug", str(file)], temporary)
        limit = 1.35 * plain + 0.3
        print(f"| {name} | {plain:.2f} | {watching:.2f} | {limit:.2f} | {memory:.0f} | {more:.0f} |", flush=True)


if __name__ == "__main__":
    sys.exit(worker(sys.argv[2:]) if sys.argv[1:2] == ["--worker"] else main(sys.argv[1:]))
