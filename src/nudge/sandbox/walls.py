"""What every sandbox lets a command see: the programs of this machine, its workspace, and an environment of its own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from nudge.worker.sandbox import Job

PROGRAMS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_ETC = """alternatives ca-certificates fonts group hosts ld.so.cache ld.so.conf ld.so.conf.d localtime magic mime.types
    nsswitch.conf passwd perl pki/tls/certs protocols python3 services ssl/certs ssl/openssl.cnf terminfo timezone"""
SETTINGS = tuple(f"/etc/{name}" for name in _ETC.split())
"""Of /etc only what programs need and everybody may know."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
_NAMES = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")


class Walls:
    """`readable` adds folders that commands may read (a toolchain, say). A folder that holds one of the `hidden` ones
    is not shown at all: nothing can be taken out of it again."""

    def __init__(self, readable: Sequence[Path] = (), hidden: Sequence[Path] = ()) -> None:
        shown = [*map(Path, PROGRAMS), *(path.resolve() for path in readable)]
        secret = [path.resolve() for path in hidden]
        self.folders = tuple(
            path for path in shown if path.exists() and not any(one.is_relative_to(path.resolve()) for one in secret)
        )

    def environment(self, job: Job, home: Path | str) -> dict[str, str]:
        """Nothing of nudge's own: a secret may have any name. HOME is empty and gone afterwards, so no dotfile in it
        runs later."""
        visible = [
            folder
            for folder in os.environ.get("PATH", os.defpath).split(":")
            if folder.startswith("/") and any(Path(folder).is_relative_to(shown) for shown in self.folders)
        ]
        return {
            **{name: os.environ[name] for name in _NAMES if name in os.environ},
            "PATH": ":".join(visible) or "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "TMPDIR": str(home if Path(home).name != "home" else Path(home).parent),
            "TERM": "dumb",
            "PAGER": "cat",
            "GIT_PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_CONFIG_NOSYSTEM": "1",
            **job.environment,
        }


def shell(command: str) -> tuple[str, ...]:
    """bash without its start-up files where it is there, else sh."""
    found = next((path for path in SHELLS if Path(path).exists()), "/bin/sh")
    return (found, "--noprofile", "--norc", "-c", command) if found.endswith("bash") else (found, "-c", command)
