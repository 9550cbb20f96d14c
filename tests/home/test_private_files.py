"""Whatever the umask, what nudge makes is its owner's alone; what others can write is not believed."""

from __future__ import annotations

import asyncio
import grp
import os
import pwd
import stat
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from nudge.errors import ConfigError
from nudge.home.create import make_home
from nudge.home.decision_log import DecisionFile
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.private_files import exposure, make_folder, read_trusted, replace_file, state_of, write_new
from nudge.home.roles import load_role
from nudge.home.routines import read_routine
from nudge.stores.open import open_store


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """Of everything in the folder that others can use."""
    found = {str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode) for path in folder.rglob("*")}
    return {name: f"{mode:04o}" for name, mode in found.items() if mode & 0o077}


@pytest.mark.usefixtures("no_umask")
def test_a_home_in_an_open_folder_is_private_all_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path / "there" / "home")
    home.path.mkdir(mode=0o755, parents=True)
    make_home(home)
    HomeDocuments(home).write("worker", "notes/GOALS.md", b"new")
    DecisionFile(home.logs)({"a": 1})
    asyncio.run(_make_database(home))
    assert modes(home.path) == {}
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o755  # the person's own folder is left as it is


async def _make_database(home: Home) -> None:
    await (await open_store(f"sqlite:///{home.database}")).close()


@pytest.mark.usefixtures("no_umask")
def test_folders_in_between_are_private_too(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b" / "c")
    make_folder(tmp_path / "a" / "b" / "c")
    assert modes(tmp_path) == {}


@pytest.mark.usefixtures("no_umask")
def test_a_new_file_is_private_and_a_file_of_ours_keeps_its_mode(tmp_path: Path) -> None:
    write_new(tmp_path / "new", "text")
    replace_file(tmp_path / "replaced", b"text")
    assert modes(tmp_path) == {}
    (tmp_path / "replaced").chmod(0o644)
    replace_file(tmp_path / "replaced", b"more")
    assert modes(tmp_path) == {"replaced": "0644"}
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "new", "other")


@pytest.mark.parametrize("kind", ["link", "dangling link", "folder", "pipe"])
def test_only_a_file_is_replaced(tmp_path: Path, kind: str) -> None:
    target, path = tmp_path / "target", tmp_path / "path"
    target.write_text("precious")
    match kind:
        case "link":
            path.symlink_to(target)
        case "dangling link":
            path.symlink_to(tmp_path / "nowhere")
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        replace_file(path, b"x")
    assert target.read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["path", "target"]


@pytest.fixture
def trusted(tmp_path: Path) -> Path:
    path = tmp_path / "outer" / "inner" / "file"
    make_folder(path.parent)
    write_new(path, "text")
    return path


@pytest.mark.parametrize(
    ("what", "mode", "refused"),
    [
        pytest.param("file", 0o600, False, id="the owner alone"),
        pytest.param("file", 0o644, False, id="others can read it"),
        pytest.param("file", 0o602, True, id="others can write it"),
        pytest.param("file", 0o666, True, id="everybody can write it"),
        pytest.param("inner", 0o755, False, id="others can look into the folder"),
        pytest.param("inner", 0o777, True, id="others can replace it"),
        pytest.param("inner", 0o1777, True, id="others can put files beside it"),
        pytest.param("outer", 0o757, True, id="others can replace its folder"),
        pytest.param("outer", 0o1777, False, id="others can put folders beside its folder, as in /tmp"),
    ],
)
def test_who_can_write(trusted: Path, what: str, mode: int, refused: bool) -> None:
    exposed = {"file": trusted, "inner": trusted.parent, "outer": trusted.parent.parent}[what]
    exposed.chmod(mode)
    if not refused:
        assert read_trusted(trusted, folders=2) == "text"
        return
    with pytest.raises(ConfigError, match=f"{exposed} can be changed by other users .mode {mode:04o}.") as caught:
        read_trusted(trusted, folders=2)
    assert f"chmod go-w {exposed}" in str(caught.value.next_step)


