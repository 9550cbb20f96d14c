"""The person's documents as files of the home."""

from __future__ import annotations

from pathlib import Path

from nudge.home.folder import Home
from nudge.home.private_files import make_folder, replace_file


class HomeDocuments:
    """Reads, writes and watches the files below `agents/NAME` of a home.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = HomeDocuments(Home(Path(folder)))
    ...     before = files.version("coach", "GOALS.md")
    ...     files.write("coach", "GOALS.md", b"# Goals")
    ...     files.read("coach", "GOALS.md"), files.version("coach", "GOALS.md") != before
    (b'# Goals', True)
    """

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
        write_document(self.path(agent, name), content)

    def version(self, agent: str, name: str) -> str:
        """From one look at the file's entry. When the entry itself last changed is part of it, because a restored or
        synchronised file may carry an old time of writing. What cannot be looked at has a version too, so that it is
        noticed; reading it says why."""
        try:
            found = self.path(agent, name).stat()
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"error {error.errno}"
        return f"{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_size}:{found.st_ino}"


def write_document(path: Path, content: bytes) -> None:
    """Write a document as a whole. A link is followed, so that documents may live in another folder."""
    path = path.resolve()
    make_folder(path.parent)
    replace_file(path, content)
