"""The harness can find faults: with any one safeguard switched off, an invariant breaks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from nudge import redaction
from nudge.attention import rules
from nudge.attention.gate import Gate
from nudge.attention.rules import Attention, Candidate
from nudge.coach import answering, briefing_run, conversation, inbound, judgment, messages, own_words
from nudge.coach import facts as facts_module
from nudge.coach.facts import CoachFacts
from nudge.coach.person_documents import PersonDocuments
from nudge.daemon import rescue
from nudge.errors import ChannelUnavailableError, ModelUnavailableError
from nudge.instants import DAY, HOUR, MINUTE, Instant
from nudge.model import ModelReply, ModelRequest
from nudge.queue import delivery
from nudge.queue.firing import Pace
from nudge.queue.mail_tables import OutboxTable
from nudge.queue.outbox import Sending
from nudge.queue.outcomes import Outcome
from nudge.queue.tables import LaneTable, OutcomeTable, TimerTable
from nudge.queue.timers import Lease, Timer
from nudge.reminders import definition, firing, handover
from nudge.reminders.reminder import Reminder, Source
from nudge.reminders.service import Reminders
from nudge.spending import agent_ledger, holds, ledger
from nudge.spending.agent_ledger import AgentLedger
from nudge.spending.governor import Spending
from nudge.stores.salvage import Salvage
from nudge.stores.sqlite import SqliteDatabase
from tests.faults.faults import Kind
from tests.faults.minds import FaultyModel
from tests.faults.processes import CURRENT
from tests.faults.run import broken, live
from tests.faults.scenario import PASTED, Act, Scenario, draw

MOST_SEEDS = 60
"""A safeguard that is missing shows within so many lives, which is few beside a soak's ten thousand."""
Patch = Callable[[pytest.MonkeyPatch], None]
Change = Callable[[Scenario], Scenario]


def no_unique_claim(patch: pytest.MonkeyPatch) -> None:
    """Any daemon may work in any lane, whoever comes second settles as well, and an outcome is written over."""
    claimed: set[tuple[str, str]] = set()
    take, record = TimerTable.cancel, OutcomeTable.record

    def owner() -> str:
        process = CURRENT.get()
        return process.owner if process else ""

    async def not_mine(self: TimerTable, now: Instant, limit: int, *, after: int = -1) -> Sequence[str]:
        params = {"now": now, "after": -1, "horizon": -1, "window": 100, "limit": 100}
        rows = await self._db.all("timers_due_lanes", params)
        return [row["lane"] for row in rows if (owner(), row["lane"]) not in claimed][:limit]

    async def claim(self: LaneTable, lanes: Iterable[str], owner: str, now: Instant, until: Instant) -> Sequence[Lease]:
        claimed.update((owner, lane) for lane in lanes)
        return [Lease(lane, owner, "anybody's", until) for lane in sorted(set(lanes))]

    async def release(self: LaneTable, leases: Iterable[Lease]) -> None:
        claimed.difference_update((lease.owner, lease.lane) for lease in leases)

    async def held(self: LaneTable, lease: Lease, *more: object) -> bool:
        return True

    async def take_anyway(self: TimerTable, timer: Timer, lease: Lease, **more: Any) -> bool:
        await take(self, timer.agent, timer.key)
        return True

    async def record_anyway(self: OutcomeTable, outcome: Outcome, **more: Any) -> bool:
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
    state = Gate.state

    async def blind(self: Gate, agent: str, now: Instant, topic: str | None = None) -> Attention:
        return replace(await state(self, agent, now, topic), claims=())

    patch.setattr(Gate, "state", blind)


def ambiguous_is_failed(patch: pytest.MonkeyPatch) -> None:
    """An answer that leaves it open whether a message arrived ends it."""
    before = delivery.setback_of

    def setback_of(error: Exception) -> delivery.Setback:
        found = before(error)
        return delivery.Setback(Sending.FAILED, None) if found.state is Sending.UNSURE else found

    patch.setattr(delivery, "setback_of", setback_of)


def no_doubt(patch: pytest.MonkeyPatch) -> None:
    """A message that may have arrived is sent again as if it had not."""
    patch.setattr(delivery.Progress, "of", classmethod(lambda cls, row: cls(tuple(row.receipt))))