@pytest.mark.parametrize("change", ["write", "replace", "file", "inner", "outer", "remove", "link"])
def test_whatever_makes_a_difference_changes_the_state_of_a_file(trusted: Path, change: str) -> None:
    before = state_of(trusted, folders=2)
    assert before is not None
    assert state_of(trusted, folders=2) == before
    match change:
        case "write":
            trusted.write_text("another text")
        case "replace":
            replace_file(trusted, b"txet")
        case "remove":
            trusted.unlink()
        case "link":
            trusted.rename(trusted.with_name("other"))
            trusted.symlink_to(trusted.with_name("other"))
        case _:
            {"file": trusted, "inner": trusted.parent, "outer": trusted.parent.parent}[change].chmod(0o757)
    assert state_of(trusted, folders=2) != before


@pytest.mark.parametrize(
    ("group", "members", "refused"),
    [
        pytest.param("ada", [], False, id="the user's own group"),
        pytest.param("ada", ["ada"], False, id="with the user as its member"),
        pytest.param("ada", ["bob"], True, id="with somebody else in it"),
        pytest.param("staff", [], True, id="a group of many"),
    ],
)
def test_a_group_counts_unless_it_is_the_users_own(
    trusted: Path, monkeypatch: pytest.MonkeyPatch, group: str, members: list[str], refused: bool
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: SimpleNamespace(pw_name="ada"))
    monkeypatch.setattr(grp, "getgrgid", lambda gid: SimpleNamespace(gr_name=group, gr_mem=members))
    trusted.chmod(0o664)
    assert (exposure(trusted) is not None) == refused


def test_a_user_and_a_group_without_a_name_are_others(trusted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(number: int) -> None:
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    trusted.chmod(0o660)
    assert exposure(trusted) is not None


def test_a_link_is_as_good_as_the_place_it_leads_to(tmp_path: Path, trusted: Path) -> None:
    link = tmp_path / "home" / "link"
    make_folder(link.parent)
    link.symlink_to(trusted)
    assert read_trusted(link) == "text"
    trusted.parent.chmod(0o777)
    with pytest.raises(ConfigError, match=str(trusted.parent)):
        read_trusted(link)


def test_what_must_be_private_must_not_be_read_either(trusted: Path) -> None:
    trusted.chmod(0o640)
    assert read_trusted(trusted) == "text"
    with pytest.raises(ConfigError, match="can be read by other users"):
        read_trusted(trusted, private=True)


def test_a_file_that_is_not_there_is_said_as_such(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_trusted(tmp_path / "none")


@pytest.mark.parametrize("exposed", ["agents", "agents/coach", "agents/coach/routines", "agents/coach/routines/r.md"])
def test_a_routine_is_refused_wherever_others_can_get_at_it(tmp_path: Path, exposed: str) -> None:
    routine = tmp_path / "agents" / "coach" / "routines" / "r.md"
    make_folder(routine.parent)
    routine.write_text('---\nschedule:\n  cron: "0 18 * * *"\n---\nLook back.\n')
    read_routine(routine, "routines/r.md")
    (tmp_path / exposed).chmod(0o777)
    with pytest.raises(ConfigError, match="can be changed by other users"):
        read_routine(routine, "routines/r.md")


@pytest.mark.parametrize("exposed", [".", "roles", "roles/r.yaml"])
def test_a_role_is_refused_wherever_others_can_get_at_it(tmp_path: Path, exposed: str) -> None:
    role = tmp_path / "roles" / "r.yaml"
    make_folder(role.parent)
    role.write_text("name: r\n")
    load_role(role)
    (tmp_path / exposed).chmod(0o777)
    with pytest.raises(ConfigError, match="can be changed by other users"):
        load_role(role)


def test_a_role_of_many_megabytes_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    role = tmp_path / "huge.yaml"
    role.write_text("name: r\n" + "# x\n" * 500_000)
    with pytest.raises(ConfigError, match="larger than 1,000,000 bytes"):
        load_role(role)
