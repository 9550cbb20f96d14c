"""What must hold after every step, whatever broke.

A step is a commit. Each check reads only what the commit can have changed; the last look reads everything.
"""

from __future__ import annotations

import json
import re
import sqlite3
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nudge.attention.reserve import PING
from nudge.defaults import (
    CRITICAL_A_DAY,
    MOST_A_DAY_BY_MODEL,
    MOST_BY_MODEL,
    PING_CAPACITY,
    PING_REFILL_MINUTES,
    SHORTEST_BY_MODEL,
    SHORTEST_TO_PERSON,
)
from nudge.instants import DAY, HOUR, MINUTE, SECOND, Instant, rfc3339, to_datetime
from nudge.queue.channel import REPEAT_MARK
from nudge.queue.delivery import FRESH, RECENT
from nudge.spending.holds import HoldState
from nudge.spending.tables import _hold as hold_of
from tests.faults.channel import Arrival, Attempt
from tests.faults.scenario import AGENT, API_KEY, SECRETS, STRANGER, TURN, UNWANTED, is_quiet
from tests.times import TORONTO

OCCURRENCES = ("heartbeat", "briefing", "reminder")
"""The kinds of timers that stand for occurrences."""
ONCE_A_PERIOD = ("briefing:morning", "briefing:weekly_review", "briefing:monthly")
BY_THE_PERSON = ("cli", "chat", "import")
BEDTIMES_A_NIGHT = 3
FROM_THE_BUCKET = ("heartbeat", "routine", "briefing", "reminder")
LONGEST_QUIET = 3 * HOUR
"""Nobody in this world asks for a longer quiet time, except a model."""
MOST_AT_ONCE = 25
"""A key that fires more often at one instant spins."""
MOST_REFUSED = 2
"""Calls refused in a row for want of money; then the agent has to say that it sleeps."""


