"""The question of a background run: a task that was set for this time, and what the person's attention allows.

What never changes comes first, where a prompt cache holds it; the bucket and the coming tasks change every minute and
come last.
"""

from __future__ import annotations

from nudge.attention.preamble import PING_GUIDANCE
from nudge.coach.documents import readable, without_comments
from nudge.coach.fence import RULE, fence
from nudge.coach.heartbeat_prompt import ANSWER_RULE, Documents, Prompt, clock
from nudge.coach.prompt_size import clip
from nudge.coach.targets import Targets
from nudge.instants import Instant, to_datetime

CONDITION_RULE = (
    "Where the task asks you to evaluate a condition first and it is not met, answer with a heartbeat_ok; where it is "
    "met, begin the message with [condition-met]."
)
_DOCUMENT_CAP = 900
_TASK_CAP = 1_000


def background_prompt(documents: Documents, task: str, preamble: str, now: Instant, targets: Targets) -> Prompt:
    """The task is the person's own (a routine they wrote, a reminder they set), so it stands outside the fences; the
    documents are material."""
    agents = clip(without_comments(documents.agents), _DOCUMENT_CAP)
    system = "\n\n".join(part for part in (agents, RULE, ANSWER_RULE, CONDITION_RULE, PING_GUIDANCE) if part)
    goals = fence(clip(without_comments(documents.goals), _DOCUMENT_CAP))
    memory = fence(clip(without_comments(documents.memory), _DOCUMENT_CAP))
    return Prompt(
        system,
        f"--- GOALS.md ---\n{goals}\n\n--- MEMORY.md ---\n{memory}\n\n"
        f"--- The task of this run ---\n{clip(readable(task), _TASK_CAP)}\n\n"
        "Do it, and decide whether the person should hear about it now. Respond in this JSON format:\n"
        '{"action": "message"|"heartbeat_ok"|"state_update", "message": "...", "state_updates": {...}}\n\n'
        f"Current time: {to_datetime(now, targets.zone):%A} {clock(now, targets)} ({targets.timezone})\n{preamble}",
    )
