"""What a wish does: one use case each, shared by plain words and slash commands.

Everything here is part of the caller's transaction. What it changes can be undone, and "it" means it afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from nudge.attention.preamble import ping_status
from nudge.coach.actions import LONGEST_SNOOZE
from nudge.coach.changes import Change
from nudge.coach.intents.reading import TALK, Known, Talk, Wish
from nudge.coach.offers import question
from nudge.coach.review import REVIEW
from nudge.errors import InvalidPhraseError, UnclearPhraseError
from nudge.instants import MINUTE, Instant, local_date, start_of_day, to_datetime, whole_seconds
from nudge.phrases import Understood, understand, understand_duration
from nudge.phrases.result import clock_text
from nudge.queue.outbox import REPLY
from nudge.queue.outcomes import MEANING, Outcome
from nudge.reminders.service import Timed
from nudge.reminders.text import time_in_words
from nudge.reminders.timing import schedule_from
from nudge.schedules import At
from nudge.schedules.schedule import occurrences
from nudge.text import short

if TYPE_CHECKING:
    from nudge.coach.coach import Coach

SNOOZE: Final = 30 * MINUTE
MOST_SHOWN: Final = 10
UNDONE: Final = " “undo” takes it back."


@dataclass(frozen=True, slots=True)
class Asking:
    """Who wishes it, and when. `said` numbers their message, `typed` marks a terminal beside their own channel."""

    agent: str
    now: Instant
    said: int | None = None
    typed: bool = False


Handler = Callable[["Coach", Asking, Wish, Talk], Awaitable[str | None]]
"""What to say; None where the handler has said it."""


async def carry_out(coach: Coach, asking: Asking, wish: Wish) -> str | None:
    """Do what is wished, and keep where the conversation stands then. A failure is said, and changes nothing."""
    agent, now = asking.agent, asking.now
    talk = await coach.facts.talk(agent, now, await coach.facts.due(agent, now))
    if "ask" in wish.slots and not wish.id and "several" not in wish.slots and not talk.reminders:
        return "You have no reminders."
    if "missing" in wish.slots:
        return _not_found(wish.slots["missing"], talk, now, coach.documents.targets(agent).zone)
    if question := _question(wish, talk, now, coach.documents.targets(agent).zone):
        await remember(coach, asking, talk, asked=wish, missing=wish.slots["ask"])
        return question
    try:
        return await HANDLERS[wish.name](coach, asking, wish, talk)
    except UnclearPhraseError as unclear:  # only the words were read so far
        slots = {name: value for name, value in wish.slots.items() if name != "ask"}
        await remember(coach, asking, talk, asked=replace(wish, slots=slots), missing="when")
        return unclear.question
    except InvalidPhraseError as error:
        return str(error)


async def remember(
    coach: Coach,
    asking: Asking,
    talk: Talk,
    *,
    subject: str = "",
    last: Wish | None = None,
    asked: Wish | None = None,
    missing: str = "",
) -> None:
    """Keep where the conversation stands, inside the caller's transaction."""
    now = asking.now
    kept = Talk(subject or talk.subject, now if subject else talk.subject_at, last, asked, missing, now)
    await coach.store.records.set(asking.agent, TALK, kept)


def _question(wish: Wish, talk: Talk, now: Instant, zone: tzinfo) -> str:
    """What has to be asked before it can be done."""
    if wish.slots.get("ask") == "when":
        return f"To when? “{short(_known(talk, wish.id).text)}” comes {_when(_known(talk, wish.id), now, zone)}."
    if wish.slots.get("ask") != "which":
        return ""
    several = wish.slots.get("several", "").split()
    shown = [one for one in talk.reminders if not several or one.place in several]
    return "\n".join(["Which one?", *_lines(shown, now, zone)])


def _not_found(what: str, talk: Talk, now: Instant, zone: tzinfo) -> str:
    shown = "\n".join(_lines(talk.reminders, now, zone))
    return f"I couldn't find a reminder like “{short(what)}”." + (f" You have:\n{shown}" if shown else "")


def _lines(reminders: Sequence[Known], now: Instant, zone: tzinfo) -> list[str]:
    shown = [f"• {short(one.text)} ({_when(one, now, zone)})" for one in reminders[:MOST_SHOWN]]
    return [*shown, "• … and more"] if len(reminders) > MOST_SHOWN else shown


def _when(one: Known, now: Instant, zone: tzinfo) -> str:
    when = "now" if one.next_at is None else time_in_words(one.next_at, now, zone)
    return f"{when}, {one.rhythm}" if one.recurs else when


def _known(talk: Talk, reminder_id: str) -> Known:
    return next((one for one in talk.reminders if one.place == reminder_id), Known(reminder_id, reminder_id))


