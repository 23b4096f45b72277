"""``minigrad learn``: copies the exercises into a folder, checks answers, gives hints, and shows where a learner is."""

from __future__ import annotations

import argparse
import csv
import json
import secrets
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from minigrad.cli.options import file_to_write
from minigrad.errors import ArgumentError

from .checker import Job, Verdict, check
from .page import write_page
from .report import next_task, overview, report, solution_of, untouched, upcoming
from .tasks import LANGUAGES, Task, find, say, tasks

STATE = "learn.json"
RIGHT, WRONG = 0, 1
# The columns of the table that `score --csv` writes
COLUMNS = ["learner", "seed", "task", "state", "right", "questions", "attempts", "hints"]


@dataclass
class Progress:
    """What ``learn.json`` in the learner's folder holds."""

    seed: int
    language: str
    passed: list[str]
    hints: dict[str, int]  # how many have been given
    attempts: dict[str, int]  # how often `check` or `watch` has checked a task

    @classmethod
    def load(cls, folder: Path) -> Progress:
        path = folder / STATE
        if not path.is_file():
            raise ArgumentError(
                f"'{folder}' holds no exercises: `minigrad learn init FOLDER` copies them, and the rest is run in there"
            )
        try:
            found = cls(**json.loads(path.read_text(encoding="utf-8")))
            whole = isinstance(found.seed, int) and found.seed >= 0 and found.language in LANGUAGES
            whole = whole and all(isinstance(label, str) for label in found.passed)
            whole = whole and all(isinstance(count, int) for count in (*found.hints.values(), *found.attempts.values()))
        except (ValueError, TypeError, AttributeError):
            whole = False
        if not whole:
            raise ArgumentError(f"'{path}' cannot be read: delete it and run `minigrad learn init {folder}` again")
        return found

    def save(self, folder: Path) -> None:
        new = folder / f"{STATE}.new"  # never half a file
        new.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")
        new.replace(folder / STATE)


def add_to(commands: Any) -> None:
    """Add ``learn`` and its own commands to those of ``minigrad``."""
    learn = commands.add_parser("learn", help="thirty-seven exercises, from nudging a number to a Transformer")
    language: dict[str, Any] = {"choices": LANGUAGES, "help": "of the tasks and messages (default: as before)"}
    learn.add_argument("--language", **language)
    learn.add_argument("--folder", type=Path, default=Path(), help="where the exercises are (default: here)")
    learn.set_defaults(learn=_where)
    parts = learn.add_subparsers(title="commands", metavar="COMMAND")

    def part(name: str, run: Any, what: str) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = parts.add_parser(name, help=what, description=f"{what.capitalize()}.")
        added.add_argument("--language", default=argparse.SUPPRESS, **language)
        added.set_defaults(learn=run)
        return added

    init = part("init", _init, "copy the exercises into a folder; nothing is overwritten")
    init.add_argument("folder", type=Path, metavar="FOLDER")
    init.add_argument("--seed", type=int, help="what the numbers of the questions are made from (default: by chance)")
    one = part("check", _check, "check answers: of the tasks named, or of the next one")
    one.add_argument("tasks", nargs="*", metavar="TASK", help="5.2, or the name of its file")
    part("hint", _hint, "a hint, each time one more").add_argument("task", nargs="?", metavar="TASK")
    watch = part("watch", _watch, "check each file when it is saved")
    for command in (one, watch):
        command.add_argument(
            "--no-page", dest="page", action="store_false", help="write no page of the answer into pages/"
        )
    score = part("score", _score, "check all answers and count")
    score.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="of these learners (default: here)")
    score.add_argument("--json", action="store_true", help="print JSON, of one folder")
    table = "write a table with a row for each learner and task"
    score.add_argument("--csv", type=file_to_write(".csv"), metavar="PATH", help=table)


def run(options: argparse.Namespace) -> int:
    """Run the command that was parsed. Returns the exit status."""
    if getattr(options, "seed", None) is not None and options.seed < 0:
        raise ArgumentError(f"--seed must be 0 or more, got {options.seed}")
    status: int = options.learn(options)
    return status


def _open(options: argparse.Namespace, folder: Path | None = None) -> Progress:
    progress = Progress.load(folder or options.folder)
    if options.language:
        progress.language = options.language
    return progress


def _init(options: argparse.Namespace) -> int:
    folder: Path = options.folder
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"'{folder}' is a file: name a folder, which is made if there is none")
    folder.mkdir(parents=True, exist_ok=True)
    fresh = not (folder / STATE).exists()
    seed = secrets.randbelow(10**9) if options.seed is None else options.seed
    progress = Progress(seed, options.language or "en", [], {}, {}) if fresh else _open(options)
    copied = 0
    for one in tasks():
        if not (folder / one.file).exists():
            (folder / one.file).write_text(one.text(progress.language), encoding="utf-8")
            copied += 1
    progress.save(folder)
    print(say(progress.language, "copied", folder=folder, count=copied))
    if copied < len(tasks()):
        print(say(progress.language, "kept", kept=len(tasks()) - copied))
    first = upcoming(set(progress.passed))
    if first:
        print(say(progress.language, "start", file=folder / first.file, folder=folder.resolve(), label=first.label))
    return RIGHT


def _where(options: argparse.Namespace) -> int:
    progress = _open(options)
    progress.save(options.folder)
    print(overview(set(progress.passed), progress.language))
    return RIGHT


