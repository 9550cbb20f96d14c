"""bubblewrap: namespaces of its own for files, processes, network, users and messages.

As root the command keeps the number 0 in a user namespace without any capability, so it may change its own files and
nothing of the machine.
"""

from __future__ import annotations

import platform
from pathlib import Path

from nudge.sandbox import seccomp
from nudge.sandbox.run import CommandSandbox, Prepared
from nudge.sandbox.walls import SETTINGS, Walls, shell
from nudge.worker.sandbox import Job

_TEMPORARY_BYTES = 512 * 1024 * 1024
_LOCKED = [
    word for path in ("/proc/sys", "/proc/fs", "/proc/acpi", "/proc/scsi") for word in ("--ro-bind-try", path, path)
]
"""The kernel's switches. It takes orders from user 0 by that number alone, in any namespace."""


def bubblewrap(program: str, walls: Walls | None = None) -> CommandSandbox:
    walls = walls or Walls()
    machine = platform.machine()
    filters = seccomp.program(seccomp.ALWAYS, machine) if seccomp.known(machine) else None

    def prepare(job: Job, scratch: Path) -> Prepared:
        return Prepared(
            (program, *_arguments(job, walls), "--", *shell(job.command)),
            walls.environment(job, "/tmp/home"),  # noqa: S108 - inside the sandbox, where /tmp is new
            seccomp=filters,
            seccomp_argument="--seccomp",
        )

    return CommandSandbox("bubblewrap", prepare)


def _arguments(job: Job, walls: Walls) -> list[str]:
    size = str(_TEMPORARY_BYTES)
    folder = str(job.folder)
    arguments = ["--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--new-session", "--die-with-parent"]
    arguments += ["--hostname", "nudge"]
    for path in walls.folders:
        if path.is_symlink():  # /bin on most systems
            arguments += ["--symlink", str(path.readlink()), str(path)]
        else:
            arguments += ["--ro-bind", str(path), str(path)]
    for setting in SETTINGS:
        arguments += ["--ro-bind-try", setting, setting]
    arguments += ["--proc", "/proc", *_LOCKED, "--dev", "/dev", "--remount-ro", "/dev"]
    arguments += ["--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp"]  # noqa: S108 - its own
    arguments += ["--dir", "/tmp/home", "--bind", folder, folder, "--remount-ro", "/", "--chdir", folder]  # noqa: S108
    return arguments
