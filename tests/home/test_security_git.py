"""A remote that somebody else can write to: a pull brings texts, and nothing that runs or leads elsewhere."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from nudge.errors import NudgeError
from nudge.home.folder import Home
from nudge.home.git_history import GitHistory


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@localhost")
    return subprocess.run(["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """The coach's folder as a clone of `remote`, which `theirs` pushes to."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    home = Home(tmp_path / "home")
    home.path.mkdir()
    home.env_file.write_text("ANTHROPIC_API_KEY=very-secret\n")
    git(tmp_path, "init", "--quiet", "--bare", "-b", "main", "remote")
    git(tmp_path, "clone", "--quiet", "remote", "theirs")
    theirs = tmp_path / "theirs"
    git(theirs, "checkout", "--quiet", "-B", "main")
    (theirs / "GOALS.md").write_text("# Goals\n")
    (theirs / "MEMORY.md").write_text("# Memory\n")
    push(theirs)
    git(tmp_path, "clone", "--quiet", "remote", str(home.agent("coach")))
    return home


def push(theirs: Path) -> None:
    git(theirs, "add", "-A")
    git(theirs, "commit", "--quiet", "-m", "theirs")
    git(theirs, "push", "--quiet", "-u", "origin", "main")


async def test_a_document_cannot_become_a_link_to_the_keys(home: Home, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "MEMORY.md").unlink()
    (theirs / "MEMORY.md").symlink_to("../../.env")
    push(theirs)
    with pytest.raises(NudgeError, match=r"links in place of files \(MEMORY\.md\)"):
        await GitHistory(home).pull("coach")
    memory = home.agent("coach") / "MEMORY.md"
    assert not memory.is_symlink()
    assert memory.read_text() == "# Memory\n"


async def test_a_link_of_the_persons_own_stays_and_may_not_be_turned(home: Home, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "notes").symlink_to("GOALS.md")
    push(theirs)
    git(home.agent("coach"), "pull", "--quiet")
    (theirs / "GOALS.md").write_text("# Goals\nmore\n")
    push(theirs)
    assert await GitHistory(home).pull("coach") == "Pulled 1 commit."
    (theirs / "notes").unlink()
    (theirs / "notes").symlink_to("../../.env")
    push(theirs)
    with pytest.raises(NudgeError, match="links in place of files"):
        await GitHistory(home).pull("coach")


@pytest.mark.parametrize("hook", ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-push"])
async def test_no_hook_of_the_repository_runs_unattended(home: Home, tmp_path: Path, hook: str) -> None:
    folder = home.agent("coach")
    (folder / ".hooks").mkdir()
    git(folder, "config", "core.hooksPath", ".hooks")
    script = folder / ".hooks" / hook
    script.write_text(f"#!/bin/sh\ntouch {tmp_path / 'it-ran'}\n")
    script.chmod(0o755)
    (folder / "GOALS.md").write_text("# Goals\nmine\n")
    history = GitHistory(home)
    assert await history.commit("coach") == "Committed GOALS.md."
    assert await history.push("coach") == "Pushed."
    assert not (tmp_path / "it-ran").exists()
