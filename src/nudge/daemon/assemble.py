"""Put the parts together: which use case handles which kind of timer, over which adapters."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from nudge.attention.gate import Gate
from nudge.clock import Clock
from nudge.coach.answering import Answering, ModelFor, Rules, answer_by_rules
from nudge.coach.coach import Coach, CoachOptions, Governors
from nudge.coach.heartbeat import Rhythm
from nudge.coach.outside import Outside
from nudge.coach.person_documents import DocumentFiles, DocumentWatch, PersonDocuments
from nudge.daemon.working import CommandPorts, Reports, Working, WorkPorts
from nudge.defaults import PING_CAPACITY, PING_REFILL_MINUTES
from nudge.instants import Instant, rfc3339
from nudge.model import Model
from nudge.progress.stored_pools import POOL, Pools
from nudge.queue.agents import Agent, Agents
from nudge.queue.channel import Channel
from nudge.queue.delivery import KIND as DELIVER
from nudge.queue.delivery import Delivery
from nudge.queue.dispatch import Dispatcher
from nudge.queue.firing import Firing, Handler
from nudge.queue.inbox import Priority
from nudge.queue.tables import AgentTimers
from nudge.queue.timers import Timer
from nudge.reminders.conditions import Conditions, Question, Verdict
from nudge.reminders.firing import ReminderFiring
from nudge.reminders.handover import Handover, SecondLook
from nudge.reminders.reminder import KIND as REMINDER
from nudge.reminders.seeding import ROUTINES, Seeding, Seeds
from nudge.reminders.service import Reminders, random_id
from nudge.spending.agent_ledger import SWEEP
from nudge.spending.alerts import MAIL, Alerts, Mailer
from nudge.spending.allowance import MIDNIGHT_UTC, DayTurn
from nudge.spending.budgets import WAKE, SpendingPlan, stored_status
from nudge.spending.governor import Spending
from nudge.spending.prices import PriceTable
from nudge.spending.routing import Routes
from nudge.stores.store import SqlStore
from nudge.worker.commands import Commands
from nudge.worker.sessions import KIND as WORK
from nudge.worker.sessions import WAIT_FOR_MONEY, letter_arrived, work_timer


class NoCommands:
    """For a world that has no machine to run conditions on."""

    async def ask(self, question: Question) -> Verdict:
        return Verdict(False, "Commands are not run here.")


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
    mailer: Mailer | None = None
    outside: Outside = field(default_factory=Outside)
    is_coach: Callable[[Agent], bool] = lambda agent: True
    work: WorkPorts | None = None
    commands: CommandPorts | None = None
    new_id: Callable[[], str] = random_id

    @property
    def pays(self) -> bool:
        """Whether answers cost money."""
        return self.model is not None or self.model_for is not None


@dataclass(frozen=True)
class Options:
    """How the person configured it. `owner` names this process in the store, `home` what only one process at a time
    can run in: what an earlier one of the same home left unfinished is dead."""

    owner: str
    home: str = ""
    timezone: str = "UTC"
    longest_wait: float | None = None
    capacity: int = PING_CAPACITY
    refill_minutes: int = PING_REFILL_MINUTES
    ping_budget: bool = True
    reserve: bool = True
    learning: bool = True
    rhythm: Rhythm = field(default_factory=Rhythm)
    help_lines: tuple[str, str] = ("", "")
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
        self.documents = PersonDocuments(store, ports.documents, options.timezone)
        look = SecondLook(store, self.documents.person)
        self.delivery = Delivery(store, lambda agent: ports.channel, look, clock)
        self.reminders = Reminders(store, self.documents.person, new_id=ports.new_id)
        self.gate = Gate(
            store,
            self.documents.person,
            self.reminders.claims,
            capacity=options.capacity,
            refill_minutes=options.refill_minutes,
            budget=options.ping_budget,
            reserve=options.reserve,
            preferences_of=self.documents.preferences,
            learning=options.learning,
        )
        self.spending = Spending(
            store,
            clock,
            prices=ports.prices,
            routes=options.routes,
            plan=options.plan,
            turn=options.turn,
            model=ports.model,
            owner=options.home,
            waiting=WAIT_FOR_MONEY,
        )
        self.spending.on_timers = self.poke
        self.pools = Pools(store)
        self.seeding = Seeding(store, self.documents.person, ports.seeds, new_id=ports.new_id) if ports.seeds else None
        self.dispatcher = Dispatcher(
            store,
            clock,
            {},
            owner=options.owner,
            longest_wait=options.longest_wait,
            on_failure=self._on_failure,
        )
        self.watch = DocumentWatch(store, clock, self.documents, self.dispatcher.poke)
        self.coach = self._coach(ports, options)
        self.work_ports = ports.work
        self.command_ports = ports.commands
        self._reports = Reports(store, self.reminders, self.delivery, self._speaker, self._letter_came)
        self.working = self._working(ports, options)
        if self.working:
            self.coach.buttons.answers = self.working.answer
        self.dispatcher.handlers.update(self._handlers(ports))
        self.is_coach = ports.is_coach
        self._adopted: set[str] = set()
        self._started = clock.now()

    def _coach(self, ports: Ports, options: Options) -> Coach:
        """The agents that talk to the person."""
        spending = self.spending if ports.pays else None
        answering = Answering(
            self.store,
            spending,
            rules=ports.rules,
            model_for=ports.model_for,
            outage=options.rhythm.every,
            secrets=options.secrets,
        )
        return Coach(
            self.store,
            self.clock,
            self.documents,
            Governors(self.gate, self.delivery, self.reminders, answering, spending),
            ports.outside,
            CoachOptions(options.rhythm, options.secrets, options.help_lines),
            self.dispatcher.poke,
        )

    def _working(self, ports: Ports, options: Options) -> Working | None:
        """The agents that work with tools. Without a model there are none."""
        if ports.work is None or ports.model is None:
            return None
        return Working(
            self.store,
            self.clock,
            ports.work,
            model=ports.model,
            spending=self.spending,
            pools=self.pools,
            reminders=self.reminders,
            reports=self._reports,
            poke=self.poke,
            new_id=ports.new_id,
            secrets=options.secrets,
        )

    def _commands(self, ports: CommandPorts, new_id: Callable[[], str]) -> Commands:
        """The agents whose work a program of the person's own does."""
        return Commands(
            self.store,
            self.clock,
            self.spending,
            cache(lambda: ports.runner(self.spending)),
            command_of=ports.command_of,
            report=self._reports.report,
            new_id=new_id,
            spare_only=ports.spare_only,
        )

    async def _speaker(self) -> str | None:
        """Who talks to the person."""
        return next((one.name for one in await self.store.agents.all() if self.is_coach(one)), None)

    def _handlers(self, ports: Ports) -> dict[str, Handler]:
        """Who handles which kind of timer."""
        handover = Handover(self.store, self.coach.post_reminder, self._letter_came)
        handlers: dict[str, Handler] = {
            DELIVER: self.delivery.deliver,
            REMINDER: ReminderFiring(self.store, handover, self.gate, ports.conditions).fire,
            WAKE: self.spending.wake,
            SWEEP: self.spending.sweep,
            POOL: self.pools.sweep,
            MAIL: Alerts(ports.mailer).mail,
            **self.coach.handlers(),
        }
        if self.seeding:
            handlers[ROUTINES] = self.seeding.poll
        handlers[WORK] = self._who_works(ports)
        return handlers

    def _who_works(self, ports: Ports) -> Handler:
        """A role may change: who works for an agent is looked up each time."""
        commands = self._commands(ports.commands, ports.new_id) if ports.commands else None

        async def work(firing: Firing) -> None:
            agent = await self.store.agents.get(firing.timer.agent)
            if agent is not None and self._built_in(agent):
                assert self.working is not None
                await self.working.worker.fire(firing)
            elif commands is not None and agent is not None and self._is_command(agent):
                await commands.fire(firing)
            else:  # nobody here: letters wait in the inbox
                async with firing.settle():
                    pass

        return work

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
            await self._begin(agent, now)
        if fresh and self.seeding:
            await self.seeding.seed_all(now)

    async def take_in(self, agent: Agent, now: Instant) -> None:
        """Start what belongs to one agent, money and routines included: for a process that does not start them all."""
        await self.spending.look_at(agent.name, now)
        await self._begin(agent, now)
        if self.seeding:
            await self.seeding.seed(agent, now)

    async def _begin(self, agent: Agent, now: Instant) -> None:
        await self.gate.take_over(agent.name, now)
        await self.delivery.resume(agent.name, now)
        if self.is_coach(agent):
            await self.coach.start(agent.name, now)
        elif self.works(agent):
            await self.store.timers.ensure(work_timer(agent.name, now))

    async def remember(self, agent: Agent) -> None:
        """Read what the handlers of an agent's timers need to know, if another process has taken it in."""
        if self.is_coach(agent):
            await self.documents.open(agent.name)
        else:
            self.works(agent)

    def forget(self, agent: str) -> None:
        """Keep nothing of an agent in memory until it is remembered again."""
        self.documents.forget(agent)
        if self.seeding:
            self.seeding.forget(agent)

    def dispatcher_of(self, agent: str, *, owner: str, lease: int) -> Dispatcher:
        """A dispatcher for what is due for one agent, with the same handlers."""
        return Dispatcher(
            self.store,
            self.clock,
            self.dispatcher.handlers,
            owner=owner,
            lease=lease,
            on_failure=self._on_failure,
            timers=AgentTimers(self.store.database, agent),
        )

    async def _on_failure(self, timer: Timer, error: Exception, now: Instant) -> None:
        await self.coach.notices.failed(timer, error, now)

    async def look_again(self) -> None:
        """Somebody wrote the store: see to new agents, then to what is due."""
        await self.adopt()
        self.poke()

    def run(self) -> Coroutine[Any, Any, None]:
        """Fire what is due until `stop`."""
        return self.dispatcher.run()

    def poke(self) -> None:
        self.dispatcher.poke()

    def stop(self) -> None:
        self.dispatcher.stop()

    async def status(self) -> Mapping[str, Any]:
        """Its state: what the store knows, and what only the process does."""
        return {
            **await stored_status(self.store, self.spending.budgets, self.clock.now()),
            "started_at": rfc3339(self._started),
            "busy_lanes": self.dispatcher.busy,
            "fired": self.dispatcher.fired,
        }

    async def _letter_came(self, agent: str, priority: Priority, now: Instant) -> None:
        """A coach reads its letters itself; those of other agents wait in the inbox for whoever runs them."""
        there = await self.store.agents.get(agent)
        if there is not None and self.is_coach(there):
            await self.coach.background.arrived(agent, priority, now)
        elif there is not None and self.works(there):
            await letter_arrived(self.store, agent, priority, now)

    def works(self, agent: Agent) -> bool:
        """Whether its letters are worked on here, by nudge's own worker or by a program."""
        return self._built_in(agent) or self._is_command(agent)

    def _built_in(self, agent: Agent) -> bool:
        return self.working is not None and self.work_ports is not None and self.work_ports.works(agent)

    def _is_command(self, agent: Agent) -> bool:
        return self.command_ports is not None and self.command_ports.command_of(agent.role) is not None
