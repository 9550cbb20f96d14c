"""The world of a home: its configuration as options, and real adapters for every port."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from nudge.channels.healthcheck import Healthcheck
from nudge.channels.smtp import SmtpMailer
from nudge.clock import Clock
from nudge.coach.heartbeat import Rhythm
from nudge.coach.outside import Outside
from nudge.daemon.assemble import Options, Ports
from nudge.daemon.working import WorkPorts
from nudge.home.command_conditions import CommandConditions
from nudge.home.config import Config
from nudge.home.decision_log import DecisionFile
from nudge.home.documents import HomeDocuments
from nudge.home.folder import Home
from nudge.home.git_history import GitHistory
from nudge.home.logs import LogRedaction
from nudge.home.prices import prices_of
from nudge.home.seeds import HomeSeeds
from nudge.model import Model
from nudge.models import open_model
from nudge.queue.agents import Agent
from nudge.queue.channel import Channel
from nudge.stores.store import SqlStore
from nudge.worker.command_rules import Command
from nudge.worker.prompts import instructions
from nudge.worker.sandbox import Sandbox
from nudge.worker.snapshots import Snapshots
from nudge.worker.workspaces import KeptWorkspaces

if TYPE_CHECKING:
    from nudge.home.roles import Role


def ports_of(config: Config, store: SqlStore, clock: Clock, channel: Channel) -> Ports:
    home, environment = config.home, config.environment
    healthcheck = environment.get("NUDGE_HEALTHCHECK_URL")
    return Ports(
        store=store,
        clock=clock,
        channel=channel,
        documents=HomeDocuments(home),
        prices=prices_of(config),
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
        work=work_of(config, clock, shared=store.shared),
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
        learning=attention.learning,
        rhythm=Rhythm(coach.heartbeat, coach.change_gate, coach.longest_silence),
        help_lines=(coach.help_line, coach.emergency),
        plan=spending.plan,
        turn=spending.turn,
        routes=spending.routes,
        secrets=config.secrets,
    )


def model_of(config: Config, clock: Clock) -> Model | None:
    """The model that is paid for; None where the coach's own rules answer. A provider's library may take more than a
    second to load: only the chosen one is."""
    return open_model(config.provider, config.environment, clock=clock) if config.provider else None


def work_of(config: Config, clock: Clock, *, shared: bool) -> WorkPorts:
    """What this home's own workers work with. Sandbox and snapshots are looked for when one is first needed. Where
    other machines share the database, each step is kept where all of them find it."""
    home, section = config.home, config.worker
    far = "://" in section.snapshots and not shared
    roles: dict[str, Role] = {}

    def works(agent: Agent) -> bool:
        from nudge.home.roles import find_role

        found = find_role(home, agent.role)
        if found is not None:
            roles[agent.name] = found
        return found is not None and found.works

    def told(agent: str) -> str:
        notes = home.agent(agent) / "AGENTS.md"
        return instructions(agent, roles[agent].instructions, notes.read_text("utf-8") if notes.is_file() else "")

    def sandbox_of(agent: str) -> Sandbox:
        from nudge.sandbox.choose import choose
        from nudge.sandbox.walls import Walls

        return choose(roles[agent].sandbox, Walls(hidden=[home.path]))

    return WorkPorts(
        works=works,
        instructions=told,
        folder_of=home.workspace,
        sandbox_of=cache(sandbox_of),
        workspaces=KeptWorkspaces(
            home.workspace,
            cache(lambda agent: steps_of(config, agent) if far else snapshots_of(config, agent)),
            clock,
            keep=section.keep_snapshots,
            far_of=cache(lambda agent: snapshots_of(config, agent)) if far else None,
            send_every=section.snapshot_every,
        ),
        options=section.run_options,
    )


def command_of(home: Home, role: str) -> Command | None:
    """The program that does the work of a role's agents. A role that is missing or broken has none."""
    from nudge.home.roles import find_role

    found = find_role(home, role)
    return found.command if found is not None else None


def snapshots_of(config: Config, agent: str) -> Snapshots:
    """Where an agent's workspace is kept."""
    from nudge.blobs.obstore import open_blobs

    blobs = open_blobs(config.snapshots_url, config.environment)
    return Snapshots(blobs, agent, config.home.run / f"snapshot-{agent}.cache")


def steps_of(config: Config, agent: str) -> Snapshots:
    """Where the steps of a session are kept on this machine, while its snapshots are kept far away."""
    from nudge.blobs.obstore import open_blobs

    blobs = open_blobs(str(config.home.snapshots), config.environment)
    return Snapshots(blobs, agent, config.home.run / f"steps-{agent}.cache")


def is_coach(home: Home, agent: Agent) -> bool:
    """Whether the agent's role is a coach's. A role that is missing or broken counts as the default coach's, so that a
    slip in a file does not silence anybody; `nudge doctor` names the file."""
    from nudge.home.roles import find_role

    found = find_role(home, agent.role)
    return found.kind == "coach" if found is not None else agent.role == "coach"
