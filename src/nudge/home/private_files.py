"""Who may read and write the files of a home.

Everything nudge makes is its owner's alone, whatever the umask: folders 0700, files 0600. What decides which commands
run (configuration, roles, routines) is refused if another user could have written it. A folder in which others can
write counts as well, because they could put another file in its place.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple

from nudge.errors import ConfigError

FOLDER = 0o700
FILE = 0o600
LARGEST = 1_000_000
"""Bytes. Nobody writes a configuration, a role or a routine of this size, and parsing one takes minutes."""

_GROUP_OR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Exposure(NamedTuple):
    """A file that others can use, in words, and the command that ends it."""

    problem: str
    next_step: str

    def error(self) -> ConfigError:
        return ConfigError(f"{self.problem}.", next_step=self.next_step)


def make_folder(folder: Path) -> None:
    """Make the folder and those above it that are missing, each private. `mkdir(parents=True)` would make the ones
    above with whatever the umask leaves."""
    if not folder.is_dir():
        if not folder.parent.is_dir():
            make_folder(folder.parent)
        folder.mkdir(mode=FOLDER, exist_ok=True)


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet. It is private from its first moment."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        path.unlink()  # half a file would be taken for the person's own next time
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Write a file as a whole: temporary file, fsync, rename, fsync of the folder. A link in its place is not followed.
    A file of ours keeps its permissions; a new one is private. Raises OSError where something else is in its place."""
    import tempfile

    mode = FILE
    with contextlib.suppress(FileNotFoundError):
        there = path.lstat()
        if not stat.S_ISREG(there.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        if there.st_uid == os.getuid():
            mode = stat.S_IMODE(there.st_mode)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read_trusted(path: Path, *, folders: int = 1, private: bool = False) -> str:
    """The text of a file that decides what nudge does. Refused are one that other users can write, in place or by way
    of the `folders` above it; with `private`, one that they can read; and one of more than a megabyte.

    Raises FileNotFoundError where there is none, and ConfigError for the rest.
    """
    if exposed := exposure(path, folders=folders, private=private):
        raise exposed.error()
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ConfigError(f"{path} is larger than {LARGEST:,} bytes.", next_step="Check that it is the right file.")
        return content.decode("utf-8-sig")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}.", next_step="Check its owner and permissions.") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text.", next_step="Save the file as UTF-8.") from None


State = tuple[int, ...]


def state_of(path: Path, *, folders: int = 1) -> State | None:
    """A value that differs as soon as `read_trusted` may answer differently: the file was written or replaced, or
    somebody changed who may write it or the folders above. None where that takes more than a look at these entries:
    there is no such file, or it is a link."""
    place = path.absolute()
    try:
        found = place.lstat()
        if not stat.S_ISREG(found.st_mode):
            return None
        state = [found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev]
        for _ in range(folders):
            place = place.parent
            above = place.stat()
            state += [above.st_mode, above.st_uid, above.st_gid]
    except OSError:
        return None
    return tuple(state)


def exposure(path: Path, *, folders: int = 1, private: bool = False) -> Exposure | None:
    """How other users can change the file (or read it, where it must be `private`); None if they cannot, and if there
    is no such file."""
    try:
        if private and (mode := path.stat().st_mode) & _GROUP_OR_OTHERS:
            return Exposure(
                f"{path} can be read by other users (mode {stat.S_IMODE(mode):04o})",
                f"Run 'chmod 600 {path}', or 'nudge doctor --fix'.",
            )
        suspects = [path, *path.absolute().parents[:folders]]
        if path.is_symlink():
            suspects.append(path.resolve().parent)
        for suspect in suspects:
            above = suspect not in (path, path.absolute().parent)
            if (found := changeable(suspect)) and not (above and _keeps_what_is_ours(suspect)):
                return found
    except OSError:
        return None  # reading it says why
    return None


def changeable(path: Path) -> Exposure | None:
    """How other users can change this one file or folder. Root can change everything and is not counted."""
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid not in (os.getuid(), 0):
        return Exposure(
            f"{path} belongs to another user (uid {found.st_uid})",
            f"Run 'chown {os.getuid()} {path}', or run nudge as that user.",
        )
    if mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _only_member(found.st_uid, found.st_gid)):
        return Exposure(
            f"{path} can be changed by other users (mode {mode:04o})",
            f"Run 'chmod go-w {path}', or 'nudge doctor --fix'.",
        )
    return None


def _keeps_what_is_ours(folder: Path) -> bool:
    """Whether others who can write in a folder cannot remove or rename what is ours in it, as in /tmp."""
    found = folder.stat()
    return found.st_uid in (os.getuid(), 0) and bool(found.st_mode & stat.S_ISVTX)


def _only_member(user: int, group: int) -> bool:
    """Whether the group is the user's own. Many systems give each user one of their name, and make files that it can
    write."""
    import grp
    import pwd

    try:
        name, entry = pwd.getpwuid(user).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    return entry.gr_name == name and set(entry.gr_mem) <= {name}
