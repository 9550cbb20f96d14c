"""The line of a key, whatever way TOML has of writing it; `tomllib` says which keys there are."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nudge.home.config import Config
from nudge.home.config_values import KeyPath
from nudge.home.create import allow_person
from nudge.home.folder import Home
from nudge.home.toml_lines import key_lines, line_of, with_value


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        pytest.param("a = 1\nb = 2\n", ("b",), 2, id="a key"),
        pytest.param("\n\n[t]\n\nb = 2\n", ("t", "b"), 5, id="a key of a table"),
        pytest.param("b = 1\n[t]\nb = 2\n", ("b",), 1, id="the same name outside of the table"),
        pytest.param("[t]\n[t.u]\nb = 2\n", ("t", "u", "b"), 3, id="a nested table"),
        pytest.param("[ t . u ]\nb = 2\n", ("t", "u"), 1, id="a header with spaces"),
        pytest.param("[t]\nu.v = 1\nu.w = 2\n", ("t", "u", "w"), 3, id="dotted keys"),
        pytest.param("[t]\nu . w = 2\n", ("t", "u", "w"), 2, id="dots with spaces around them"),
        pytest.param("\nt = {a = 1, b.c = 'x'}\n", ("t", "b", "c"), 2, id="an inline table"),
        pytest.param("t = {}\nu = 1\n", ("u",), 2, id="an empty inline table"),
        pytest.param("[[t]]\na = 1\n[[t]]\na = 2\n", ("t", 1, "a"), 4, id="a list of tables"),
        pytest.param("[[t]]\n[[t.u]]\n[[t]]\n[[t.u]]\na = 1\n", ("t", 1, "u", 0, "a"), 5, id="lists of tables in one"),
        pytest.param("[[t]]\n[t.u]\na = 1\n", ("t", 0, "u", "a"), 3, id="a table in a list of tables"),
        pytest.param("t = [\n  1,\n  2, # two\n  3,\n]\n", ("t", 2), 4, id="a list over several lines"),
        pytest.param("t = [\n  {a = 1},\n  {a = 2},\n]\n", ("t", 1, "a"), 3, id="inline tables in a list"),
        pytest.param("t = [[1, 2],\n [3]]\n", ("t", 1, 0), 2, id="a list in a list"),
        pytest.param("\"a b\" = 1\n'c d' = 2\n", ("c d",), 2, id="quoted keys"),
        pytest.param('"a.b" = 1\n"\\u00e9" = 2\n', ("é",), 2, id="an escape in a key"),
        pytest.param('["a.b"]\nc = 1\n', ("a.b", "c"), 2, id="a quoted header"),
        pytest.param("# a = 1\na = 2 # b = 3\nb = 4\n", ("b",), 3, id="comments"),
        pytest.param('s = "a = 1 # [t]"\na = 1\n', ("a",), 2, id="a text that looks like keys"),
        pytest.param('s = """\na = 1\n[t]\n\\""" """\na = 2\n', ("a",), 5, id="a text of several lines"),
        pytest.param("s = '''\na = 1\n'''\na = 2\n", ("a",), 4, id="a literal text of several lines"),
        pytest.param('s = """x"""""\na = 2\n', ("a",), 2, id="quotes before the end of a text"),
        pytest.param("d = 2026-01-01 10:00:00\na = 2\n", ("a",), 2, id="a date with a space"),
        pytest.param("a = 1\r\nb = 2\r\n", ("b",), 2, id="lines that end as on Windows"),
        pytest.param("[t]\na = 1\n", ("t", "b"), 1, id="a key that is missing: its table"),
        pytest.param("a = 1\n", ("t", "b"), None, id="a table that is missing"),
    ],
)
def test_a_key_stands_in_its_line(text: str, path: KeyPath, line: int | None) -> None:
    assert line_of(key_lines(text), path) == line
    assert set(key_lines(text)) == set(_paths(tomllib.loads(text)))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        pytest.param("", "\n[t]\na = [7]\n", id="an empty file"),
        pytest.param("[t]\na = [ # who\n  1,\n]\nb = 2\n", "[t]\na = [7]\nb = 2\n", id="a value over several lines"),
        pytest.param("t = {a = [], b = 2} # c\n", "t = {a = [7], b = 2} # c\n", id="a table on one line"),
        pytest.param("t.a = [] # c\n", "t.a = [7] # c\n", id="a key with a dot"),
        pytest.param("# x\u2028y\n[t]\nb = 2\n", "# x\u2028y\n[t]\na = [7]\nb = 2\n", id="what ends a line elsewhere"),
        pytest.param('s = """\n[t]\n"""\n[t]', 's = """\n[t]\n"""\n[t]\na = [7]', id="a text that looks like a table"),
    ],
)
def test_a_value_is_written_where_it_belongs(text: str, written: str) -> None:
    assert with_value(text, "t", "a", "[7]") == written
    before = tomllib.loads(text)
    assert tomllib.loads(written) == {**before, "t": {**before.get("t", {}), "a": [7]}}


def test_whoever_was_removed_from_the_list_does_not_come_back(tmp_path: Path) -> None:
    """The list is that of the file now, not the one with which the daemon started."""
    config = Config(Home(tmp_path))
    path = config.home.config
    for listed, wanted in (("[1, 2]", [7, 1, 2]), ("[2]", [7, 2]), ("[2, 7]", [7, 2])):
        path.write_text(f"[telegram]\nallow = {listed}\n")
        allow_person(config, "7")
        assert tomllib.loads(path.read_text()) == {"telegram": {"allow": wanted}}


def test_the_template_is_read_to_its_end() -> None:
    text = (resources.files("nudge.home") / "templates" / "home" / "nudge.toml").read_text()
    with_defaults = "\n".join(line.removeprefix("# ") if " = " in line else line for line in text.splitlines())
    assert set(key_lines(with_defaults)) == set(_paths(tomllib.loads(with_defaults)))


_SCALARS = ["1", "true", "'x # y'", '"a = \\"b\\""', "'''\n[z]\nq = 1\n'''", '"""\n# \\""" """', "1979-05-27 07:32:00"]
_values = st.recursive(
    st.sampled_from(_SCALARS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[\n" + ", # why\n".join(items) + "]"),
        st.dictionaries(st.sampled_from("pqr"), inner, max_size=2).map(
            lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
        ),
    ),
    max_leaves=6,
)
_pairs = st.dictionaries(st.sampled_from(["a", '"b c"', "'d.e'", "f.g", "h . i"]), _values, max_size=3)
_headers = st.lists(st.sampled_from(["[t]", "[t.u]", "[v]", "[[w]]", "[[w.x]]", "[ 'y z' ]"]), unique=True, max_size=5)


@given(st.data())
def test_whatever_tomllib_accepts_has_the_same_keys(data: st.DataObject) -> None:
    parts = []
    for header in ["", *data.draw(_headers)]:
        parts += [header, *(f"{key} = {value}" for key, value in data.draw(_pairs).items())]
    text = "\n".join(parts) + "\n"
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(key_lines(text)) == set(_paths(document))


def _paths(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _paths(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _paths(inner, (*path, place))
