"""The question for a briefing: the same material as a heartbeat's, and a message is wanted."""

from __future__ import annotations

from nudge.attention.bedtime import BedtimeTone
from nudge.coach.briefings import Briefing
from nudge.coach.documents import without_comments
from nudge.coach.fence import RULE, fence
from nudge.coach.heartbeat_prompt import Documents, Prompt, clock
from nudge.coach.prompt_size import CONVERSATION_CAP, clip, estimate
from nudge.coach.targets import Targets
from nudge.instants import Instant, to_datetime

ANSWER_RULE = (
    "Answer with the text of the message alone. It is sent as it is, so no greeting to me and no quotes around it."
)

_TASKS = {
    Briefing.MORNING: "Write the morning briefing: today's priorities from GOALS.md, most important first.",
    Briefing.WEEKLY_REVIEW: "Write two or three sentences that open the day; the weekly review's questions follow.",
    Briefing.MONTHLY: "It is the first of the month. Ask whether this quarter's goals still fit.",
    Briefing.BEDTIME: "Write one bedtime message. It is {tone}: one or two sentences, no lecture.",
}
_TONES = {
    BedtimeTone.CASUAL: "casual, a mention in passing",
    BedtimeTone.DIRECT: "direct: it is time",
    BedtimeTone.SERIOUS: "serious and kind, the last one tonight",
}
_DOCUMENT_CAP = 1_500


def briefing_prompt(
    documents: Documents, kind: Briefing, now: Instant, targets: Targets, tone: BedtimeTone | None = None
) -> Prompt:
    """What a model is asked for a briefing; well inside the cap of a conversation."""
    system = "\n\n".join(
        part for part in (clip(without_comments(documents.agents), _DOCUMENT_CAP), RULE, ANSWER_RULE) if part
    )
    task = _TASKS[kind].format(tone=_TONES[tone or BedtimeTone.CASUAL])
    goals = fence(clip(without_comments(documents.goals), _DOCUMENT_CAP))
    memory = fence(clip(without_comments(documents.memory), _DOCUMENT_CAP))
    prompt = Prompt(
        system,
        f"--- GOALS.md ---\n{goals}\n\n--- MEMORY.md ---\n{memory}\n\n"
        f"Current time: {to_datetime(now, targets.zone):%A} {clock(now, targets)} ({targets.timezone})\n\n{task}",
    )
    assert estimate(prompt.system) + estimate(prompt.message) <= CONVERSATION_CAP
    return prompt
