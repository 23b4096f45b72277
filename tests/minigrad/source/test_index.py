"""What an index says of a text, against what the text says."""

import ast
import linecache
from pathlib import Path
from typing import Any

import pytest

from minigrad._source import SourceLine
from minigrad.source.functions import body_of, returned_expression
from minigrad.source.index import Index, element, index_of, index_of_file, names_in, operands, text_of, value_of


def index(text: str) -> Index:
    return index_of("a.py", text.splitlines(keepends=True))


def node(text: str, words: str, kind: Any = ast.expr) -> tuple[Index, Any]:
    """The first node of a text that reads like these words."""
    found = index(text)
    return found, next(each for each in found.nodes if isinstance(each, kind) and ast.unparse(each) == words)


def unparsed(found: ast.AST | None) -> str | None:
    return None if found is None else ast.unparse(found)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("h = f(x)", "h"),
        ("h: float = f(x)", "h"),
        ("h += f(x)", None),
        ("g(h := f(x))", "h"),
        ("y = (h := f(x))", "h"),
        ("a, (b, self.c) = 1, (2, f(x))", "self.c"),
        ("hs[t] = f(x)", "hs[t]"),
        ("hs = [1, f(x)]", "hs[1]"),
        ("a, b = c = f(x)", "c"),
        ("b = c = f(x)", "b"),
        ("*a, b = 1, f(x)", None),
        ("h = y if y else (1, f(x))", "h[1]"),
        ("h = y if f(x) else y", None),
        ("h = g(f(x))", None),
        ("h = 1 + f(x)", None),
        ("f(x)", None),
    ],
)
def test_the_target_of_an_expression(text: str, target: str | None) -> None:
    found, call = node(text, "f(x)")
    assert unparsed(found.target(call)) == target


def test_an_element_of_a_list_has_the_target_of_its_list_on_request() -> None:
    found, call = node("hs = [f(x) for x in xs]", "f(x)")
    assert found.target(call) is None and unparsed(found.target(call, lists=True)) == "hs"
    assert unparsed(found.target(index("x *= 2").find(ast.AugAssign)[0])) == "x"


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("for i in range(3):\n    while n > m:\n        f(x)", ["i", "n", "m"]),
        ("for i in f(x):\n    pass", []),
        ("for i in y:\n    pass\nelse:\n    f(x)", []),
        ("for i in y:\n    def g():\n        for j, (k, i) in z:\n            f(x)", ["j", "k", "i"]),
        ("[f(x) for a in b for c in d]", ["a", "c"]),
        ("[y for y in f(x)]", []),
    ],
)
def test_the_loops_around_an_expression(text: str, variables: list[str]) -> None:
    found, call = node(text, "f(x)")
    assert found.loop_variables(call) == variables
    assert bool(found.loops(call)) == bool(variables)


@pytest.mark.parametrize(
    ("function", "call", "given"),
    [
        ("def f(a, b): -b", "f(1, 2)", "2"),
        ("def f(a, *, b): -b", "f(1, b=3)", "3"),
        ("def f(a, b): -b", "f(*c)", None),
        ("def f(a, b): b = -b", "f(1, 2)", None),
        ("f = lambda a, b: -b", "f(1, 2)", "2"),
        ("class A:\n    def f(this, a, b): -b", "x.f(1, 2)", "2"),
        ("class A:\n    @staticmethod\n    def f(a, b): -b", "x.f(1, 2)", "2"),
        ("def f(a): -b", "f(1, 2)", None),
    ],
)
def test_what_a_call_gives_for_a_parameter(function: str, call: str, given: str | None) -> None:
    found, operand = node(function, "b")
    assert unparsed(found.given(operand, node(call, call)[1])) == given


def test_each_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    parse = ast.parse

    def noted(text: str) -> Any:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(ast, "parse", noted)
    lines = ["unique = 'a text of this test'\n", "b = unique"]
    first = index_of("b.py", lines)
    assert index_of("b.py", list(lines)) is index_of("b.py", [line.strip() for line in lines]) is first
    assert texts == ["unique = 'a text of this test'\nb = unique"] and index_of("c.py", lines).file == "c.py"


