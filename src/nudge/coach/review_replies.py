"""What the person's words mean while a review waits for an answer, by rule."""

from __future__ import annotations

import re
from enum import Enum

from nudge.attention.restraint import recognise

MOST = 3
_SHORT = 6  # words; "I was focusing on the move all week, so nothing else happened" is an answer

_NUMBERED = re.compile(r"(?:^|(?<=[\s,;]))\(?[1-9][.):]\s+")
_BULLET = re.compile(r"^[-*•+]\s+")
_NOTHING = re.compile(
    r"(?:same(?: as (?:last|this) week)?|none|nothing|no idea|not sure|don'?t know|-+|\.+|n/?a)", re.I
)


class Reply(Enum):
    """How a message reads. Whatever is none of the others is an answer."""

    YES = "yes"
    NO = "no"
    RESUME = "resume"
    PAUSE = "pause"
    SKIP = "skip"
    NEXT = "next"
    RESTRAINT = "restraint"
    ELSEWHERE = "elsewhere"
    ANSWER = "answer"


_PATTERNS = (
    (Reply.YES, r"y|yes|yep|yeah|yup|sure|ok|okay|please|yes please|sure thing|let'?s do it|let'?s go|go on|go ahead"),
    (Reply.NO, r"n|no|nope|nah|no thanks|no thank you|rather not"),
    (
        Reply.RESUME,
        r"(?:let'?s )?(?:continue|resume|finish)(?: it| (?:the |with the )?review)?(?: now)?|i'?m (?:back|ready)|ready"
        r"|back(?: to (?:the )?review)?",
    ),
    (
        Reply.PAUSE,
        r"pause(?: it| (?:the )?review)?|later|not now|maybe later|in a (?:bit|minute|while)|brb|hold on|stop|wait"
        r"|(?:i'?m )?busy(?: now| right now)?|can we (?:pause|do (?:this|it) later)\??|tomorrow",
    ),
    (
        Reply.SKIP,
        r"skip(?: it| this week| it this week| (?:the |this )?review(?: this week)?)?"
        r"|(?:cancel|end|drop) (?:the |this )?review",
    ),
    (Reply.NEXT, r"pass|next|next (?:question|one)|skip (?:this|that|the) (?:one|question)|skip question"),
)
_COMPILED = tuple((reply, re.compile(pattern, re.IGNORECASE)) for reply, pattern in _PATTERNS)
_ELSEWHERE = re.compile(r"/\w|remind me\b|what(?:'s| is) next\b", re.IGNORECASE)


def reads_as(text: str) -> Reply:
    """How a message reads. A command, a reminder, a question back or a short wish for peace is not an answer.

    >>> reads_as("Not now!").value, reads_as("Skip this one").value, reads_as("I wrote every day").value
    ('pause', 'next', 'answer')
    """
    words = " ".join(text.replace("’", "'").split())
    bare = words.rstrip(" .!…,")
    for reply, pattern in _COMPILED:
        if pattern.fullmatch(bare):
            return reply
    if len(words.split()) <= _SHORT and recognise(words) is not None:
        return Reply.RESTRAINT
    if not words or _ELSEWHERE.match(words) or (words.endswith("?") and "\n" not in text.strip()):
        return Reply.ELSEWHERE
    return Reply.ANSWER


def next_three(answer: str) -> tuple[str, ...]:
    """The goals in an answer: one a line, or numbered, or between semicolons, or two or three between commas. At most
    three; an answer that names none gives none.

    >>> next_three("1. Finish the draft 2. Call Mum")
    ('Finish the draft', 'Call Mum')
    """
    lines = [line.strip() for line in answer.replace("\r", "\n").split("\n") if line.strip()]
    parts = [part for line in lines for part in _NUMBERED.split(_BULLET.sub("", line))]
    if len(parts) == 1:
        parts = parts[0].split(";")
    if len(parts) == 1 and 2 <= len(commas := re.split(r",\s+(?:and\s+)?", parts[0])) <= MOST:
        parts = commas
    cleaned = [" ".join(_BULLET.sub("", part.strip()).split()).strip(" ,;") for part in parts]
    return tuple(part for part in cleaned if part and not _NOTHING.fullmatch(part.rstrip(".!")))[:MOST]
