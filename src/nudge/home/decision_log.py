"""heartbeat.log: one JSON line per decision of the coach."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nudge.home.private_files import make_folder
from nudge.redaction import redact

log = logging.getLogger("nudge.decisions")

_LARGEST = 5_000_000


class DecisionFile:
    """Appends; at 5 MB the file becomes heartbeat.log.1 and a new one begins. A disk that refuses costs the line, not
    the heartbeat.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     DecisionFile(Path(folder), ["my-secret"])({"decision": "heartbeat_ok", "reason": "my-secret"})
    ...     (Path(folder) / "heartbeat.log").read_text()
    '{"decision": "heartbeat_ok", "reason": "[hidden]"}\\n'
    """

    def __init__(self, folder: Path, secrets: Sequence[str] = (), largest: int = _LARGEST) -> None:
        self._path = folder / "heartbeat.log"
        self._secrets = tuple(secrets)
        self._largest = largest

    def __call__(self, line: Mapping[str, Any]) -> None:
        text = redact(json.dumps(dict(line), ensure_ascii=False, default=str), self._secrets)
        data = f"{text}\n".encode("utf-8", "replace")
        try:
            make_folder(self._path.parent)
            if self._path.exists() and self._path.stat().st_size + len(data) > self._largest:
                self._path.replace(self._path.with_suffix(".log.1"))
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, data)  # one write: two processes do not mix their lines
            finally:
                os.close(descriptor)
        except OSError as error:
            log.warning("a decision could not be logged: %s", error)
