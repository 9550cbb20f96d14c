"""What follows when somebody has written a document: an editor, git, the chat, or the configuration at a start.

The targets in GOALS.md come into force, briefings are set again, and a person who has moved to another time zone is
told once what that means for their reminders.
"""

from __future__ import annotations

from collections.abc import Sequence

from nudge.attention.requests import look_again
from nudge.coach.briefing_run import Briefings
from nudge.coach.messages import Replies
from nudge.coach.notices import KIND as NOTICE
from nudge.coach.notices import TARGETS, notice_key, notice_timer
from nudge.coach.person_documents import GOOD_TARGETS, PersonDocuments
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.store import CoachStore, Saying
from nudge.instants import SECOND, Instant, to_datetime, zone_of
from nudge.phrases.places import city_of
from nudge.queue.firing import Firing
from nudge.reminders.service import Timed
from nudge.reminders.text import time_in_words
from nudge.text import short

HALF_SAVED = 20 * SECOND
"""An editor may be in the middle of saving: a document that cannot be read is brought up when it stays so."""
SHOWN = 3


class DocumentChanges:
    """The handler of changed documents."""

    def __init__(
        self,
        store: CoachStore,
        documents: PersonDocuments,
        briefings: Briefings,
        reminders: PersonReminders,
        replies: Replies,
    ) -> None:
        self._store = store
        self._documents = documents
        self._briefings = briefings
        self._reminders = reminders
        self._replies = replies

    async def handle(self, firing: Firing) -> None:
        """Check the targets, reschedule, and say once if they cannot be read."""
        agent, now = firing.timer.agent, firing.now
        async with firing.settle() as settlement:
            before = await self._store.records.get(agent, GOOD_TARGETS)
            changed, complaint = await self._documents.check_targets(agent)
            await self._briefings.schedule(agent, now)
            if changed:
                await look_again(self._store, agent, now)
                settlement.feed("rescheduled", "The schedule targets in GOALS.md are in force.")
                if before is not None:
                    await self._relocate(agent, before.timezone, now)
            if complaint is not None:
                at = Instant(now + HALF_SAVED)
                notice = notice_timer(agent, TARGETS, complaint.text, at, version=complaint.version)
                await self._store.timers.set(notice)
            elif self._documents.complaint(agent) is None:
                await self._store.timers.cancel(agent, notice_key(TARGETS))

    async def _relocate(self, agent: str, before: str, now: Instant) -> None:
        """The person has moved: reminders by the wall clock follow, and they hear so. They did it themselves, so this
        is an answer and goes out whatever the hour."""
        zone = self._documents.targets(agent).timezone
        if zone == before:
            return
        moved = await self._reminders.relocate(agent, before, zone, now)
        shown = await self._replies.post(agent, moved_words(zone, moved, now), now, kind=NOTICE)
        await self._store.conversations.add(Saying(agent, now, "assistant", shown, NOTICE))


def moved_words(zone: str, moved: Sequence[Timed], now: Instant) -> str:
    """What the person reads about another zone: the time there, and the next three times."""
    there = zone_of(zone)
    opening = f"You're on {city_of(zone)} time now; it's {to_datetime(now, there):%A %H:%M} there."
    coming = [(short(one.reminder.name or one.reminder.message), one.next_at) for one in moved if one.next_at]
    if not coming:
        return opening
    lines = [f"• {title}: {time_in_words(at, now, there)}" for title, at in coming[:SHOWN]]
    more = f"• … and {len(coming) - SHOWN} more" if len(coming) > SHOWN else ""
    return "\n".join([f"{opening} Your reminders keep their time of day. Next:", *lines, *([more] if more else [])])
