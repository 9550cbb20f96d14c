"""Paths that would leave the workspace: each does when it is simply opened, and none does through a tool."""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nudge.sandbox.choose import unconfined
from nudge.worker.tool import ToolContext, ToolOutput, call
from nudge.worker.tools import TOOLS
from nudge.worker.workspace import Workspace

SECRET = "the-secret"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Path, ToolContext]]:
    """A workspace with a folder `src`, and beside it a folder with a secret."""
    (tmp_path / "work/src").mkdir(parents=True)
    (tmp_path / "work/src/app.py").write_text("print(1)\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text(SECRET)
    (tmp_path / "work2").mkdir()
    (tmp_path / "work2/secret").write_text(SECRET)
    with Workspace(tmp_path / "work") as workspace:
        yield tmp_path, ToolContext(workspace, unconfined())


def use(context: ToolContext, tool: str, **args: Any) -> ToolOutput:
    return asyncio.run(call(TOOLS[tool], args, context))


def link(name: str, target: str) -> Callable[[Path], None]:
    def make(top: Path) -> None:
        (top / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        (top / "work" / name).symlink_to(target.replace("TOP", str(top)))

    return make


def nothing(top: Path) -> None:
    return None


READS = [
    pytest.param(nothing, "../outside/secret", id="up and out"),
    pytest.param(nothing, "./../outside/secret", id="up after a dot"),
    pytest.param(nothing, "src/../../outside/secret", id="down, up and out"),
    pytest.param(nothing, "src//..//..//outside//secret", id="with double slashes"),
    pytest.param(nothing, "src/.././../outside/./secret", id="with dots between"),
    pytest.param(nothing, "../work2/secret", id="into a folder whose name begins alike"),
    pytest.param(nothing, "TOP/outside/secret", id="an absolute path"),
    pytest.param(nothing, "//TOP/outside/secret", id="an absolute path with more slashes"),
    pytest.param(nothing, "TOP/work/../outside/secret", id="an absolute path that begins inside"),
    pytest.param(nothing, "/proc/self/root/TOP/outside/secret", id="by way of /proc"),
    pytest.param(link("l", "../outside/secret"), "l", id="a link to a file"),
    pytest.param(link("l", "TOP/outside/secret"), "l", id="an absolute link to a file"),
    pytest.param(link("l", "../outside"), "l/secret", id="a link to a folder"),
    pytest.param(link("l", ".."), "l/outside/secret", id="a link to the folder above"),
    pytest.param(link("l", "/"), "l/TOP/outside/secret", id="a link to the root"),
    pytest.param(link("a/b/l", "../../../outside"), "a/b/l/secret", id="a link deep down"),
    pytest.param(link("src/l", "../../outside"), "src/./l//secret", id="a link among dots and slashes"),
    pytest.param(link("l", "/proc/self/root"), "l/TOP/outside/secret", id="a link to /proc"),
]


@pytest.mark.parametrize(("prepare", "path"), READS)
def test_a_path_that_leaves_is_not_read(
    prepare: Callable[[Path], None], path: str, place: tuple[Path, ToolContext]
) -> None:
    top, context = place
    prepare(top)
    path = path.replace("TOP", str(top) if path.startswith("TOP") else str(top)[1:])
    assert Path(f"{top}/work/{path}" if not path.startswith("/") else path).read_text() == SECRET, "it works if opened"
    for tool, args in (
        ("read_file", {"path": path}),
        ("edit_file", {"path": path, "old": SECRET, "new": "x"}),
        ("list_files", {"path": path.rpartition("/")[0] or path}),
        ("glob", {"pattern": "*", "path": path.rpartition("/")[0] or path}),
        ("glob", {"pattern": path}),
    ):
        output = use(context, tool, **args)
        assert SECRET not in output.text
        assert tool not in ("read_file", "edit_file") or output.is_error, output.text
    assert (top / "outside/secret").read_text() == SECRET


WRITES = [
    pytest.param(nothing, "../outside/new", id="up and out"),
    pytest.param(nothing, "TOP/outside/new", id="an absolute path"),
    pytest.param(link("l", "../outside/new"), "l", id="a link to what is not there yet"),
    pytest.param(link("l", "../outside"), "l/new", id="through a link to a folder"),
    pytest.param(link("a/l", "../../outside"), "a/l/new", id="through a link deep down"),
]


@pytest.mark.parametrize(("prepare", "path"), WRITES)
def test_a_path_that_leaves_is_not_written(
    prepare: Callable[[Path], None], path: str, place: tuple[Path, ToolContext]
) -> None:
    top, context = place
    prepare(top)
    path = path.replace("TOP", str(top))
    simply = Path(f"{top}/work/{path}" if not path.startswith("/") else path)
    simply.write_text("x")
    assert (top / "outside/new").exists(), "it works if simply written"
    (top / "outside/new").unlink()
    assert use(context, "write_file", path=path, content="x").is_error
    assert [path.name for path in (top / "outside").iterdir()] == ["secret"]


def test_a_walk_does_not_follow_links(place: tuple[Path, ToolContext]) -> None:
    top, context = place
    link("l", "../outside")(top)
    link("src/loop", "..")(top)
    assert use(context, "glob", pattern="**/*").text.split() == ["l", "src/app.py", "src/loop"]
    assert use(context, "glob", pattern="**/secret").text == "No file matches **/secret."


def test_a_search_does_not_follow_links(place: tuple[Path, ToolContext]) -> None:
    top, context = place
    link("l", "../outside")(top)
    assert "No match" in use(context, "grep", pattern=SECRET).text
    assert use(context, "grep", pattern=SECRET, path="../outside").is_error
    assert use(context, "grep", pattern="x' ; cat ../outside/secret; '").text.count(SECRET) == 0
    assert use(context, "grep", pattern="-f../outside/secret").text.count(SECRET) == 0


def test_a_pipe_in_place_of_a_file_does_not_hang(place: tuple[Path, ToolContext]) -> None:
    top, context = place
    os.mkfifo(top / "work/pipe")
    assert "not a regular file" in use(context, "read_file", path="pipe").text


def test_a_link_in_place_of_the_workspace_leads_nowhere(place: tuple[Path, ToolContext]) -> None:
    top, context = place
    (top / "work").rename(top / "moved")
    (top / "work").symlink_to(top / "outside")
    assert Path(top / "work/secret").read_text() == SECRET
    assert use(context, "read_file", path="secret").is_error
    assert not use(context, "write_file", path="new", content="x").is_error
    assert (top / "moved/new").exists()


def test_what_git_would_run_is_not_written(place: tuple[Path, ToolContext]) -> None:
    _, context = place
    for path in (".git/hooks/post-commit", "sub/.GIT/config", ".git/config"):
        assert "belongs to git" in use(context, "write_file", path=path, content="#!/bin/sh").text


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs an exchange of two names at once")
def test_a_link_that_comes_between_check_and_use_changes_nothing(place: tuple[Path, ToolContext]) -> None:
    """One thread swaps a folder for a link and back as fast as it can, the tools read and write below it."""
    top, context = place
    folder, other = top / "work/swap", top / "work/other"
    folder.mkdir()
    (folder / "secret").write_text("mine")
    other.symlink_to("../outside")
    over = threading.Event()

    def swap() -> None:
        exchange = ctypes.CDLL(None).renameat2
        while not over.is_set():
            exchange(-100, bytes(folder), -100, bytes(other), 2)

    def simply() -> str:
        try:
            return (folder / "secret").read_text()
        except OSError:
            return ""

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        fooled = sum(simply() == SECRET for _ in range(3_000))
        for _ in range(1_500):
            assert SECRET not in use(context, "read_file", path="swap/secret").text
            use(context, "write_file", path="swap/secret", content="mine")
    finally:
        over.set()
        thread.join()
    assert fooled, "simply opening it is fooled"
    assert (top / "outside/secret").read_text() == SECRET