async def _keep(coach: Coach, asking: Asking, talk: Talk, wish: Wish, what: str, *were: Timed) -> None:
    """Remember a change of reminders for /undo, and what it was about."""
    change = Change(what, earlier=tuple(were), said=asking.said, at=None if asking.said else asking.now)
    await coach.changes.remember(asking.agent, change)
    await remember(coach, asking, talk, subject=wish.id, last=wish)


async def cancel(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    """What a role or a routine brings stays away until its file changes."""
    before = await coach.reminders.as_it_is(asking.agent, wish.id)
    what = short(_known(talk, wish.id).text)
    await coach.reminders.forget(asking.agent, wish.id, asking.now)
    await _keep(coach, asking, talk, wish, f"cancelling “{what}”.", before)
    return f"Cancelled: {what}.{UNDONE}"


async def cancel_all(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    if not talk.reminders:
        return "You have no reminders."
    if "yes" not in wish.slots:
        await remember(coach, asking, talk, asked=wish, missing="yes")
        count = len(talk.reminders)
        return f"Cancel all {count} reminders? Please answer yes or no." if count > 1 else "Cancel your only reminder?"
    were = [await coach.reminders.as_it_is(asking.agent, one.place) for one in talk.reminders]
    for one in talk.reminders:
        await coach.reminders.forget(asking.agent, one.place, asking.now)
    change = Change(f"cancelling {len(were)} reminders.", earlier=tuple(were), said=asking.said)
    await coach.changes.remember(asking.agent, change)
    await remember(coach, asking, talk, last=wish)
    return f"Cancelled all {len(were)} reminders.{UNDONE}"


async def move(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    """Another time. What is not said stays: the day, the time of day, the rhythm. A recurring reminder moves to another
    time of day for good, and to another day just this once."""
    agent, now = asking.agent, asking.now
    zone = coach.documents.targets(agent).zone
    known, words = _known(talk, wish.id), wish.slots["when"]
    before = await coach.reminders.as_it_is(agent, wish.id)
    at = known.next_at or now
    said = understand(words, whole_seconds(now), zone)  # raises if it is no time
    once = not known.recurs
    names_day, names_clock = _names(words, now, zone)
    if said.once is None:
        timed = await coach.reminders.retime(agent, wish.id, schedule_from(said, now, zone), now)
    elif once or names_day:
        wall = to_datetime(at, zone)
        if names_day and not names_clock:
            said = understand(f"{words} at {wall:%H:%M}", whole_seconds(now), zone)
        elif names_clock and not names_day:
            kept = f"{wall:%Y-%m-%d} at {words.removeprefix('at ')}"
            with_day = _in_future(kept, now, zone)
            said = with_day if with_day is not None else said
        assert said.once is not None
        if once:
            timed = await coach.reminders.retime(agent, wish.id, At(said.once, zone.key), now)
        else:
            await coach.reminders.snooze(agent, wish.id, said.once - now, now)
            return await _moved(coach, asking, talk, wish, before, said.once, "just this once")
    elif (rule := await coach.reminders.at_another_time(agent, wish.id, _wall(said.first, zone), now)) is not None:
        timed = await coach.reminders.retime(agent, wish.id, rule, now)
    else:
        await coach.reminders.snooze(agent, wish.id, said.first - now, now)
        return await _moved(coach, asking, talk, wish, before, said.first, "just this once")
    rhythm = "" if timed.reminder.one_shot else "from now on"
    return await _moved(coach, asking, talk, wish, before, timed.next_at or now, rhythm)


def _wall(at: Instant, zone: tzinfo) -> time:
    return to_datetime(at, zone).time()


def _in_future(words: str, now: Instant, zone: ZoneInfo) -> Understood | None:
    try:
        found = understand(words, whole_seconds(now), zone)
    except UnclearPhraseError:
        raise
    except InvalidPhraseError:
        return None
    return found if found.once is not None and found.once > now else None


def _names(words: str, now: Instant, zone: ZoneInfo) -> tuple[bool, bool]:
    """Whether the words name a day, and whether they name a time of day: they do if another one does not fit beside
    them."""
    return not _reads(f"2031-05-06 at {words.removeprefix('at ')}", now, zone), not _reads(
        f"{words} at 03:17", now, zone
    )


def _reads(words: str, now: Instant, zone: ZoneInfo) -> bool:
    try:
        understand(words, whole_seconds(now), zone)
    except UnclearPhraseError:
        return True
    except InvalidPhraseError:
        return False
    return True


async def _moved(coach: Coach, asking: Asking, talk: Talk, wish: Wish, before: Timed, at: Instant, remark: str) -> str:
    zone = coach.documents.targets(asking.agent).zone
    what = short(_known(talk, wish.id).text)
    when = time_in_words(at, asking.now, zone)
    await _keep(coach, asking, talk, wish, f"moving “{what}” to {when}.", before)
    return f"Moved: {what}, {when}{f', {remark}' if remark else ''}.{UNDONE}"


async def later(coach: Coach, asking: Asking, wish: Wish, talk: Talk, sign: int = 1) -> str:
    """By a length of time from when it would come. A recurring one just this once."""
    agent, now, known = asking.agent, asking.now, _known(talk, wish.id)
    zone = coach.documents.targets(agent).zone
    start = known.next_at if known.next_at is not None and known.next_at > now else now
    length = SNOOZE if "length" not in wish.slots else understand_duration(wish.slots["length"], start, zone)
    at = Instant(start + sign * length)
    if at <= now:
        return f"{time_in_words(at, now, zone)} has already passed, so I left it as it was."
    before = await coach.reminders.as_it_is(agent, wish.id)
    if not known.recurs:
        await coach.reminders.retime(agent, wish.id, At(at, zone.key), now)
        return await _moved(coach, asking, talk, wish, before, at, "")
    await coach.reminders.snooze(agent, wish.id, at - now, now)
    return await _moved(coach, asking, talk, wish, before, at, "just this once")


async def earlier(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    return await later(coach, asking, wish, talk, -1)


async def again(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    """The reminder that came last, once more: after a while, or at a time."""
    agent, now = asking.agent, asking.now
    zone = coach.documents.targets(agent).zone
    length = SNOOZE
    if "length" in wish.slots:
        length = understand_duration(wish.slots["length"], now, zone)
    elif "when" in wish.slots:
        said = understand(wish.slots["when"], whole_seconds(now), zone)
        length = said.first - now
    if not 0 < length <= LONGEST_SNOOZE:
        return "That is too long to snooze: a week at most."
    wish = replace(wish, id=wish.id or talk.came or talk.subject)
    before = await coach.reminders.as_it_is(agent, wish.id)
    await coach.requests.no_delay(agent, now)  # the same words may ask to be checked back on
    if asking.said is not None:
        await coach.changes.drop(agent, asking.said)
    what = await coach.reminders.snooze(agent, wish.id, length, now)
    at = Instant(now + length)
    await _keep(coach, asking, talk, wish, f"snoozing “{short(what)}”.", before)
    return f"Again at {time_in_words(at, now, zone)}: {short(what)}"


async def done(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    before = await coach.reminders.as_it_is(asking.agent, wish.id)
    what = short(await coach.reminders.done(asking.agent, wish.id, asking.now))
    await _keep(coach, asking, talk, wish, f"marking “{what}” as done.", before)
    return f"Done ✓ {what}"


async def skip(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    wish = replace(wish, id=wish.id or talk.came)
    if not wish.id:
        return "There is no reminder to skip right now."
    before = await coach.reminders.as_it_is(asking.agent, wish.id)
    what = short(await coach.reminders.skip(asking.agent, wish.id, asking.now))
    await _keep(coach, asking, talk, wish, f"skipping “{what}”.", before)
    return f"Skipped: {what}"


async def rename(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    before = await coach.reminders.as_it_is(asking.agent, wish.id)
    known, text = _known(talk, wish.id), wish.slots["text"]
    await coach.reminders.rename(asking.agent, wish.id, text, asking.now)
    await _keep(coach, asking, talk, wish, f"renaming “{short(known.text)}” to “{short(text)}”.", before)
    zone = coach.documents.targets(asking.agent).zone
    return f"Changed: {short(text)}, {_when(known, asking.now, zone)}.{UNDONE}"


async def instead(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str | None:
    """The last wish was meant for another one: take it back, and do it there."""
    undone = await coach.changes.undo_last(asking.agent, asking.now)
    slots = {name: value for name, value in wish.slots.items() if name != "name"}
    did = await carry_out(coach, asking, Wish(wish.slots["name"], slots, wish.id))
    return "\n".join(part for part in (undone, did) if part)


async def undo(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    said = await coach.changes.undo_last(asking.agent, asking.now)
    await remember(coach, asking, talk)
    return said


async def when(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    known = _known(talk, wish.id)
    await remember(coach, asking, talk, subject=wish.id)
    zone = coach.documents.targets(asking.agent).zone
    if known.next_at is None:
        return f"“{short(known.text)}” has come and waits for your answer."
    day = to_datetime(known.next_at, zone)
    rhythm = f", {known.rhythm}" if known.recurs else ""
    return f"“{short(known.text)}” comes {day:%A} at {clock_text(day.time())}{rhythm}."


async def why(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    """Why the last message came; why nothing came, where that is the question."""
    agent, now = asking.agent, asking.now
    zone = coach.documents.targets(agent).zone
    rows = await coach.store.outcomes.recent(agent=agent, limit=20)
    about = wish.slots.get("said", "")
    silent = re.search(r"\b(?:not|quiet|silent|anything|didn't|never)\b", about) or wish.slots.get("not")
    if silent or not rows:
        held = [row for row in rows if row.result.value in ("suppressed", "deferred", "skipped", "missed")][:3]
        lines = [await _decision(coach, row, now, zone) for row in held]
        wrote = "There was nothing worth interrupting you for." if silent else "I haven't written to you unasked yet."
        return "\n".join([wrote, *lines])
    spoken = [row for row in rows if row.result.value in ("fired", "fired-late")]
    return await _decision(coach, (spoken or rows)[0], now, zone)


async def _decision(coach: Coach, row: Outcome, now: Instant, zone: tzinfo) -> str:
    saw = f" It saw: {row.detail['saw']}." if row.detail.get("saw") else ""
    name = row.detail.get("name") or row.key
    if row.key.startswith("reminder:"):
        reminder = await coach.store.reminders.get(row.key.removeprefix("reminder:"))
        name = f"your reminder “{short(reminder.name or reminder.message)}”" if reminder is not None else name
    return f"• {time_in_words(row.at, now, zone)} {name}, {row.result.value}: {row.reason or MEANING[row.result]}{saw}"


async def sent(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    """What went out today that was no answer."""
    agent, now = asking.agent, asking.now
    zone = coach.documents.targets(agent).zone
    midnight = start_of_day(local_date(now, zone), zone)
    messages = [one for one in await coach.store.outbox.recent(agent, since=midnight, limit=200) if one.kind != REPLY]
    if not messages:
        return "Nothing unasked today yet, only answers."
    lines = [
        f"• {time_in_words(one.created_at, now, zone)} {short(one.text)}" for one in reversed(messages[:MOST_SHOWN])
    ]
    return "\n".join([f"Today I sent {len(messages)}:", *lines])


async def review(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str | None:
    before = await coach.store.records.get(asking.agent, REVIEW)
    said = await coach.review.command(asking.agent, wish.slots.get("what", ""), asking.now, typed=asking.typed)
    change = Change("starting the review.", review={} if before is None else before.to_json(), said=asking.said)
    await coach.changes.remember(asking.agent, change)
    await remember(coach, asking, talk)
    return said


async def budget(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    return await coach.budget(asking.agent, asking.now)


async def ping_budget(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    state = await coach.gate.state(asking.agent, asking.now)
    return ping_status(state.budget, state.claims, asking.now)


async def status(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    from nudge.coach.commands import Asked
    from nudge.coach.commands import status as full

    who = "A language model answers you." if coach.answering.pays else "I answer by rules, without a language model."
    return f"{who}\n\n{await full(coach, Asked(asking.agent, '', asking.now, asking.now))}"


async def offer(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    """Something that may be wished for: it is asked about first."""
    when, now = "", asking.now
    if "when" in wish.slots:
        zone = coach.documents.targets(asking.agent).zone
        said = understand(wish.slots["when"], whole_seconds(now), zone)  # raises if it lacks a word
        when = said.echo(now, zone) if said.once is None else time_in_words(said.first, now, zone)
        wish = replace(wish, slots={**wish.slots, "when": said.said_again(zone)})  # "in 10 minutes" from now, not later
    await remember(coach, asking, talk, asked=wish, missing="yes")
    return question(wish, when)


async def on_day(coach: Coach, asking: Asking, wish: Wish, talk: Talk) -> str:
    """What comes on one day, recurring reminders too."""
    zone = coach.documents.targets(asking.agent).zone
    day = date.fromisoformat(wish.slots["day"])
    start, end = start_of_day(day, zone), start_of_day(day + timedelta(days=1), zone)
    found: list[tuple[Instant, Known]] = []
    for one in talk.reminders:
        at = one.next_at
        if at is not None and at < start and one.recurs:
            reminder = await coach.store.reminders.get(one.place)
            times = [] if reminder is None else occurrences(reminder.schedule, Instant(start - 1), end, 1, zone)
            at = times[0] if times and times[0] < end else None
        if at is not None and start <= at < end:
            found.append((at, one))
    lines = [f"• {clock_text(to_datetime(at, zone).time())} {short(one.text)}" for at, one in sorted(found, key=_first)]
    return "\n".join([f"{day:%A}:", *lines]) if lines else f"Nothing from me on {day:%A} yet."


def _first(row: tuple[Instant, Known]) -> Instant:
    return row[0]


HANDLERS: Final[dict[str, Handler]] = {
    "on-day": on_day,
    "offer": offer,
    "cancel": cancel,
    "cancel-all": cancel_all,
    "move": move,
    "later": later,
    "earlier": earlier,
    "again": again,
    "done": done,
    "skip": skip,
    "rename": rename,
    "instead": instead,
    "undo": undo,
    "when": when,
    "why": why,
    "sent": sent,
    "review": review,
    "budget": budget,
    "ping-budget": ping_budget,
    "status": status,
}
