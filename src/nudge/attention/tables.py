"""The attention of each agent's person in the database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from nudge.attention.bedtime import BedtimeCount
from nudge.attention.bucket import LevelChange, PingBudget
from nudge.attention.reserve import PING
from nudge.attention.restraint import Requests
from nudge.attention.store import AttentionRow
from nudge.attention.welcome import HALF_LIFE, Cell, Learned, Place, Reception, Waiting
from nudge.database import Database, Row
from nudge.instants import DAY, Instant

_FORGET_AFTER = 7 * DAY
_FADED_AFTER = 8 * HALF_LIFE
_MOST_LEVELS = 2000


class AttentionTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def get(self, agent: str, *, to_change: bool = False) -> AttentionRow | None:
        """With `to_change`, inside a transaction, nobody else can change the row until it ends."""
        row = await self._db.one("attention_get_to_change" if to_change else "attention_get", {"agent": agent})
        return _row(row) if row else None

    async def create(self, agent: str, capacity: int, refill_minutes: int, now: Instant, today: date) -> None:
        """Add a row with a full bucket and no requests. An existing row stays as it is."""
        params = {"agent": agent, "capacity": capacity, "refill_minutes": refill_minutes, "level": capacity * PING}
        await self._db.run("attention_create", {**params, "now": now, "today": today.isoformat()})

    async def requests(self, agent: str, *, to_change: bool = False) -> Requests | None:
        """The same, and nothing but the requests."""
        row = await self._db.one("attention_get_to_change" if to_change else "attention_get", {"agent": agent})
        return _requests(row) if row else None

    async def set_requests(self, agent: str, requests: Requests) -> None:
        """Replace all of them. To change one, read the row `to_change` first."""
        params = {
            "agent": agent,
            "quiet_until": requests.quiet_until,
            "busy_until": requests.busy_until,
            "left_alone": int(requests.left_alone),
            "delayed_until": requests.delayed_until,
        }
        await self._db.run("attention_set_requests", params)

    async def conversation(self, agent: str, now: Instant) -> None:
        """Note when the person last wrote."""
        await self._db.run("attention_conversation", {"agent": agent, "now": now})

    async def activity(self, agent: str, now: Instant) -> None:
        """Note when the phone last gave a sign of life. It lifts nothing."""
        await self._db.run("attention_activity", {"agent": agent, "now": now})

    async def set_bucket(self, agent: str, budget: PingBudget) -> None:
        """Set another size, rate or level. The counters stay."""
        params = {
            "agent": agent,
            "capacity": budget.capacity,
            "refill_minutes": budget.refill_minutes,
            "level": budget.level,
            "last_refill": budget.last_refill,
        }
        await self._db.run("attention_set_bucket", params)

    async def levels(self, agent: str, since: Instant) -> Sequence[LevelChange]:
        """How the bucket changed, from the last change before `since` on, oldest first; the last ones if there are very
        many."""
        params = {"agent": agent, "since": since, "limit": _MOST_LEVELS}
        rows = reversed(await self._db.all("bucket_levels_since", params))
        return [LevelChange(Instant(one["at"]), one["level"], one["capacity"], one["refill_minutes"]) for one in rows]

    async def take_ping(self, agent: str, now: Instant, today: date, at_least: int) -> bool:
        """Take one ping if the level is at least `at_least` micro-pings, in one statement. True if it took one."""
        params = {"agent": agent, "now": now, "today": today.isoformat(), "at_least": at_least}
        return await self._db.run("attention_take_ping", params) > 0

    async def take_critical(self, agent: str, today: date, most: int = 0) -> bool:
        """Count a critical ping; with `most`, only if the day has had fewer, in one statement. True if it counted."""
        params = {"agent": agent, "today": today.isoformat(), "most": most}
        return await self._db.run("attention_take_critical", params) > 0

    async def bedtime_sent(self, agent: str, night: date) -> None:
        await self._db.run("attention_bedtime", {"agent": agent, "night": night.isoformat()})

    async def remember_said(self, agent: str, topic: str, signature: str, at: Instant) -> None:
        async with self._db.transaction():
            await self._db.run("said_remember", {"agent": agent, "topic": topic, "signature": signature, "at": at})
            await self._db.run("said_forget", {"agent": agent, "before": at - _FORGET_AFTER})

    async def said(self, agent: str, topic: str) -> dict[str, Instant]:
        rows = await self._db.all("said_of_topic", {"agent": agent, "topic": topic})
        return {row["signature"]: Instant(row["at"]) for row in rows}


class WelcomeTable:
    """How pings were taken. Every change is part of the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._db = database

    async def learned(self, agent: str) -> Learned:
        cells = [_cell(row) for row in await self._db.all("welcomes_of_agent", {"agent": agent})]
        return Learned(cells, await self.waiting(agent))

    async def waiting(self, agent: str) -> list[Waiting]:
        """Newest first."""
        rows = await self._db.all("pings_waiting_of_agent", {"agent": agent})
        return [Waiting(row["topic"], _place(row), Instant(row["sent_at"]), bool(row["arrived"])) for row in rows]

    async def sent(self, agent: str, ping: Waiting) -> None:
        await self._db.run("pings_waiting_add", {"agent": agent, "sent_at": ping.sent_at, **_key(ping)})

    async def take(self, agent: str, ping: Waiting, reception: Reception | None, now: Instant) -> bool:
        """Count how a waiting ping was taken; None counts nothing. False if somebody has counted it before."""
        async with self._db.transaction():
            key = {"agent": agent, **_key(ping)}
            taken = {"agent": agent, "topic": ping.topic, "sent_at": ping.sent_at}
            if not await self._db.run("pings_waiting_take", taken):
                return False
            if reception is None:
                return True
            await self._db.run("welcomes_add", {**key, "at": now})
            row = await self._db.one("welcomes_get_to_change", key)
            assert row is not None
            await self.put(agent, _cell(row).after(reception, now))
            await self._db.run("welcomes_forget", {"agent": agent, "before": now - _FADED_AFTER})
            return True

    async def put(self, agent: str, cell: Cell) -> None:
        """Replace what was counted for a topic at a place."""
        key = {"agent": agent, **_key(cell), "at": cell.at}
        await self._db.run("welcomes_add", key)
        await self._db.run("welcomes_set", {**key, "welcome": cell.welcome, "unwelcome": cell.unwelcome})

    async def reset(self, agent: str, topic: str = "") -> int:
        """Forget a topic, or everything. Returns how many cells are gone."""
        async with self._db.transaction():
            await self._db.run("pings_waiting_reset", {"agent": agent, "topic": topic})
            return await self._db.run("welcomes_reset", {"agent": agent, "topic": topic})


