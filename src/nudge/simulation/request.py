"""From what was asked on the command line to a run: which home, which person, which days, which model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date

from nudge.clock import SystemClock
from nudge.coach.documents import Document
from nudge.coach.goals import parse_goals
from nudge.coach.targets import Targets, choose
from nudge.daemon.set_up import provider_of
from nudge.daemon.world import options_of
from nudge.errors import NotConfiguredError, NotFoundError
from nudge.home.config import Config, load_config
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.prices import load_prices
from nudge.home.settings import Settings
from nudge.home.spending_plan import routes_of
from nudge.instants import Instant, local_date, zone_of
from nudge.model import Model
from nudge.models import AUTO, chosen, open_model
from nudge.simulation.engine import Engine, MakeAnswerers, Note
from nudge.simulation.home_copy import Belongings, copied_home, read_belongings
from nudge.simulation.models import Answerers, Counter, Rates, by_model, by_priced_rules, by_rules
from nudge.simulation.overrides import overridden
from nudge.simulation.person import load_person
from nudge.simulation.real_model import StandingStill
from nudge.simulation.timeline import Plan, Timeline

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

    def __init__(self, request: Request, home: Home, original: Settings, belongings: Belongings) -> None:
        self._request = request
        self._home = home
        self._original = original
        self._belongings = belongings
        self._profile = load_person(request.person, request.home if request.home.exists else None)

    def run(
        self, changes: Mapping[str, str] | None = None, on_day: Callable[[int], None] = lambda days: None
    ) -> Timeline:
        """One life under the home's configuration with those changes."""
        settings = overridden(self._original, changes or {})
        config = load_config(settings)
        rates = Rates(
            load_prices(self._home.path, weights=config.spending.weights), routes_of(settings), config.spending.tier
        )
        with self._answerers(settings, config, rates) as make_answerers:
            engine = Engine(
                self._plan(settings, changes or {}),
                self._profile,
                self._home,
                options_of(settings, config, OWNER),
                rates.prices,
                self._belongings,
                make_answerers,
                on_day,
            )
            return engine.run()

    def _plan(self, settings: Settings, changes: Mapping[str, str]) -> Plan:
        request, targets = self._request, self._targets(settings)
        quiet = targets.quiet_hours
        return Plan(
            request.first or local_date(request.now, targets.zone),
            request.days,
            targets.timezone,
            request.agent,
            self._profile.name,
            request.seed,
            request.model,
            (quiet.start, quiet.end),
            dict(changes),
        )

    def _targets(self, settings: Settings) -> Targets:
        content = HomeDocuments(self._home).read(self._request.agent, "GOALS.md")
        if content is None:
            return Targets(timezone=zone_of(settings.timezone).key)
        return choose(None, parse_goals(Document.decode(content).text).parsed).targets

    @contextmanager
    def _answerers(self, settings: Settings, config: Config, rates: Rates) -> Iterator[MakeAnswerers]:
        match self._request.model:
            case "offline":
                yield _counted(by_rules, rates)
            case "scripted":
                yield _counted(by_priced_rules, rates)
            case _:
                real = _real(settings, config)
                try:
                    yield _counted(lambda counter: by_model(real, counter), rates)
                finally:
                    asyncio.run(real.close())


@contextmanager
def simulations(request: Request) -> Iterator[Simulations]:
    """Copy the home, look into its store, and clear the copy away afterwards."""
    original = Settings.read(request.home, request.environment)
    with copied_home(request.home) as home:
        belongings = Belongings()
        if request.home.exists:
            belongings = asyncio.run(read_belongings(original, request.agent, home.path.parent))
        if belongings.agent is None and request.agent != "coach":
            raise NotFoundError(
                f"There is no agent called {request.agent!r}.", next_step="Agents: coach. See 'nudge agent list'."
            )
        yield Simulations(request, home, _with_table(original, request.home, home), belongings)


def _with_table(original: Settings, there: Home, copy: Home) -> Settings:
    """What is wrong is told of the person's own home, also where that does not exist and the templates stand for it."""
    return original if there.exists else Settings(there, original.environment, Settings.read(copy, {}).table)


def _counted(make: Callable[[Counter], Answerers], rates: Rates) -> MakeAnswerers:
    def answerers(now: Callable[[], Instant], note: Note) -> Answerers:
        return make(Counter(rates, now, note))

    return answerers


def _real(settings: Settings, config: Config) -> Model:
    provider = provider_of(settings, config) or chosen(AUTO, settings.environment)
    if provider is None:
        raise NotConfiguredError(
            "A real model needs a key, and there is none.",
            next_step=f"Put ANTHROPIC_API_KEY into {settings.home.env_file}, or use --model scripted for an estimate.",
        )
    return StandingStill(lambda: open_model(provider, settings.environment, clock=SystemClock()))