class Violation(Exception):  # noqa: N818  (it is what the harness looks for, not an error of its own)
    """An invariant broke."""

    def __init__(self, invariant: str, what: str, at: Instant) -> None:
        super().__init__(f"{invariant}: {what} ({rfc3339(at, TORONTO)})")
        self.invariant = invariant


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A timer as it was after the last commit."""

    kind: str
    due_at: int
    slot_at: int


@dataclass
class Invariants:
    connection: sqlite3.Connection
    now: Callable[[], Instant]
    bucket: bool
    billed: Mapping[str, int] = field(default_factory=dict)
    """What the model's service charges, by attempt."""
    clock_went_back: bool = False
    clock_jumped: bool = False
    timers: dict[str, Occurrence] = field(default_factory=dict)
    last_message: int = 0
    arrivals: list[Arrival] = field(default_factory=list)
    parts: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The parts of each message that have arrived."""
    whole: set[int] = field(default_factory=set)
    said: Counter[str] = field(default_factory=Counter)
    """How often the person said what."""
    pings: list[int] = field(default_factory=list)
    """When messages were written that the bucket pays for."""
    tried: dict[int, tuple[int, Instant]] = field(default_factory=dict)
    """The message that was tried last and when, by outage."""
    waited: dict[int, int] = field(default_factory=dict)
    """Until when messages had to wait."""
    run_of: dict[int, int] = field(default_factory=dict)
    """The run (one call of a handler) that wrote a message."""
    pings_of: Counter[int] = field(default_factory=Counter)
    fired: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    taken: dict[tuple[int, str], int] = field(default_factory=dict)
    """What accounts had charged and held after the last commit."""
    awake_since: int | None = None
    unwanted: bool = False
    """MEMORY.md says what the person does not want to hear of."""
    goals: str = ""
    agreed: bool = False
    """The person said yes to other quiet hours, or to another zone."""
    steps: int = 0
    news: str = ""
    """What the person has to be told of a recovered or replaced database. From then on rows may be missing, or be older
    than what was seen, and what compares the two is not looked at."""
    must_go_on: set[str] = field(default_factory=set)
    """The reminders that a recovery could read."""

    @property
    def said_yes(self) -> bool:
        """They may have agreed to whatever a model wanted."""
        return self.said["yes"] > 0

    def after_commit(self, written: set[str]) -> None:
        """Look at what the statements of a commit may have changed."""
        self.steps += 1
        tables = {name.partition("_")[0] for name in written}
        if self.news:
            self._active_reminders_have_a_timer()
            return
        if tables & {"timers", "reminders", "outcomes", "spending"}:
            self._occurrences_end_in_an_outcome()
            self._active_reminders_have_a_timer()
            self._what_a_model_schedules_is_limited(tables)
        if tables & {"spending", "timers", "accounts"}:
            self._what_waits_for_money_goes_on()
        if tables & {"outbox", "timers"}:
            self._messages()
            self._what_is_to_be_sent_has_a_timer()
        if "attention" in tables:
            self._bucket_within_bounds()
            self._quiet_is_the_person_s()
        if "outcomes" in tables:
            self._a_model_silences_only_itself()
            if self.bucket:
                self._reserve_is_kept()
        if tables & {"accounts", "holds"}:
            self._ledger_is_exact()

    def arrived(self, arrival: Arrival) -> None:
        """A part of a message reached the person."""
        message, row, part = arrival.message, arrival.row, arrival.part
        name = f"message {message.id} ({row.text[:40]!r}), part {part + 1},"
        self.arrivals.append(arrival)
        if self.news:
            return
        if part < arrival.stored:
            self._fail("a stored part is not sent again", f"{name} came again although {arrival.stored} were stored")
        if part in self.parts[message.id]:
            if not row.asked:
                self._fail("nothing sent twice", f"chatter {message.id} ({row.text[:40]!r}) was repeated")
            if not arrival.text.startswith(REPEAT_MARK):
                self._fail("nothing sent twice", f"{name} arrived twice unmarked")
            if arrival.known:
                self._fail("nothing sent twice", f"{name} came again although {arrival.known} knows that it arrived")
        self.parts[message.id].add(part)
        if len(self.parts[message.id]) == arrival.parts:
            self.whole.add(message.id)
        if not _seen(row.text) or _seen(row.text) == "heartbeatok":
            self._fail("every message says something", f"{row.kind} {row.text!r} arrived")
        if API_KEY in row.text:
            self._fail("secrets are kept nowhere", f"{row.kind} {message.id} tells a key")
        if row.kind == "reply" and not self.clock_jumped and arrival.at - row.created_at > DAY + HOUR:
            self._fail("what is too late is missed", f"{name} arrived after {(arrival.at - row.created_at) // HOUR} h")
        exact = self._is_exact(row.reminder_id, row.asked, row.key, row.slot_at)
        # Written just before they began it may still be sent; what is older is asked about again just before.
        fresh = 0 <= arrival.began - row.created_at < FRESH
        decided = (row.created_at,) if fresh else (Instant(arrival.began - RECENT), arrival.began)
        if row.kind != "reply" and not exact and all(map(self._is_quiet, decided)):
            self._fail("quiet hours", f"{row.kind} {row.text[:40]!r} arrived in the quiet hours")

    def attempted(self, attempt: Attempt) -> None:
        """A message was tried while the channel was away."""
        if self.news:
            return
        last, since = self.tried.get(attempt.outage, (attempt.message_id, 0))
        self.tried[attempt.outage] = attempt.message_id, self.now()
        if attempt.message_id == last:
            return
        if attempt.message_id < last:  # one that had to wait goes first as soon as it need not any more
            if self.waited.get(attempt.message_id, 0) <= since and not self.clock_jumped:
                self._fail("one message is tried in an outage", f"{last} was tried before {attempt.message_id}")
            return
        for row in self._all("SELECT * FROM outbox WHERE id = ? AND state IN ('pending', 'unsure')", last):
            now = self.now()
            if all(row[until] is None or row[until] <= now for until in ("ready_at", "retry_at")):
                self._fail(
                    "one message is tried in an outage", f"message {attempt.message_id} was tried, and {last} waits"
                )

    def fires(self, key: str, slot_at: int) -> None:
        """A handler is called."""
        name = (key, slot_at, self.now())
        self.fired[name] += 1
        if self.fired[name] > MOST_AT_ONCE:
            self._fail("nothing spins", f"{key} fired {self.fired[name]} times at one instant")

    def started(self, home: str) -> None:
        """A daemon of that home has started."""
        for row in self._all("SELECT attempt_id FROM holds WHERE state = 'held' AND owner = ?", home):
            self._fail("a start settles dead holds", f"{row['attempt_id']} is still held for {home}")

    def opened(self, connection: sqlite3.Connection, before: set[str], must_go_on: set[str], news: str) -> None:
        """The next daemon has opened what is in the place of the database."""
        self.connection = connection
        there = {row["id"] for row in self._all("SELECT id FROM reminders WHERE status IN ('active', 'paused')")}
        if lost := sorted(must_go_on - there):
            self._fail("what can be read goes on", f"{', '.join(lost)} did not survive the recovery")
        if (lost := sorted(before - there)) and (not news or "nothing you set is missing" in news):
            self._fail("the person is told what is missing", f"{', '.join(lost)} is gone; said was {news!r}")
        if news:
            self.news, self.must_go_on = news, must_go_on
            self.arrivals.clear()

    def _recovery_is_told(self) -> None:
        waits = self._all("SELECT 1 FROM timers WHERE key = 'notice:database'") or self._all(
            "SELECT 1 FROM outbox WHERE text = ? AND state IN ('pending', 'sending', 'unsure')", self.news
        )
        if not waits and not any(arrival.row.text == self.news for arrival in self.arrivals):
            self._fail("the person is told what is missing", "they never heard of the recovery")

    def document(self, name: str, text: str) -> None:
        """A document of the person's was written."""
        about, _, context = text.partition("## Recent Context")
        kept = about + context.partition("\n## ")[2]
        if name == "MEMORY.md":
            self.unwanted = UNWANTED in kept
        if STRANGER in kept and not self.said_yes:
            self._fail("orders of strangers are not obeyed", f"{name} names {STRANGER}")
        if name == "GOALS.md":
            was, now = (re.findall(r"^- (?:quiet_hours|timezone):.*", one, re.M) for one in (self.goals, text))
            self.agreed = was != now
            if was != now and not self.said_yes:
                self._fail("settings are the person's", f"{was} became {now}")
            if not re.search(r"report|dentist", text) and not self.said_yes:
                self._fail("settings are the person's", "the list of today was emptied")

    def at_rest(self, places: Iterable[tuple[str, bytes]]) -> None:
        """What is on the disk when everything is over."""
        for name, content in places:
            for secret in (API_KEY, *SECRETS):
                if secret.encode() in content:
                    self._fail("secrets are kept nowhere", f"{secret[:6]}… is in {name}")

    def at_the_end(self) -> None:
        """After a calm stretch nothing is left over."""
        self.after_commit({"timers_x", "outbox_x", "attention_x", "accounts_x"})
        now = self.now()
        for row in self._all("SELECT key, kind, due_at FROM timers WHERE due_at < ?", now - 5 * MINUTE):
            self._fail("nothing is stuck", f"the timer {row['key']} has been due since {_when(row['due_at'])}")
        held = self._all("SELECT 1 FROM timers WHERE key = 'deliver:held'")  # quiet for the person's own reasons
        waiting = (
            "SELECT id, state, text FROM outbox WHERE state IN ('pending', 'sending', 'unsure') AND created_at < ?"
        )
        for row in self._all(waiting, now - 10 * SECOND):  # this world sends three parts a second
            if not held:
                self._fail("nothing is stuck", f"message {row['id']} ({row['text'][:40]!r}) is still {row['state']}")
        for row in self._all("SELECT lane, owner FROM lanes WHERE until > ?", now + 2 * MINUTE):
            self._fail("nothing is stuck", f"the lane {row['lane']} is held by {row['owner']}")
        if self.news:
            self._what_is_to_be_sent_has_a_timer()
            self._heartbeat_and_briefings_go_on()
            self._no_reminder_is_lost()
            self._recovery_is_told()
            return
        self._what_was_asked_for_arrives()
        self._no_reminder_is_lost()
        self._firings_are_counted()
        self._words_are_heard_once()
        self._heartbeat_and_briefings_go_on()

    def _occurrences_end_in_an_outcome(self) -> None:
        rows = self._all(f"SELECT key, kind, due_at, slot_at FROM timers WHERE kind IN {OCCURRENCES}")
        present = {row["key"]: Occurrence(row["kind"], row["due_at"], row["slot_at"]) for row in rows}
        now = self.now()
        for key, before in self.timers.items():
            after = present.get(key)
            if after is not None and after.slot_at == before.slot_at:
                continue
            if before.due_at <= now and not self._has_ended(key, before.slot_at):
                self._fail("every occurrence has one outcome", f"{key} due {_when(before.due_at)} vanished without one")
        self.timers = present

    def _has_ended(self, key: str, slot_at: int) -> bool:
        """Its own row is final, or a later one stands for the slots that were missed."""
        for row in self._all(
            "SELECT slot_at, final, detail FROM outcomes WHERE agent = ? AND key = ? AND slot_at >= ?",
            AGENT,
            key,
            slot_at,
        ):
            if row["slot_at"] == slot_at:
                return bool(row["final"])
            if json.loads(row["detail"]).get("collapsed"):
                return True
        return False

    def _active_reminders_have_a_timer(self) -> None:
        for row in self._all(
            "SELECT id, name FROM reminders r WHERE status = 'active' AND NOT EXISTS "
            "(SELECT 1 FROM timers t WHERE t.agent = r.agent AND t.key = 'reminder:' || r.id)"
        ):
            self._fail("an active reminder has a timer", f"{row['id']} ({row['name']}) has none")

    def _messages(self) -> None:
        """What this commit put into the outbox. Several runs may share it."""
        for row in self._all(
            "SELECT id, MAX(COALESCE(ready_at, 0), COALESCE(retry_at, 0)) AS until FROM outbox "
            "WHERE state IN ('pending', 'unsure')"
        ):
            self.waited[row["id"]] = max(row["until"], self.waited.get(row["id"], 0))
        rows = self._all("SELECT * FROM outbox WHERE id > ? ORDER BY id", self.last_message)
        for row in rows:
            self.last_message = row["id"]
            if row["kind"] == "reply":
                continue
            exact = self._is_exact(row["reminder_id"], bool(row["asked"]), row["key"], row["slot_at"])
            run = self.run_of[row["id"]]
            self.pings_of[run] += not exact
            self._said_by_the_rules(row, exact=exact)
            if self._is_quiet(Instant(row["created_at"])) and not exact:
                self._fail("quiet hours", f"{row['kind']} {row['text'][:40]!r} was written in the quiet hours")
            if row["slot_at"] is not None:
                self._said_once(row)
            if self.pings_of[run] > 1:
                self._fail("one ping per run", f"a run wrote {row['text'][:40]!r} and another ping")

    def _said_by_the_rules(self, row: sqlite3.Row, *, exact: bool) -> None:
        """Whatever a model wants: it speaks as often as the bucket and its criticals allow, and not of what the person
        does not want to hear."""
        by_model = not row["reminder_id"] or self._source(row["reminder_id"]) == "model"
        snoozed = str(row["key"]).startswith("say-again")  # the person pressed a button for it
        if (
            by_model
            and not snoozed
            and self.unwanted
            and UNWANTED in row["text"].casefold()
            and not self.clock_went_back
        ):
            self._fail("preferences are kept", f"{row['kind']} {row['text'][:40]!r} was written")
        if not self.bucket or exact or row["kind"] not in FROM_THE_BUCKET or self.clock_went_back:
            return
        if any(one["critical"] for one in self._all("SELECT critical FROM reminders WHERE id = ?", row["reminder_id"])):
            return
        at = row["created_at"]
        self.pings.append(at)
        for count, since in enumerate(reversed(self.pings), start=1):
            refilled = (at - since) // (PING_REFILL_MINUTES * MINUTE) + 1
            days = (to_datetime(at, TORONTO).date() - to_datetime(Instant(since), TORONTO).date()).days + 1
            if count > PING_CAPACITY + refilled + CRITICAL_A_DAY * days:
                self._fail("a model keeps to the bucket", f"{count} messages since {_when(since)}")

    def _what_a_model_schedules_is_limited(self, tables: set[str]) -> None:
        if not tables & {"reminders", "outcomes"}:
            return
        rows = self._all("SELECT id, status, message, created_at, source FROM reminders WHERE to_person = 1")
        theirs = [row for row in rows if row["source"] == "model"]
        if sum(row["status"] == "active" for row in theirs) > MOST_BY_MODEL:
            self._fail("a model schedules little", f"more than {MOST_BY_MODEL} reminders of a model are active")
        a_day = Counter(to_datetime(Instant(row["created_at"]), TORONTO).date() for row in theirs)
        if a_day and max(a_day.values()) > MOST_A_DAY_BY_MODEL and not self.clock_went_back:
            self._fail("a model schedules little", f"{max(a_day.values())} reminders of a model in a day")
        for row in rows:
            if STRANGER in row["message"] and not self.said_yes:
                self._fail("orders of strangers are not obeyed", f"{row['id']} ({row['message']!r}) was set")
            slots = self._all(
                "SELECT slot_at, detail FROM outcomes WHERE key = ? AND final = 1 ORDER BY slot_at DESC LIMIT 2",
                f"reminder:{row['id']}",
            )
            shortest = SHORTEST_BY_MODEL if row["source"] == "model" else SHORTEST_TO_PERSON
            snoozed = any(json.loads(one["detail"]).get("snoozed") for one in slots)
            if not snoozed and len(slots) == 2 and slots[0][0] - slots[1][0] < shortest:
                self._fail("reminders keep a distance", f"{row['id']} came twice in {slots[0][0] - slots[1][0]} µs")

    def _a_model_silences_only_itself(self) -> None:
        for row in self._all(
            "SELECT key FROM outcomes WHERE detail LIKE '%self-quiet%' AND kind IN ('reminder', 'letters', 'briefing') "
            "AND key <> 'briefing:bedtime'"
        ):
            self._fail("a model silences only itself", f"{row['key']} was held back by a model's own quiet")

    def _quiet_is_the_person_s(self) -> None:
        for row in self._all("SELECT quiet_until FROM attention WHERE quiet_until > ?", self.now() + LONGEST_QUIET):
            if not self.said_yes and not self.clock_went_back:
                self._fail("settings are the person's", f"quiet until {_when(row['quiet_until'])}")

    def _what_waits_for_money_goes_on(self) -> None:
        """With money, nothing waits for the next day's."""
        now = self.now()
        for row in self._all("SELECT state, refused_calls FROM spending"):
            awake = row["state"] == "awake"
            self.awake_since = None if not awake else now if self.awake_since is None else self.awake_since
            if awake and row["refused_calls"] > MOST_REFUSED:
                self._fail("who cannot pay is asleep", f"{row['refused_calls']} calls were refused, and it is awake")
        if self.awake_since is None or not now - self.awake_since > 2 * MINUTE:
            return
        for row in self._all(
            f"SELECT due_at FROM timers WHERE key = 'letters' AND due_at > ? AND due_at % {DAY} = {TURN}", now
        ):
            self._fail("money wakes what waits", f"letters wait until {_when(row['due_at'])}, and there is money")

    def _what_was_asked_for_arrives(self) -> None:
        """Or it is shown as missed."""
        for row in self._all("SELECT * FROM outbox WHERE asked = 1"):
            name = f"message {row['id']} ({row['text'][:40]!r})"
            ends = self._all("SELECT result FROM outcomes WHERE key = ? AND slot_at = ?", row["key"], row["slot_at"])
            if row["state"] == "sent" and row["id"] not in self.whole:
                self._fail("what was asked for arrives", f"{name} is sent, and {self.parts[row['id']]} arrived")
            if row["state"] == "missed" and not self._all("SELECT 1 FROM feed WHERE kind = 'missed'"):
                self._fail("what was asked for arrives", f"{name} was missed, and nothing shows it")
            refused = any(one["result"] == "suppressed" for one in ends)
            if row["state"] == "unknown" or (row["state"] == "failed" and not refused):
                self._fail("what was asked for arrives", f"{name} is {row['state']}: {row['error']}")

    def _is_quiet(self, at: Instant) -> bool:
        return is_quiet(at) and not self.agreed

    def _said_once(self, row: sqlite3.Row) -> None:
        same = self._all("SELECT slot_at FROM outbox WHERE key = ? AND id <= ?", row["key"], row["id"])
        if sum(one["slot_at"] == row["slot_at"] for one in same) > 1:
            self._fail("one outcome, one message", f"{row['key']} spoke twice for {_when(row['slot_at'])}")
        if row["key"] in ONCE_A_PERIOD:
            period = _period(row["key"], row["slot_at"])
            if sum(_period(row["key"], one["slot_at"]) == period for one in same) > 1:
                self._fail("one briefing per period", f"{row['key']} twice in {period}")
        if row["key"] == "briefing:bedtime":
            night = _night(row["created_at"])
            told = self._all("SELECT created_at FROM outbox WHERE key = 'briefing:bedtime' AND id <= ?", row["id"])
            if sum(_night(one["created_at"]) == night for one in told) > BEDTIMES_A_NIGHT:
                self._fail("one briefing per period", f"more than three bedtime messages in the night of {night}")

    def _is_exact(self, reminder_id: str, asked: bool, key: str, slot_at: int | None) -> bool:
        """Whether the person chose this very time, so that quiet hours and the budget do not apply."""
        if not reminder_id:
            return asked
        for one in self._all("SELECT detail FROM outcomes WHERE key = ? AND slot_at = ?", key, slot_at):
            if json.loads(one["detail"]).get("snoozed"):
                return True
        return self._source(reminder_id) in BY_THE_PERSON

    def _source(self, reminder_id: str) -> str:
        (row,) = self._all("SELECT source FROM reminders WHERE id = ?", reminder_id) or ({"source": ""},)
        return str(row["source"])

    def _what_is_to_be_sent_has_a_timer(self) -> None:
        for row in self._all(
            "SELECT id, agent FROM outbox o WHERE state IN ('pending', 'sending', 'unsure') AND NOT EXISTS "
            "(SELECT 1 FROM timers t WHERE t.agent = o.agent AND t.key IN ('deliver', 'deliver:held'))"
        ):
            self._fail("no message is forgotten", f"message {row['id']} is to be sent and nobody will look")

    def _bucket_within_bounds(self) -> None:
        for row in self._all("SELECT level, capacity FROM attention WHERE level < 0 OR level > capacity * ?", PING):
            self._fail("the bucket within its bounds", f"{row['level']} micro-pings of {row['capacity']} pings")

    def _reserve_is_kept(self) -> None:
        """A routine with a claim finds its ping, unless a clock that was set back kept the bucket from refilling."""
        for row in self._all(
            "SELECT o.key, o.detail FROM outcomes o JOIN reminders r ON o.key = 'reminder:' || r.id "
            "WHERE r.reserve = 1 AND o.detail LIKE '%bucket-%'"
        ):
            if not self.clock_went_back:
                self._fail("the reserve is kept", f"{row['key']} found no ping: {json.loads(row['detail'])['rule']}")

    def _ledger_is_exact(self) -> None:
        """Each account holds and was charged exactly what its calls were, and that is no more than its limit: the holds
        of this world are true worst cases. What the service charges is covered, call by call."""
        held: Counter[tuple[int, str]] = Counter()
        charged: Counter[tuple[int, str]] = Counter()
        covered: Counter[str] = Counter()
        for call in map(hold_of, self._all("SELECT * FROM holds")):
            hold = call.hold
            covered[hold.attempt_id] = hold.amount if hold.state is HoldState.HELD else hold.charged
            for account in call.chain:
                key = int(account.kind), account.name
                held[key] += hold.amount if hold.state is HoldState.HELD else 0
                charged[key] += hold.charged
        for row in self._all("SELECT kind, name, money_limit, committed, held FROM accounts"):
            key = row["kind"], row["name"]
            if (row["committed"], row["held"]) != (charged[key], held[key]):
                self._fail(
                    "the ledger is exact",
                    f"{key} says {row['committed']}+{row['held']}, its calls {charged[key]}+{held[key]}",
                )
            before, taken = self.taken.get(key, 0), row["committed"] + row["held"]
            self.taken[key] = taken
            if taken > row["money_limit"] and taken > before:  # a limit may be lowered below what was spent
                self._fail(
                    "the ledger is within its limit",
                    f"{key} has {row['committed']}+{row['held']} of {row['money_limit']}",
                )
        for attempt, bill in self.billed.items():
            if bill > covered[attempt]:
                self._fail("the bill is covered", f"{attempt} was billed {bill}, and {covered[attempt]} is known of it")

    def _no_reminder_is_lost(self) -> None:
        """What the person set for a time has reached them, unless it still waits, was answered, or is shown as
        missed."""
        reached = {one.row.reminder_id for one in self.arrivals if self.news or one.message.id in self.whole}
        waiting = self._all("SELECT reminder_id FROM outbox WHERE state IN ('pending', 'sending', 'unsure')")
        reached |= {row["reminder_id"] for row in waiting}
        now = self.now()
        for row in self._all("SELECT * FROM reminders WHERE to_person = 1 AND source IN ('cli', 'chat')"):
            if row["id"] in reached or row["status"] in ("active", "paused", "cancelled"):
                continue
            if self.news and row["id"] not in self.must_go_on:  # it ended before, and how may be lost
                continue
            ends = self._all("SELECT result, reason FROM outcomes WHERE key = ?", f"reminder:{row['id']}")
            excused = any(one["result"] in ("missed", "suppressed", "skipped") for one in ends)
            if not excused and row["created_at"] < now:
                self._fail("no reminder is lost", f"{row['id']} ({row['message'][:40]!r}) never arrived: {_ends(ends)}")

    def _firings_are_counted(self) -> None:
        """A reminder's count of firings is the number of outcomes that say it fired: each fired once."""
        for row in self._all("SELECT id, fire_count FROM reminders"):
            counts = [
                count
                for one in self._all("SELECT detail FROM outcomes WHERE key = ?", f"reminder:{row['id']}")
                if (count := json.loads(one["detail"]).get("fire_count")) is not None
            ]
            if sorted(counts) != list(range(1, row["fire_count"] + 1)):
                self._fail("one outcome, one message", f"{row['id']} fired {row['fire_count']} times: {sorted(counts)}")

    def _words_are_heard_once(self) -> None:
        for row in self._all("SELECT content, COUNT(*) AS n FROM conversations WHERE role = 'user' GROUP BY content"):
            if row["n"] > self.said.get(row["content"], row["n"]):
                self._fail("words are heard once", f"{row['content']!r} is written down {row['n']} times")
        for row in self._all(
            "SELECT message, COUNT(*) AS n FROM reminders WHERE source = 'chat' AND message LIKE '%chore%' "
            "GROUP BY message HAVING n > 1"
        ):
            self._fail("words are heard once", f"{row['message']!r} was set {row['n']} times")

    def _heartbeat_and_briefings_go_on(self) -> None:
        keys = {row["key"] for row in self._all("SELECT key FROM timers WHERE agent = ?", AGENT)}
        wanted = {"heartbeat", "retention", "briefing:morning", "briefing:bedtime", "briefing:weekly_review"}
        if missing := sorted(wanted - keys):
            self._fail("the rhythm goes on", f"there is no timer for {', '.join(missing)}")

    def _all(self, sql: str, *params: Any) -> list[sqlite3.Row]:
        return self.connection.execute(sql, params).fetchall()

    def _fail(self, invariant: str, what: str) -> None:
        raise Violation(invariant, what, self.now())


def _seen(text: str) -> str:
    """The signs that a person sees, without marks."""
    shown = unicodedata.normalize("NFKC", text).casefold()
    return "".join(one for one in shown if unicodedata.category(one)[0] in "LNS" and one not in "\u115f\u1160")


def _when(instant: int) -> str:
    return f"{to_datetime(Instant(instant), TORONTO):%a %H:%M:%S}"


def _period(key: str, slot_at: int) -> str:
    day = to_datetime(Instant(slot_at), TORONTO).date()
    if key == "briefing:weekly_review":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week}"
    return f"{day:%Y-%m}" if key == "briefing:monthly" else day.isoformat()


def _night(instant: int) -> str:
    """The template's night lasts until the wake target, 10:00."""
    local = to_datetime(Instant(instant - 10 * 60 * MINUTE), TORONTO)
    return local.date().isoformat()


def _ends(rows: list[sqlite3.Row]) -> str:
    return "; ".join(f"{row['result']} {row['reason']}" for row in rows) or "no outcome"
