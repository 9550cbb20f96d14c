from __future__ import annotations

from pathlib import Path

import pytest

from nudge.errors import ConfigError
from nudge.home.settings import read_env_file, read_toml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("A=x", "x", id="plain"),
        pytest.param("  export A = x  ", "x", id="as a shell has it"),
        pytest.param("A=x # why", "x", id="a comment"),
        pytest.param("A=x#y", "x#y", id="a # inside is no comment"),
        pytest.param("A='x # y'", "x # y", id="quoted"),
        pytest.param('A="x y" # why', "x y", id="quoted, with a comment behind"),
        pytest.param("A='it\"s'", 'it"s', id="the other quote inside"),
        pytest.param("A=", "", id="empty"),
        pytest.param('A=""', "", id="empty in quotes"),
        pytest.param("A=x=y", "x=y", id="an equals sign inside"),
        pytest.param("\ufeffA=x", "x", id="a mark that some editors put first"),
        pytest.param("# a note\r\n\r\nA=x\r\n", "x", id="lines that end as on Windows"),
    ],
)
def test_a_value_of_the_env_file(tmp_path: Path, text: str, value: str) -> None:
    path = tmp_path / ".env"
    path.write_bytes(text.encode())
    path.chmod(0o600)
    assert read_env_file(path) == {"A": value}


@pytest.mark.parametrize("text", ["A", "=x", "A B=x", "1A=x", "A='x", "A=\"x' # y", "A='x' y"])
def test_what_is_no_value_is_named_by_its_line_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".env"
    path.write_text(f"# the first\n{text}-s3cret\n")
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="line 2") as caught:
        read_env_file(path)
    assert "s3cret" not in str(caught.value)


def test_a_toml_file_may_begin_with_the_mark_of_an_editor(tmp_path: Path) -> None:
    path = tmp_path / "nudge.toml"
    path.write_text('\ufefftimezone = "UTC"\n', encoding="utf-8")
    assert read_toml(path) == {"timezone": "UTC"}
