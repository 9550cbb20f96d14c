"""What must hold after every step, whatever broke.

A step is a commit. Each check reads only what the commit can have changed; the last look reads everything.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from nudge.attention.reserve import PING
from nudge.instants import MINUTE, Instant, rfc3339, to_datetime
from nudge.queue.delivery import FRESH
from nudge.spending.holds import HoldState
from nudge.spending.tables import _hold as hold_of
from tests.faults.channel import Arrival
from tests.faults.scenario import AGENT, is_quiet
from tests.times import TORONTO

OCCURRENCES = ("heartbeat", "briefing", "reminder")
"""The kinds of timers that stand for occurrences."""
ONCE_A_PERIOD = ("briefing:morning", "briefing:weekly_review", "briefing:monthly")
BY_THE_PERSON = ("cli", "chat", "import")
BEDTIMES_A_NIGHT = 3


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
    clock_went_back: bool = False
    timers: dict[str, Occurrence] = field(default_factory=dict)
    last_message: int = 0
    unmarked: Counter[int] = field(default_factory=Counter)
    arrivals: list[Arrival] = field(default_factory=list)
    said: Counter[str] = field(default_factory=Counter)
    """How often the person said what."""
    steps: int = 0

    def after_commit(self, written: set[str]) -> None:
        """Look at what the statements of a commit may have changed."""
        self.steps += 1
        tables = {name.partition("_")[0] for name in written}
        if tables & {"timers", "reminders", "outcomes", "spending"}:
            self._occurrences_end_in_an_outcome()
            self._active_reminders_have_a_timer()
        if tables & {"outbox", "timers"}:
            self._messages()
            self._what_is_to_be_sent_has_a_timer()
        if "attention" in tables:
            self._bucket_within_bounds()
        if "outcomes" in tables and self.bucket:
            self._reserve_is_kept()
        if tables & {"accounts", "holds"}:
            self._ledger_is_exact()

    def arrived(self, arrival: Arrival) -> None:
        """A message reached the person."""
        message, row = arrival.message, arrival.row
        self.arrivals.append(arrival)
        if not message.possibly_repeated:
            self.unmarked[message.id] += 1
        seen = sum(one.message.id == message.id for one in self.arrivals)
        if self.unmarked[message.id] > 1 or (seen > 1 and not message.possibly_repeated):
            self._fail("nothing sent twice", f"message {message.id} ({row.text[:40]!r}) arrived twice unmarked")
        if seen > 1 and not row.asked:
            self._fail("nothing sent twice", f"chatter {message.id} ({row.text[:40]!r}) was repeated")
        if seen > 2:
            self._fail("nothing sent twice", f"message {message.id} arrived {seen} times")
        exact = self._is_exact(row.reminder_id, row.asked, row.key, row.slot_at)
        # Written just before they began it may still be on its way; what is older is asked about once more.
        decided_at = row.created_at if 0 <= arrival.at - row.created_at < FRESH else arrival.at
        if row.kind != "reply" and not exact and is_quiet(decided_at):
            self._fail("quiet hours", f"{row.kind} {row.text[:40]!r} arrived in the quiet hours")

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
        for row in self._all(waiting, now - MINUTE):  # one that was written this minute is on its way
            if not held:
                self._fail("nothing is stuck", f"message {row['id']} ({row['text'][:40]!r}) is still {row['state']}")
        for row in self._all("SELECT lane, owner FROM lanes WHERE until > ?", now + 2 * MINUTE):
            self._fail("nothing is stuck", f"the lane {row['lane']} is held by {row['owner']}")
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
        rows = self._all("SELECT * FROM outbox WHERE id > ? ORDER BY id", self.last_message)
        pings: Counter[tuple[str, int | None]] = Counter()
        for row in rows:
            self.last_message = row["id"]
            if row["kind"] == "reply":
                continue
            exact = self._is_exact(row["reminder_id"], bool(row["asked"]), row["key"], row["slot_at"])
            pings[row["key"], row["slot_at"]] += not exact
            if is_quiet(Instant(row["created_at"])) and not exact:
                self._fail("quiet hours", f"{row['kind']} {row['text'][:40]!r} was written in the quiet hours")
            if row["slot_at"] is not None:
                self._said_once(row)
        for (key, _), times in pings.items():
            if times > 1:
                self._fail("one ping per run", f"{key} wrote {times} pings at once")

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
        (row,) = self._all("SELECT source FROM reminders WHERE id = ?", reminder_id) or ({"source": ""},)
        return row["source"] in BY_THE_PERSON

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
        of this world are true worst cases."""
        held: Counter[tuple[int, str]] = Counter()
        charged: Counter[tuple[int, str]] = Counter()
        for call in map(hold_of, self._all("SELECT * FROM holds")):
            hold = call.hold
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
            if row["committed"] + row["held"] > row["money_limit"]:
                self._fail(
                    "the ledger is within its limit",
                    f"{key} has {row['committed']}+{row['held']} of {row['money_limit']}",
                )

    def _no_reminder_is_lost(self) -> None:
        """What the person set for a time has reached them, unless it still waits, was answered, or nobody can know."""
        reached = {arrival.row.reminder_id for arrival in self.arrivals}
        waiting = self._all("SELECT reminder_id FROM outbox WHERE state IN ('pending', 'sending', 'unsure')")
        reached |= {row["reminder_id"] for row in waiting}
        now = self.now()
        for row in self._all("SELECT * FROM reminders WHERE to_person = 1 AND source IN ('cli', 'chat')"):
            if row["id"] in reached or row["status"] in ("active", "paused", "cancelled"):
                continue
            ends = self._all("SELECT result, reason FROM outcomes WHERE key = ?", f"reminder:{row['id']}")
            excused = any(one["result"] in ("unknown", "suppressed", "skipped") for one in ends)
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
            "SELECT message, COUNT(*) AS n FROM reminders WHERE source = 'chat' GROUP BY message HAVING n > 1"
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
