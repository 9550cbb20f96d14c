"""The terminal channel: messages are printed where nudge was started, and shown on the desktop if you want that.

What is typed there comes in on another way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from nudge.channels import Setup, Stream
from nudge.channels.desktop import Desktop, program
from nudge.columns import wrap
from nudge.errors import ChannelUnavailableError, NotConfiguredError
from nudge.instants import Instant, to_datetime
from nudge.palette import Tone, painted
from nudge.queue.channel import Channel, Outbound, Receipt
from nudge.text import plain

_INDENT = 7
_NARROWEST = 10


def wrapped(line: str, width: int) -> list[str]:
    """A line in pieces that fit. What an indented line or a list item begins with stands before its other pieces as
    space.

    >>> wrapped("• call Mum about the trip", 12)
    ['• call Mum', '  about the', '  trip']
    """
    return wrap(line, max(_NARROWEST, width), hang=len(line) - len(line.lstrip(" •-")), split=True)


def shown_message(clock: str, text: str, width: int | None) -> str:
    """A message as it stands on a terminal of that width, beside its time; None leaves long lines alone."""
    lines = [plain(line) for line in text.splitlines()] or [""]
    if width is not None:
        lines = [piece for line in lines for piece in wrapped(line, width - _INDENT)]
    return "\n".join([f"{clock}  {lines[0]}", *(f"{' ' * _INDENT}{line}".rstrip() for line in lines[1:])])


class TerminalChannel(Channel):
    name = "terminal"

    def __init__(
        self,
        stream: Stream,
        now: Callable[[], Instant],
        zone: Callable[[], tzinfo],
        *,
        colour: bool = False,
        desktop: Desktop | None = None,
    ) -> None:
        self._stream = stream
        self._now = now
        self._zone = zone
        self._colour = colour
        self._desktop = desktop

    async def send(self, message: Outbound) -> Receipt:
        clock = to_datetime(self._now(), self._zone()).strftime("%H:%M")
        text = shown_message(clock, message.text, getattr(self._stream, "width", None))
        text = painted(clock, Tone.INFO, self._colour) + text[len(clock) :]
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError) as error:  # the window was closed, or nobody reads the pipe any more
            raise ChannelUnavailableError(
                f"The terminal is gone ({error}).", next_step="Start 'nudge run' in another terminal."
            ) from error
        if self._desktop is not None and not message.reply:  # whoever asked is looking at the terminal
            await self._desktop.show(message.text)
        return Receipt((f"t{message.id}",))

    async def check(self) -> str:
        if self._desktop is None:
            return ""
        if not self._desktop.found:
            raise NotConfiguredError(
                f"desktop is true under [terminal], but {program()} is not installed.",
                next_step="Install it (Debian: apt install libnotify-bin), or set desktop = false.",
            )
        return f"messages are shown on the desktop too, by {program()}"


def terminal_channel(setup: Setup) -> TerminalChannel:
    desktop = Desktop() if setup.section.desktop else None
    return TerminalChannel(setup.screen, setup.clock.now, setup.zone, colour=setup.colour, desktop=desktop)
