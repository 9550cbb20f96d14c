"""What a working session does next, told from its last checkpoint alone.

A session that died is picked up by its messages: tool calls without results have to be run, and everything else is the
model's turn. So there is no second record of where it was, and nothing to disagree with the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nudge.instants import Instant
from nudge.model import Role, ToolResult, ToolUse, Turn, turn_from_json, turn_to_json, user
from nudge.progress.compaction import Message
from nudge.progress.store import Session, SessionStatus
from nudge.progress.stored_pools import OWNER, member_run
from nudge.queue.inbox import Letter

NUDGE = "[nudge] "
"""How a line begins that the guard adds to the conversation."""
CUT_OFF = "Your answer was cut off at its limit. Go on from there, in smaller steps."
REPORT_NOW = (
    "The budget of this run is used up. Write the closing report now, in plain text: what is done, what is not, and "
    "what you would do next."
)
NOT_RUN = "Not run: the task ended before it."
FIRST_LINE = 200
COUNT = "count"
"""The count of the letter whose text is worked on. If it was refreshed since, the new text is another task."""
RESERVED = "reserved again"
"""Counts how often a subagent was given money again, because its reservation had gone stale while it waited."""


def title(task: str) -> str:
    """A task in one line, as feeds and lists show it.

    >>> title("\\n Fix the login.\\nIt fails on Safari.")
    'Fix the login.'
    """
    line = next((line.strip() for line in task.splitlines() if line.strip()), "")
    return line if len(line) <= FIRST_LINE else line[: FIRST_LINE - 1].rstrip() + "…"


def opened(agent: str, session_id: str, letter: Letter, now: Instant) -> Session:
    """A new session that begins with the task of a letter."""
    return Session(
        agent,
        session_id,
        last_task=title(letter.body),
        asked_by=letter.sender,
        letter=letter.id,
        started_at=now,
        updated_at=now,
        retries={COUNT: letter.count},
    )


def next_task(session: Session, letter: Letter) -> Session:
    """The same session with its next task."""
    return replace(
        session,
        last_task=title(letter.body),
        asked_by=letter.sender,
        letter=letter.id,
        retries={COUNT: letter.count},
        status=SessionStatus.WORKING,
        report="",
        reason="",
    )


def member_of(session: Session) -> str:
    """A session's name in the pool of the session at the top. One that was given money again has a new one: what was
    left of the old reservation went back.

    >>> member_of(Session("builder", "s1")), member_of(Session("builder", "s1.2.1", retries={RESERVED: 1}))
    ('parent', '2.1~1')
    """
    again = session.retries.get(RESERVED, 0)
    rest = session.id.partition(".")[2] or OWNER
    return f"{rest}~{again}" if again else rest


def run_of(session: Session) -> str:
    """The account that a session's calls are held on: its place in the pool.

    >>> run_of(Session("builder", "s1")), run_of(Session("builder", "s1.2.1"))
    ('s1/parent', 's1/2.1')
    """
    return member_run(session.id.partition(".")[0], member_of(session))


def turns_of(messages: Sequence[Message]) -> tuple[Turn, ...]:
    return tuple(turn_from_json(message) for message in messages)


def as_message(turn: Turn) -> Message:
    return turn_to_json(turn)


def wanted_tools(session: Session) -> tuple[ToolUse, ...]:
    """The tool calls of the last turn that have no result yet, in the model's order."""
    if not session.messages:
        return ()
    last = turn_from_json(session.messages[-1])
    if last.role is not Role.ASSISTANT:
        return ()
    return tuple(block for block in last.content if isinstance(block, ToolUse))


def is_fresh(session: Session) -> bool:
    """Whether the model has not been asked about the present task yet. That call starts a task, and an agent that winds
    down makes none."""
    for message in reversed(session.messages):
        turn = turn_from_json(message)
        if turn.role is Role.ASSISTANT:
            return False
        if any(isinstance(block, ToolResult) for block in turn.content):
            return False
    return True


def unanswered(session: Session, why: str = NOT_RUN) -> list[Message]:
    """Results for tool calls that will not be run. A conversation may not end with a call that nobody answered."""
    uses = wanted_tools(session)
    return [as_message(user(*(ToolResult(use.id, why, is_error=True) for use in uses)))] if uses else []
