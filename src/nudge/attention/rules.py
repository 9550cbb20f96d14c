"""The gate: may this reach the person now?

One pure function, used by every path that can reach the person. The rules are checked in a fixed order. The first that
objects decides, and is recorded:

    silent task → preference → trouble → quiet hours → quiet mode, "leave me alone" → the coach's own silence
    → conversation → repeated, bedtime limit → one ping per run → busy → unwelcome → bucket with look-ahead reserve

`critical` passes the last four only. A refusal costs nothing. A reply to the person is not a ping: it is free and
always goes out.

What the person asked for is deferred to the end of the window that suppresses it. Everything else is dropped with its
reason. What the person set for a time themselves is delivered at that time: quiet hours, a conversation, "busy" and an
empty bucket do not hold it up, and it takes no ping, because it is not unsolicited. Three things still count: a silent
task stays silent, and `/quiet` and "leave me alone" defer it, because the person asked for those too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime, tzinfo
from enum import Enum, StrEnum

from nudge.attention.bedtime import MAX_A_NIGHT
from nudge.attention.bucket import PingBudget
from nudge.attention.preferences import forbids
from nudge.attention.quiet import QuietHours
from nudge.attention.repeats import RepeatLedger
from nudge.attention.reserve import PING
from nudge.attention.welcome import Learned, Timing
from nudge.defaults import CRITICAL_A_DAY
from nudge.instants import HOUR, MINUTE, Instant, Moment, Zone, as_instant, as_zone, rfc3339, to_datetime

CONVERSATION = 5 * MINUTE
"""A conversation lasts this long after the person's last message. Exactly five minutes later it is over."""

LEFT_ALONE_RECHECK = HOUR
"""Nobody knows when "leave me alone" ends. What waits for it is looked at again after this time, and as soon as the
person writes."""

RUN_RECHECK = MINUTE
"""If a run has sent its ping already, what the person asked for is tried again after this time."""


class Rule(Enum):
    """What can keep a message from the person: a stable name for the outcome, and a sentence for the person."""

    SILENT = ("silent-task", "This task is marked silent, so it never pings.")
    PREFERENCE = ("preference", "You asked not to hear about this.")
    CARE = ("care", "You were having a hard day, so I kept my own messages away.")
    QUIET_HOURS = ("quiet-hours", "It fell in your quiet hours.")
    QUIET_MODE = ("quiet-mode", "Quiet mode was on.")
    LEFT_ALONE = ("left-alone", "You asked to be left alone and hadn't written since.")
    SELF_QUIET = ("self-quiet", "I had decided to stay quiet for a while.")
    CONVERSATION = ("conversation", "You were in a conversation: your last message was less than 5 minutes old.")
    REPEATED = ("repeated", "The same thing was said less than 24 hours earlier.")
    BEDTIME_LIMIT = ("bedtime-limit", "There were already three bedtime messages that night.")
    ONE_PER_RUN = ("one-per-run", "This run had already sent its one ping.")
    BUSY = ("busy", "You said you were busy.")
    UNWELCOME = ("unwelcome", "Messages like this were not welcome at this hour.")
    BUCKET_EMPTY = ("bucket-empty", "The ping budget was used up.")
    BUCKET_RESERVED = ("bucket-reserved", "The pings left are reserved for routines.")

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Rule:
        rule = object.__new__(cls)
        rule._value_ = value
        rule.sentence = sentence
        return rule


class Kind(StrEnum):
    """What wants to reach the person."""

    REPLY = "reply"
    REMINDER = "reminder"
    ROUTINE = "routine"
    HEARTBEAT = "heartbeat"
    BRIEFING = "briefing"
    BEDTIME = "bedtime"
    NOTICE = "notice"


class Takes(StrEnum):
    """What an allowed message takes from the ping budget."""

    NOTHING = "nothing"
    PING = "ping"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Allow:
    """It may go out. Take the ping only while the level is still `at_least` micro-pings; otherwise decide again.

    For a claim to be critical `at_least` is the number of such pings a day instead, 0 where the person marked it.
    `learned` are the numbers of what was learned about such pings, where something was."""

    takes: Takes = Takes.NOTHING
    at_least: int = 0
    learned: str = field(default="", repr=False, compare=False)


