"""The weekly review in the conversation: it hears the person first, and what comes of it goes into the documents."""

from __future__ import annotations

from dataclasses import dataclass

from nudge.coach.actions import UpdateGoals, apply_to_goals
from nudge.coach.briefings import week_of
from nudge.coach.document_files import GOALS, MEMORY
from nudge.coach.document_writes import DocumentWrites, Edit
from nudge.coach.goals import WEEK
from nudge.coach.memory import add_review
from nudge.coach.messages import REPLY, Replies
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.pruning import prune
from nudge.coach.review import REVIEW, Effects, Event, Review, Said, Status, Step, advance, start
from nudge.coach.store import CoachStore, Saying
from nudge.coach.undo import Deed, Undo
from nudge.errors import NotConfiguredError, UsageError
from nudge.instants import Instant, local_date
from nudge.queue.dispatch import Firing
from nudge.queue.outcomes import FeedLine
from nudge.queue.timers import Timer, talk_lane

TIMEOUT = "review-timeout"
BRIEFING = "briefing"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a message meant for the review. `edits` are still to be planned."""

    step: Step
    edits: tuple[Edit, ...] = ()
    lost: str = ""


class ReviewTalk:
    def __init__(
        self, store: CoachStore, documents: PersonDocuments, writes: DocumentWrites, replies: Replies, undo: Undo
    ) -> None:
        self._store = store
        self._documents = documents
        self._writes = writes
        self._replies = replies
        self._undo = undo

    async def start(
        self, agent: str, now: Instant, opening: str = "", *, kind: str = BRIEFING, typed: bool = False
    ) -> None:
        """Begin the week's review with its first question, or take up the one in progress. Part of the caller's
        transaction; the question is in the outbox then. `opening` is what the morning would have said."""
        review = await self._store.records.get(agent, REVIEW)
        if review is not None and review.in_progress and now < (review.times_out_at or now):
            step = advance(review, Event.RESUME, now, self._documents.targets(agent).zone)
            words = "\n\n".join(part for part in (opening, *step.replies) if part)
        else:
            day = local_date(now, self._documents.targets(agent).zone)
            goals = tuple(goal.text for goal in self._documents.goals(agent).week)
            step = start(week_of(day), goals, now, opening)
            words = step.replies[0]
        await self._save(agent, step.review)
        shown = await self._replies.post(agent, words, now, kind=kind, typed=typed)
        await self._store.conversations.add(Saying(agent, now, "assistant", shown, "review"))

    async def command(self, agent: str, words: str, now: Instant, *, typed: bool = False) -> str | None:
        """/review, with "pause" or "skip" if wanted; what to say, or None where the question itself is the answer."""
        wanted = words.strip().lower()
        event = {"pause": Event.PAUSE, "skip": Event.SKIP, "stop": Event.SKIP}.get(wanted)
        if event is None:
            await self.start(agent, now, kind=REPLY, typed=typed)
            return None
        review = await self._store.records.get(agent, REVIEW)
        if review is None or not review.in_progress:
            return "No review is going on. /review starts one."
        outcome = await self._outcome(agent, advance(review, event, now, self._documents.targets(agent).zone), now)
        await self.settle(agent, outcome, now)
        return "\n\n".join(outcome.step.replies) or "The review is over."

    async def hear(self, agent: str, text: str, now: Instant, *, forwarded: bool) -> Outcome | None:
        """What a message means for the review in progress; None where there is none. Nothing is written yet."""
        review = await self._store.records.get(agent, REVIEW)
        if review is None or not review.in_progress:
            return None
        said = Said("(forwarded)", unrelated=True) if forwarded else Said(text)  # what it says is not the person's word
        return await self._outcome(agent, advance(review, said, now, self._documents.targets(agent).zone), now)

    async def settle(self, agent: str, outcome: Outcome, now: Instant, said: int | None = None) -> None:
        """Write what came of it, inside the caller's transaction."""
        await self._save(agent, outcome.step.review)
        await self._writes.plan(agent, outcome.edits, now)
        if outcome.edits:
            words = "what the weekly review wrote into " + " and ".join(edit.name for edit in outcome.edits)
            await self._undo.remember(agent, Deed(words, outcome.edits, said=said))
            status = outcome.step.review.status
            how = "is done" if status is Status.DONE else f"ended as {status.value}"
            await self._store.feed.add(FeedLine(now, agent, "review", f"The weekly review {how}; {words}."))

    async def timed_out(self, firing: Firing) -> None:
        """Handle the timer: a day after the last answer the review ends as it is."""
        agent, now = firing.timer.agent, firing.now
        review = await self._store.records.get(agent, REVIEW)
        async with firing.settle() as settlement:
            if review is None or not review.in_progress:
                return
            zone = self._documents.targets(agent).zone
            outcome = await self._outcome(agent, advance(review, Event.TICK, now, zone), now)
            if outcome.step.review.in_progress:
                due = outcome.step.review.times_out_at
                assert due is not None
                settlement.again(due)
            else:
                await self.settle(agent, outcome, now)
        await self._writes.finish(agent, now)

    async def _outcome(self, agent: str, step: Step, now: Instant) -> Outcome:
        if step.effects == Effects():
            return Outcome(step)
        lost = ""
        before: dict[str, str] = {}
        texts: dict[str, str] = {}
        day = local_date(now, self._documents.targets(agent).zone)
        try:
            before = {name: await self._writes.read(agent, name) for name in (GOALS, MEMORY)}
            texts = dict(before)
            if step.effects.this_week:
                texts[GOALS] = apply_to_goals(texts[GOALS], UpdateGoals(WEEK, step.effects.this_week))
            if step.effects.summary:
                texts[MEMORY] = add_review(texts[MEMORY], step.effects.summary)
            if step.effects.prune:
                texts[MEMORY] = prune(texts[MEMORY], day).text
        except (UsageError, NotConfiguredError) as error:
            lost = error.message
        edits = tuple(Edit(name, before[name], texts[name]) for name in texts if texts[name] != before[name])
        return Outcome(step, edits, lost)

    async def _save(self, agent: str, review: Review) -> None:
        await self._store.records.set(agent, REVIEW, review)
        due = review.times_out_at
        if due is None:
            await self._store.timers.cancel(agent, TIMEOUT)
        else:
            await self._store.timers.set(Timer.at(agent, TIMEOUT, TIMEOUT, due, lane=talk_lane(agent)))
