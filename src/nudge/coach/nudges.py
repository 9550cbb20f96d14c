"""What stands under a nudge: three buttons, and the timer of one that is to be heard again."""

from __future__ import annotations

from nudge.instants import Instant
from nudge.queue.outbox import Message
from nudge.queue.timers import Timer

NUDGE = "nudge"
BUTTONS = (("Done", f"done:{NUDGE}"), ("Snooze 30 min", f"snooze:{NUDGE}:30m"), ("Skip", f"skip:{NUDGE}"))
"""Under what the coach says by itself and somebody may be done with. A briefing and a notice ask for nothing."""
SAY_AGAIN = "say-again"
_LONGEST = 80


def say_again_timer(message: Message, at: Instant) -> Timer:
    """The same words once more, at the time the person chose. Snoozed twice, it moves."""
    return Timer.at(message.agent, f"{SAY_AGAIN}:{message.id}", SAY_AGAIN, at, payload={"text": message.text})


def is_nudge(message: Message) -> bool:
    return BUTTONS[0] in tuple(message.buttons)


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"
