"""The weekly review in the conversation: it hears the person first, and what comes of it goes into the documents."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from nudge.coach.actions import UpdateGoals, apply_to_goals
from nudge.coach.briefings import week_of
from nudge.coach.changes import Changes, keep_review
from nudge.coach.document_writes import Edit
from nudge.coach.documents import GOALS, MEMORY
from nudge.coach.edits import remove_line
from nudge.coach.goals import MOST_GOALS, WEEK
from nudge.coach.memory import add_review, same
from nudge.coach.messages import Replies
from nudge.coach.outside import TextHistory
from nudge.coach.person_documents import PersonDocuments
from nudge.coach.pruning import prune
from nudge.coach.review import (
    COUNT,
    REVIEW,
    REVIEW_TIMEOUT,
    Effects,
    Event,
    Offer,
    Reading,
    Review,
    Said,
    Status,
    Step,
    advance,
    ask_back,
    reads_as,
    start,
)
from nudge.coach.review_guide import ReviewGuide
from nudge.coach.store import CoachStore, Saying
from nudge.errors import NotConfiguredError, NudgeError, UsageError
from nudge.instants import Instant, local_date
from nudge.queue.firing import Firing
from nudge.queue.outbox import REPLY
from nudge.queue.outcomes import FeedLine

log = logging.getLogger("nudge.review")

TIMEOUT = REVIEW_TIMEOUT
BRIEFING = "briefing"


class ReviewTalk:
    def __init__(
        self,
        store: CoachStore,
        documents: PersonDocuments,
        replies: Replies,
        changes: Changes,
        history: TextHistory | None = None,
        guide: ReviewGuide | None = None,
    ) -> None:
        self._store = store
        self._documents = documents
        self._replies = replies
        self._changes = changes
        self._history = history
        self._guide = guide

    async def start(
        self, agent: str, now: Instant, opening: str = "", *, kind: str = BRIEFING, typed: bool = False
    ) -> None:
        """Begin the week's review with its first question, or take up the one in progress. Part of the caller's
        transaction; the question is in the outbox then. `opening` is what the morning would have said."""
        review = await self._store.records.get(agent, REVIEW)
        if review is not None and review.in_progress and now < (review.times_out_at or now):
            step = advance(review, Event.RESUME, now, self._documents.targets(agent).zone)
            text = "\n\n".join(part for part in (opening, *step.replies) if part)
        else:
            day = local_date(now, self._documents.targets(agent).zone)
            goals = tuple(goal.text for goal in self._documents.goals(agent).week)
            step = start(week_of(day), goals, now, opening, review)
            text = step.replies[0]
        await keep_review(self._store, agent, step.review)
        shown = await self._replies.post(agent, text, now, kind=kind, typed=typed)
        await self._store.conversations.add(Saying(agent, now, "assistant", shown, "review"))

    async def command(self, agent: str, argument: str, now: Instant, *, typed: bool = False) -> str | None:
        """/review, with "pause" or "skip" if wanted; what to say, or None where the question itself is the answer."""
        event = {"pause": Event.PAUSE, "skip": Event.SKIP, "stop": Event.SKIP}.get(argument.strip().lower())
        if event is None:
            await self.start(agent, now, kind=REPLY, typed=typed)
            return None
        review = await self._store.records.get(agent, REVIEW)
        if review is None or not review.in_progress:
            return "No review in progress. /review starts one."
        step = advance(review, event, now, self._documents.targets(agent).zone)
        lost = await self.settle(agent, step, now)
        return "\n\n".join(part for part in (*step.replies, lost) if part) or "The review is over."

    async def hear(
        self, agent: str, text: str, now: Instant, *, forwarded: bool, aside: Callable[[], bool] = lambda: False
    ) -> Step | None:
        """What a message means for the review in progress; None if there is none. `aside` says whether
        it is clearly about something else. Nothing is written yet: `settle` does that in the turn's transaction. Before
        the memory is pruned, its text goes into git if there is one."""
        review = await self._store.records.get(agent, REVIEW)
        if review is None or not review.in_progress:
            return None
        said = Said(text, unrelated=True if not review.hears(text) and aside() else None)
        if forwarded:
            said = Said("(forwarded)", unrelated=True)  # what it says is not the person's word
        led = await self._led(agent, review, said, now)
        step = led if isinstance(led, Step) else advance(review, led, now, self._documents.targets(agent).zone)
        if step.effects.prune:
            step = await self._closed(agent, step, now)
        if step.effects.prune and self._history is not None:
            try:
                await self._history.commit(agent)
            except NudgeError as error:
                log.warning("the documents of %s were not committed: %s", agent, error)
        return step

    async def _led(self, agent: str, review: Review, said: Said, now: Instant) -> Said | Step:
        """What a model makes of words that the rules take for an answer: something else, or a question back, once."""
        open_now = review.status is Status.ASKING and now < (review.times_out_at or now)
        answers = open_now and review.offer is Offer.NONE and said.unrelated is None
        if self._guide is None or not answers or reads_as(said.text) is not Reading.ANSWER:
            return said
        heard = await self._guide.read(agent, review, said.text, now)
        if heard is None:
            return said
        if not heard.is_answer:
            return replace(said, unrelated=True)
        if heard.ask_back and not review.partial and review.index < COUNT - 1:
            return ask_back(review, said.text, heard.ask_back, now)
        return replace(said, unrelated=False)

    async def _closed(self, agent: str, step: Step, now: Instant) -> Step:
        """The end of the review with a model's summary, and with what contradicts itself in the memory, shown."""
        if self._guide is None:
            return step
        end = await self._guide.close(agent, step.review, self._documents.text(agent, MEMORY), now)
        words = f"{step.review.week}: {end.summary}" if end.summary else step.effects.summary
        shown = [
            f"Two notes of mine contradicted each other. I kept “{one.keep}” and removed “{one.remove}”."
            for one in end.resolved
        ]
        effects = replace(step.effects, summary=words, resolved=end.resolved)
        return replace(step, effects=effects, replies=(*step.replies, *shown))

    async def settle(self, agent: str, step: Step, now: Instant, said: int | None = None) -> str:
        """Write what came of it, inside the caller's transaction. Returns what could not be written, in a sentence."""
        await keep_review(self._store, agent, step.review)
        edits, lost = await self._edits(agent, step.effects, now)
        if edits:
            what = "what the weekly review wrote to " + " and ".join(edit.name for edit in edits)
            await self._changes.write(agent, edits, now, what, said)
            status = step.review.status
            how = "is done" if status is Status.DONE else f"ended {status.value}"
            await self._store.feed.add(
                FeedLine(now, agent, "review", f"The weekly review {how}. /undo reverts {what}.")
            )
        return f"I couldn't write everything down: {lost}" if lost else ""

    async def timed_out(self, firing: Firing) -> None:
        """Handle the timer: a day after the last answer the review ends as it is."""
        agent, now = firing.timer.agent, firing.now
        review = await self._store.records.get(agent, REVIEW)
        async with firing.settle() as settlement:
            if review is None or not review.in_progress:
                return
            step = advance(review, Event.TICK, now, self._documents.targets(agent).zone)
            if step.review.in_progress:
                due = step.review.times_out_at
                assert due is not None
                settlement.again(due)
            else:
                await self.settle(agent, step, now)
        await self._changes.finish(agent, now)

    async def _edits(self, agent: str, effects: Effects, now: Instant) -> tuple[list[Edit], str]:
        """The edits that the effects ask for, and why some of them are impossible."""
        if effects == Effects():
            return [], ""
        lost = ""
        before: dict[str, str] = {}
        texts: dict[str, str] = {}
        try:
            before = {name: await self._changes.read(agent, name) for name in (GOALS, MEMORY)}
            texts = dict(before)
            if effects.this_week:
                week = effects.this_week
                if effects.adds:
                    there = [goal.line() for goal in self._documents.goals(agent).week]
                    known = [goal.text for goal in self._documents.goals(agent).week]
                    new = [line for line in week if not any(same(line, one) for one in known)]
                    week = (*there, *new[: max(0, MOST_GOALS - len(there))])
                texts[GOALS] = apply_to_goals(texts[GOALS], UpdateGoals(WEEK, week))
            if effects.summary:
                texts[MEMORY] = add_review(texts[MEMORY], effects.summary)
            for one in effects.resolved:
                texts[MEMORY] = remove_line(texts[MEMORY], one.section, one.remove)
            if effects.prune:
                texts[MEMORY] = prune(texts[MEMORY], local_date(now, self._documents.targets(agent).zone)).text
        except (UsageError, NotConfiguredError) as error:
            lost = error.message
        return [Edit(name, before[name], texts[name]) for name in texts if texts[name] != before[name]], lost
