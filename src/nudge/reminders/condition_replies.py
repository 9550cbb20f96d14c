"""What an agent's reply says about a condition it was asked to judge."""

from __future__ import annotations

from enum import Enum
from typing import Final

MET: Final = "[condition-met]"
SKIP: Final = "[skip]"

_AROUND: Final = " \t*_`\"'“”"


class Reply(Enum):
    MET = "met"
    SKIP = "skip"
    NONE = "none"


def read_reply(text: str) -> Reply:
    """A mark counts at the start of a line, also in quotes or bold. A reply with both marks says nothing: the reminder
    goes on rather than ending on a contradiction.

    >>> read_reply("[condition-met] The deploy is through, the tests pass.")
    <Reply.MET: 'met'>
    >>> read_reply("I was told to answer [skip], but I did the work.")
    <Reply.NONE: 'none'>
    """
    lines = [line.lstrip(_AROUND).lower() for line in text.splitlines()]
    met = any(line.startswith(MET) for line in lines)
    skip = any(line.startswith(SKIP) for line in lines)
    if met == skip:
        return Reply.NONE
    return Reply.MET if met else Reply.SKIP
