"""Which sandbox is taken, what is said if none works, and the rules that each is given."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from nudge.errors import NotConfiguredError
from nudge.home.roles import load_role
from nudge.sandbox import choose as choosing
from nudge.sandbox import landlock, seccomp
from nudge.sandbox.choose import NAMES, choose
from nudge.sandbox.seatbelt import profile
from nudge.sandbox.walls import Walls

ALLOWED, DENIED, KILLED = "allowed", "denied", "killed"
X86, ARM = 0xC000003E, 0xC00000B7
EVERYTHING = seccomp.ALWAYS + seccomp.WITHOUT_NAMESPACES


def verdict(program: bytes, number: int, *arguments: int, architecture: int = X86) -> str:
    """Run a filter as the kernel does."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = struct.unpack_from("=HBBI", program, at * 8)
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return {0x7FFF0000: ALLOWED, 0x80000000: KILLED}.get(value, DENIED)
        else:
            holds = {
                0x15: accumulator == value,
                0x35: accumulator >= value,
                0x45: bool(accumulator & value),
            }[code]
            at += if_true if holds else if_false


@pytest.mark.parametrize(
    ("call", "arguments", "said"),
    [
        pytest.param("ptrace", (), DENIED, id="tracing"),
        pytest.param("clone", (0x11,), ALLOWED, id="a new process"),
        pytest.param("clone", (0x10000011,), DENIED, id="a new process in a user namespace"),
        pytest.param("clone3", (), DENIED, id="a new process with flags out of sight"),
        pytest.param("ioctl", (0, 0x5401), ALLOWED, id="asking about a terminal"),
        pytest.param("ioctl", (0, 0x5412), DENIED, id="typing into a terminal"),
        pytest.param("fchmod", (3, 0o755), ALLOWED, id="an ordinary mode"),
        pytest.param("fchmod", (3, 0o4755), DENIED, id="a mode that runs as its owner"),
        pytest.param("openat", (3, 1, 0o100, 0o644), ALLOWED, id="a new file"),
        pytest.param("openat", (3, 1, 0o100, 0o2755), DENIED, id="a new file that runs as its group"),
        pytest.param("openat", (3, 1, 0, 0o2755), ALLOWED, id="no new file, whatever its mode says"),
        pytest.param("utimensat", (3, 0), ALLOWED, id="the times of an open file"),
        pytest.param("utimensat", (3, 1), DENIED, id="the times of a path"),
        pytest.param("utimensat", (3, 1 << 40), DENIED, id="the times of a path high in memory"),
        pytest.param("socket", (1, 1), DENIED, id="a socket"),
    ],
)
@pytest.mark.parametrize(("machine", "architecture"), [("x86_64", X86), ("aarch64", ARM)])
def test_the_filter_decides(call: str, arguments: tuple[int, ...], said: str, machine: str, architecture: int) -> None:
    number = seccomp.NUMBERS[call][0 if machine == "x86_64" else 1]
    program = seccomp.program(EVERYTHING, machine)
    assert verdict(program, number, *arguments, architecture=architecture) == said


def test_calls_under_other_numbers_or_of_another_machine_are_not_let_through() -> None:
    program = seccomp.program(EVERYTHING, "x86_64")
    assert verdict(program, 0x40000000 | 101) == DENIED
    assert verdict(program, 101, architecture=0x40000003) == KILLED
    assert verdict(program, 0) == ALLOWED


def test_a_filter_is_as_short_as_a_kernel_takes() -> None:
    rules = EVERYTHING + seccomp.WITHOUT_SCOPED_SIGNALS
    assert len(seccomp.program(rules, "x86_64")) // 8 < 4_096


@pytest.fixture
def nothing_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing.platform, "system", lambda: "Linux")
    monkeypatch.setattr(choosing, "find_bubblewrap", lambda: ("bwrap", "bwrap is not installed"))
    monkeypatch.setattr(landlock, "version", lambda: 0)


def test_without_a_sandbox_commands_are_refused(nothing_works: None) -> None:
    with pytest.raises(NotConfiguredError, match="No sandbox works on this machine") as told:
        choose()
    assert "bwrap is not installed" in told.value.message
    assert "sandbox: none in the role" in (told.value.next_step or "")


def test_none_has_to_be_asked_for(nothing_works: None) -> None:
    assert not choose("none").confines


def test_the_fix_for_apparmor_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    switch = tmp_path / "switch"
    monkeypatch.setattr(choosing, "_RESTRICTED", switch)
    monkeypatch.setattr(choosing.shutil, "which", lambda name: "/usr/bin/bwrap")
    assert "apt install bubblewrap" in choosing.fix()
    switch.write_text("1\n")
    assert "bwrap-userns-restrict" in choosing.fix()
    switch.write_text("0\n")
    assert "apt install bubblewrap" in choosing.fix()


def test_a_bubblewrap_that_is_forbidden_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    forbidden = tmp_path / "bwrap"
    forbidden.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n")
    forbidden.chmod(0o755)
    monkeypatch.setattr(choosing, "_programs", lambda: iter([str(forbidden)]))
    choosing.find_bubblewrap.cache_clear()
    try:
        assert choosing.find_bubblewrap() == ("bwrap", f"{forbidden}: setting up uid map: Permission denied")
    finally:
        choosing.find_bubblewrap.cache_clear()


def test_a_folder_with_something_hidden_in_it_is_not_shown(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    assert tools in Walls(readable=[tools]).folders
    assert tools not in Walls(readable=[tools], hidden=[tools / "home"]).folders


def test_a_role_says_which_sandbox(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / "r.yaml").write_text(f"name: r\nsandbox: {name}\n")
        assert load_role(tmp_path / "r.yaml").sandbox == name


def test_the_profile_of_macos_denies_first_and_quotes_paths(tmp_path: Path) -> None:
    odd = tmp_path / 'a"b'
    odd.mkdir()
    rules = profile(odd, tmp_path, Walls()).splitlines()
    assert rules[:2] == ["(version 1)", "(deny default)"]
    assert "(deny network*)" in rules
    assert '\\"b")' in profile(odd, tmp_path, Walls())
