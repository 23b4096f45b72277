"""The site of docs/: its configuration loads, every public name and page is on it, and what it includes exists.

The build itself is `make docs`, which takes longer than a test may; what needs Sphinx is skipped where it is not installed.
"""

import ast
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad
from docs import (
    site_docstrings,
    site_examples,
    site_front,
    site_language,
    site_lessons,
    site_links,
    site_pages,
    site_sources,
)
from minigrad import _other_names
from minigrad.learn.tasks import tasks

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [page for folder in ("", "design", "ja") for page in sorted((DOCS / folder).glob("*.md"))]


def test_the_configuration_loads() -> None:
    conf = runpy.run_path(str(DOCS / "conf.py"))
    assert conf["project"] == "minigrad" and callable(conf["setup"])
    assert conf["version"] == minigrad.__version__
    assert not [name for name in conf["extensions"] if "mathjax" in name or "intersphinx" in name]  # no network
    assert all((DOCS / name).is_file() for name in conf["html_static_path"])


# --- the reference ---


def test_every_public_name_is_documented_once() -> None:
    directive = re.compile(r"^\.\. auto(?:class|function|exception|module):: ([\w.]+)$", re.MULTILINE)
    found = [name for text in site_pages.reference().values() for name in directive.findall(text)]
    assert sorted(found) == sorted(site_pages.public()), "name each once in GROUPS of docs/site_pages.py"
    assert len(found) > 150


def test_the_contents_of_the_reference_link_to_every_name_and_page() -> None:
    index = site_pages.reference()["index"]
    assert set(re.findall(r"<([\w.]+\.\w+)>", index)) == set(site_pages.public())
    assert set(re.findall(r"^   ([\w-]+)$", index, re.MULTILINE)) == set(site_pages.GROUPS)


def test_what_tensor_has_from_numpy_is_named() -> None:
    page = site_pages.reference()["tensor"]
    (sentence,) = (line for line in page.splitlines() if line.startswith("As NumPy's arrays"))
    assert {"sum", "mean", "reshape", "shape"} <= set(re.findall(r"``(\w+)``", sentence))


