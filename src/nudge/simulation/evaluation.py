"""How good a coach is: every situation of the table, lived through by the real coach, scored by rules.

A situation counts as handled if all of its `good` checks hold and none of its `never` checks does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources

from nudge.coach.actions import UpdateMemory, apply_to_memory
from nudge.coach.documents import GOALS, MEMORY, NAMES
from nudge.coach.goals import TODAY, Goal, set_goals
from nudge.coach.heartbeat import Rhythm
from nudge.coach.store import Saying
from nudge.daemon.assemble import Daemon, Options, Ports
from nudge.instants import DAY, MINUTE, Instant, as_instant, to_datetime
from nudge.model import Model
from nudge.phrases import split_reminder
from nudge.queue.channel import Channel, Inbound, Outbound, Receipt
from nudge.simulation.situations import SITUATIONS, ZONE, Seen, Situation
from nudge.simulation.virtual_time import VirtualClock, run_virtual
from nudge.spending.budgets import SpendingPlan
from nudge.spending.money import DOLLAR
from nudge.spending.prices import PriceTable
from nudge.spending.routing import Routes
from nudge.stores.open import open_store

AGENT = "coach"
BEAT = 2 * MINUTE
PATIENCE = 120.0
"""Virtual seconds that an answer may take."""

ModelFactory = Callable[[VirtualClock], Model]


@dataclass(frozen=True, slots=True)
class Score:
    """How one situation went. `missing` are good checks that did not hold, `wrong` the never-checks that did."""

    situation: Situation
    seen: Seen
    missing: tuple[str, ...]
    wrong: tuple[str, ...]

    @property
    def handled(self) -> bool:
        return not self.missing and not self.wrong


@dataclass(frozen=True, slots=True)
class Scores:
    """All situations with one way of answering."""

    who: str
    scores: tuple[Score, ...]
    cost: int = 0
    """Micro-dollars."""

    def of_group(self, group: str) -> tuple[int, int]:
        """Handled, and how many there are."""
        found = [one for one in self.scores if group in ("", one.situation.group)]
        return sum(one.handled for one in found), len(found)

    @property
    def wrong(self) -> int:
        return sum(bool(one.wrong) for one in self.scores)


def groups() -> list[str]:
    return list(dict.fromkeys(one.group for one in SITUATIONS))


def evaluate(
    who: str,
    prices: PriceTable,
    *,
    model: ModelFactory | None = None,
    routes: Routes | None = None,
    situations: Sequence[Situation] = SITUATIONS,
    on_each: Callable[[Score], None] = lambda score: None,
) -> Scores:
    """Live through the situations, each in a world of its own. Without a model the rules answer."""
    scores, cost = [], 0
    for one in situations:
        seen, spent = run_virtual(
            partial(_live, one=one, prices=prices, model=model, routes=routes), as_instant(one.at)
        )
        score = judge(one, seen)
        scores.append(score)
        cost += spent
        on_each(score)
    return Scores(who, tuple(scores), cost)


def judge(situation: Situation, seen: Seen) -> Score:
    missing = tuple(check.words for check in situation.good if not check.holds(seen))
    wrong = tuple(check.words for check in situation.never if check.holds(seen))
    return Score(situation, seen, missing, wrong)


class _Documents:
    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def read(self, agent: str, name: str) -> bytes | None:
        return self.texts[name].encode() if name in self.texts else None

    def write(self, agent: str, name: str, content: bytes) -> None:
        self.texts[name] = content.decode()

    def version(self, agent: str, name: str) -> str:
        return str(hash(self.texts.get(name, "")))


@dataclass
class _Ears(Channel):
    name = "evaluation"
    said: list[str] = field(default_factory=list)

    async def send(self, message: Outbound) -> Receipt:
        self.said.append(message.text)
        return Receipt((str(message.id),))


def _texts(one: Situation) -> dict[str, str]:
    folder = resources.files("nudge.home") / "templates" / "documents"
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in NAMES}
    if one.today:
        texts[GOALS] = set_goals(texts[GOALS], TODAY, tuple(Goal.read(line) for line in one.today))
    for section, line in one.memory:
        texts[MEMORY] = apply_to_memory(texts[MEMORY], UpdateMemory(section, add=line), one.at.date())
    return texts


async def _live(
    clock: VirtualClock, one: Situation, prices: PriceTable, model: ModelFactory | None, routes: Routes | None
) -> tuple[Seen, int]:
    store, ears = await open_store("sqlite://:memory:"), _Ears()
    documents, asked = _Documents(_texts(one)), model(clock) if model is not None else None
    ports = Ports(store, clock, ears, documents, prices, model=asked)
    options = Options(
        owner="evaluation",
        timezone=ZONE.key,
        rhythm=Rhythm(every=30 * DAY if one.say else BEAT, change_gate=False),
        plan=SpendingPlan(1_000 * DOLLAR),
        routes=routes or Routes.of(),
    )
    daemon = Daemon(ports, options)
    now = clock.now()
    await daemon.start()
    await _prepare(daemon, one, now)
    for kind in ("morning", "bedtime", "weekly_review", "monthly"):
        await store.timers.cancel(AGENT, f"briefing:{kind}")  # each situation is about one thing
    running = asyncio.create_task(daemon.run())
    before = len(ears.said)
    if one.say:
        await daemon.coach.listener.hear(AGENT, Inbound(clock.now(), one.say, forwarded=one.forwarded))
        waited = 0.0
        while waited < PATIENCE and (len(ears.said) == before or await daemon.coach.is_busy(AGENT)):
            await clock.sleep(0.5)
            waited += 0.5
        await clock.sleep(1)
    else:
        await clock.sleep(BEAT / 1_000_000 + 30)
        while daemon.dispatcher.busy:
            await clock.sleep(0.5)
        await clock.sleep(1)
    daemon.stop()
    await running
    seen = await _look(daemon, documents, ears.said[before:])
    spent = (await daemon.spending.state(AGENT, clock.now())).meter.spent if asked is not None else 0
    if asked is not None:
        await asked.close()
    await store.close()
    return seen, spent


async def _prepare(daemon: Daemon, one: Situation, now: Instant) -> None:
    store, zone = daemon.store, ZONE
    for sentence in one.reminders:
        text, when = split_reminder(f"/remind {sentence}", now, zone)
        await daemon.coach.reminders.remind(AGENT, text, when, now)
    for said in one.before:
        at = Instant(now - said.minutes_ago * MINUTE)
        await store.conversations.add(
            Saying(AGENT, at, "user" if said.by_person else "assistant", said.text, said.kind)
        )
        if said.by_person:
            await store.attention.conversation(AGENT, at)
    if one.active:
        await store.attention.activity(AGENT, now)


async def _look(daemon: Daemon, documents: _Documents, said: Iterable[str]) -> Seen:
    zone, now = ZONE, daemon.clock.now()
    ahead = [(one.message, one.next_at) for one in await daemon.coach.reminders.active(AGENT, 50)]
    row = await daemon.store.attention.get(AGENT)
    asked = row.requests if row is not None else None
    untils = (asked.quiet_until, asked.busy_until, asked.delayed_until) if asked is not None else ()
    return Seen(
        "\n\n".join(said),
        tuple(f"{text} | {to_datetime(at, zone):%Y-%m-%d %H:%M}" for text, at in ahead if at is not None),
        documents.texts[GOALS],
        documents.texts[MEMORY],
        bool(asked and (asked.left_alone or any(until is not None and until > now for until in untils))),
    )