def no_parts(patch: pytest.MonkeyPatch) -> None:
    """A repeated message begins with its first part."""
    patch.setattr(delivery.Progress, "of", classmethod(lambda cls, row: cls((), row.state is not Sending.PENDING)))


def parts_unnoted(patch: pytest.MonkeyPatch) -> None:
    """Nobody writes down which parts have arrived."""

    async def arrived(self: OutboxTable, *more: Any) -> None:
        return None

    patch.setattr(OutboxTable, "arrived", arrived)


def no_pause(patch: pytest.MonkeyPatch) -> None:
    """While the channel is away, every message is tried."""
    set_back = delivery.Delivery._set_back

    async def go_on(self: delivery.Delivery, message: Any, *more: Any) -> Instant | None:
        try:
            return await set_back(self, message, *more)
        except ChannelUnavailableError:
            return Instant(more[1].now + delivery.ASIDE)

    patch.setattr(delivery.Delivery, "_set_back", go_on)


def no_lateness(patch: pytest.MonkeyPatch) -> None:
    """Answers are sent however old they are."""
    patch.setattr(delivery, "LATENESS", 1000 * DAY)


def lost_is_free(patch: pytest.MonkeyPatch) -> None:
    """A call that did not come back whole is charged nothing."""
    patch.setattr(ledger, "end_of_block", lambda error: partial(holds.settle, actual=0))


def lost_in_one_hold(patch: pytest.MonkeyPatch) -> None:
    """An answer that was lost is asked for again inside the same hold."""
    complete = FaultyModel.answer

    async def insist(self: FaultyModel, facts: CoachFacts, request: ModelRequest) -> ModelReply:
        try:
            return await complete(self, facts, request)
        except ModelUnavailableError as error:
            if error.unbilled:
                raise
            return await complete(self, facts, request)

    patch.setattr(FaultyModel, "answer", insist)


def every_usage_is_believed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ledger, "believable", lambda use: use)


def dead_holds_stay(patch: pytest.MonkeyPatch) -> None:
    async def settle_dead(self: AgentLedger, *more: Any) -> int:
        return 0

    patch.setattr(AgentLedger, "settle_dead", settle_dead)


def money_wakes_nobody(patch: pytest.MonkeyPatch) -> None:
    """No timer waits for money, as far as spending knows."""
    create = Spending.__init__
    patch.setattr(Spending, "__init__", lambda self, *args, **more: create(self, *args, **{**more, "waiting": ()}))


def never_used_up(patch: pytest.MonkeyPatch) -> None:
    """However many calls are refused, what is left counts as money."""
    patch.setattr(agent_ledger, "USED_UP_AFTER", 10**9)
    patch.setattr(agent_ledger, "WINDING_DOWN_FROM", 10**9)


