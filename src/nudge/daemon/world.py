"""The world of a home: its configuration as options, and real adapters for every port."""

from __future__ import annotations

from nudge.channels.healthcheck import Healthcheck
from nudge.channels.smtp import SmtpMailer
from nudge.clock import Clock
from nudge.coach.heartbeat import Rhythm
from nudge.coach.outside import Outside
from nudge.daemon.assemble import Options, Ports
from nudge.daemon.set_up import pays
from nudge.durations import parse_duration
from nudge.errors import NudgeError
from nudge.home.command_conditions import CommandConditions
from nudge.home.config import Config
from nudge.home.decision_log import DecisionFile
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.git_history import GitHistory
from nudge.home.logs import LogRedaction
from nudge.home.prices import load_prices
from nudge.home.seeds import HomeSeeds
from nudge.home.settings import Settings
from nudge.home.spending_plan import plan_of, routes_of, turn_of
from nudge.model import Model
from nudge.models.offline import OfflineModel
from nudge.queue.agents import Agent
from nudge.queue.channel import Channel
from nudge.stores.store import SqlStore


def ports_of(settings: Settings, config: Config, store: SqlStore, clock: Clock, channel: Channel) -> Ports:
    home, environment = settings.home, settings.environment
    healthcheck = environment.get("NUDGE_HEALTHCHECK_URL")
    return Ports(
        store=store,
        clock=clock,
        channel=channel,
        documents=HomeDocuments(home),
        rules=OfflineModel(),
        prices=load_prices(home.path, weights=config.spending.weights),
        model=model_of(settings, config, clock),
        conditions=CommandConditions(home.workspace, secrets=settings.secrets),
        seeds=HomeSeeds(home),
        mailer=SmtpMailer.from_settings(environment, config.spending.alert_to),
        outside=Outside(
            history=GitHistory(home),
            sign_of_life=Healthcheck(healthcheck) if healthcheck else None,
            redactor=LogRedaction(home.logs, [home.chat_history]),
            decision_log=DecisionFile(home.logs, settings.secrets),
        ),
        is_coach=lambda agent: is_coach(home, agent),
    )


def options_of(settings: Settings, config: Config, owner: str) -> Options:
    coach, attention = config.coach, config.attention
    return Options(
        owner=owner,
        timezone=settings.timezone,
        capacity=attention.capacity,
        refill_minutes=attention.refill_minutes,
        ping_budget=attention.ping_budget == "on",
        reserve=attention.reserve,
        rhythm=Rhythm(parse_duration(coach.heartbeat), coach.change_gate, parse_duration(coach.longest_silence)),
        plan=plan_of(settings),
        turn=turn_of(settings),
        routes=routes_of(settings),
        secrets=settings.secrets,
    )


def model_of(settings: Settings, config: Config, clock: Clock) -> Model | None:
    """The model that is paid for. Its library takes more than a second to load, so it is loaded only for a key."""
    if not pays(settings, config):
        return None
    from nudge.models.anthropic import AnthropicModel

    return AnthropicModel.from_settings(settings.environment, clock=clock)


def is_coach(home: Home, agent: Agent) -> bool:
    """Whether the agent's role is a coach's. A role that is missing or broken is taken for the default coach's, so that
    a slip in a file does not silence anybody; `nudge doctor` names the file."""
    from nudge.home.roles import load_role, role_path

    try:
        return load_role(role_path(home, agent.role)).kind == "coach"
    except NudgeError:
        return agent.role == "coach"
