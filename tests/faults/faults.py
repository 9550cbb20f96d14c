"""What can go wrong, drawn from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from nudge.instants import HOUR, MINUTE, SECOND


class Kind(StrEnum):
    """The faults of a world. Those up to SLOW_CONDITION happen at the n-th of something, the others at a time.

    A send is a part of a message: long ones have several.
    """

    WRITE = "crash at a store write"
    BEFORE_SEND = "crash before a send"
    DURING_SEND = "crash during a send"
    AFTER_SEND = "crash after a send"
    BETWEEN_PARTS = "crash between two parts"
    CHANNEL_AWAY = "the channel is away"
    CHANNEL_UNSURE = "the channel does not say whether it arrived"
    DURING_CALL = "crash during a model call"
    MODEL_AWAY = "the model is away"
    MODEL_HANGS = "the model hangs"
    MODEL_BABBLES = "the model answers nonsense"
    MODEL_BROKEN = "the model's answer is billed and lost"
    MODEL_LIES = "the model's usage cannot be true"
    SLOW_CONDITION = "a condition is slow"
    CLOCK_BACK = "the clock goes back"
    CLOCK_FORWARD = "the clock goes forward"
    DISK_FULL = "the disk is full"
    SECOND_DAEMON = "a second daemon runs"
    RESTART = "a restart"
    KILL = "a kill"
    TOP_UP = "a top-up"
    NEW_WINDOW = "another window"
    NEW_CONFIG = "another configuration"
    FLOOD_DUE = "many reminders are due at once"
    FLOOD_HEARD = "many messages come at once"
    SPIN = "a handler spins"
    DAMAGED = "the database is damaged"
    REMOVED = "the database is removed"
    REPLACED = "the database is replaced"


COUNTED = (
    Kind.WRITE,
    Kind.BEFORE_SEND,
    Kind.DURING_SEND,
    Kind.AFTER_SEND,
    Kind.BETWEEN_PARTS,
    Kind.CHANNEL_AWAY,
    Kind.CHANNEL_UNSURE,
    Kind.DURING_CALL,
    Kind.MODEL_AWAY,
    Kind.MODEL_HANGS,
    Kind.MODEL_BABBLES,
    Kind.MODEL_BROKEN,
    Kind.MODEL_LIES,
    Kind.SLOW_CONDITION,
)

ON_FILE = (Kind.DAMAGED, Kind.REMOVED, Kind.REPLACED)
"""A life with one of these has its database in a file."""

_RARE = (
    Kind.BETWEEN_PARTS,
    Kind.DURING_CALL,
    Kind.MODEL_AWAY,
    Kind.MODEL_HANGS,
    Kind.MODEL_BABBLES,
    Kind.MODEL_BROKEN,
    Kind.MODEL_LIES,
    Kind.SLOW_CONDITION,
)
"""What a life has few of: calls, questions, and messages with several parts."""

_WEIGHTS = {
    Kind.WRITE: 8,
    Kind.KILL: 2,
    Kind.SECOND_DAEMON: 3,
    Kind.CLOCK_BACK: 2,
    Kind.CLOCK_FORWARD: 2,
    Kind.CHANNEL_UNSURE: 2,
    Kind.DURING_CALL: 2,
    Kind.MODEL_AWAY: 2,
    Kind.MODEL_HANGS: 2,
    Kind.MODEL_BABBLES: 2,
    Kind.MODEL_BROKEN: 2,
    Kind.MODEL_LIES: 2,
    Kind.SLOW_CONDITION: 2,
    Kind.TOP_UP: 2,
}
"""How often a kind is drawn; once where nothing is said."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`at` is a number (of the write, send, call or question that breaks) or microseconds after the start. `length` is
    for how long something stays broken, or how long the daemon is down; `chance` decides what nobody can know, such as
    whether a message arrived all the same."""

    kind: Kind
    at: int
    length: int
    chance: bool = False

    def __str__(self) -> str:
        when = f"number {self.at}" if self.kind in COUNTED else f"after {self.at / HOUR:.2f} h"
        return f"{self.kind.value}, {when}, for {self.length / SECOND:.0f} s{', arrived' if self.chance else ''}"


def draw(random: Random, lasts: int, kinds: Sequence[Kind] = tuple(Kind)) -> list[Fault]:
    """One to nine faults for a life of that length."""
    weights = [_WEIGHTS.get(kind, 1) for kind in kinds]
    chosen = random.choices(kinds, weights, k=random.randint(1, 9))
    return [_fault(random, kind, lasts) for kind in chosen]


def _fault(random: Random, kind: Kind, lasts: int) -> Fault:
    chance = random.random() < 0.5
    if kind is Kind.WRITE:
        return Fault(kind, random.randint(1, 2_500), _downtime(random), chance)
    if kind in COUNTED:
        return Fault(kind, random.randint(1, 8 if kind in _RARE else 30), _trouble(random, kind), chance)
    return Fault(kind, random.randrange(0, lasts), _trouble(random, kind), chance)


def _downtime(random: Random) -> int:
    """Mostly a supervisor's pause, sometimes a night."""
    return random.choice((SECOND, 5 * SECOND, 30 * SECOND, 5 * MINUTE, random.randint(1, 9) * HOUR))


def _trouble(random: Random, kind: Kind) -> int:
    match kind:
        case Kind.CLOCK_BACK | Kind.CLOCK_FORWARD:
            return random.choice((90 * SECOND, 10 * MINUTE, HOUR, random.randint(2, 9) * HOUR))
        case Kind.MODEL_HANGS | Kind.SLOW_CONDITION:
            return random.choice((20 * SECOND, 90 * SECOND, 10 * MINUTE, 40 * MINUTE))
        case Kind.DISK_FULL | Kind.MODEL_AWAY:
            return random.choice((30 * SECOND, 10 * MINUTE, 3 * HOUR))
        case Kind.CHANNEL_AWAY | Kind.CHANNEL_UNSURE:
            return random.choice((SECOND, 90 * SECOND, 10 * MINUTE, 3 * HOUR, 27 * HOUR))
        case Kind.SECOND_DAEMON:
            return random.choice((MINUTE, HOUR, 8 * HOUR))
        case _:
            return _downtime(random)
