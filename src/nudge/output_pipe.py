"""The output of a process: its first and its last bytes. The rest is read and dropped, so nobody blocks on writing.

The pipe is ours and not asyncio's: a child that went into the background keeps it open, and we do not wait for it.
"""

from __future__ import annotations

import asyncio
import os


class OutputPipe:
    """Give `writer` to the process, then `listen`. `ended` is set when the last writer has closed it."""

    def __init__(self, head_bytes: int, tail_bytes: int = 0) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._head_bytes, self._tail_bytes = head_bytes, tail_bytes
        self._head = bytearray()
        self._tail = bytearray()
        self.left_out = 0
        self.ended = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def listen(self) -> None:
        os.close(self.writer)
        self.writer = -1
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._reader, self._read)

    def _read(self) -> bool:
        try:
            chunk = os.read(self._reader, 65_536)
        except BlockingIOError:
            return False
        if not chunk:
            self.ended.set()
            if self._loop is not None:
                self._loop.remove_reader(self._reader)
            return False
        room = self._head_bytes - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if over := max(0, len(self._tail) - self._tail_bytes):
            del self._tail[:over]
            self.left_out += over
        return True

    def close(self) -> None:
        if self.writer >= 0:
            os.close(self.writer)
        if self._loop is not None:
            for _ in range(16):  # what is in the pipe now; somebody who escaped may write forever
                if not self._read():
                    break
            self._loop.remove_reader(self._reader)
        os.close(self._reader)

    @property
    def text(self) -> str:
        """What was cut off a character at the end is left out, and so is NUL, which no database takes as text. A note
        stands between the first and the last bytes if some are missing there."""
        if not self.left_out:
            text = (self._head + self._tail).decode("utf-8", "replace")
        elif not self._tail_bytes:
            text = self._head.decode("utf-8", "ignore")
        else:
            gap = f"\n[… {self.left_out:,} bytes left out …]\n"
            text = self._head.decode("utf-8", "replace") + gap + self._tail.decode("utf-8", "replace")
        return text.replace("\0", "")
