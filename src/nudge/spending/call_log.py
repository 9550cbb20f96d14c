"""The log of the gateway's calls: what each asked for, what it got, how long it waited and how it ended.

Tokens and cost are in the usage log, under the same id. A call that was refused has no usage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nudge.database import Database, Row
from nudge.instants import DAY, SECOND, Instant
from nudge.spending.money import Micros
from nudge.tokens import TokenUse


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call. `asked` and `granted` are tokens of the answer, `held` is what was set aside, `waited` and `lasted` are
    microseconds. `status` is that of the service's answer, 0 if it gave none. `reason` is what a client was told that
    was refused or cut. `use` and `cost` are read only."""

    id: str
    agent: str
    run: str
    at: Instant
    protocol: str
    client: str
    model: str
    asked: int
    granted: int = 0
    held: Micros = 0
    waited: int = 0
    lasted: int = 0
    status: int = 0
    result: str = ""
    reason: str = ""
    use: TokenUse | None = None
    cost: Micros | None = None

    @property
    def clamped(self) -> bool:
        return 0 < self.granted < self.asked

    @property
    def ended_at(self) -> Instant:
        return Instant(self.at + self.lasted)

    @property
    def story(self) -> str:
        """What it asked for, what it got and how it ended, in a line for people: no dollars."""
        parts = [f"{self.model}{f' in {self.run}' if self.run else ''}"]
        if self.use is not None:
            parts.append(f"{self.use.prompt:,} tokens in, {self.use.output:,} out")
        if self.clamped:
            parts.append(f"clamped from {self.asked:,} to {self.granted:,} tokens")
        if self.waited >= SECOND // 10:
            parts.append(f"waited {self.waited / SECOND:.1f} s for money")
        if self.granted:
            parts.append(f"took {self.lasted / SECOND:.1f} s")
        if self.result != "done":
            parts.append(self.result)
        return ", ".join(parts) + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True, slots=True)
class RunTotal:
    """What the calls of a run came to. `refused` are those that were not made for lack of money."""

    calls: int
    refused: int
    use: TokenUse
    cost: Micros


class CallTable:
    def __init__(self, database: Database) -> None:
        self._db = database

    async def add(self, call: LoggedCall) -> None:
        names = ("id", "agent", "run", "at", "protocol", "client", "model", "asked", "granted", "held", "waited")
        params = {name: getattr(call, name) for name in (*names, "lasted", "status", "result", "reason")}
        await self._db.run("gateway_calls_add", params)

    async def recent(
        self, agent: str | None = None, *, run: str | None = None, limit: int = 50
    ) -> Sequence[LoggedCall]:
        """Newest first. `run` gives that run and what is below it."""
        pattern = None if run is None else _below(run)
        rows = await self._db.all(
            "gateway_calls_recent", {"agent": agent, "run": run, "below": pattern, "limit": limit}
        )
        return [_call(row) for row in rows]

    async def ended_since(self, since: Instant, limit: int) -> Sequence[LoggedCall]:
        """Those that ended then or later, by when they came. One that took longer than a day is not among them."""
        rows = await self._db.all("gateway_calls_ended", {"begun": since - DAY, "since": since, "limit": limit})
        return [_call(row) for row in rows]

    async def total(self, agent: str, run: str) -> RunTotal:
        """The sum of a run and of what is below it."""
        row = await self._db.one("gateway_calls_total", {"agent": agent, "run": run, "below": _below(run)})
        assert row is not None
        use = TokenUse(int(row["input"]), int(row["output"]), int(row["cache_read"]), int(row["cache_write"]))
        return RunTotal(int(row["calls"]), int(row["refused"]), use, int(row["cost"]))

    async def run_known(self, agent: str, run: str) -> bool:
        """Whether money was ever held for this run of the agent, or for anything below it."""
        found = await self._db.one("gateway_run_known", {"agent": agent, "run": run, "below": _below(run)})
        return found is not None


def _below(run: str) -> str:
    escaped = run.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"{escaped}/%"


def _call(row: Row) -> LoggedCall:
    names = ("id", "agent", "run", "protocol", "client", "model", "asked", "granted", "held", "waited", "lasted")
    call = LoggedCall(
        at=Instant(row["at"]),
        status=row["status"],
        result=row["result"],
        reason=row["reason"],
        **{name: row[name] for name in names},
    )
    if row["cost"] is None:
        return call
    use = TokenUse(row["input"], row["output"], row["cache_read"], row["cache_write"])
    return replace(call, use=use, cost=row["cost"])