@dataclass(frozen=True, slots=True, repr=False)
class Defer:
    """Not now: decide again at `until`, which is always after now."""

    until: Instant
    rule: Rule
    learned: str = field(default="", repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Defer(until {rfc3339(self.until)}, rule={self.rule!r})"

    def local(self, tz: Zone | tzinfo = UTC) -> datetime:
        """`until` as a datetime in that zone."""
        return to_datetime(self.until, as_zone(tz))


@dataclass(frozen=True, slots=True)
class Refuse:
    """Not at all."""

    rule: Rule
    learned: str = field(default="", repr=False, compare=False)


Decision = Allow | Defer | Refuse


@dataclass(frozen=True, slots=True, repr=False)
class Candidate:
    """A message that wants to go out.

    `asked_by_person`: a reminder the person asked for, or a routine or briefing they wrote down. Deferred, not dropped.
    `set_for_time`: the person chose this exact time.
    `run_pings`: how many pings this run has sent already.
    `has_claim`: a routine with `reserve: true` at its own time. Later claims do not hold it back.
    `topic`, `signature`: what it is about, see `nudge.attention.repeats`. Without both, nothing counts as repeated.
    `chain`: the next link of an explicit chain, which may repeat itself. So may what the person asked for.
    `about`: its words, where a preference of the person's may forbid them. Empty for what they set themselves.
    `claims_critical`: a model calls it critical. It is believed a few times a day (`CRITICAL_A_DAY`).
    `latest`: until when it is still useful, if it may wait for a better hour.
    `due_at`: the slot it belongs to, so that a message sent late yesterday does not make today's a repetition.
    """

    kind: Kind
    asked_by_person: bool = False
    set_for_time: bool = False
    allow_ping: bool = True
    critical: bool = False
    run_pings: int = 0
    has_claim: bool = False
    topic: str | None = None
    signature: str | None = None
    chain: bool = False
    due_at: Moment | None = None
    about: str = ""
    claims_critical: bool = False
    latest: Moment | None = None
    asks_to_go_on: bool = False

    @property
    def learned_as(self) -> str:
        """The topic under which it is learned whether such pings are welcome; "" for what the person set themselves."""
        if self.set_for_time or self.critical or self.kind not in (Kind.HEARTBEAT, Kind.BEDTIME, Kind.BRIEFING):
            return ""
        return self.topic or ""

    @property
    def own_idea(self) -> bool:
        """Whether the coach came up with it. The person's reminders, routines and briefings are not its to silence."""
        return self.kind in (Kind.HEARTBEAT, Kind.BEDTIME) and not self.asked_by_person

    def __repr__(self) -> str:
        return _what_is_set(self)


@dataclass(frozen=True, slots=True, repr=False)
class Attention:
    """What the gate knows about the person. Without a `budget` the ping budget is off.

    `claims` are the coming times of routines with a reserve; for one that is due and has not spoken yet, pass the
    current time. `bedtime_sent` is this night's count, `critical_used` this day's. `self_quiet_until` is how long the
    coach wants to say nothing of its own; what the person asked for comes all the same. Until `care_until` nothing
    reaches them but the reminders they set: they said that they are in trouble. `preferences` are the person's, in
    words. `learned` is how earlier pings were taken; without it nothing is unwelcome. Times are aware datetimes or
    instants, `tz` a zone or its name.
    """

    quiet_hours: QuietHours | None = None
    quiet_until: Moment | None = None
    left_alone: bool = False
    last_conversation: Moment | None = None
    busy_until: Moment | None = None
    budget: PingBudget | None = None
    claims: Sequence[Moment] = ()
    repeats: RepeatLedger = field(default_factory=RepeatLedger)
    bedtime_sent: int = 0
    self_quiet_until: Moment | None = None
    care_until: Moment | None = None
    preferences: Sequence[str] = ()
    critical_used: int = 0
    learned: Learned | None = None
    tz: Zone | tzinfo = UTC

    def __post_init__(self) -> None:
        if not isinstance(self.tz, tzinfo):
            object.__setattr__(self, "tz", as_zone(self.tz))

    def __repr__(self) -> str:
        return _what_is_set(self)


def _what_is_set(value: Candidate | Attention) -> str:
    """A repr with only the fields that differ from their defaults, and times that can be read."""
    shown = []
    for one in fields(value):
        found = getattr(value, one.name)
        default = one.default if one.default_factory is MISSING else one.default_factory()
        if found != default:
            is_time = one.name.endswith(("_until", "_at", "_conversation"))
            shown.append(f"{one.name}={rfc3339(as_instant(found)) if is_time else repr(found)}")
    return f"{type(value).__name__}({', '.join(shown)})"


_FREE = Allow()


def decide(state: Attention, candidate: Candidate, now: Moment) -> Decision:
    """Whether `candidate` may reach the person at `now`, and if not, which rule says so.

    >>> from datetime import UTC, datetime, timedelta
    >>> evening = datetime(2026, 2, 20, 19, tzinfo=UTC)
    >>> busy = Attention(busy_until=evening + timedelta(hours=2), budget=PingBudget.at(evening))
    >>> decide(busy, Candidate(Kind.HEARTBEAT), evening).rule.value
    'busy'
    >>> decide(busy, Candidate(Kind.REMINDER, asked_by_person=True), evening)
    Defer(until 2026-02-20T21:00:00+00:00, rule=<Rule.BUSY: 'busy'>)
    >>> decide(busy, Candidate(Kind.ROUTINE, critical=True), evening)
    Allow(takes=<Takes.CRITICAL: 'critical'>, at_least=0)
    """
    at = as_instant(now)
    if candidate.kind is Kind.REPLY:
        return _FREE
    if not candidate.allow_ping:
        return Refuse(Rule.SILENT)
    if candidate.about and forbids(state.preferences, candidate.about):
        return Refuse(Rule.PREFERENCE)
    exact = candidate.set_for_time
    theirs = exact or (candidate.kind is Kind.REMINDER and candidate.asked_by_person)
    if state.care_until is not None and at < as_instant(state.care_until) and not theirs:
        return Refuse(Rule.CARE)
    if state.quiet_hours is not None and not exact and (end := state.quiet_hours.end_if_inside(at)) is not None:
        return _held(candidate, Rule.QUIET_HOURS, end)
    if state.quiet_until is not None and at < (quiet_until := as_instant(state.quiet_until)):
        return _held(candidate, Rule.QUIET_MODE, quiet_until)
    if state.left_alone and not candidate.asks_to_go_on:
        return _held(candidate, Rule.LEFT_ALONE, Instant(at + LEFT_ALONE_RECHECK))
    if exact:
        return _FREE
    if state.self_quiet_until is not None and candidate.own_idea and at < as_instant(state.self_quiet_until):
        return Refuse(Rule.SELF_QUIET)
    said = None if state.last_conversation is None else as_instant(state.last_conversation)
    if said is not None and -CONVERSATION < at - said < CONVERSATION:
        return _held(candidate, Rule.CONVERSATION, Instant(said + CONVERSATION))
    if _is_repeated(state, candidate, at):
        return Refuse(Rule.REPEATED)
    if candidate.kind is Kind.BEDTIME and state.bedtime_sent >= MAX_A_NIGHT:
        return Refuse(Rule.BEDTIME_LIMIT)
    if candidate.claims_critical and state.critical_used < CRITICAL_A_DAY:
        return Allow(Takes.CRITICAL, CRITICAL_A_DAY)
    if candidate.critical:
        return _FREE if state.budget is None else Allow(Takes.CRITICAL)
    if candidate.run_pings > 0:
        return _held(candidate, Rule.ONE_PER_RUN, Instant(at + RUN_RECHECK))
    if state.busy_until is not None and at < (busy_until := as_instant(state.busy_until)):
        return _held(candidate, Rule.BUSY, busy_until)
    timing = _timing(state, candidate, at)
    numbers = "" if timing is None else timing.numbers
    if timing is not None and timing.later is not None:
        return Defer(timing.later, Rule.UNWELCOME, numbers)
    if timing is not None and timing.never:
        return Refuse(Rule.UNWELCOME, numbers)
    if state.budget is None:
        return Allow(learned=numbers)
    return _from_bucket(state.budget, () if candidate.has_claim else state.claims, candidate, at, numbers)


def _timing(state: Attention, candidate: Candidate, now: Instant) -> Timing | None:
    """What was learned about such pings; None where nothing is learned. It can hold a message back, and nothing else.

    A second bedtime message of a night is another topic: one may be welcome, and being pushed may not."""
    topic = candidate.learned_as
    if state.learned is None or not topic:
        return None
    again = candidate.kind is Kind.BEDTIME and state.bedtime_sent > 0
    return state.learned.timing(
        learned_topic(topic, again=again),
        now,
        as_zone(state.tz),
        latest=None if candidate.latest is None else as_instant(candidate.latest),
        quiet_hours=state.quiet_hours,
    )


def learned_topic(topic: str, *, again: bool) -> str:
    return f"{topic} again" if again else topic


def _held(candidate: Candidate, rule: Rule, until: Instant) -> Defer | Refuse:
    if candidate.asked_by_person or candidate.set_for_time:
        return Defer(until, rule)
    return Refuse(rule)


def _is_repeated(state: Attention, candidate: Candidate, now: Instant) -> bool:
    if candidate.topic is None or candidate.signature is None or candidate.chain or candidate.asked_by_person:
        return False
    slot = now if candidate.due_at is None else candidate.due_at
    return state.repeats.repeats(candidate.topic, candidate.signature, slot, as_zone(state.tz))


def _from_bucket(
    budget: PingBudget, claims: Sequence[Moment], candidate: Candidate, now: Instant, learned: str = ""
) -> Decision:
    """The last rule. Its name says whether waiting for a refill is enough."""
    level = budget.level_at(now)
    at_least = budget.at_least(now, claims)
    if level >= at_least:
        return Allow(Takes.PING, at_least, learned)
    rule = Rule.BUCKET_EMPTY if level < PING else Rule.BUCKET_RESERVED
    if not candidate.asked_by_person:
        return Refuse(rule)
    return Defer(budget.free_at(now, claims), rule)
