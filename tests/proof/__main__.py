"""``python -m tests.proof compare REVISION`` and ``python -m tests.proof write``; ``--help`` lists the options."""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.house import ROOT
from tests.proof.side import SECTIONS

OUT = ROOT / "out" / "proof"
SIDE = Path(__file__).with_name("side.py")
SAMPLE = 10  # --quick takes one program, case or test in so many
FIXED = {  # what results and texts may depend on
    "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120", "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
}  # fmt: skip


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """Check a revision out into a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="proof-side-") as folder:
        root = Path(folder).resolve() / "side"
        git("worktree", "add", "--detach", str(root), revision)
        try:
            yield root
        finally:
            git("worktree", "remove", "--force", str(root))


def write(root: Path, section: str, folder: Path, share: int) -> float:
    """Write one section of one side, in a process of its own, and return the seconds of the processor that it took.

    Raises:
        RuntimeError: the process failed, or the section has no lines.
    """
    command = [sys.executable, str(SIDE), str(root), section, str(folder), str(share)]
    environment = os.environ | FIXED | {"PYTHONPATH": str(root)}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if done.returncode or not lines(folder):
        raise RuntimeError(f"{section} of {root.name}: {done.stderr[-3000:] or 'no lines'}")
    return float(done.stdout.split()[-1])


def lines(folder: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("*.txt"))


def difference(before: Path, after: Path) -> list[str]:
    """Return a unified diff of two folders."""
    folders = [folder.relative_to(OUT).as_posix() for folder in (before, after)]
    command = ["git", "diff", "--no-index", "--no-color", "--no-ext-diff", "--no-prefix", "-U2", *folders]
    done = subprocess.run(command, cwd=OUT, capture_output=True, check=False)
    return done.stdout.decode("utf-8", "replace").splitlines()


def report(section: str, seconds: Sequence[float], most: int) -> bool:
    """Print what became of a section. Return whether both sides are the same."""
    found = difference(OUT / "before" / section, OUT / "after" / section)
    (OUT / f"{section}.diff").write_text("\n".join(found), encoding="utf-8")
    took = " and ".join(f"{each:.0f} s" for each in seconds)
    changed = sum(line[:1] in "+-" and line[:3] not in ("+++", "---") for line in found)
    said = f"DIFFERENT: {changed:,} lines" if found else f"same: {lines(OUT / 'after' / section):,} lines"
    print(f"{section:10} {said} (CPU {took})", flush=True)
    for line in found[:most]:
        print(f"    {line}")
    if len(found) > most:
        print(f"    ... {len(found) - most:,} more lines in {(OUT / f'{section}.diff').relative_to(ROOT)}")
    return not found


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if both sides are the same, 1 if they differ, 2 if a section failed."""
    parser = argparse.ArgumentParser("python -m tests.proof", description="Compare what two revisions do, as text.")
    parser.add_argument("action", choices=["compare", "write"], help="both sides and their difference, or one side")
    parser.add_argument("revision", nargs="?", help="of git; `write` without it reads the working tree")
    parser.add_argument("--only", action="append", choices=SECTIONS, metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help=f"one program, case or test in {SAMPLE}")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    parser.add_argument("--lines", type=int, default=40, help="lines of each difference to print (default: 40)")
    options = parser.parse_args(arguments)
    if options.action == "compare" and not options.revision:
        parser.error("compare needs a revision, such as HEAD or main")
    chosen = [name for name in SECTIONS if not options.only or name in options.only]
    share = SAMPLE if options.quick else 1
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(worktree(options.revision)) if options.revision else None
        sides = {"before": other, "after": ROOT} if options.action == "compare" else {"after": other or ROOT}
        pool = ThreadPoolExecutor(options.jobs)
        stack.callback(pool.shutdown, cancel_futures=True)  # after Ctrl-C, no further section begins
        running = {
            section: [
                pool.submit(write, root, section, OUT / label / section, share) for label, root in sides.items() if root
            ]
            for section in chosen
        }
        status = 0
        for section, futures in running.items():
            try:
                seconds = [future.result() for future in futures]
            except RuntimeError as error:
                print(f"{section:10} FAILED: {error}", flush=True)
                status = 2
                continue
            if options.action == "write":
                print(f"{section:10} {lines(OUT / 'after' / section):,} lines (CPU {seconds[0]:.0f} s)", flush=True)
            elif not report(section, seconds, options.lines):
                status = max(status, 1)
    return status


if __name__ == "__main__":
    sys.exit(main())
