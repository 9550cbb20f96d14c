"""Find what somebody asks about, by id, name or words, and why it did what it did. The command line and the chat ask
the same question here.

Everything that has an id is found: outcomes, reminders and routines, timers, messages, letters, sessions, agents, runs,
calls through the gateway and holds. A reminder, its timer, its outcomes and its messages are one thing. Upper and lower
case are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from difflib import get_close_matches

from nudge.coach.store import CoachStore
from nudge.instants import Instant, to_datetime
from nudge.progress.store import story
from nudge.queue.inbox import Letter, letter_key
from nudge.queue.outbox import Message
from nudge.queue.outcomes import Outcome
from nudge.spending.call_log import LoggedCall
from nudge.text import short

LOOKED_THROUGH = 5000
MOST_CHOICES = 10
_NUMBER = re.compile(r"(?:(outcome|message|letter)\s+)?#?(\d{1,18})", re.ASCII | re.IGNORECASE)
_SAID = ("message", "letter")
_RANKS = (
    "outcome",
    "reminder",
    "routine",
    "timer",
    "occurrence",
    "agent",
    "session",
    "run",
    "call",
    "hold",
    "message",
    "letter",
)


@dataclass(frozen=True, slots=True)
class Thing:
    """Something that has an id. `key` is that of its occurrences, where it has some; `text` says how it is now."""

    kind: str
    id: str
    agent: str
    name: str
    words: str = ""
    key: str = ""
    slot_at: Instant | None = None
    text: str = ""

    @property
    def title(self) -> str:
        shown = short(self.name or self.words, 60)
        return f"{self.kind} {self.id}" + (f" ({shown})" if shown and shown != self.id else "")

    @property
    def comes_due(self) -> bool:
        """Whether it can have outcomes."""
        return bool(self.key) or self.kind == "agent"

    @property
    def names(self) -> set[str]:
        said = " ".join(self.words.split()) if self.kind in ("reminder", "routine") else ""
        return {name.casefold() for name in (said, self.id, self.name, self.key, self.key.partition(":")[2]) if name}


@dataclass(frozen=True, slots=True)
class Explanation:
    """`rows` and `thing` if it is clear what is meant; `choices` if it may be several; `near` names like it if none."""

    rows: Sequence[Outcome] = ()
    thing: Thing | None = None
    choices: Sequence[Thing] = ()
    near: Sequence[str] = ()

    @property
    def found(self) -> bool:
        return bool(self.rows) or self.thing is not None or bool(self.choices)


async def explain(
    store: CoachStore,
    wanted: str,
    agent: str | None = None,
    *,
    limit: int = 5,
    words: bool = True,
    zone: tzinfo = UTC,
) -> Explanation:
    """What is meant by `wanted`, its times in the zone. Without `words` only an id or a whole name counts."""
    wanted = " ".join(wanted.split()).casefold()
    if row := await _numbered(store, wanted, agent, zone):
        return row
    things = await _things(store, agent, zone)
    found = [thing for thing in things if wanted in thing.names]
    if not found and words:
        parts = wanted.split()
        found = [one for one in things if parts and all(part in _haystack(one) for part in parts)]
        found = [one for one in found if one.kind not in _SAID] or found  # what was said of it is not what is meant
    found = _without_repeats(found)
    if len(found) == 1:
        thing = found[0]
        return Explanation(await _outcomes(store, thing, limit), thing)
    if found:
        return Explanation(choices=found[:MOST_CHOICES])
    names = {name for thing in things for name in thing.names}
    parts_of = {part: name for name in names for part in (name, *name.split())}
    near = [parts_of[one] for one in get_close_matches(wanted, parts_of, 3, 0.6)]
    return Explanation(near=list(dict.fromkeys(near)))


async def _numbered(store: CoachStore, wanted: str, agent: str | None, zone: tzinfo) -> Explanation | None:
    match = _NUMBER.fullmatch(wanted)
    if not match:
        return None
    kind, number = match[1], int(match[2])
    if kind in (None, "outcome"):
        row = await store.outcomes.by_id(number)
        if row is not None and agent in (None, row.agent):
            return Explanation([row])
    if kind in (None, "message"):
        message = await store.outbox.get(number)
        if message is not None and agent in (None, message.agent):
            thing = _message(message, zone)
            return Explanation(await _outcomes(store, thing, 1), thing)
    if kind in (None, "letter"):
        letter = await store.letters.get(number)
        if letter is not None and agent in (None, letter.agent):
            thing = _letter(letter, zone)
            return Explanation(await _outcomes(store, thing, 1), thing)
    return None


async def _outcomes(store: CoachStore, thing: Thing, limit: int) -> Sequence[Outcome]:
    if thing.kind == "agent":
        return await store.outcomes.recent(agent=thing.id, limit=limit)
    if thing.slot_at is not None:
        row = await store.outcomes.get(thing.agent, thing.key, thing.slot_at)
        return [row] if row else []
    return await store.outcomes.recent(agent=thing.agent, key=thing.key, limit=limit) if thing.key else []


async def _things(store: CoachStore, agent: str | None, zone: tzinfo) -> list[Thing]:
    """All that can be meant, the newest of each kind first."""
    things: list[Thing] = []
    listed = await store.reminders.listed(agent, ended=True, limit=LOOKED_THROUGH)
    for one in listed:
        kind = "routine" if one.source == "file" else "reminder"
        ended = f"It is {one.status}. {one.ended_reason}"
        when = ended if one.next_at is None else f"Next: {_time(one.next_at, zone)}."
        things.append(Thing(kind, one.id, one.agent, one.name, one.message, f"reminder:{one.id}", text=when.strip()))
    agents = [one for one in await store.agents.all() if agent in (None, one.name)]
    for who in agents:
        coming = [(one.next_at, one.name or one.message) for one in listed if one.agent == who.name and one.next_at]
        first = f" Next: {short(min(coming)[1])}, {_time(min(coming)[0], zone)}." if coming else ""
        things.append(Thing("agent", who.name, who.name, who.name, text=f"Its role is {who.role}.{first}"))
        for timer in await store.timers.of_agent(who.name):
            text = f"Due {_time(timer.due_at, zone)}."
            things.append(Thing("timer", timer.key, who.name, timer.key, timer.kind, timer.key, text=text))
        money = await store.spending.get(who.name)
        for session in await store.sessions.of_agent(who.name):
            asleep = f" {money.state.why(money.refresh_at)}" if session.status.is_open and money is not None else ""
            text = story(session) + asleep.rstrip()
            things.append(Thing("session", session.id, who.name, session.id, session.last_task, text=text))
    for row in await store.outcomes.recent(agent=agent, limit=LOOKED_THROUGH):
        said = f"{row.kind} {row.detail.get('name', '')} {row.detail.get('text', '')}"
        name = str(row.detail.get("name") or row.key)
        things.append(Thing("occurrence", row.key, row.agent, name, said, row.key))
    calls = await store.calls.recent(agent, limit=LOOKED_THROUGH)
    things += [Thing("call", one.id, one.agent, one.id, f"{one.model} {one.result}", text=one.story) for one in calls]
    things += _runs(calls)
    told = {call.id for call in calls}
    for attempt, who_paid, state, purpose in await store.ledger.recent_holds(agent, LOOKED_THROUGH):
        if attempt in told:
            continue
        things.append(
            Thing("hold", attempt, who_paid, attempt, purpose, text=f"It is {state}, for {purpose or 'a call'}.")
        )
    things += [_message(one, zone) for one in await store.outbox.recent(agent, limit=LOOKED_THROUGH)]
    letters = await store.letters.recent(agent, LOOKED_THROUGH)
    begun = {thing.id for thing in things if thing.kind == "session"}
    things += [_queued(one) for one in letters if _is_queued(one, begun)]
    things += [_letter(one, zone) for one in letters]
    return things


def _is_queued(letter: Letter, begun: set[str]) -> bool:
    session = letter.detail.get("session")
    return letter.read_at is None and bool(session) and session not in begun


def _queued(letter: Letter) -> Thing:
    """The session that a task in an inbox will be."""
    session = str(letter.detail["session"])
    text = f"It waits in the inbox of {letter.agent} for its turn. Nobody has begun it."
    return Thing("session", session, letter.agent, session, letter.body, text=text)


def _runs(calls: Iterable[LoggedCall]) -> list[Thing]:
    """The runs that these calls belong to, subagents included."""
    runs: dict[tuple[str, str], list[LoggedCall]] = {}
    for call in calls:
        if call.run:
            runs.setdefault((call.agent, call.run.partition("/")[0]), []).append(call)
    things = []
    for (agent, run), made in runs.items():
        uses = [call.use for call in made if call.use is not None]
        refused = sum(call.result == "refused" for call in made)
        tokens = f"{sum(use.prompt for use in uses):,} tokens in, {sum(use.output for use in uses):,} out"
        told = next((f" {call.reason.rstrip('.')}." for call in made if call.reason), "")  # the newest comes first
        things.append(Thing("run", run, agent, run, text=f"{len(made)} calls, {refused} refused, {tokens}.{told}"))
    return things


def _message(one: Message, zone: tzinfo) -> Thing:
    when = f" {_time(one.sent_at, zone)}" if one.sent_at is not None else ""
    text = f"It is {one.state.value}{when}. {one.error}".strip()
    key = one.key or (f"reminder:{one.reminder_id}" if one.reminder_id else "")
    return Thing("message", str(one.id), one.agent, "", one.text, key, one.slot_at, text)


def _letter(one: Letter, zone: tzinfo) -> Thing:
    read = f"It was read {_time(one.read_at, zone)}." if one.read_at is not None else "Nobody has read it yet."
    words = f"{one.sender} {one.topic} {one.body}"
    return Thing("letter", str(one.id), one.agent, "", words, letter_key(one.id, one.count), text=read)


def _time(instant: Instant, zone: tzinfo) -> str:
    return f"{to_datetime(instant, zone):%a %Y-%m-%d %H:%M %Z}"


def _haystack(thing: Thing) -> str:
    return f"{thing.name} {thing.words} {thing.key}".casefold()


def _without_repeats(things: Iterable[Thing]) -> list[Thing]:
    """One for each that acts: a reminder stands for its timer, its occurrences and its messages."""
    kept: dict[tuple[str, str], Thing] = {}
    for thing in sorted(things, key=lambda one: _RANKS.index(one.kind)):
        kept.setdefault((thing.agent, thing.key or f"{thing.kind} {thing.id}"), thing)
    return list(kept.values())
