"""One daemon per home. The kernel drops the lock when its process dies, however it dies."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from typing import IO, Any

from nudge.errors import NudgeError
from nudge.home.folder import Home
from nudge.home.private_files import make_folder
from nudge.instants import Instant, rfc3339

_PATIENCE_SECONDS = 1.0
_TRIES = 50
_LENGTH = 250


@dataclass(frozen=True)
class Holder:
    """A process that holds the lock. `instance` is its own name, `home` that of the home, the same for all of them."""

    pid: int
    since: str
    instance: str
    home: str = ""

    @property
    def since_when(self) -> str:
        """To the minute, for people."""
        return f"{self.since[:16].replace('T', ' ')} UTC"


class HomeLock:
    """Held from `acquire` until `release` or the end of the process. Remembers who held it before."""

    def __init__(self, file: IO[str], holder: Holder, before: Holder | None) -> None:
        self._file = file
        self.holder = holder
        self.before = before

    @classmethod
    def acquire(cls, home: Home, instance: str, now: Instant) -> HomeLock:
        make_folder(home.run)
        home.run.chmod(0o700)
        # Opened without truncation: until the lock is ours, the text in it is the holder's.
        descriptor = os.open(home.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        file = os.fdopen(descriptor, "r+", encoding="utf-8")
        if not _locked(file):
            holder = _read(file)
            file.close()
            who = f"process {holder.pid}, since {holder.since_when}" if holder else "another process"
            raise NudgeError(
                f"A nudge daemon is already running in {home.path} ({who}).",
                next_step="'nudge chat' talks to it, 'nudge status' shows it, 'nudge stop' ends it. Or set NUDGE_HOME.",
            )
        before = _read(file)
        name = before.home if before and before.home else secrets.token_hex(8)
        holder = Holder(os.getpid(), rfc3339(now), instance, name)
        # In one write over the old text: whoever dies here must not lose the home's name.
        file.seek(0)
        file.write(json.dumps(asdict(holder)).ljust(_LENGTH))
        file.flush()
        file.truncate()
        return cls(file, holder, before)

    def release(self) -> None:
        self._file.close()


def _locked(file: IO[str]) -> bool:
    """Take the lock. A command that looks who holds it has it too, for a moment: only who keeps it is a daemon."""
    for _ in range(_TRIES):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_PATIENCE_SECONDS / _TRIES)
        else:
            return True
    return False


def holder_of(home: Home) -> Holder | None:
    """Who holds the lock now; None if nobody does."""
    try:
        with home.lock.open("r", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read(file) or Holder(0, "?", "")
    except OSError:
        pass
    return None


def _read(file: IO[str]) -> Holder | None:
    try:
        file.seek(0)
        found: Any = json.loads(file.read())
        return Holder(int(found["pid"]), str(found["since"]), str(found["instance"]), str(found.get("home", "")))
    except (ValueError, KeyError, TypeError):
        return None
