"""macOS: `sandbox-exec` with a profile that denies everything but the workspace and the system's programs."""

from __future__ import annotations

from pathlib import Path

from nudge.sandbox.run import CommandSandbox, Prepared
from nudge.sandbox.walls import Walls, shell
from nudge.worker.sandbox import Job

PROGRAM = "/usr/bin/sandbox-exec"
_SYSTEM = ("/System", "/Library", "/opt/homebrew", "/private/var/select", "/private/etc/ssl", "/dev/fd")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def seatbelt(walls: Walls | None = None) -> CommandSandbox:
    walls = walls or Walls()

    def prepare(job: Job, scratch: Path) -> Prepared:
        environment = {**walls.environment(job, scratch), "TMPDIR": str(scratch)}
        return Prepared((PROGRAM, "-p", profile(job.folder, scratch, walls), *shell(job.command)), environment)

    return CommandSandbox("sandbox-exec", prepare)


def profile(folder: Path, scratch: Path, walls: Walls) -> str:
    """The rules, with the real paths: the kernel sees no links."""
    readable = " ".join(f"(subpath {_quoted(path)})" for path in (*walls.folders, *map(Path, _SYSTEM)))
    writable = " ".join(f"(subpath {_quoted(path.resolve())})" for path in (folder, scratch))
    devices = " ".join(f"(literal {_quoted(Path(path))})" for path in _DEVICES)
    return "\n".join(
        (
            "(version 1)",
            "(deny default)",
            "(allow process-fork process-exec sysctl-read)",
            "(allow signal (target same-sandbox))",
            "(allow file-read-metadata)",
            f'(allow file-read* (literal "/") {readable})',
            f"(allow file-read* file-write* {writable} {devices})",
            "(deny file-write-setugid)",
            "(deny network*)",
        )
    )


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
