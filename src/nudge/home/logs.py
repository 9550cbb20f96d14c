"""Logs: to stderr for whoever watches, to a rotating file as JSON lines for whoever asks later.

Secrets are taken out of the finished line, after everything has been formatted into it: a key cannot hide in an
argument, an exception or a URL.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from nudge.home.private_files import make_folder
from nudge.redaction import redact
from nudge.text import plain

if TYPE_CHECKING:
    from structlog.typing import EventDict, Processor, WrappedLogger


@contextmanager
def _as_if_not_installed(name: str) -> Iterator[None]:
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # what Python has for "there is no such module"
    try:
        yield
    finally:
        del sys.modules[name]


# structlog would load it for tracebacks. We print plain ones, and it is 4 MB of an idle daemon.
with _as_if_not_installed("rich"):
    import structlog

NOISY = ("httpx2", "httpcore2", "httpx", "httpcore", "uvicorn", "asyncio")
_MEGABYTE = 1_000_000
_A_WHILE_SECONDS = 300


class Redacting(logging.Formatter):
    """Another formatter's line without the secrets."""

    def __init__(self, inner: logging.Formatter, secrets: Sequence[str]) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = tuple(secrets)

    def format(self, record: logging.LogRecord) -> str:
        return redact(self._inner.format(record), self._secrets)


def _harmless(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Words of others, an exception's too, must not steer the terminal of whoever watches."""
    return {key: plain(value) if isinstance(value, str) else value for key, value in event.items()}


class _OnceInAWhile(logging.Filter):
    """While a server is away, its library says so several times a second, beside what we say ourselves."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not super().filter(record):
            return True  # somebody else's
        before = self._said.get(str(record.msg))
        if before is not None and abs(record.created - before) < _A_WHILE_SECONDS:
            return False
        self._said[str(record.msg)] = record.created
        return True


class _OwnersFile(logging.handlers.RotatingFileHandler):
    """Whatever the umask and the folder allow, nobody else reads it."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


def configure_logs(
    level: str,
    secrets: Sequence[str],
    folder: Path | None,
    *,
    quiet: bool = False,
    stream: TextIO | None = None,
) -> list[logging.Handler]:
    """Send all logs of this process through redaction to stderr and to `folder/nudge.log` (5 files of 5 MB)."""
    logging.raiseExceptions = False  # a handler that fails would print the record as it is, secrets and all
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer = structlog.dev.ConsoleRenderer(
        colors=(stream or sys.stderr).isatty() and "NO_COLOR" not in os.environ,
        exception_formatter=structlog.dev.plain_traceback,
        pad_event_to=0,
    )
    console = logging.StreamHandler(stream or sys.stderr)
    words = structlog.stdlib.ProcessorFormatter(
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _harmless,
            renderer,
        ],
        foreign_pre_chain=shared,
    )
    console.setFormatter(Redacting(words, secrets))
    console.setLevel(logging.WARNING if quiet else logging.DEBUG)
    handlers: list[logging.Handler] = [console]
    if folder is not None:
        make_folder(folder)
        to_file = _OwnersFile(
            folder / "nudge.log",
            maxBytes=5 * _MEGABYTE,
            backupCount=4,
            encoding="utf-8",
            errors="backslashreplace",  # half of an emoji in an error must not cost the line
            delay=True,
        )
        lines = structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
            ],
            foreign_pre_chain=shared,
        )
        to_file.setFormatter(Redacting(lines, secrets))
        handlers.append(to_file)
    root = logging.getLogger()
    for handler in handlers:
        handler.addFilter(_OnceInAWhile("psycopg.pool"))
        root.addHandler(handler)
    root.setLevel(level.upper())
    for noisy in NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return handlers


_FILLER = b"*"


class LogRedaction:
    """All files of a folder of logs, rotated ones too, and further files that are named. `copies` is the folder of the
    database's daily copies."""

    def __init__(self, folder: Path, others: Iterable[Path] = (), copies: Path | None = None) -> None:
        self._folder = folder
        self._others = tuple(others)
        self._copies = copies

    def remove(self, texts: Sequence[str]) -> int:
        patterns = sorted({form for text in texts for form in _encoded(text)}, key=len, reverse=True)
        if not patterns:
            return 0
        wanted = re.compile(b"|".join(re.escape(pattern) for pattern in patterns), re.IGNORECASE)
        return sum(_overwrite(path, wanted) for path in self._files())

    def purge(self) -> None:
        """A copy holds what was deleted, in places that nobody can find. The next one is made within the hour."""
        for copy in self._copies.glob("nudge-*.db") if self._copies else ():
            copy.unlink()

    def _files(self) -> list[Path]:
        logs = sorted(self._folder.glob("*.log*")) if self._folder.is_dir() else []
        return [path for path in (*logs, *self._others) if path.is_file()]


def _encoded(text: str) -> set[bytes]:
    """The text as it is, and as the two ways of writing JSON put it."""
    plain = text.encode("utf-8", "replace")
    return {form for form in (plain, *(json.dumps(text, ensure_ascii=a)[1:-1].encode() for a in (False, True))) if form}


def _overwrite(path: Path, wanted: re.Pattern[bytes]) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        content = path.read_bytes()
        found = list(wanted.finditer(content))
        for match in found:
            os.pwrite(descriptor, _FILLER * len(match[0]), match.start())
        if found:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return len(found)
