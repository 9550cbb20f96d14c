"""Notifications on the desktop, beside the terminal: `notify-send` on Linux, `osascript` on macOS.

A message has passed every rule by the time it comes here. The text is an argument of a program that is started without
a shell, behind `--`, and without markup: whoever wrote it, it is shown and does nothing else. A desktop that shows
nothing holds up nothing, because the message is in the terminal too.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import escape

from nudge.text import plain, short

LONGEST = 300
PATIENCE_SECONDS = 5.0
_TITLE = "nudge"
_PROGRAMS = {"darwin": "osascript"}
_SCRIPT = ("on run argv", f'display notification (item 1 of argv) with title "{_TITLE}"', "end run")
_NEEDED = ("PATH", "HOME", "USER", "LANG", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS")
"""What reaches the desktop from the environment. Keys and passwords do not."""

_log = logging.getLogger("nudge.desktop")


def program(platform: str = sys.platform) -> str:
    """The name of what shows notifications here."""
    return _PROGRAMS.get(platform, "notify-send")


def command_of(text: str, platform: str = sys.platform) -> Sequence[str]:
    """The program and its arguments for a text.

    >>> command_of("-u critical <b>", "linux")[1:]
    ['--app-name=nudge', '--', 'nudge', '-u critical &lt;b&gt;']
    """
    line = short(plain(text), LONGEST)
    if program(platform) == "osascript":
        return ["osascript", *(word for part in _SCRIPT for word in ("-e", part)), "--", line]
    return ["notify-send", f"--app-name={_TITLE}", "--", _TITLE, escape(line, quote=False)]


class Desktop:
    """Shows one notification after the other."""

    def __init__(self, environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> None:
        self._environment = {name: environment[name] for name in _NEEDED if environment.get(name)}
        self._platform = platform

    @property
    def found(self) -> bool:
        """Whether the program is installed."""
        return shutil.which(program(self._platform), path=self._environment.get("PATH")) is not None

    async def show(self, text: str) -> bool:
        """Show it; whether the program said that it did."""
        arguments = command_of(text, self._platform)
        quiet = asyncio.subprocess.DEVNULL
        path = shutil.which(arguments[0], path=self._environment.get("PATH"))
        if path is None:
            _log.warning("%s is not installed, so nothing is shown on the desktop", arguments[0])
            return False
        process = await asyncio.create_subprocess_exec(
            path, *arguments[1:], stdin=quiet, stdout=quiet, stderr=quiet, env=self._environment
        )
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                code = await process.wait()
        except TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
            code = None
        if code:
            _log.warning("%s ended with %d", arguments[0], code)
        elif code is None:
            _log.warning("%s did not end within %.0f s", arguments[0], PATIENCE_SECONDS)
        return code == 0
