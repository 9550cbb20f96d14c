"""Which channel the person is on, and which agent they talk to."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from nudge.channels import Setup, Stream, chosen, open_channel
from nudge.home.config import Config
from nudge.queue.agents import DEFAULT

if TYPE_CHECKING:
    from nudge.clock import Clock
    from nudge.daemon.assemble import Daemon, Ports
    from nudge.queue.channel import Channel
    from nudge.queue.pairing import Pairs


def channel_of(
    config: Config,
    clock: Clock,
    *,
    screen: Stream = sys.stdout,
    zone: Callable[[], tzinfo] = lambda: UTC,
    terminal: bool = False,
    colour: bool = False,
    pairs: Pairs | None = None,
) -> Channel:
    """The channel that the configuration names, ready to connect; `terminal` means that the person sits here."""
    name = "terminal" if terminal else chosen(config.channel.kind, config.environment)
    setup = Setup(getattr(config, name, None), config.environment, clock, screen, zone, colour, pairs)
    return open_channel(name, setup)


async def who_talks(daemon: Daemon, ports: Ports) -> str:
    """The agent that the person talks to: the coach of that name, else the first coach there is."""
    agents = await daemon.store.agents.all()
    coaches = [agent.name for agent in agents if ports.is_coach(agent)]
    return DEFAULT if DEFAULT in coaches or not coaches else coaches[0]