def test_pages_are_stored_only_where_they_changed(tmp_path: Path) -> None:
    site_pages.store(tmp_path, {"a.rst": "a", "b.rst": "b"})
    before = (tmp_path / "a.rst").stat().st_mtime_ns
    site_pages.store(tmp_path, {"a.rst": "a", "c.rst": "c"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.rst", "c.rst"]
    assert (tmp_path / "a.rst").stat().st_mtime_ns == before


@pytest.mark.parametrize("name", site_pages.public())
def test_a_public_name_has_a_docstring(name: str) -> None:
    """A dataclass without one gets its signature from Python."""
    value = site_pages.public()[name]
    assert value.__doc__
    assert not (isinstance(value, type) and value.__doc__.startswith(f"{value.__name__}("))


def test_every_public_name_has_a_source_to_show() -> None:
    """Where it is declared by another name, that one is a function at the top of the module."""
    found = site_sources.otherwise_called()
    assert found["minigrad.graph.drawing"] == {"make_dot": "draw_dot"}
    primitives = {name for name, value in site_pages.public().items() if isinstance(value, minigrad.Primitive)}
    assert {f"minigrad.{name}" for names in found.values() for name in names} == primitives | {"minigrad.make_dot"}
    for module, names in found.items():
        text = ROOT.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")
        assert set(names.values()) <= set(definitions(ast.parse(text)))


def test_every_name_of_others_is_in_the_table() -> None:
    text = site_pages.other_names()
    found = set(re.findall(r"`(\w+\.\w+)`", "\n".join(line.split(" | ")[0] for line in text.splitlines())))
    tables = {
        "mg": _other_names.MINIGRAD,
        "nn": _other_names.NN,
        "F": _other_names.FUNCTIONAL,
        "models": _other_names.MODELS,
    }
    assert found == {f"{package}.{name}" for package, table in tables.items() for name in table}
    assert "{name}" not in text and "| `nn.ModuleList`, `nn.ParameterList` | a list" in text


# --- docstrings ---


def test_a_section_of_a_docstring_becomes_a_list_with_its_sentences() -> None:
    lines = [
        "Args:",
        "    a: b.",
        "",
        "Calling it:",
        "    x, y: two",
        "        lines::",
        "",
        "            code",
        "",
        "    The result.",
    ]
    assert site_docstrings.opened([*lines, "", "Raises:", "    E: if."]) == [
        "Args:", "    a: b.", "", ".. rubric:: Calling it", "", "", "* ``x``, ``y``: two", "  lines::", "", "      code",
        "", "The result.", "", "Raises:", "    E: if.",
    ]  # fmt: skip


# --- pages ---


def test_every_page_has_a_part() -> None:
    parts = site_pages.parts()
    pages = [page for names in parts.values() for page in names if page != "reference/index"]
    assert sorted(pages) == sorted(
        name for path in PAGES if (name := path.relative_to(DOCS).with_suffix("").as_posix()) != "index"
    )
    assert list(parts) == ["Start", "Course", "How-to", "Explanation", "Reference", *site_pages.JAPANESE]
    assert all(page in site_pages.toctrees() for page in pages)


def test_a_page_of_the_repository_is_no_page_of_the_site() -> None:
    assert site_pages.opened("views", "[a](../benchmarks/README.md)") == "[a](path:../benchmarks/README.md)"
    assert site_pages.opened("course/ja/01_a", "[English](../01_a.md)") == "[English](../01_a.md)"


def test_a_new_page_is_a_how_to(tmp_path: Path) -> None:
    for name in ("index", "start", "new-page", "contribute"):
        (tmp_path / f"{name}.md").touch()
    parts = site_pages.parts(tmp_path)
    assert parts["How-to"] == ["new-page", "contribute"] and parts["Start"] == ["start"]


def test_a_comment_opens_on_the_site_alone() -> None:
    text = "a\n\n<!-- site\n```{include} x\n```\n-->\n\n<!-- another -->"
    assert site_pages.opened("page", text) == "a\n\n```{include} x\n```\n\n<!-- another -->"
    picture = '<img src="a.gif">\n\n<img src="b.gif">\n\n<!-- site instead\n<iframe></iframe>\n-->\n'
    assert site_pages.opened("page", picture) == '<img src="a.gif">\n\n<iframe></iframe>\n'


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(DOCS).as_posix())
def test_a_page_can_be_read_without_the_site(page: Path) -> None:
    plain = re.sub(r"<!-- site\n.*?\n-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert not re.search(r"^(```+|:::+)\{|\{(doc|ref|py:\w+)\}`", plain, re.MULTILINE)
    assert plain.startswith("# ")
    rows = re.sub(r"^```.*?^```", "", plain, flags=re.MULTILINE | re.DOTALL).splitlines()
    assert [row for row in rows if row.startswith("|") and not row.endswith("|")] == []  # a row is one line


INCLUDED = [
    (page, file, marker)
    for page in sorted(DOCS.glob("*.md"))
    for file, marker in re.findall(
        r"\{literalinclude\} (\S+)\n:([\w-]+: .*)$", page.read_text(encoding="utf-8"), re.MULTILINE
    )
]


@pytest.mark.parametrize(("page", "file", "marker"), INCLUDED, ids=[marker for _, _, marker in INCLUDED])
def test_the_lines_that_a_page_takes_from_the_source_exist(page: Path, file: str, marker: str) -> None:
    text = (page.parent / file).read_text(encoding="utf-8")
    kind, _, what = marker.partition(": ")
    if kind == "pyobject":
        assert what in set(definitions(ast.parse(text)))
    else:
        assert kind == "start-at" and text.count(what) == 1


def definitions(tree: ast.Module | ast.ClassDef, before: str = "") -> list[str]:
    found = []
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.append(before + node.name)
            found += definitions(node, f"{node.name}.") if isinstance(node, ast.ClassDef) else []
    return found


def test_the_walk_shows_all_of_tiny() -> None:
    """Whoever reads the page has seen every definition of the file."""
    tree = ast.parse((ROOT / "minigrad" / "tiny.py").read_text(encoding="utf-8"))
    shown = {marker.partition(": ")[2] for _, file, marker in INCLUDED if file.endswith("tiny.py")}
    assert {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} <= shown
    assert len(INCLUDED) >= 12


# --- the two languages ---


def test_a_part_has_pages_of_one_language() -> None:
    for part, pages in site_pages.parts().items():
        assert {site_language.language(page) for page in pages} == {"ja" if part in site_pages.JAPANESE else "en"}


def test_the_switch_leads_to_the_same_page_or_to_where_the_language_begins() -> None:
    pages = {"index", "start", "install", "ja/start", "course/01_a", "course/ja/01_a"}
    for english, japanese in (("start", "ja/start"), ("course/01_a", "course/ja/01_a")):
        assert [site_language.language(page) for page in (english, japanese)] == ["en", "ja"]
        assert site_language.other(english, pages) == japanese and site_language.other(japanese, pages) == english
    assert site_language.other("install", pages) == "ja/start"
    assert site_language.other("course/ja/02_b", pages) == "index"


@pytest.mark.parametrize("page", ["start", "course", "teaching", "teaching-lessons"])
def test_a_page_of_the_site_has_one_way_to_the_other_language(page: str) -> None:
    """On the site the switch, and elsewhere a link."""
    for name, link in ((page, f"[日本語版](ja/{page}.md)"), (f"ja/{page}", f"[English](../{page}.md)")):
        text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        shown = site_language.without_switch(name, text)
        assert text.count(link) == 1 and link not in shown and len(text) - len(shown) - len(link) in (0, 1, 3)
    assert site_language.without_switch("start", "a ([日本語版](ja/start.md)). b") == "a. b"


def test_the_contents_have_the_parts_of_one_language() -> None:
    parts = [f'<p class="caption" role="heading"><span class="caption-text">{title}</span></p>\n<ul>{title}</ul>\n'
             for title in ("Start", "コース", "How-to")]  # fmt: skip
    contents = "".join(parts)
    assert site_language.of_language(contents, "en", site_pages.JAPANESE) == parts[0] + parts[2]
    assert site_language.of_language(contents, "ja", site_pages.JAPANESE) == parts[1]


# --- search and the first page ---

FOUND = """
globalThis.window = {location: {search: "?q=" + encodeURIComponent(process.argv[1])}};
(0, eval)(require("fs").readFileSync("docs/site_search.js", "utf8"));
const found = JSON.parse(process.argv[2]).map(([page, score]) => [Scorer.score([page, "", "", "", score]), page]);
console.log(found.sort((a, b) => b[0] - a[0]).map(([, page]) => page).join(" "));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("softmax backward", "course/06_a reference/b teaching-lessons course/ja/06_a ja/teaching"),
        ("ソフトマックス", "course/ja/06_a ja/teaching glossary course/06_a reference/b"),
    ],
)
def test_the_search_finds_lessons_before_the_pages_of_teachers(query: str, expected: str) -> None:
    found = json.dumps([[page, 5] for page in sorted(expected.split(), key=lambda page: page[::-1])])
    ran = subprocess.run(["node", "-e", FOUND, query, found], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == expected.split()


def test_the_first_page_shows_the_stepper_of_the_first_program(tmp_path: Path) -> None:
    text = site_pages.opened("index", (DOCS / "index.md").read_text(encoding="utf-8"))
    assert "<img" not in text
    (address,) = re.findall(r'<iframe [^>]*src="([^"]*)"', text)
    (tmp_path / "README.md").write_text(
        "```text\nno\n```\n\n```python\nopen('explain.html', 'w').write(__file__)\n```\n", encoding="utf-8"
    )
    assert (site_front.write(tmp_path) / address).read_text(encoding="utf-8").endswith("first.py")
    assert "mg.explain(loss" in site_front.program(ROOT)


# --- lessons ---

LESSON = """# %% [markdown] name="title"
# # A lesson
#
#     indented

# %%
from pathlib import Path
LANGUAGE = "en"

# %%
print(LANGUAGE, __name__)
Path("picture.png").write_bytes(b"")

# %%
Path("page.html").write_text("")

# %% [markdown] name="end"
# The end.
"""


def test_a_lesson_is_run_and_becomes_a_page(tmp_path: Path) -> None:
    folder = tmp_path / "examples" / "lessons"
    (folder / "ja").mkdir(parents=True)
    (folder / "01_a.py").write_text(LESSON, encoding="utf-8")
    (folder / "ja" / "01_a.md").write_text("<!-- title -->\n# 題\n\n<!-- end -->\n終わり。\n", encoding="utf-8")
    made = site_lessons.write(tmp_path, tmp_path / "course")
    assert made is not None and {path.name for path in made.rglob("*.*")} == {"picture.png", "page.html"}
    english = (tmp_path / "course" / "01_a.md").read_text(encoding="utf-8")
    assert english.startswith(
        "# A lesson\n\n    indented\n\nStep 1 of 14 · A file to run: [01_a.py](path:../../examples/lessons/01_a.py)\n"
    )
    assert "```text\nen __main__\n```" in english and "The end." in english
    assert 'src="../lessons/en/picture.png"' in english and 'src="../lessons/en/page.html"' in english
    assert english.index("picture.png") < english.index("page.html")
    japanese = (tmp_path / "course" / "ja" / "01_a.md").read_text(encoding="utf-8")
    assert japanese.startswith("# 題\n\n14のうち1番目 · 実行できるファイル：[01_a.py]")
    assert "\n\n終わり。\n\n## このレッスンの練習問題\n\n- [1.1 " in japanese
    assert english.count('<div class="live" data-kind="cell" data-lesson="01_a">') == 3
    assert "ja __main__" in japanese and 'src="../../lessons/ja/page.html"' in japanese
    contents = [site_lessons.lessons_contents(tmp_path, language) for language in ("en", "ja")]
    assert ["\nA lesson </course/01_a>\n" in text for text in contents] == [True, False]
    assert ["\n題 </course/ja/01_a>\n" in text for text in contents] == [False, True]
    titles = re.findall(r"^(.*) </course/(\d+)", site_lessons.lessons_contents(ROOT, "en"), re.MULTILINE)
    assert len(titles) == 14 and titles[6] == ("A first hidden layer", "13")


def test_a_lesson_that_fails_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "examples" / "lessons").mkdir(parents=True)
    (tmp_path / "examples" / "lessons" / "02_b.py").write_text('# %%\nraise SystemError("no")\n', encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"02_b.py \(en\) failed:[\s\S]*SystemError: no"):
        site_lessons.write(tmp_path, tmp_path / "course")


@pytest.mark.thorough
def test_a_program_that_takes_ten_times_as_long_is_named_with_its_last_line(tmp_path: Path) -> None:
    """A quiet run of 0.2 s is allowed: Python has begun within the 2 s of the limit, or the message has no last line."""
    code = "import time; print('epoch 3', flush=True); time.sleep(60)"
    with pytest.raises(
        RuntimeError, match=r"-c import time.* was stopped after 2 s, ten times what it takes"
    ) as caught:
        site_lessons.child([sys.executable, "-c", code], tmp_path, 0.2)
    assert re.search(r"on a quiet machine(; its last line was: epoch 3)?$", str(caught.value))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_course_lists_every_exercise(language: str) -> None:
    text = site_lessons.course(ROOT, language)
    stubs = {"{}.{}".format(*path.stem.split("_")[:2]) for path in (ROOT / "exercises" / "stubs").glob("*.py")}
    found = re.findall(r"^\| (\d+\.\d+) \|", text, re.MULTILINE)
    assert found == [task.label for task in tasks()] and stubs == set(found) and len(stubs) == 37


# --- examples ---

EXAMPLE = """'It prints what it was given.'
import sys
from pathlib import Path
argument_parser = list
argument_parser()
"""
DRAWS = """
print(sys.argv[1:], "é")
Path("out").mkdir()
for name in ("a.png", "b.html", "c.safetensors"):
    Path("out", name).write_bytes(b"")
"""


def repository(folder: Path, programs: dict[str, str]) -> Path:
    """A repository with these examples, of which its page names the last first."""
    for name in ("docs", "examples"):
        (folder / name).mkdir()
    (folder / "docs" / "examples.md").write_text(
        "".join(f"`{name}.py`" for name in reversed(programs)), encoding="utf-8"
    )
    for name, text in programs.items():
        (folder / "examples" / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def test_an_example_is_run_and_becomes_a_page(tmp_path: Path) -> None:
    missing = EXAMPLE + "sys.exit('error: the weights: pip install them')"
    programs = {"common": "def argument_parser(): ...", "first": EXAMPLE + DRAWS, "semantic_search": missing}
    root = repository(tmp_path, programs)
    assert [path.stem for path in site_examples.examples(root)] == ["semantic_search", "first"]
    made = site_examples.write(root, tmp_path / "gallery")
    assert {path.name for path in made.rglob("*.*")} == {"a.png", "b.html"}  # no weights
    page = (tmp_path / "gallery" / "first.md").read_text(encoding="utf-8")
    assert page.startswith("# first.py\n\nIt prints what it was given.\n")
    assert "```text\n['--quick'] é\n```" in page
    assert 'src="../runs/first/out/a.png"' in page and 'href="../runs/first/out/b.html"' in page
    assert "It was not run: the weights: pip install them" in (tmp_path / "gallery/semantic_search.md").read_text()
    assert "| [first.py](gallery/first.md) | It prints what it was given. |" in site_examples.contents(root)


def test_an_example_that_fails_stops_the_build(tmp_path: Path) -> None:
    """Also one that lacks a package: only the encoder's weights may be missing."""
    root = repository(tmp_path, {"first": EXAMPLE + "sys.exit('error: pip install emoji')"})
    with pytest.raises(RuntimeError, match=r"first.py --quick failed:\nerror: pip install emoji"):
        site_examples.write(root, tmp_path / "gallery")


def test_every_example_that_computes_is_on_the_site() -> None:
    """Those that read the weights, too; whoever has them installed sees them run."""
    found = {path.stem for path in site_examples.examples(ROOT)}
    assert found >= {"train_classifier", "numpy_article", "lesson", "watch_training"} | site_examples.WITH_WEIGHTS
    assert len(found) >= 17 and not found & {
        "common",
        "handout",
        "slides",
        "lesson_notebooks",
        "offline_lab",
        *site_examples.NO_EXAMPLE,
    }
    rows = re.findall(r"^\| `(\w+)\.py`", (DOCS / "examples.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) <= found


# --- links ---


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.html").write_text('<p id="x y"></p><a href="../c.html#no">', encoding="utf-8")
    right = '<a href="a/b.html#x%20y"><a href="#top"><b id="top"><a href="https://example.org/z"><img src="data:,">'
    (tmp_path / "c.html").write_text(right + '<iframe src="a/d.html"></iframe>', encoding="utf-8")
    found = list(site_links.broken(tmp_path))
    assert found == [f"{Path('a/b.html')}: ../c.html#no: no such place", "c.html: a/d.html: no such file"]


# --- with Sphinx ---


def test_a_page_is_built_without_a_warning(tmp_path: Path) -> None:
    """One formula, one comment, one link: what every page goes through; the whole site is `make docs`."""
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name, reason="the site: pip install -e '.[docs]'")
    (tmp_path / "index.md").write_text("# A\n\n$x^2$\n\n$$\\frac{1}{2}$$\n", encoding="utf-8")
    (tmp_path / "conf.py").write_text(
        "from docs import site_formulas\nextensions = ['myst_parser']\nmyst_enable_extensions = ['dollarmath']\n"
        "setup = site_formulas.setup\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(tmp_path), str(tmp_path / "out")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<msup>" in page and "<mfrac>" in page and '<script src="http' not in page


def test_no_public_attribute_of_a_class_is_a_primitive() -> None:
    """viewcode would take its links to minigrad.engine.primitive for links of the class's package."""
    found = [
        f"{path}.{name}"
        for path, value in site_pages.public().items()
        if isinstance(value, type)
        for name in dir(value)
        if not name.startswith("_") and isinstance(getattr(value, name, None), minigrad.Primitive)
    ]
    assert found == []