def test_a_text_that_is_not_python_has_lines_and_nothing_else() -> None:
    found = index("%time\nx = 1  # one")
    assert found.lines == ["%time", "x = 1  # one"] and found.text(2) == "x = 1  # one" and found.text(3) == ""
    assert found.nodes == [found.tree] and found.at(SourceLine("a.py", 2, "", "x = 1  # one", 4, 2, 5)) is None


def test_the_expression_at_an_instruction() -> None:
    found = index("y = (é + x\n  .sum())")
    assert unparsed(found.at(SourceLine("a.py", 1, "", "y = (é + x", 5, 2, 8))) == "é + x.sum()"
    assert (
        unparsed(found.at(SourceLine("a.py", 2, "", ".sum())", 3, 2, 8))) == "x.sum()"
    )  # Python's place of the method
    assert (
        found.at(SourceLine("a.py", 2, "", ".sum())", 3, 2, 7))
        is found.at(SourceLine("a.py", 2, "", ".sum())"))
        is None
    )
    assert found.at(SourceLine("a.py", 1, "", "y = (z + x", 5, 2, 8)) is None  # the file has changed


def test_names_and_functions(tmp_path: Path) -> None:
    path = tmp_path / "latin.py"
    text = "# -*- coding: latin-1 -*-\nimport os.path as p, sys\nfrom a import b\nclass A:\n    def f(self):  # é\n"
    path.write_bytes(f"{text}        def g(): return b\nx, y.data[0] = A(lr=2), 3".encode("latin-1"))
    found = index_of_file(path)
    assert [each.lineno for each in found.definitions("A") + found.definitions("f")] == [4, 5]
    inner, outer = found.function_at(6), found.function_at(7)
    assert inner is not None and inner.name == "g" and outer is None
    assert [(made.line, unparsed(made.target)) for made in found.assignments] == [(7, "x"), (7, "y.data")]
    assert [call.lineno for call in found.calls("A")] == [7] and unparsed(found.keyword("rate", "lr")) == "2"
    assert {name.id for name in names_in(found.tree)} == {"x", "A", "y", "b"}


def test_what_a_name_stands_for_is_known_without_running_code() -> None:
    class Model:
        kept = 1

        @property
        def computed(self) -> int:
            raise AssertionError("code of the program ran")

        def forward(self) -> None: ...

    names = {"m": Model(), "ast": ast}
    values = [value_of(node(text, text)[1], names) for text in ("m.forward", "ast.parse", "m.kept", "n", "n.a", "m()")]
    assert values == [Model.forward, ast.parse, 1, None, None, None]
    assert isinstance(value_of(node("m.computed", "m.computed")[1], names), property)


def test_the_text_and_the_operands_of_an_expression() -> None:
    found, item = node("hs[2 * t - 1] + t", "hs[2 * t - 1] + t")
    assert text_of(found, item, {"t": 3}) == "hs[5] + t" and text_of(found, item) == "hs[2 * t - 1] + t"
    assert [unparsed(each) for each in operands(item)] == ["hs[2 * t - 1]", "t"]
    call = node("f([a, b], *c, d)", "f([a, b], *c, d)")[1]
    assert [unparsed(each) for each in operands(call)] == ["[a, b]"] and unparsed(element(call.args, 1)) == "b"
    long = f"f({'a' * 150}, {'b' * 150})"
    assert text_of(*node(long, long)) == f"f({'a' * 98} … {'b' * 99})"


def test_the_text_of_a_function_whose_file_has_changed_is_not_used() -> None:
    text = "f, g = lambda x: x + 1, lambda x: x + 2\n"
    names: dict[str, Any] = {}
    linecache.cache["d.py"] = (len(text), None, [text], "d.py")
    exec(compile(text, "d.py", "exec"), names)
    assert [unparsed(returned_expression(names[name])) for name in "fg"] == ["x + 1", "x + 2"]
    linecache.cache["d.py"] = (len(text), None, [text.replace("2", "3")], "d.py")
    assert body_of(names["g"]) is None and body_of(len) is None
