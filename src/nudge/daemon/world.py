"""The world of a home: its configuration as options, and real adapters for every port."""

from __future__ import annotations

from nudge.channels.healthcheck import Healthcheck
from nudge.channels.smtp import SmtpMailer
from nudge.clock import Clock
from nudge.coach.heartbeat import Rhythm
from nudge.coach.outside import Outside
from nudge.daemon.assemble import Options, Ports
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
from nudge.model import Model
from nudge.models import open_model
from nudge.queue.agents import Agent
from nudge.queue.channel import Channel
from nudge.stores.store import SqlStore


def ports_of(config: Config, store: SqlStore, clock: Clock, channel: Channel) -> Ports:
    home, environment = config.home, config.environment
    healthcheck = environment.get("NUDGE_HEALTHCHECK_URL")
    return Ports(
        store=store,
        clock=clock,
        channel=channel,
        documents=HomeDocuments(home),
        prices=load_prices(home.path, weights=config.spending.weights),
        model=model_of(config, clock),
        conditions=CommandConditions(home.workspace, secrets=config.secrets),
        seeds=HomeSeeds(home),
        mailer=SmtpMailer.from_settings(environment, config.spending.alert_to),
        outside=Outside(
            history=GitHistory(home),
            sign_of_life=Healthcheck(healthcheck) if healthcheck else None,
            redactor=LogRedaction(home.logs, [home.chat_history], home.copies),
            decision_log=DecisionFile(home.logs, config.secrets),
        ),
        is_coach=lambda agent: is_coach(home, agent),
    )


def options_of(config: Config, owner: str, home: str = "") -> Options:
    coach, attention, spending = config.coach, config.attention, config.spending
    return Options(
        owner=owner,
        home=home,
        timezone=config.timezone,
        capacity=attention.capacity,
        refill_minutes=attention.refill_minutes,
        ping_budget=attention.ping_budget,
        reserve=attention.reserve,
        rhythm=Rhythm(coach.heartbeat, coach.change_gate, coach.longest_silence),
        plan=spending.plan,
        turn=spending.turn,
        routes=spending.routes,
        secrets=config.secrets,
    )


def model_of(config: Config, clock: Clock) -> Model | None:
    """The model that is paid for; None where the coach's own rules answer. A provider's library may take more than a
    second to load: only the chosen one is."""
    return open_model(config.provider, config.environment, clock=clock) if config.provider else None


def is_coach(home: Home, agent: Agent) -> bool:
    """Whether the agent's role is a coach's. A role that is missing or broken counts as the default coach's, so that a
    slip in a file does not silence anybody; `nudge doctor` names the file."""
    from nudge.home.roles import load_role, role_path

    try:
        return load_role(role_path(home, agent.role)).kind == "coach"
    except NudgeError:
        return agent.role == "coach"
