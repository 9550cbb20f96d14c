"""`nudge snapshot`: make one, compare, bring it back, and say what is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.cli import CliHere


@pytest.fixture
def work(here: CliHere) -> Path:
    folder = here.home / "agents" / "dev" / "workspace"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("one\n")
    return folder


def test_a_workspace_is_kept_spoilt_and_restored(here: CliHere, work: Path) -> None:
    assert here("snapshot", "list").stderr == "dev has no snapshot yet. 'nudge snapshot create' makes one.\n"
    assert here("snapshot", "create").stderr == "Made snapshot 1 of dev: 1 file, 4 B; 4 B of it new.\n"
    assert here("snapshot", "verify").stderr == "The workspace of dev is exactly snapshot 1.\n"
    (work / "a.py").write_text("two\n")
    (work / "b.py").touch()
    spoilt = here("snapshot", "verify", code=1)
    assert spoilt.stdout == "~ a.py\n+ b.py\n"
    assert spoilt.stderr == "The workspace of dev differs from snapshot 1 in 2 places.\n"
    assert here("snapshot", "diff").stdout == spoilt.stdout
    said = here("snapshot", "restore").stderr
    assert said.startswith("Restored snapshot 1 of dev: 2 places put right.\n")
    assert (work / "a.py").read_text() == "one\n"
    assert not (work / "b.py").exists()
    assert "'nudge snapshot restore 2' brings it back" in said
    here("snapshot", "restore", "2")
    assert (work / "a.py").read_text() == "two\n"
    assert here("snapshot", "diff", "1", "2").stdout == "~ a.py\n+ b.py\n"
    rows = here("snapshot", "list").stdout.splitlines()
    assert [row.split()[0] for row in rows] == ["NUMBER", "3", "2", "1"]
    assert rows[2].endswith("before restoring 1")
    assert "Nothing to do" in here("snapshot", "restore", "2").stderr


def test_a_damaged_one_is_named_and_the_one_before_is_used(here: CliHere, work: Path) -> None:
    here("snapshot", "create")
    (work / "a.py").write_text("two\n")
    here("snapshot", "create")
    (here.home / "snapshots/dev/manifests/00000002").write_bytes(b"half")
    assert "damaged" in here("snapshot", "list").stdout.splitlines()[1]
    assert here("snapshot", "restore").stderr.startswith("Snapshot 2 is damaged: ")
    assert (work / "a.py").read_text() == "one\n"


def test_what_is_stored_is_read_back(here: CliHere, work: Path) -> None:
    here("snapshot", "create")
    assert here("snapshot", "verify", "--stored").returncode == 0
    (piece,) = (path for path in (here.home / "snapshots/dev/pieces").rglob("*") if path.is_file())
    piece.write_bytes(b"two\n")
    assert "A piece of it is damaged." in here("snapshot", "verify", "--stored", code=1).stderr


def test_old_ones_are_removed(here: CliHere, work: Path) -> None:
    (here.home / "nudge.toml").write_text("[worker]\nkeep_snapshots = 2\n")
    for _ in range(4):
        here("snapshot", "create")
    assert [one["number"] for one in here.json("snapshot", "list")] == [4, 3]


def test_snapshots_are_private_and_may_be_elsewhere(here: CliHere, work: Path, tmp_path: Path) -> None:
    (here.home / "nudge.toml").write_text(f'[worker]\nsnapshots = "{tmp_path}/store"\n')
    here("snapshot", "create")
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0
    assert not (here.home / "snapshots").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(
            ("create", "--agent", "nobody"),
            3,
            "nobody has no workspace. Those with one: coach, dev.",
            id="no such agent",
        ),
        pytest.param(("create", "--agent", "../dev"), 3, "../dev has no workspace", id="a path is no name"),
        pytest.param(("verify",), 3, "dev has no snapshot", id="nothing to compare with"),
        pytest.param(("diff",), 3, "dev has no snapshot", id="nothing to show"),
        pytest.param(("restore", "7"), 3, "There is no snapshot 7", id="no such number"),
        pytest.param(("restore", "zero"), 2, "not a number", id="no number"),
    ],
)
def test_what_cannot_be_done_is_said(words: tuple[str, ...], code: int, said: str, here: CliHere, work: Path) -> None:
    told = " ".join(here("snapshot", *words, code=code).stderr.replace("\n  next:", "").split())
    assert said in told


def test_with_several_agents_the_name_is_needed(here: CliHere, work: Path) -> None:
    other = here.home / "agents" / "other" / "workspace"
    other.mkdir(parents=True)
    assert "Several agents have a workspace: dev, other." in here("snapshot", "list", code=2).stderr
    assert "other has no snapshot" in here("snapshot", "list", "--agent", "other").stderr


def test_without_a_wheel_it_says_what_to_install(here: CliHere, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "obstore.store", None)
    assert "pip install 'nudge[snapshots]'" in here("snapshot", "list", code=4).stderr


def test_pipes_are_left_out_and_named(here: CliHere, work: Path) -> None:
    os.mkfifo(work / "pipe")
    assert "Left out: pipe is not a file, folder or link." in here("snapshot", "create").stderr
