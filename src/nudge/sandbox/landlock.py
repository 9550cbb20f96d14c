"""Landlock and seccomp: for machines on which no namespaces can be made. Needs Linux 6.2.

Weaker than bubblewrap in what can be seen, not in what can be changed: whether a file outside exists can be found out,
its content and the names in a folder cannot. Changing modes, owners and times by path fails inside the workspace too,
because Landlock cannot tell where the path leads; `fchmod` and friends on open files work.
"""

from __future__ import annotations

import ctypes
import os
import platform
from pathlib import Path
from typing import Any

from nudge.sandbox import seccomp
from nudge.sandbox.run import CommandSandbox, Prepared
from nudge.sandbox.walls import DEVICES, SETTINGS, Walls, shell
from nudge.worker.sandbox import Job

OLDEST = 3
"""The version of the interface that also guards truncation."""

_CREATE, _VERSION = 444, 1
_EXECUTE, _WRITE, _READ, _READ_FOLDER, _TRUNCATE, _IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
_TCP_BIND_AND_CONNECT = 3
_SCOPED_SOCKETS_AND_SIGNALS = 3
_HARMLESS = (
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/version",
    "/proc/filesystems",
    "/sys/devices/system/cpu",
)


def version() -> int:
    """That of the kernel's interface; 0 where there is none."""
    if platform.system() != "Linux":
        return 0
    found = ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, _VERSION)
    return max(0, int(found))


def landlock(walls: Walls | None = None, abi: int | None = None) -> CommandSandbox:
    """`abi` pretends an older kernel."""
    walls = walls or Walls()
    abi = version() if abi is None else min(abi, version())
    rules = seccomp.ALWAYS + seccomp.WITHOUT_NAMESPACES + (seccomp.WITHOUT_SCOPED_SIGNALS if abi < 6 else ())
    filters = seccomp.program(rules, platform.machine())

    def prepare(job: Job, scratch: Path) -> Prepared:
        environment = {**walls.environment(job, scratch), "TMPDIR": str(scratch)}
        return Prepared(shell(job.command), environment, landlock=_rules(job, scratch, walls, abi), seccomp=filters)

    return CommandSandbox("landlock", prepare)


def _rules(job: Job, scratch: Path, walls: Walls, abi: int) -> dict[str, Any]:
    handled = (1 << (16 if abi >= 5 else 15)) - 1
    look = _EXECUTE | _READ | _READ_FOLDER
    paths = [
        *((str(path), look) for path in walls.folders),
        *((path, _READ | _READ_FOLDER) for path in (*SETTINGS, *_HARMLESS)),
        *((path, _READ | _WRITE | (_IOCTL & handled)) for path in DEVICES),
        (str(job.folder), handled & ~_IOCTL),
        (str(scratch), handled & ~_IOCTL),
    ]
    return {
        "files": handled,
        "network": _TCP_BIND_AND_CONNECT if abi >= 4 else 0,
        "scoped": _SCOPED_SOCKETS_AND_SIGNALS if abi >= 6 else 0,
        "paths": paths,
        "of_files": _FILES & handled,
    }


def works_here() -> str:
    """Why Landlock cannot be used on this machine; empty if it can."""
    if platform.system() != "Linux":
        return "Landlock is a part of Linux"
    if not seccomp.known(platform.machine()):
        return f"no system call table for {platform.machine()}"
    if (found := version()) < OLDEST:
        return f"Landlock {found or 'is off'}: Linux 6.2 or newer is needed (this is {os.uname().release})"
    return ""
