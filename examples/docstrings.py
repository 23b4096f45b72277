"""Sentences with a topic, from what every Python brings along: the documentation inside its standard library.

A sentence is the first of the docstring of a public class, method or function; its label is the topic of the module that it
stands in (`TOPICS`). The validation part is made of *whole modules*: whoever has read about `smtplib` and `socket` is asked
about `imaplib`, whose words he has not seen. Which sentences there are depends a little on the version of Python.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from text_data import TextDataset

TOPICS = {
    "concurrency": (
        "asyncio.base_events asyncio.events asyncio.locks asyncio.queues asyncio.tasks concurrent.futures "
        "multiprocessing.context multiprocessing.managers multiprocessing.pool queue sched subprocess threading"
    ),
    "dates and times": "calendar datetime time zoneinfo",
    "files": "bz2 filecmp fileinput fnmatch glob gzip lzma os.path pathlib shutil tarfile tempfile zipfile",
    "internet": (
        "email.message email.utils ftplib http.client http.cookiejar http.server imaplib ipaddress poplib smtplib socket "
        "socketserver ssl urllib.parse urllib.request urllib.robotparser xmlrpc.client xmlrpc.server"
    ),
    "mathematics": "cmath decimal fractions math numbers random statistics",
    "programs": "ast bdb dis inspect pdb symtable tokenize trace traceback tracemalloc",
    "testing": "doctest unittest.case unittest.loader unittest.mock unittest.result unittest.runner unittest.suite",
    "text": "codecs difflib gettext html locale re shlex string textwrap unicodedata",
}
_WORDS = range(4, 41)  # how many a sentence may have


def load_docstrings(*, validation_fraction: float = 0.25, seed: int = 0) -> TextDataset:
    """The sentences in two parts, no module in both; about `validation_fraction` of each topic is for validation."""
    rng = np.random.default_rng(seed)
    by_module = _sentences()
    parts: dict[bool, list[tuple[str, int]]] = {False: [], True: []}
    for label, topic in enumerate(TOPICS):
        modules = [name for name in TOPICS[topic].split() if name in by_module]
        total = sum(len(by_module[name]) for name in modules)
        missing = validation_fraction * total
        for i in rng.permutation(len(modules)):
            rows = by_module[modules[i]]
            chosen = (
                missing > 0 and len(rows) <= missing + validation_fraction * total
            )  # not the one that is half the topic
            missing -= len(rows) * chosen
            parts[chosen] += [(sentence, label) for sentence in rows]
    (train_texts, train_labels), (validation_texts, validation_labels) = (zip(*parts[part]) for part in (False, True))
    return TextDataset(
        list(train_texts), np.array(train_labels), list(validation_texts), np.array(validation_labels), list(TOPICS)
    )


def _sentences() -> dict[str, list[str]]:
    """By module. What two topics say in the same words has no right answer and is left out; so are repetitions."""
    topics = defaultdict(set)
    first_module: dict[str, str] = {}
    for topic, names in TOPICS.items():
        for name in names.split():
            for sentence in _sentences_of(importlib.import_module(name)):
                topics[sentence].add(topic)
                first_module.setdefault(sentence, name)
    by_module = defaultdict(list)
    for sentence, module in first_module.items():
        if len(topics[sentence]) == 1:
            by_module[module].append(sentence)
    return dict(by_module)


def _sentences_of(module: ModuleType) -> Iterator[str]:
    for thing in _documented(module):
        text = thing.__doc__
        if isinstance(text, str):
            sentence = " ".join(re.split(r"\n\s*\n|(?<=\.)\s", inspect.cleandoc(text))[0].split())
            if len(sentence.split()) in _WORDS:
                yield sentence


def _documented(module: ModuleType) -> Iterator[Any]:
    """The public functions and classes of a module, and the methods and properties of the classes."""
    package = module.__name__.partition(".")[0]
    for name, thing in sorted(vars(module).items()):
        origin = str(getattr(thing, "__module__", None) or package).partition(".")[0].lstrip("_")
        if name.startswith("_") or not callable(thing) or origin not in (package, "posixpath", "ntpath", "genericpath"):
            continue  # what it imported from elsewhere
        yield thing
        if inspect.isclass(thing):
            for member, inner in sorted(vars(thing).items()):
                if not member.startswith("_") and (callable(inner) or isinstance(inner, property)):
                    yield inner
