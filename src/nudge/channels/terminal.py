"""The terminal channel: what is delivered to the person is printed where they started nudge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Protocol

from nudge.errors import ChannelUnavailableError
from nudge.instants import Instant, to_datetime
from nudge.queue.channel import Outbound, Receipt
from nudge.text import plain


class Stream(Protocol):
    def write(self, text: str, /) -> int: ...

    def flush(self) -> None: ...


class TerminalMessenger:
    def __init__(
        self, stream: Stream, now: Callable[[], Instant], zone: Callable[[], tzinfo], *, colour: bool = False
    ) -> None:
        self._stream = stream
        self._now = now
        self._zone = zone
        self._colour = colour

    async def send(self, message: Outbound) -> Receipt:
        clock = to_datetime(self._now(), self._zone()).strftime("%H:%M")
        lines = [plain(line) for line in message.text.splitlines()] or [""]
        head = f"\033[36m{clock}\033[0m" if self._colour else clock
        text = "\n".join([f"{head}  {lines[0]}", *(f"       {line}" for line in lines[1:])])
        if message.buttons:
            text += "\n       " + button_line([(button.label, button.data) for button in message.buttons])
        try:
            self._stream.write(text + "\n")
            self._stream.flush()
        except (OSError, ValueError) as error:  # the window was closed, or nobody reads the pipe any more
            raise ChannelUnavailableError(
                f"Nobody reads where nudge writes ({error}).", next_step="Start 'nudge run' in another terminal."
            ) from error
        return Receipt((f"t{message.id}",))

    async def close(self) -> None:
        return None


def button_line(buttons: Sequence[tuple[str, str]]) -> str:
    """Buttons where nothing can be pressed: what they say, and what to type instead.

    >>> button_line([("Done", "done:r-a1b2c3"), ("Skip", "skip:r-a1b2c3")])
    '[Done] /done  [Skip] /skip'
    """
    return "  ".join(plain(f"[{label}] /{data.partition(':')[0]}") for label, data in buttons)
