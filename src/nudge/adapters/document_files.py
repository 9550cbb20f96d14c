"""The person's documents as files of the home."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from nudge.adapters.home import Home


class HomeDocuments:
    def __init__(self, home: Home) -> None:
        self._home = home

    def path(self, agent: str, name: str) -> Path:
        return self._home.agent(agent) / name

    def read(self, agent: str, name: str) -> bytes | None:
        try:
            return self.path(agent, name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, agent: str, name: str, content: bytes) -> None:
        write_atomically(self.path(agent, name), content)

    def version(self, agent: str, name: str) -> str:
        try:
            stat = self.path(agent, name).stat()
        except FileNotFoundError:
            return ""
        return f"{stat.st_mtime_ns}:{stat.st_size}:{stat.st_ino}"


def write_atomically(path: Path, content: bytes) -> None:
    """Temporary file, fsync, rename, fsync of the folder. Permissions of a file that is there are kept, and a link is
    followed, so that documents may live in another folder."""
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
