"""The stepper page of an answer that is wrong: the learner's own program, opened where the answer went wrong.

A gradient is shown on the program whose backward pass it is: the forward part of the learner's file where that runs on
Tensors and comes to the right value, else the task's own (``Case.forward``), and the page says whose. Any other value is shown
on the learner's program. The learner's file runs in a process of its own, as in a check. Where no page makes sense, or anything
goes wrong on the way to one, there is none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .checker import SECONDS, Verdict, ask
from .compare import number
from .data import decode, encode, part_of
from .diagnosis import place_of
from .programs import draw
from .report import untouched
from .tasks import LANGUAGES, named, say

KINDS = ("scalar", "places", "nowhere", "shape", "nan", "nan_scalar")
MOST_NUMBERS = 6
MARK = "<!-- minigrad learn: the page of an answer, written anew by each check -->\n"


def write_page(verdict: Verdict, language: str) -> str | None:
    """Write the page into ``pages/`` beside the learner's file. Returns the line that names it, or None if there is none."""
    try:
        path = verdict.path.absolute().parent / "pages" / f"{verdict.path.stem}.html"
        found = next(_drawn(verdict, language), None)
        if found is None:
            return None
        if path.is_symlink() or (path.exists() and not path.read_bytes().endswith(MARK.encode())):
            return say(language, "page_kept", path=path)
        path.parent.mkdir(exist_ok=True)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        new.write_text(found["html"] + MARK, encoding="utf-8")
        new.replace(path)  # never half a page
        return say(language, f"page_{found['whose']}", uri=f"{path.as_uri()}#step={found['step']}")
    except Exception:  # a check must come to its end whatever the learner's objects, the disk or the page do
        return None


def _drawn(verdict: Verdict, language: str) -> Iterator[dict[str, Any]]:
    """The pages that there could be, the best first: that of the learner's program, that of the task's."""
    case, finding = verdict.case, verdict.finding
    if case is None or finding is None or finding.kind not in KINDS or untouched(verdict):
        return
    part: str = finding.facts["name"]
    place = case.place(part)
    leaf = None if place is None else place.removeprefix("gradient of ")
    about = {"at": place or "backward", "leaf": leaf, "language": language, "seed": encode(case.inputs.get("g"))}
    about["fixed"] = case.fixed
    if place is None or (case.names and case.place(case.names[0]) is None):  # the answer begins with the value
        inputs = {name: encode(value) for name, value in case.inputs.items()}
        at = _index(verdict.got, finding.facts) if place is None else [0]
        end = "result" if place is None else case.names[0]
        own = {"program": case.program, "inputs": inputs, "part": at, "file": "<check>", "end": end}
        job = {"path": str(verdict.path.resolve()), "names": [], "cases": []}
        answer = ask({**job, "page": about | own | {"lesson": _lesson(verdict, "own", place)}}, SECONDS)
        page = answer.get("values", [None])[0]
        if page and _is_right(page, verdict, part, place, at):
            yield page | {"whose": "own"}
    if place is not None and case.forward:
        given = {"program": f"{case.forward}\n{case.end}", "inputs": {n: encode(v) for n, v in case.given().items()}}
        given |= {"part": [], "end": case.end, "file": say(language, "page_file", label=verdict.task.label)}
        yield draw({}, about | given | {"lesson": _lesson(verdict, "given", place)}) | {"whose": "given"}


def _index(got: Any, facts: dict[str, Any]) -> list[Any]:
    """Where in the learner's result the part is; of a list of numbers, where in it the first wrong one is."""
    found: list[Any] = facts.get("part", [])
    if isinstance(part_of(got, found), list) and "at" in facts:
        found = [*found, *map(int, re.findall(r"\d+", facts["at"]))]
    return found


def _is_right(page: dict[str, Any], verdict: Verdict, part: str, place: str | None, at: list[int]) -> bool:
    """Whether a value on the page is the one that the check got, a gradient and its program's value those that it expects."""
    case, end = verdict.case, decode(page["end"])
    assert case is not None
    if place is None:
        return bool(np.allclose(end, part_of(verdict.got, at), rtol=1e-9, equal_nan=True))
    pairs = [(end, case.expected[0])]
    if page["gradient"] is not None:
        pairs.append((decode(page["gradient"]), case.expected[case.names.index(part)]))
    same = all(np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-6, atol=1e-9) for a, b in pairs)
    return same and len(pairs) == 1 + place.startswith("gradient")


# What is said on it


def _lesson(verdict: Verdict, whose: str, place: str | None) -> dict[str, Any]:
    """The texts of the page, in all languages."""
    facts = {"label": verdict.task.label, "file": verdict.path.name}
    texts: dict[str, dict[str, str]] = {"title": {}, "intro": {}, "text": {}}
    for language in LANGUAGES:
        facts["title"] = verdict.task.words(language)["title"]
        texts["title"][language] = say(language, f"page_title_{whose}", **facts)
        texts["intro"][language] = say(language, f"page_intro_{whose}", **facts)
        if place is not None and verdict.case and "g" in verdict.case.given():
            texts["intro"][language] += say(language, "page_seed")
        key = "page_value" if place is None else "page_way" if place.startswith("backward") else "page_gradient"
        texts["text"][language] = say(language, key, **_numbers(verdict, language))
    steps = [{"at": place or "backward", "text": texts.pop("text"), "stop": True}]
    if place is not None and (mistakes := {language: place_of(verdict, language) for language in LANGUAGES})["en"]:
        named_text = {x: f"{said[1]}\n\n{say(x, 'page_mistake', **_numbers(verdict, x))}"
                      for x, said in mistakes.items() if said}  # fmt: skip
        steps.insert(0, {"at": mistakes["en"][0], "text": named_text, "stop": True})
    return {**texts, "steps": steps}


def _numbers(verdict: Verdict, language: str) -> dict[str, str]:
    """What the learner gave and what is right: the whole of small arrays, of others one place, or the shapes."""
    assert verdict.finding is not None and verdict.case is not None
    facts, part = verdict.finding.facts, verdict.finding.facts["name"]
    what = named(part, language) or say(language, "page_result")
    what = what.replace("gradient of", "Gradient of")
    index = _index(verdict.got, facts)
    got, want = (np.asarray(part_of(value, index)) for value in (verdict.got, verdict.case.expected))
    if verdict.finding.kind == "shape":
        return {"what": say(language, "page_shape", what=what), "got": facts["got"], "want": facts["want"]}
    texts = [np.array2string(x, separator=", ", formatter={"float_kind": number}) for x in (got, want)]
    if got.size <= MOST_NUMBERS and texts[0] != texts[1] and not isinstance(verdict.got, list):
        return {"what": what, **{key: " ".join(text.split()) for key, text in zip(("got", "want"), texts)}}
    return {"what": f"{what} {facts['at']}", "got": facts["got"], "want": facts["want"]}
