"""heartbeat.log: one JSON line per decision of the coach."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nudge.core.redaction import redact

_LARGEST = 5_000_000


class DecisionFile:
    """Appends; at 5 MB the file becomes heartbeat.log.1 and a new one begins."""

    def __init__(self, folder: Path, secrets: Sequence[str]) -> None:
        self._path = folder / "heartbeat.log"
        self._secrets = tuple(secrets)

    def __call__(self, line: Mapping[str, Any]) -> None:
        text = redact(json.dumps(dict(line), ensure_ascii=False), self._secrets)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._path.exists() and self._path.stat().st_size > _LARGEST:
            self._path.replace(self._path.with_suffix(".log.1"))
        with self._path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
