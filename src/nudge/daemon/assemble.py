"""Put the parts together: which use case handles which kind of timer, over which adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nudge.attention.gate import Gate
from nudge.clock import Clock
from nudge.coach.answering import Answering, ModelFor, Rules, answer_by_rules
from nudge.coach.background import Background
from nudge.coach.command_look import no_budget
from nudge.coach.conversation import KIND as TURN
from nudge.coach.document_files import DocumentFiles
from nudge.coach.heartbeat import DecisionLog
from nudge.coach.listening import Talking
from nudge.coach.outside import SignOfLife, TextHistory
from nudge.coach.person_documents import Desk
from nudge.coach.person_reminders import PersonReminders
from nudge.coach.proactive import Proactive, Rhythm
from nudge.coach.redact import Redactor
from nudge.coach.store import Saying
from nudge.coach.watch import Watch
from nudge.defaults import PING_CAPACITY, PING_REFILL_MINUTES
from nudge.instants import Instant, rfc3339
from nudge.model import Model
from nudge.progress.stored_pools import POOL, Pools
from nudge.queue.agents import IDLE_SINCE, Agent, Agents
from nudge.queue.channel import Channel, Inbound
from nudge.queue.delivery import KIND as DELIVER
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Dispatcher, Firing, Handler
from nudge.queue.inbox import LETTERS as LETTERS
from nudge.queue.inbox import Priority
from nudge.queue.outbox import Message
from nudge.reminders.conditions import Conditions, Question, Verdict
from nudge.reminders.firing import ReminderFiring
from nudge.reminders.handover import Handover, SecondLook
from nudge.reminders.reminder import KIND as REMINDER
from nudge.reminders.seeding import ROUTINES, Seeding, Seeds
from nudge.reminders.service import Reminders, random_id
from nudge.spending.agent_ledger import SWEEP
from nudge.spending.alerts import MAIL, Alerts, Mailer
from nudge.spending.allowance import MIDNIGHT_UTC, DayTurn
from nudge.spending.budgets import WAKE, SpendingPlan
from nudge.spending.governor import Spending
from nudge.spending.prices import PriceTable
from nudge.spending.routing import Routes
from nudge.stores.store import SqlStore


class NoCommands:
    """Where there is no machine to run conditions on."""

    async def ask(self, question: Question) -> Verdict:
        return Verdict(False, "commands are not run here")


@dataclass(frozen=True)
class Ports:
    """The world a daemon lives in. The process, the simulator and the tests each bring their own.

    `model` is the one that is paid for; without it the coach's `rules` answer. `model_for` makes one for each question
    of the coach instead, from what it is about: that is how a simulation answers at a model's price.
    """

    store: SqlStore
    clock: Clock
    channel: Channel
    documents: DocumentFiles
    prices: PriceTable
    model: Model | None = None
    model_for: ModelFor | None = None
    rules: Rules = answer_by_rules
    conditions: Conditions = field(default_factory=NoCommands)
    seeds: Seeds | None = None
    history: TextHistory | None = None
    sign_of_life: SignOfLife | None = None
    mailer: Mailer | None = None
    redactor: Redactor | None = None
    decision_log: DecisionLog = lambda line: None
    is_coach: Callable[[Agent], bool] = lambda agent: True
    new_id: Callable[[], str] = random_id

    @property
    def pays(self) -> bool:
        """Whether answers cost money."""
        return self.model is not None or self.model_for is not None


@dataclass(frozen=True)
class Options:
    """How the person configured it."""

    owner: str
    timezone: str = "UTC"
    longest_wait: float | None = None
    capacity: int = PING_CAPACITY
    refill_minutes: int = PING_REFILL_MINUTES
    ping_budget: bool = True
    reserve: bool = True
    rhythm: Rhythm = field(default_factory=Rhythm)
    plan: SpendingPlan = field(default_factory=SpendingPlan)
    turn: DayTurn = MIDNIGHT_UTC
    routes: Routes = field(default_factory=Routes.of)
    secrets: tuple[str, ...] = ()


class Daemon:
    """The whole of nudge on given ports. The process, the simulator and the tests run the same one."""

    def __init__(self, ports: Ports, options: Options) -> None:
        store, clock = ports.store, ports.clock
        self.store = store
        self.clock = clock
        self.agents = Agents(store)
        self.desk = Desk(store, ports.documents, options.timezone)
        self.delivery = Delivery(store, lambda agent: ports.channel, SecondLook(store, self.desk.person))
        self.reminders = Reminders(store, self.desk.person, new_id=ports.new_id)
        self.gate = Gate(
            store,
            self.desk.person,
            self.reminders.claims,
            capacity=options.capacity,
            refill_minutes=options.refill_minutes,
            budget=options.ping_budget,
            reserve=options.reserve,
        )
        self.spending = Spending(
            store,
            clock,
            prices=ports.prices,
            routes=options.routes,
            plan=options.plan,
            turn=options.turn,
            model=ports.model,
        )
        self.spending.on_timers = self.poke
        self.pools = Pools(store)
        answering = Answering(
            store,
            self.spending if ports.pays else None,
            rules=ports.rules,
            model_for=ports.model_for,
            outage=options.rhythm.every,
        )
        to_person = PersonReminders(self.reminders)
        self.talking = Talking(
            store,
            clock,
            self.desk,
            self.gate,
            self.delivery,
            answering,
            to_person,
            history=ports.history,
            redactor=ports.redactor,
            budget_words=self._budget_words if ports.pays else no_budget,
            secrets=options.secrets,
            poke=self.poke,
        )
        self.proactive = Proactive(
            store,
            self.desk,
            self.gate,
            self.delivery,
            answering,
            to_person.due,
            self.talking.start_review,
            rhythm=options.rhythm,
            history=ports.history,
            sign_of_life=ports.sign_of_life,
            decision_log=ports.decision_log,
            secrets=options.secrets,
        )
        self.background = Background(
            store,
            self.desk,
            self.gate,
            answering,
            self.proactive.speaking,
            self.reminders.upcoming,
            self._rests_until,
            self.reminders.agent_replied,
        )
        handover = Handover(store, self._remind, self._letter_came)
        firing = ReminderFiring(store, handover, self.gate, ports.conditions)
        self.seeding = Seeding(store, self.desk.person, ports.seeds, new_id=ports.new_id) if ports.seeds else None
        self.watch = Watch(store, clock, self.desk, self.poke)
        handlers = {
            DELIVER: self.delivery.deliver,
            REMINDER: firing.fire,
            LETTERS: self._as_turn(self.background.run),
            WAKE: self.spending.wake,
            SWEEP: self.spending.sweep,
            POOL: self.pools.sweep,
            MAIL: Alerts(ports.mailer).mail,
            **self.talking.handlers(),
            TURN: self._as_turn(self.talking.handlers()[TURN]),
            **self.proactive.handlers(),
        }
        if self.seeding:
            handlers[ROUTINES] = self.seeding.poll
        self.dispatcher = Dispatcher(
            store,
            clock,
            handlers,
            owner=options.owner,
            longest_wait=options.longest_wait,
            on_failure=self.proactive.on_failure,
        )
        self._is_coach = ports.is_coach
        self._pays = ports.pays
        self._adopted: set[str] = set()
        self._started = clock.now()

    async def start(self) -> None:
        """Bring the store in line with the home before the first timer fires."""
        now = self.clock.now()
        await self.agents.ensure_default(now)
        await self.spending.start(now)
        await self.adopt()

    async def adopt(self) -> None:
        """Start what belongs to agents that this process has not seen yet; one may be added while it runs."""
        now = self.clock.now()
        there = await self.store.agents.all()
        fresh = [agent for agent in there if agent.name not in self._adopted]
        self._adopted = {agent.name for agent in there}
        for agent in fresh:
            await self.gate.take_over(agent.name, now)
            await self.delivery.resume(agent.name, now)
            if self._is_coach(agent):
                await self.proactive.start(agent.name, now)
        if fresh and self.seeding:
            await self.seeding.seed_all(now)

    async def look_again(self) -> None:
        """Somebody wrote the store: see to new agents, then to what is due."""
        await self.adopt()
        self.poke()

    async def run(self) -> None:
        await self.dispatcher.run()

    def poke(self) -> None:
        self.dispatcher.poke()

    def stop(self) -> None:
        self.dispatcher.stop()

    async def hear(self, agent: str, update: Inbound) -> str:
        """The person did something on a channel."""
        return await self.talking.listener.hear(agent, update)

    async def status(self) -> Mapping[str, Any]:
        now = self.clock.now()
        next_due = await self.store.timers.next_due(now)
        agents = await self.store.agents.all()
        return {
            "started_at": rfc3339(self._started),
            "now": rfc3339(now),
            "agents": [agent.name for agent in agents],
            "timers": await self.store.timers.count(),
            "next_due": rfc3339(next_due) if next_due is not None else None,
            "busy_lanes": self.dispatcher.busy,
            "fired": self.dispatcher.fired,
            "spending": {agent.name: (await self.spending.state(agent.name, now)).public() for agent in agents},
        }

    async def _remind(self, message: Message) -> int:
        """A reminder to the person is part of the conversation: nobody says it twice, and "done" makes sense."""
        number = await self.delivery.post(message)
        await self.store.conversations.add(
            Saying(message.agent, message.created_at, "assistant", message.text, message.kind)
        )
        return number

    def _as_turn(self, handler: Handler) -> Handler:
        """Note when the agent's turn ended: idle checks count from there."""

        async def turn(firing: Firing) -> None:
            await handler(firing)
            await self.store.records.set(firing.timer.agent, IDLE_SINCE, self.clock.now())

        return turn

    async def _letter_came(self, agent: str, priority: Priority, now: Instant) -> None:
        """A coach reads its letters itself; those of other agents wait in the inbox for whoever runs them."""
        there = await self.store.agents.get(agent)
        if there is not None and self._is_coach(there):
            await self.background.arrived(agent, priority, now)

    async def _rests_until(self, agent: str, now: Instant) -> Instant | None:
        """A background run is new work: none is begun from 90 % on."""
        if not self._pays:
            return None
        status = await self.spending.state(agent, now)
        return None if status.state.may_start_task else status.refresh_at

    async def _budget_words(self, agent: str, now: Instant) -> str:
        status = await self.spending.state(agent, now)
        return f"{status.meter.text} ({status.state.value.replace('_', ' ')})."
