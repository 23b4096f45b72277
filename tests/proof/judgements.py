"""Sections about what minigrad says of programs with a mistake: those of users, and the answers of learners."""

import dataclasses
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.proof.interface import Texts
from tests.proof.side import Side, digest, failed, held

LIMIT = 300  # seconds for one program: ten times what a slow one takes on a busy machine


def records(value: Any, outer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the innermost dicts of nested data, each with the plain fields of the dicts around it and its ``key`` there."""
    if isinstance(value, list):
        for item in value:
            yield from records(item, outer)
    elif isinstance(value, dict):
        own = outer | {name: item for name, item in value.items() if not isinstance(item, dict | list)}
        inner = {name: item for name, item in value.items() if isinstance(item, dict | list)}
        found = [record for name, item in inner.items() for record in records(item, own | {"key": name})]
        yield from found or [own]


def data_files(folder: Path) -> Iterator[tuple[Path, Any]]:
    """Yield the TOML and JSON files below a folder, with what they hold."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".toml", ".json"):
            text = path.read_text(encoding="utf-8")
            yield path, tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def findings(side: Side) -> Texts:
    """What ``minigrad debug`` prints for each debugging program. The key is a hash of its text."""
    folder = side.root / "benchmarks" / "debug_programs"
    causal = {
        (path.parent, record["key"])
        for path, data in data_files(folder)
        for record in records(data, {"key": path.stem})
        if record.get("causal")
    }
    files = {digest(path.read_bytes()): path for path in folder.rglob("*.py")}
    for key, file in sorted(files.items()):
        if side.takes(key):
            marked = not causal.isdisjoint({(file.parent, file.stem), (file.parent.parent, file.stem)})
            yield "findings", [f"--- {key}", debugged(side, file, ["--causal"] if marked else [])]


def debugged(side: Side, file: Path, options: list[str]) -> str:
    """Run a copy of a program, which always has the same name, in a folder of its own."""
    folder = side.scratch / file.stem
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_bytes(file.read_bytes())
    command = [sys.executable, "-W", "ignore", "-m", "minigrad", "debug", "--no-page", *options, "program.py"]
    environment = os.environ | {"PYTHONPATH": str(side.root)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    last = "" if done.stdout else done.stderr[-2000:]
    return f"{' '.join(options)} status {done.returncode}\n{done.stdout}{last}"


def stored_answers(side: Side) -> Iterator[tuple[str, str]]:
    """Yield the label of the task and the code of each answer: in a record, or in the file that a record names."""
    for folder in sorted({path.parent for path in side.test_files("*answers*") if path.is_dir()}):
        for path, data in data_files(folder):
            for record in records(data, {"task": ".".join(re.findall(r"\d+", path.stem)[:2])}):
                if "code" in record:
                    yield str(record["task"]), record["code"]
                elif "file" in record and "\n" not in record["file"]:  # else it is a file's text
                    yield str(record["task"]), (path.parent / record["file"]).read_text(encoding="utf-8")


def answers(side: Side) -> Texts:
    """Verdict, name of the mistake and report, in both languages, for each stored answer of a learner."""
    job, check = held("minigrad.learn", "Job"), held("minigrad.learn", "check")
    find, report = held("minigrad.learn", "find"), held("minigrad.learn", "report")
    name_of = held("minigrad.learn", "name_of")
    keyed = {f"{task} {digest(code)}": (task, code) for task, code in stored_answers(side)}
    jobs = {}
    for key, (task, code) in sorted(keyed.items()):
        if side.takes(key):
            file = side.scratch / key.replace(" ", "_") / "answer.py"
            file.parent.mkdir()
            file.write_text(code, encoding="utf-8")
            jobs[key] = job(find(task), file, 7)
    for key, verdict in zip(jobs, check(list(jobs.values()), seconds=LIMIT), strict=True):
        verdict = dataclasses.replace(verdict, printed="")  # it is what all answers in a process have printed
        yield "answers", [f"--- {key}", f"right {verdict.right} of {verdict.total}"]
        for said in (lambda v: f"name {name_of(v).name}", lambda v: report(v, "en"), lambda v: report(v, "ja")):
            try:
                yield "answers", [said(verdict)]
            except Exception as error:
                yield "answers", [failed(error)]
