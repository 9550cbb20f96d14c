"""The documents as files: one step from the old text to the new, and every change noticed."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from nudge.home.documents import HomeDocuments, write_document
from nudge.home.folder import Home


@pytest.fixture
def files(tmp_path: Path) -> HomeDocuments:
    return HomeDocuments(Home(tmp_path))


@pytest.fixture
def goals(files: HomeDocuments) -> Path:
    files.write("coach", "GOALS.md", b"old text")
    return files.path("coach", "GOALS.md")


def test_a_file_that_is_not_there_is_none_and_has_a_version(files: HomeDocuments) -> None:
    assert files.read("coach", "GOALS.md") is None
    assert files.version("coach", "GOALS.md") == ""


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="nothing"),
        pytest.param("Zürich 北京 🙂\r\n".encode(), id="letters of many kinds and foreign line ends"),
        pytest.param(b"\xff\xfe not UTF-8 \x00", id="bytes that are no text"),
        pytest.param(b"x" * 1_000_000, id="a megabyte"),
    ],
)
def test_every_byte_comes_back(files: HomeDocuments, content: bytes) -> None:
    files.write("coach", "MEMORY.md", content)
    assert files.read("coach", "MEMORY.md") == content


def test_nothing_else_is_left_in_the_folder(goals: Path, files: HomeDocuments) -> None:
    files.write("coach", "GOALS.md", b"new text")
    assert [path.name for path in goals.parent.iterdir()] == ["GOALS.md"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_the_permissions_of_a_file_that_is_there_are_kept(goals: Path, files: HomeDocuments, mode: int) -> None:
    goals.chmod(mode)
    files.write("coach", "GOALS.md", b"new text")
    assert stat.S_IMODE(goals.stat().st_mode) == mode


def test_a_link_is_followed_and_stays_a_link(tmp_path: Path, goals: Path, files: HomeDocuments) -> None:
    elsewhere = tmp_path / "notes" / "goals.md"
    elsewhere.parent.mkdir()
    goals.rename(elsewhere)
    goals.symlink_to(elsewhere)
    files.write("coach", "GOALS.md", b"new text")
    assert (goals.is_symlink(), elsewhere.read_bytes()) == (True, b"new text")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_refuses_leaves_the_old_text_and_no_litter(
    goals: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if step == "fsync" else (Path, "replace")), refuse)
    with pytest.raises(OSError, match="No space left"):
        write_document(goals, b"new text")
    monkeypatch.undo()
    assert goals.read_bytes() == b"old text"
    assert [path.name for path in goals.parent.iterdir()] == ["GOALS.md"]


def test_the_new_text_is_on_the_disk_before_it_takes_the_name(goals: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def noting_fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def noting_replace(path: Path, target: Path) -> Path:
        steps.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noting_fsync)
    monkeypatch.setattr(Path, "replace", noting_replace)
    write_document(goals, b"new text")
    assert steps == ["file", "rename", "folder"]


def test_a_reader_never_sees_half_a_text(goals: Path, files: HomeDocuments) -> None:
    texts = [bytes([letter]) * 20_000 for letter in b"ab"]
    files.write("coach", "GOALS.md", texts[0])
    seen: set[bytes | None] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(files.read("coach", "GOALS.md"))

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(40):
        files.write("coach", "GOALS.md", texts[n % 2])
    done.set()
    reader.join()
    assert seen <= set(texts)


def in_place(path: Path) -> None:
    path.write_bytes(b"new text, longer")


def same_size_same_time(path: Path) -> None:
    before = path.stat()
    while path.stat().st_ctime_ns == before.st_ctime_ns:  # the file system's clock ticks every few milliseconds
        path.write_bytes(b"new text")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def by_rename(path: Path) -> None:
    beside = path.with_name("other")
    beside.write_bytes(b"old text")
    os.utime(beside, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    beside.replace(path)


def removed(path: Path) -> None:
    path.unlink()


def replaced_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("change", [in_place, same_size_same_time, by_rename, removed, replaced_by_a_folder])
def test_every_change_gives_another_version(goals: Path, files: HomeDocuments, change: Callable[[Path], None]) -> None:
    before = files.version("coach", "GOALS.md")
    assert files.version("coach", "GOALS.md") == before
    change(goals)
    assert files.version("coach", "GOALS.md") != before


def test_what_cannot_be_looked_at_has_a_version_and_says_why_when_it_is_read(
    tmp_path: Path, files: HomeDocuments
) -> None:
    (tmp_path / "agents").write_text("a file where a folder should be")
    assert files.version("coach", "GOALS.md").startswith("error ")
    with pytest.raises(OSError):
        files.read("coach", "GOALS.md")
