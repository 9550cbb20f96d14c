"""git as a process that asks nobody anything: where it would ask, it fails."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

from nudge.errors import NudgeError
from nudge.home.config import SECRET_NAMES
from nudge.redaction import redact

_SECONDS = 60.0
_REPOSITORY_OF_OTHERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_OPTIONAL_LOCKS": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "LC_ALL": "C",
}
# A signature may need a passphrase, a garbage collection would outlive us, and whatever the repository would run beside
# git may have come with a pull: nobody is here to look at it first.
_SETTINGS = tuple(
    word
    for setting in (
        "commit.gpgSign=false",
        "gc.auto=0",
        "maintenance.auto=false",
        "core.hooksPath=/dev/null",
        "core.fsmonitor=false",
        "submodule.recurse=false",
        "fetch.recurseSubmodules=false",
    )
    for word in ("-c", setting)
)


class GitError(NudgeError):
    """git failed."""


class Git:
    """Runs git in one folder. `run` gives what it printed, `ok` whether it succeeded."""

    def __init__(self, folder: Path, *, timeout: float = _SECONDS, identity: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._timeout = timeout
        self._identity = dict(identity or {})

    def at(self, folder: Path) -> Git:
        """The same in another folder."""
        return Git(folder, timeout=self._timeout, identity=self._identity)

    def signed_by(self, name: str, email: str) -> Git:
        """The same, with a name for its commits."""
        who = {"NAME": name, "EMAIL": email}
        identity = {f"GIT_{role}_{part}": who[part] for role in ("AUTHOR", "COMMITTER") for part in who}
        return Git(self.folder, timeout=self._timeout, identity=identity)

    async def ok(self, *words: str) -> bool:
        try:
            await self.run(*words)
        except GitError:
            return False
        return True

    async def run(self, *words: str) -> str:
        verb = next(word for word in words if word[0] != "-" and "=" not in word)
        try:
            process = await _started(
                asyncio.create_subprocess_exec(
                    "git",
                    *_SETTINGS,
                    "-C",
                    str(self.folder),
                    *words,
                    env=self._environment(),
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    start_new_session=True,  # no terminal to ask on, and one group to end with all it started
                )
            )
        except FileNotFoundError:
            raise GitError("git is not installed.", next_step="Install git to use /sync.") from None
        try:
            async with asyncio.timeout(self._timeout):
                out, err = await process.communicate()
        except BaseException as error:
            _end(process)
            await process.wait()
            if isinstance(error, TimeoutError):
                raise GitError(f"git {verb} took longer than {self._timeout:g} s.") from None
            raise
        if process.returncode:
            raise GitError(f"git {verb}: {_reason(err.decode(errors='replace'))}")
        return out.decode(errors="replace").strip()

    def _environment(self) -> dict[str, str]:
        """Ours without our secrets: hooks and helpers of the repository see it too."""
        hidden = {*SECRET_NAMES, *_REPOSITORY_OF_OTHERS}
        return {
            **{name: value for name, value in os.environ.items() if name not in hidden},
            **self._identity,
            **_QUIET,
        }


async def _started(start: Coroutine[Any, Any, asyncio.subprocess.Process]) -> asyncio.subprocess.Process:
    """The process. If we are cancelled while it starts, asyncio would end git alone and leave its helpers behind."""
    starting = asyncio.ensure_future(start)
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        process = await starting
        _end(process)
        await process.wait()
        raise


def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _reason(said: str) -> str:
    """The line that says why, without the password of a remote."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    for start in ("error:", "fatal:", "CONFLICT"):
        for line in lines:
            if line.startswith(start):
                return redact(line.removeprefix(start).strip().rstrip("."))
    return redact(lines[-1].rstrip(".")) if lines else "it failed"
