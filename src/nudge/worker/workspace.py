"""The folder that an agent works in, and the only way its tools open anything.

A path is taken apart and opened one name at a time, each from the descriptor of the folder above and never through a
link. Nothing is checked first and used later, so swapping a folder for a link in between changes nothing: the open
fails. Absolute paths, `..` and links are refused, also those that would stay inside.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from types import TracebackType

from nudge.errors import NotFoundError, NudgeError, UsageError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE, _NEW_FOLDER = 0o600, 0o700
SET_ID = 0o7000
GIT = ".git"


class OutsideWorkspaceError(UsageError):
    """This path leaves the workspace."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in the workspace: its path from the top, what it is, and what `lstat` says."""

    path: str
    status: os.stat_result

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.status.st_mode)

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.status.st_mode)


def parts_of(path: str) -> tuple[str, ...]:
    """The names of a path inside the workspace; none for the workspace itself.

    >>> parts_of("src/./app.py"), parts_of("."), parts_of("src/")
    (('src', 'app.py'), (), ('src',))
    """
    if "\0" in path:
        raise UsageError("A path cannot have a NUL character in it.")
    if path.startswith("/"):
        raise OutsideWorkspaceError(f"{path} is an absolute path.", next_step="Use one relative to the workspace.")
    names = tuple(name for name in path.split("/") if name not in ("", "."))
    if ".." in names:
        raise OutsideWorkspaceError(f"{path} has '..' in it.", next_step="Name the file from the top of the workspace.")
    if names and names[0].startswith("~"):
        raise OutsideWorkspaceError(f"{path} is in a home folder.", next_step="Use a path relative to the workspace.")
    return names


class Workspace:
    """Opened once; renaming the folder or putting another in its place does not matter after that."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        try:
            self._top = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise NotFoundError(
                f"The workspace {path} cannot be opened: {error.strerror}.",
                next_step="Make the folder, or name another.",
            ) from None

    def __enter__(self) -> Workspace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._top >= 0:
            os.close(self._top)
            self._top = -1

    @contextlib.contextmanager
    def folder(self, path: str, *, make: bool = False) -> Iterator[int]:
        """The descriptor of a folder, and with `make` of one that was not there."""
        descriptor = os.dup(self._top)
        try:
            for name in parts_of(path):
                descriptor = _step_into(descriptor, name, path, make)
            yield descriptor
        finally:
            os.close(descriptor)

    @contextlib.contextmanager
    def parent(self, path: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder that holds a file, and the file's name."""
        names = parts_of(path)
        if not names:
            raise UsageError("This is the workspace itself.", next_step="Name a file in it.")
        with self.folder("/".join(names[:-1]), make=make) as descriptor:
            yield descriptor, names[-1]

    @contextlib.contextmanager
    def open_file(self, path: str) -> Iterator[int]:
        """A regular file, to read. A pipe or a device in its place is refused without waiting for its other end."""
        with self.parent(path) as (folder, name):
            try:
                descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
            except OSError as error:
                raise _explained(error, folder, name, path) from None
            try:
                mode = os.fstat(descriptor).st_mode
                if not stat.S_ISREG(mode):
                    kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
                    raise UsageError(f"{path} is {kind}.", next_step="Use list_files to see what is there.")
                yield descriptor
            finally:
                os.close(descriptor)

    def read(self, path: str, most: int) -> bytes:
        """The whole file. One of more than `most` bytes is refused."""
        with self.open_file(path) as descriptor:
            size = os.fstat(descriptor).st_size
            with os.fdopen(os.dup(descriptor), "rb") as file:
                content = file.read(most + 1)
        if len(content) > most:
            raise UsageError(f"{path} has {size:,} bytes.", next_step="Use grep, or read a part of it with bash.")
        return content

    def write(self, path: str, content: bytes, mode: int | None = None) -> None:
        """Put a file there as a whole: written beside it under another name, then renamed. A file keeps its mode, a
        link in its place is refused, folders above are made. Other names of the same file keep the old content."""
        with self.parent(path, make=True) as (folder, name):
            if mode is None:
                mode = _mode_of(folder, name, path)
            beside = f".nudge-{token_hex(8)}"
            descriptor = os.open(
                beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _NEW_FILE, dir_fd=folder
            )
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(content)
                    file.flush()
                    os.fchmod(file.fileno(), mode & ~SET_ID)
                os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.unlink(beside, dir_fd=folder)
                raise _explained(error, folder, name, path) from None

    def remove(self, path: str) -> None:
        """A file or a link itself."""
        with self.parent(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def entries(self, path: str = ".") -> list[Entry]:
        """What is in one folder, by name."""
        with self.folder(path) as folder:
            return _entries(folder, "/".join(parts_of(path)))

    def walk(self, path: str = ".", skip: frozenset[str] = frozenset()) -> Iterator[Entry]:
        """Everything below a folder, folders before what is in them, links not followed. `skip` are names of folders
        that are not entered. What vanishes meanwhile is left out."""
        waiting = [path]
        while waiting:
            try:
                found = self.entries(waiting.pop())
            except NotFoundError:
                continue
            yield from found
            waiting.extend(
                entry.path for entry in reversed(found) if entry.is_folder and entry.path.rpartition("/")[2] not in skip
            )


def _entries(folder: int, above: str) -> list[Entry]:
    prefix = f"{above}/" if above else ""
    found = []
    with os.scandir(folder) as scan:
        for one in scan:
            with contextlib.suppress(FileNotFoundError):
                found.append(Entry(prefix + one.name, one.stat(follow_symlinks=False)))
    found.sort(key=lambda entry: entry.path)
    return found


def _step_into(above: int, name: str, path: str, make: bool) -> int:
    """The descriptor of the next folder. That of the one above is closed, also when this fails."""
    if make:
        with contextlib.suppress(FileExistsError, OSError):
            os.mkdir(name, _NEW_FOLDER, dir_fd=above)
    try:
        descriptor = os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        raise _explained(error, above, name, path) from None
    os.dup2(descriptor, above, inheritable=False)
    os.close(descriptor)
    return above


def _mode_of(folder: int, name: str, path: str) -> int:
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return _NEW_FILE
    if not stat.S_ISREG(mode):
        raise _explained(OSError(errno.ELOOP if stat.S_ISLNK(mode) else errno.EISDIR, ""), folder, name, path)
    return stat.S_IMODE(mode)


def _explained(error: OSError, folder: int, name: str, path: str) -> NudgeError:
    """What stood in the way, in words. It is looked at only to say so; nothing is opened by what it says."""
    with contextlib.suppress(OSError):
        target = os.readlink(name, dir_fd=folder)
        return OutsideWorkspaceError(
            f"{path}: {name} is a link to {target}. Links are not followed.", next_step="Use the path it leads to."
        )
    if error.errno == errno.ENOENT:
        return NotFoundError(f"There is no {path}.", next_step="Use list_files or glob to see what is there.")
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return NotFoundError(f"{path}: {name} is not a folder.")
    if error.errno == errno.EISDIR:
        return UsageError(f"{path} is not a regular file.", next_step="Use list_files to see what is there.")
    return NudgeError(f"{path}: {error.strerror or error}.")
