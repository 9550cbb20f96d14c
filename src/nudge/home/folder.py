"""The home: one folder with everything that belongs to a person's nudge."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from nudge.errors import NotConfiguredError


def foreign(folder: Path) -> bool:
    """Whether another user may have put this folder, or a link in its place, where everybody may write. A name that
    can be guessed proves nothing there."""
    return folder.lstat().st_uid != os.getuid() and bool(folder.parent.stat().st_mode & stat.S_ISVTX)


class Home:
    """The paths inside a home. Knowing them touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Home) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Home({str(self.path)!r})"

    @classmethod
    def find(cls, environment: Mapping[str, str] | None = None, given: str | None = None) -> Home:
        """The given path, else NUDGE_HOME, else ~/.nudge."""
        environment = os.environ if environment is None else environment
        path = given or environment.get("NUDGE_HOME") or "~/.nudge"
        try:
            return cls(Path(path).expanduser().absolute())
        except RuntimeError:  # a user that has no home, or does not exist
            raise NotConfiguredError(
                f"{path} cannot be found: there is no such user.",
                next_step="Set NUDGE_HOME to a folder that you can write.",
            ) from None

    @property
    def exists(self) -> bool:
        return self.config.is_file()

    def require(self) -> Home:
        if not self.exists:
            raise NotConfiguredError(
                f"There is no nudge home at {self.path}.", next_step="Run 'nudge init' to make one, or set NUDGE_HOME."
            )
        return self

    @property
    def config(self) -> Path:
        return self.path / "nudge.toml"

    @property
    def env_file(self) -> Path:
        return self.path / ".env"

    @property
    def roles(self) -> Path:
        return self.path / "roles"

    @property
    def database(self) -> Path:
        return self.path / "nudge.db"

    @property
    def copies(self) -> Path:
        """A copy of the database for each of the last days."""
        return self.path / "copies"

    @property
    def snapshots(self) -> Path:
        """Workspaces as they were, unless nudge.toml names another place."""
        return self.path / "snapshots"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def run(self) -> Path:
        return self.path / "run"

    @property
    def lock(self) -> Path:
        return self.run / "daemon.lock"

    @property
    def chat_history(self) -> Path:
        """What was typed in a terminal, for its arrow keys."""
        return self.run / "chat_history"

    @property
    def socket(self) -> Path:
        """Where the daemon listens. A socket's path has at most 107 bytes (103 on macOS). A home with a longer path
        keeps its socket in a private folder of the system's temporary one, under a name made from the home's path."""
        direct = self.run / "control.sock"
        if len(os.fsencode(direct)) <= (103 if sys.platform == "darwin" else 107):
            return direct
        import hashlib
        import tempfile

        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"nudge-{os.getuid()}-{digest}" / "control.sock"

    def agent(self, name: str) -> Path:
        return self.path / "agents" / name

    def workspace(self, name: str) -> Path:
        return self.agent(name) / "workspace"
