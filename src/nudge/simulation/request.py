"""From what was asked on the command line to a run: which home, which person, which days, which model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from nudge.clock import Clock, SystemClock
from nudge.coach.documents import Document
from nudge.coach.goals import parse_goals
from nudge.coach.targets import Targets, choose
from nudge.daemon.world import model_of, options_of
from nudge.errors import NotConfiguredError, NotFoundError, UsageError
from nudge.home.config import Config
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import prices_of
from nudge.home.read_config import read_config
from nudge.instants import Instant, local_date, zone_of
from nudge.model import Model
from nudge.simulation.engine import Engine, MakeAnswerers, Note
from nudge.simulation.home_copy import Belongings, copied_home, read_belongings
from nudge.simulation.models import Answerers, Counter, Rates, by_model, by_priced_rules, by_rules
from nudge.simulation.overrides import overridden
from nudge.simulation.person import load_person
from nudge.simulation.real_model import StandingStill
from nudge.simulation.timeline import Plan, Timeline
from nudge.simulation.work import SimulatedWork, works

MODELS = ("offline", "scripted", "real")
OWNER = "simulation"


@dataclass(frozen=True)
class Request:
    """`first` None is today, on the person's clock."""

    home: Home
    days: int = 7
    first: date | None = None
    agent: str = "coach"
    person: str = "night-owl"
    seed: int = 1
    model: str = "offline"
    environment: Mapping[str, str] | None = None
    now: Instant = field(default_factory=lambda: SystemClock().now())


class Simulations:
    """A copy of a home, in which any number of configurations can be tried."""

    def __init__(self, request: Request, home: Home, original: Config, belongings: Belongings) -> None:
        self._request = request
        self._home = home
        self._original = original
        self._belongings = belongings
        self._works = belongings.agent is not None and works(home, belongings.agent)
        if self._works and request.model == "real":
            raise UsageError(
                "A worker cannot be simulated with a real model: it would spend real money on made-up tasks.",
                next_step="Use --model scripted.",
            )
        self._profile = load_person(request.person, request.home if request.home.exists else None)

    def run(
        self,
        changes: Mapping[str, str] | None = None,
        on_day: Callable[[int], None] = lambda days: None,
        database: str = ":memory:",
    ) -> Timeline:
        """One life under the home's configuration with those changes. `database` names a file that stays."""
        config = overridden(self._original, changes or {})
        rates = Rates(prices_of(config), config.spending.routes, config.spending.tier)
        with self._answerers(config, rates) as make_answerers:
            engine = Engine(
                self._plan(config, changes or {}),
                self._profile,
                self._home,
                options_of(config, OWNER),
                rates.prices,
                self._belongings,
                make_answerers,
                on_day,
                database,
                config.worker.run_options if self._works else None,
            )
            return engine.run()

    def _plan(self, config: Config, changes: Mapping[str, str]) -> Plan:
        request, targets = self._request, self._targets(config)
        quiet = targets.quiet_hours
        return Plan(
            request.first or local_date(request.now, targets.zone),
            request.days,
            targets.timezone,
            request.agent,
            self._profile.name,
            request.seed,
            "scripted" if self._works else request.model,
            (quiet.start, quiet.end),
            dict(changes),
            self._works,
        )

    def _targets(self, config: Config) -> Targets:
        content = HomeDocuments(self._home).read(self._request.agent, "GOALS.md")
        if content is None:
            return Targets(timezone=zone_of(config.timezone).key)
        return choose(None, parse_goals(Document.decode(content).text).parsed).targets

    @contextmanager
    def _answerers(self, config: Config, rates: Rates) -> Iterator[MakeAnswerers]:
        seed = self._request.seed
        match "work" if self._works else self._request.model:
            case "work":
                yield lambda clock, note: by_model(SimulatedWork(clock, seed), Counter(rates, clock.now, note))
            case "offline":
                yield _counted(by_rules, rates)
            case "scripted":
                yield _counted(by_priced_rules, rates)
            case _:
                real = _real(config)
                try:
                    yield _counted(lambda counter: by_model(real, counter), rates)
                finally:
                    asyncio.run(real.close())


@contextmanager
def simulations(request: Request) -> Iterator[Simulations]:
    """Copy the home, look into its store, and clear the copy away afterwards."""
    original = read_config(request.home, request.environment)
    with copied_home(request.home) as home:
        belongings = Belongings()
        if request.home.exists:
            belongings = asyncio.run(read_belongings(original, request.agent, home.path.parent))
        if belongings.agent is None and request.agent != "coach":
            raise NotFoundError(
                f"There is no agent called {request.agent!r}.", next_step="Agents: coach. See 'nudge agent list'."
            )
        yield Simulations(request, home, original, belongings)


def _counted(make: Callable[[Counter], Answerers], rates: Rates) -> MakeAnswerers:
    def answerers(clock: Clock, note: Note) -> Answerers:
        return make(Counter(rates, clock.now, note))

    return answerers


def _real(config: Config) -> Model:
    """The model of the home, also where nudge.toml says `model = "offline"`: --model asks for it."""
    asked = config if config.provider else config._replace(model="auto")

    def make() -> Model:
        model = model_of(asked, SystemClock())
        assert model is not None
        return model

    if asked.provider is None:
        raise NotConfiguredError(
            "--model real needs a key, and there is none.",
            next_step=f"Put ANTHROPIC_API_KEY into {config.home.env_file}, or use --model scripted for an estimate.",
        )
    return StandingStill(make)
