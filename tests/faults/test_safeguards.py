"""The harness can find faults: with any one safeguard switched off, an invariant breaks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from nudge.attention.gate import Gate
from nudge.attention.rules import Attention
from nudge.instants import Instant
from nudge.queue.mail_tables import OutboxTable
from nudge.queue.outbox import Sending
from nudge.queue.outcomes import Outcome
from nudge.queue.tables import LaneTable, OutcomeTable, TimerTable
from nudge.queue.timers import Lease, Timer
from nudge.spending import holds
from nudge.stores.sqlite import SqliteDatabase
from tests.faults.faults import Kind
from tests.faults.processes import CURRENT
from tests.faults.run import broken, live

MOST_SEEDS = 200
Patch = Callable[[pytest.MonkeyPatch], None]


def no_unique_claim(patch: pytest.MonkeyPatch) -> None:
    """Any daemon may work in any lane, whoever comes second settles as well, and an outcome is written over."""
    claimed: set[tuple[str, str]] = set()
    take, record = TimerTable.cancel, OutcomeTable.record

    def owner() -> str:
        process = CURRENT.get()
        return process.owner if process else ""

    async def not_mine(self: TimerTable, now: Instant, limit: int) -> Sequence[str]:
        rows = await self._db.all("timers_due_lanes", {"now": now, "horizon": -1, "window": 100, "limit": 100})
        return [row["lane"] for row in rows if (owner(), row["lane"]) not in claimed][:limit]

    async def claim(self: LaneTable, lanes: Iterable[str], owner: str, now: Instant, until: Instant) -> Sequence[Lease]:
        claimed.update((owner, lane) for lane in lanes)
        return [Lease(lane, owner, "anybody's", until) for lane in sorted(set(lanes))]

    async def release(self: LaneTable, leases: Iterable[Lease]) -> None:
        claimed.difference_update((lease.owner, lease.lane) for lease in leases)

    async def held(self: LaneTable, lease: Lease, *more: object) -> bool:
        return True

    async def take_anyway(self: TimerTable, timer: Timer, lease: Lease) -> bool:
        await take(self, timer.agent, timer.key)
        return True

    async def record_anyway(self: OutcomeTable, outcome: Outcome) -> bool:
        await record(self, outcome)
        return True

    patch.setattr(TimerTable, "due_lanes", not_mine)
    patch.setattr(LaneTable, "claim_many", claim)
    patch.setattr(LaneTable, "release_many", release)
    patch.setattr(LaneTable, "assert_held", held)
    patch.setattr(LaneTable, "renew", held)
    patch.setattr(TimerTable, "take_held", take_anyway)
    patch.setattr(OutcomeTable, "record", record_anyway)


def no_outbox_first(patch: pytest.MonkeyPatch) -> None:
    """The row does not say that its message is on its way before the channel is called."""
    mark = OutboxTable.mark

    async def mark_only_the_end(self: OutboxTable, message_id: int, state: Sending, **more: Any) -> None:
        if state is not Sending.SENDING:
            await mark(self, message_id, state, **more)

    patch.setattr(OutboxTable, "mark", mark_only_the_end)


def no_single_transaction(patch: pytest.MonkeyPatch) -> None:
    """Every statement is committed by itself. It is looked at only where the transaction would have ended, so that what
    breaks is what a crash leaves behind."""
    inside: ContextVar[bool] = ContextVar("inside", default=False)

    @asynccontextmanager
    async def transaction(self: SqliteDatabase) -> AsyncIterator[None]:
        if inside.get():
            yield
            return
        reset = inside.set(True)
        try:
            yield
            if self.probe:
                self.probe("commit")
                self.probe("committed")
        finally:
            inside.reset(reset)

    patch.setattr(SqliteDatabase, "transaction", transaction)


def no_money_reserve(patch: pytest.MonkeyPatch) -> None:
    """Calls start without their worst case being held."""

    def decide(accounts: Sequence[holds.Account], call: holds.Call) -> holds.Decision:
        return holds.Decision(holds.Answer.GRANTED, call.max_tokens, 0)

    patch.setattr(holds, "decide", decide)


def no_ping_reserve(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks ahead to the routines that have a claim."""
    from dataclasses import replace

    state = Gate.state

    async def blind(self: Gate, agent: str, now: Instant, topic: str | None = None) -> Attention:
        return replace(await state(self, agent, now, topic), claims=())

    patch.setattr(Gate, "state", blind)


SAFEGUARDS = [
    pytest.param(
        no_unique_claim,
        (Kind.SECOND_DAEMON,),
        {"one outcome, one message", "nothing sent twice", "one briefing per period"},
        id="the unique claim",
    ),
    pytest.param(no_outbox_first, (Kind.AFTER_SEND, Kind.DURING_SEND), {"nothing sent twice"}, id="the outbox first"),
    pytest.param(
        no_single_transaction,
        (Kind.WRITE,),
        {
            "an active reminder has a timer",
            "every occurrence has one outcome",
            "the rhythm goes on",
            "the ledger is exact",
            "no message is forgotten",
        },
        id="the single transaction",
    ),
    pytest.param(no_money_reserve, (Kind.RESTART,), {"the ledger is within its limit"}, id="the reserve of money"),
    pytest.param(no_ping_reserve, (Kind.RESTART,), {"the reserve is kept"}, id="the reserve of pings"),
]


@pytest.mark.parametrize(("switch_off", "kinds", "breaks"), SAFEGUARDS)
def test_without_a_safeguard_an_invariant_breaks(
    switch_off: Patch, kinds: tuple[Kind, ...], breaks: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    switch_off(monkeypatch)
    for seed in range(MOST_SEEDS):
        world = live(seed, kinds=kinds)
        if world.violation is not None:
            break
    else:
        pytest.fail(f"{MOST_SEEDS} seeds and nothing broke")
    assert world.violation.invariant in breaks, str(world.violation)
    monkeypatch.undo()
    assert live(world.seed, kinds=kinds).violation is None


def test_a_seed_that_breaks_prints_the_shortest_set_of_faults_and_how_to_replay_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_outbox_first(monkeypatch)
    found = next(one for seed in range(MOST_SEEDS) if (one := broken(seed)) is not None)
    numbers = ",".join(str(number) for number in found.numbers)
    lines = str(found).splitlines()
    assert lines[0].startswith(f"seed {found.seed} breaks: nothing sent twice: message ")
    assert lines[1] == f"shortest set of faults ({len(found.numbers)}):"
    named = lines[2 : lines.index("trace:")]
    assert [line.split(":")[0].strip() for line in named] == numbers.split(",")
    assert lines[-2].endswith(str(found.violation))
    assert lines[-1] == f"replay: python -m tests.faults --seed {found.seed} --faults {numbers}"
    again = live(found.seed, found.numbers)
    assert str(again.violation) == str(found.violation)
    assert again.lines == list(found.lines)
    for number in found.numbers:
        assert live(found.seed, [one for one in found.numbers if one != number]).violation is None
