"""Where the person is: Telegram if there is a token, else this terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from nudge.channels.terminal import Stream, TerminalMessenger
from nudge.coach.polling import Polling
from nudge.daemon.set_up import telegram_token
from nudge.home.config import Config
from nudge.home.settings import Settings
from nudge.queue.agents import DEFAULT
from nudge.queue.channel import Messenger

if TYPE_CHECKING:
    from nudge.channels.telegram import TelegramChannel
    from nudge.clock import Clock
    from nudge.daemon.assemble import Daemon, Ports


@dataclass(frozen=True)
class Channel:
    """`telegram` is the same as `messenger` where it is Telegram: that one must be polled."""

    messenger: Messenger
    telegram: TelegramChannel | None = None

    def polling(self, daemon: Daemon, agent: str) -> Polling | None:
        """Who listens, where somebody must."""
        telegram = self.telegram
        if telegram is None:
            return None

        async def announce() -> None:
            await telegram.set_commands(daemon.coach.menu)

        return Polling(telegram, daemon.coach.listener, daemon.clock, agent, announce)


def channel_of(
    settings: Settings,
    config: Config,
    clock: Clock,
    stream: Stream,
    zone: Callable[[], tzinfo],
    *,
    terminal: bool,
    colour: bool,
) -> Channel:
    """The channel that the configuration asks for; `terminal` says that the person sits here. `zone` is the person's,
    asked every time: they may travel."""
    token = "" if terminal else telegram_token(settings, config)
    if not token:
        return Channel(TerminalMessenger(stream, clock.now, zone, colour=colour))
    from nudge.channels.telegram import TelegramChannel
    from nudge.channels.telegram.client import PUBLIC_API

    api_base = settings.environment.get("TELEGRAM_API_BASE", "").strip() or PUBLIC_API
    allow = config.telegram.allow
    telegram = TelegramChannel(token, person=allow[0], allowed=allow, clock=clock, api_base=api_base)
    return Channel(telegram, telegram)


async def who_talks(daemon: Daemon, ports: Ports) -> str:
    """The agent that the person talks to: the coach of that name, else the first coach there is."""
    agents = await daemon.store.agents.all()
    coaches = [agent.name for agent in agents if ports.is_coach(agent)]
    return DEFAULT if DEFAULT in coaches or not coaches else coaches[0]