def _key(of: Waiting | Cell) -> dict[str, int | str]:
    return {"topic": of.topic, "hour": of.place.hour, "weekend": int(of.place.weekend)}


def _place(row: Row) -> Place:
    return Place(row["hour"], bool(row["weekend"]))


def _cell(row: Row) -> Cell:
    return Cell(row["topic"], _place(row), row["welcome"], row["unwelcome"], Instant(row["at"]))


def _row(row: Row) -> AttentionRow:
    night = date.fromisoformat(row["bedtime_night"]) if row["bedtime_night"] else None
    budget = PingBudget(
        capacity=row["capacity"],
        refill_minutes=row["refill_minutes"],
        level=row["level"],
        last_refill=Instant(row["last_refill"]),
        critical_used=row["critical_used"],
        critical_reset_date=date.fromisoformat(row["critical_reset_date"]),
        daily_used=row["daily_used"],
        daily_used_reset=date.fromisoformat(row["daily_used_reset"]),
    )
    return AttentionRow(
        budget,
        _requests(row),
        row["last_conversation"],
        row["last_activity"],
        BedtimeCount(night, row["bedtime_sent"]),
    )


def _requests(row: Row) -> Requests:
    return Requests(row["quiet_until"], row["busy_until"], bool(row["left_alone"]), row["delayed_until"])