def any_pace(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(definition, "_check_pace", lambda reminder: None)


def any_number(patch: pytest.MonkeyPatch) -> None:
    async def refuse_nothing(self: Reminders, *more: Any) -> None:
        return None

    patch.setattr(Reminders, "_refuse_too_many", refuse_nothing)


def a_model_s_time_counts(patch: pytest.MonkeyPatch) -> None:
    """What a model scheduled comes at its time whatever the hour, as if the person had chosen it."""
    candidate_of = handover.candidate_of

    def chosen(reminder: Reminder, *args: Any, **more: Any) -> Candidate:
        found = candidate_of(reminder, *args, **more)
        return replace(found, set_for_time=found.set_for_time or reminder.source is Source.MODEL)

    patch.setattr(handover, "candidate_of", chosen)
    patch.setattr(firing, "candidate_of", chosen)


def a_model_is_obeyed(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks whose idea an action is."""
    patch.setattr(conversation, "weigh", lambda actions, facts, texts: own_words.Weighed(tuple(actions)))


def everything_is_its_own_idea(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Candidate, "own_idea", property(lambda self: True))


def no_preferences(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(PersonDocuments, "preferences", lambda self, agent: ())


def any_number_is_critical(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "CRITICAL_A_DAY", 10**6)


def nothing_is_said_aloud(patch: pytest.MonkeyPatch) -> None:
    """The word for silence is a word like any other, and what nobody can see is a text."""
    for module in (facts_module, judgment, messages, conversation, briefing_run):
        for name in ("says_nothing", "is_blank"):
            if hasattr(module, name):
                patch.setattr(module, name, lambda text: False)


def quotes_are_own_words(patch: pytest.MonkeyPatch) -> None:
    for module in (own_words, conversation):
        patch.setattr(module, "without_quotes", lambda text: text)
    patch.setattr(own_words, "has_quotes", lambda text: False)


def nothing_is_screened(patch: pytest.MonkeyPatch) -> None:
    for module in (redaction, inbound, answering, definition):
        patch.setattr(module, "screen", lambda text, secrets=(): text)


def nothing_notices_spinning(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Pace, "spins", lambda self, timer: False)


def nothing_is_salvaged(patch: pytest.MonkeyPatch) -> None:
    """A damaged file is replaced by what the last copy has."""
    salvage = rescue.salvage

    def nothing(damaged: Path, target: Path) -> Salvage:
        return salvage(Path(os.devnull), target)

    patch.setattr(rescue, "salvage", nothing)


def no_copy_fills_up(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rescue, "fill_up", lambda *more: {})


def nobody_is_told(patch: pytest.MonkeyPatch) -> None:
    async def say_nothing(*more: Any) -> None:
        return None

    patch.setattr(rescue, "tell", say_nothing)


def removed_is_gone(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks whether the file is still there."""
    patch.setattr(SqliteDatabase, "_look_at_file", lambda self: None)


def hostile(scenario: Scenario) -> Scenario:
    """With a model that uses every action it has, and a person who never says yes to it."""
    drawn = draw(Random(f"hostile:{scenario.start}:{scenario.lasts}:{len(scenario.acts)}"), hostile=True)
    acts = tuple(act for act in drawn.acts if act.text != "yes")
    return replace(drawn, acts=acts, window="30.00", ping_budget=True)


def critical_all_day(scenario: Scenario) -> Scenario:
    return replace(hostile(scenario), heartbeat=10 * MINUTE, acts=())


def paid(scenario: Scenario) -> Scenario:
    return replace(scenario, paid=True, hostile=False, window="10.00")


def poor(scenario: Scenario) -> Scenario:
    return replace(scenario, paid=True, hostile=False, window="0.60")


def asleep(scenario: Scenario) -> Scenario:
    return replace(scenario, paid=True, hostile=False, window="0.01")


def with_secrets(scenario: Scenario) -> Scenario:
    acts = tuple(Act(number * HOUR, text) for number, text in enumerate(PASTED))
    return replace(scenario, acts=acts)


def long_life(scenario: Scenario) -> Scenario:
    """Longer than any outage, with questions all the time."""
    acts = tuple(Act(number * HOUR, "/status") for number in range(36))
    return replace(scenario, lasts=38 * HOUR, acts=acts, reminders=(), paid=False, hostile=False)


def as_drawn(scenario: Scenario) -> Scenario:
    return scenario


NEW_SAFEGUARDS = [
    pytest.param(
        ambiguous_is_failed,
        (Kind.CHANNEL_UNSURE,),
        as_drawn,
        "what was asked for arrives",
        id="the retry of what may have arrived",
    ),
    pytest.param(no_doubt, (Kind.CHANNEL_UNSURE,), as_drawn, "nothing sent twice", id="the mark of a repeat"),
    pytest.param(
        no_parts,
        (Kind.BETWEEN_PARTS, Kind.CHANNEL_UNSURE),
        as_drawn,
        "a stored part is not sent again",
        id="the parts",
    ),
    pytest.param(
        parts_unnoted,
        (Kind.BETWEEN_PARTS,),
        as_drawn,
        "a stored part is not sent again",
        id="the note of a part",
    ),
    pytest.param(
        no_pause, (Kind.CHANNEL_AWAY,), as_drawn, "one message is tried in an outage", id="the pause of the lane"
    ),
    pytest.param(no_lateness, (Kind.CHANNEL_AWAY,), long_life, "what is too late is missed", id="the lateness"),
    pytest.param(lost_is_free, (Kind.MODEL_BROKEN,), paid, "the bill is covered", id="the charge of a lost answer"),
    pytest.param(lost_in_one_hold, (Kind.MODEL_BROKEN,), paid, "the bill is covered", id="a hold for each attempt"),
    pytest.param(
        every_usage_is_believed,
        (Kind.MODEL_LIES,),
        paid,
        "the ledger is within its limit",
        id="the doubt about a usage",
    ),
    pytest.param(dead_holds_stay, (Kind.DURING_CALL,), paid, "a start settles dead holds", id="the end of dead holds"),
    pytest.param(money_wakes_nobody, (Kind.TOP_UP,), asleep, "money wakes what waits", id="the wake by money"),
    pytest.param(never_used_up, (Kind.RESTART,), poor, "who cannot pay is asleep", id="the sleep of who cannot pay"),
    pytest.param(any_pace, (Kind.RESTART,), hostile, "reminders keep a distance", id="the shortest interval"),
    pytest.param(any_number, (Kind.RESTART,), hostile, "a model schedules little", id="the number of reminders"),
    pytest.param(a_model_s_time_counts, (Kind.RESTART,), hostile, "quiet hours", id="the gate of a model's times"),
    pytest.param(
        a_model_is_obeyed,
        (Kind.RESTART,),
        hostile,
        "settings are the person's",
        id="the weighing of actions",
    ),
    pytest.param(
        everything_is_its_own_idea, (Kind.RESTART,), hostile, "a model silences only itself", id="its own ideas"
    ),
    pytest.param(no_preferences, (Kind.RESTART,), hostile, "preferences are kept", id="the preferences"),
    pytest.param(
        any_number_is_critical,
        (Kind.RESTART,),
        critical_all_day,
        "a model keeps to the bucket",
        id="the number of criticals",
    ),
    pytest.param(
        nothing_is_said_aloud, (Kind.RESTART,), hostile, "every message says something", id="silence as silence"
    ),
    pytest.param(
        quotes_are_own_words,
        (Kind.RESTART,),
        hostile,
        "orders of strangers are not obeyed",
        id="the fence of quotations",
    ),
    pytest.param(nothing_is_screened, (Kind.RESTART,), with_secrets, "secrets are kept nowhere", id="the screen"),
    pytest.param(nothing_is_salvaged, (Kind.DAMAGED,), as_drawn, "what can be read goes on", id="the recovery of rows"),
    pytest.param(no_copy_fills_up, (Kind.DAMAGED,), as_drawn, "what can be read goes on", id="the daily copy"),
    pytest.param(
        nobody_is_told, (Kind.DAMAGED,), as_drawn, "the person is told what is missing", id="the word about a recovery"
    ),
    pytest.param(removed_is_gone, (Kind.REMOVED,), as_drawn, "what can be read goes on", id="the look at the file"),
    pytest.param(nothing_notices_spinning, (Kind.SPIN,), as_drawn, "nothing spins", id="the guard against spinning"),
]

SAFEGUARDS = [
    pytest.param(
        no_unique_claim,
        (Kind.SECOND_DAEMON,),
        as_drawn,
        "nothing sent twice",
        id="the unique claim",
    ),
    pytest.param(
        no_outbox_first, (Kind.AFTER_SEND, Kind.DURING_SEND), as_drawn, "nothing sent twice", id="the outbox first"
    ),
    pytest.param(
        no_single_transaction,
        (Kind.WRITE,),
        as_drawn,
        "every occurrence has one outcome",
        id="the single transaction",
    ),
    pytest.param(
        no_money_reserve,
        (Kind.RESTART,),
        poor,
        "the ledger is within its limit",
        id="the reserve of money",
    ),
    pytest.param(no_ping_reserve, (Kind.RESTART,), as_drawn, "the reserve is kept", id="the reserve of pings"),
]


@pytest.mark.parametrize(("switch_off", "kinds", "change", "breaks"), [*SAFEGUARDS, *NEW_SAFEGUARDS])
def test_without_a_safeguard_an_invariant_breaks(
    switch_off: Patch, kinds: tuple[Kind, ...], change: Change, breaks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch_off(monkeypatch)
    found: Counter[str] = Counter()  # others may break as well: where nothing is claimed, a call is billed twice
    for seed in range(MOST_SEEDS):
        world = live(seed, kinds=kinds, change=change)
        found[world.violation.invariant if world.violation else "nothing"] += 1
        if breaks in found:
            break
    assert breaks in found, found
    monkeypatch.undo()
    assert live(world.seed, kinds=kinds, change=change).violation is None


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
