"""Run the real `nudge` as a person does, in a home of its own: in another process, or faster, in this one."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from nudge.cli.main import main
from nudge.home.folder import Home

NUDGE = [sys.executable, "-m", "nudge.cli.main"]
NOWHERE = "http://127.0.0.1:9"
"""No test asks a service outside of this machine."""
_PATIENCE = 20.0


class Cli:
    def __init__(self, home: Path, environment: Mapping[str, str] | None = None) -> None:
        self.home = home
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NUDGE", "TELEGRAM", "ANTHROPIC", "OPENAI", "COLUMNS"))
        }
        self.environment = {
            **kept,
            "NUDGE_HOME": str(home),
            "NO_COLOR": "1",
            "TZ": "America/Toronto",
            "TELEGRAM_API_BASE": NOWHERE,
            "ANTHROPIC_BASE_URL": NOWHERE,
            **(environment or {}),
        }

    def __call__(self, *words: str, code: int | None = 0, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*NUDGE, *words], env=self.environment, capture_output=True, text=True, timeout=60, input=stdin, check=False
        )
        if code is not None:
            assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *words: str, code: int | None = 0) -> Any:
        return json.loads(self(*words, "--json", code=code).stdout)

    def start(self, *words: str, stdin: int | None = subprocess.DEVNULL) -> Daemon:
        process = subprocess.Popen(
            [*NUDGE, "run", *words],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=stdin,
            text=True,
        )
        daemon = Daemon(self, process)
        try:
            daemon.wait_until_up()
        except BaseException:
            daemon.__exit__()  # nobody else knows of it
            raise
        return daemon


class CliHere(Cli):
    """The same in this process: `main(argv)` with its environment. For what a process of its own would only make slow:
    errors, reports, commands that write and end."""

    def __call__(self, *words: str, code: int | None = 0, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch("sys.stdin", io.StringIO(stdin or "")),
            patch("nudge.daemon.process.HomeLock.acquire", side_effect=AssertionError("a daemon would start here")),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            returned = main(list(words))
        if code is not None:
            assert returned == code, f"{words}: {returned}\n{out.getvalue()}\n{err.getvalue()}"
        return subprocess.CompletedProcess(words, returned, out.getvalue(), err.getvalue())


class Daemon:
    def __init__(self, cli: Cli, process: subprocess.Popen[str]) -> None:
        self.cli = cli
        self.process = process

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def wait_until_up(self) -> None:
        socket = Home.find(given=str(self.cli.home)).socket  # a command a hundred times a second would hold it up
        until(
            lambda: (
                self.process.poll() is not None or (socket.exists() and self.cli("status", code=None).returncode == 0)
            ),
            "the daemon is up",
        )
        if self.process.poll() is not None:
            out, err = self.process.communicate()
            raise AssertionError(f"the daemon ended with {self.process.returncode}\n{out}\n{err}")

    def signal(self, which: signal.Signals) -> None:
        self.process.send_signal(which)

    def wait(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=_PATIENCE)
        return self.process.returncode, out, err


def until(condition: Any, what: str, patience: float = _PATIENCE) -> None:
    """Look again and again at another process. The only waiting in the tests, and it ends as soon as it can."""
    end = time.monotonic() + patience  # noqa: TID251
    while not condition():
        if time.monotonic() > end:  # noqa: TID251
            raise AssertionError(f"waited {patience} s until {what}")
        time.sleep(0.01)