def _check(options: argparse.Namespace) -> int:
    progress = _open(options)
    next_one = upcoming(set(progress.passed))
    wanted = [find(label) for label in options.tasks] or ([next_one] if next_one else [])
    verdicts = _checked(options.folder, progress, wanted)
    for verdict in verdicts:
        _tell(verdict, progress.language, options.page)
    if all(verdict.passed for verdict in verdicts):
        print(*next_task(set(progress.passed), progress.language), sep="\n")
        return RIGHT
    return WRONG


def _tell(verdict: Verdict, language: str, page: bool) -> None:
    print(report(verdict, language), flush=True)
    more = solution_of(verdict, language) if verdict.passed else write_page(verdict, language) if page else None
    if more:
        print(f"\n{more}", flush=True)


def _checked(folder: Path, progress: Progress, wanted: list[Task], *, counted: bool = True) -> list[Verdict]:
    """Check, and keep what was passed. The file is written anew, whatever an answer did to it."""
    for one in wanted:
        if not (folder / one.file).is_file():
            raise ArgumentError(f"'{folder / one.file}' is missing: `minigrad learn init {folder}` puts it back")
    verdicts = check([Job(one, folder / one.file, progress.seed) for one in wanted])
    passed = {*progress.passed, *(v.task.label for v in verdicts if v.passed)}
    passed -= {v.task.label for v in verdicts if not v.passed}
    progress.passed = [one.label for one in tasks() if one.label in passed]
    for one in wanted if counted else []:
        progress.attempts[one.label] = progress.attempts.get(one.label, 0) + 1
    progress.save(folder)
    return verdicts


def _hint(options: argparse.Namespace) -> int:
    progress = _open(options)
    one = find(options.task) if options.task else upcoming(set(progress.passed))
    if one is None:
        print(*next_task(set(progress.passed), progress.language), sep="\n")
        return RIGHT
    told = one.words(progress.language)
    hints = [told["first"], *told["hints"]]
    given = progress.hints.get(one.label, 0) % len(hints)  # after the last the first again
    progress.hints[one.label] = given + 1
    progress.save(options.folder)
    print(say(progress.language, "hint", number=given + 1, total=len(hints), label=one.label, hint=hints[given]))
    return RIGHT


def _watch(options: argparse.Namespace) -> int:
    progress = _open(options)
    seen = _saved(options.folder)
    print(say(progress.language, "watching", folder=options.folder.resolve()), flush=True)
    while True:  # Ctrl-C is caught where every command's is
        time.sleep(0.3)
        now = _saved(options.folder)
        for file in [file for file in now if now[file] != seen.get(file)]:
            progress = _open(options)  # a `hint` in another terminal counts, too
            (verdict,) = _checked(options.folder, progress, [find(file)])
            print()
            _tell(verdict, progress.language, options.page)
            if verdict.passed:
                print(*next_task(set(progress.passed), progress.language), sep="\n", flush=True)
        seen = now


def _saved(folder: Path) -> dict[str, int]:
    return {one.file: (folder / one.file).stat().st_mtime_ns for one in tasks() if (folder / one.file).exists()}


def _score(options: argparse.Namespace) -> int:
    folders: list[Path] = options.folders or [options.folder]
    if options.json and len(folders) > 1:
        raise ArgumentError(f"--json is the score of one folder, got {len(folders)} folders: --csv takes several")
    learners = [(folder, _open(options, folder)) for folder in folders]  # all are read before the first is checked
    table: list[dict[str, Any]] = []
    for folder, progress in learners:
        rows, name = _rows(folder, progress), folder.resolve().name
        about = {"learner": name, "seed": progress.seed}
        table += [{**about, "task": label, "state": row["wrong"] or "passed", **row} for label, row in rows.items()]
        if options.json:
            passed = sum(row["passed"] for row in rows.values())
            print(
                json.dumps(
                    {"learner": name, "seed": progress.seed, "passed": passed, "of": len(rows), "tasks": rows}, indent=1
                )
            )
        elif not options.csv:
            print(f"{name}:\n" * (len(folders) > 1) + overview(set(progress.passed), progress.language))
    if options.csv:
        with options.csv.open("w", encoding="utf-8-sig", newline="") as file:  # spreadsheets know UTF-8 by this mark
            writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
            writer.writeheader()
            writer.writerows(table)
        if not options.json:  # what is printed is JSON alone
            print(say(progress.language, "table", file=options.csv, rows=len(table)))
    return RIGHT


def _code(verdict: Verdict) -> str | None:
    """The kind of mistake, for a table: whether a line is known, or it is a single NaN, stands in the report alone."""
    return verdict.finding.kind.removesuffix("_at").removesuffix("_scalar") if verdict.finding else None


def _rows(folder: Path, progress: Progress) -> dict[str, dict[str, Any]]:
    """Check all answers. Return what is known of each task, by its label."""
    there = [one for one in tasks() if (folder / one.file).is_file()]
    verdicts = {v.task.label: v for v in _checked(folder, progress, there, counted=False)}
    rows: dict[str, dict[str, Any]] = {}
    for one in tasks():
        verdict = verdicts.get(one.label)
        wrong = "file" if verdict is None else "untouched" if untouched(verdict) else _code(verdict)
        right, total = (verdict.right, verdict.total) if verdict else (0, len(one.questions(progress.seed)))
        rows[one.label] = {"passed": wrong is None, "right": right, "questions": total, "wrong": wrong}
        attempts, hints = (counts.get(one.label, 0) for counts in (progress.attempts, progress.hints))
        rows[one.label] |= {"attempts": attempts, "hints": hints}
    return rows
