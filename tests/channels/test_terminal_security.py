"""Words of others on a terminal: whatever command shows them, they are words."""

import json
from pathlib import Path

import pytest

from nudge.cli.main import main

NASTY = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md\x7f\x08"
ORDERS = set("\x1b\x07\x08\x7f\x9b\r")


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str:
    """A home with a reminder from somebody else's export. Its id."""
    monkeypatch.setenv("NUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("NUDGE_DATABASE_URL", raising=False)
    assert main(["init"]) == 0
    assert main(["reminder", "add", "-m", "x", "--in", "2h", "--json"]) == 0
    assert main(["reminder", "export"]) == 0
    out = capfd.readouterr().out
    document = json.loads(out[out.index('{\n  "format"') :])
    (reminder,) = document["reminders"]
    reminder |= {"id": "r-aaaaaa", "name": NASTY, "message": NASTY, "description": NASTY}
    file = tmp_path / "export.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert main(["reminder", "import", str(file)]) == 0
    capfd.readouterr()
    return "r-aaaaaa"


@pytest.mark.parametrize(
    "words",
    [
        ["reminder", "list"],
        ["reminder", "show", "r-aaaaaa"],
        ["reminder", "list", "--json"],
        ["reminder", "show", "r-aaaaaa", "--json"],
        ["reminder", "export"],
        ["agent", "show", "coach"],
        ["reminder", "remove", "r-aaaaaa"],
        ["reminder", "show", NASTY + "?"],
        [NASTY],
    ],
    ids=lambda words: " ".join(words).encode("ascii", "backslashreplace").decode(),
)
def test_no_command_shows_what_a_terminal_would_obey(
    hostile: str, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    main(words)
    told = "".join(capfd.readouterr())
    assert told
    assert not set(told) & ORDERS


def test_json_still_means_the_same(hostile: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["reminder", "show", hostile, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["name"] == NASTY
